// The contracts log as a service core: commands in, versions out.
//
// Boundary: translates between the loop and the contract decider. One partition, so every capability is at hand.
//
// Invariants
//   R1. A version never changes once registered; a digest names one body for ever.
//   R2. What waits for a second person binds nobody, and lapses by itself.
//   R3. Every command gets one answer; what is refused leaves no record beside it.
import type { Contract } from '@recourse/contract';
import { CAPABILITY_PATTERN, parseContract } from '@recourse/contract';
import { accepted, append, NOTHING, refused } from '@recourse/event-log';
import type {
  AcceptedRecord,
  Change,
  Decision,
  Doc,
  Input,
  KindSpec,
  Row,
  ServiceCore,
  StateView,
} from '@recourse/event-log';
import { InvariantViolation } from '@recourse/kernel';
import type { ConfirmRegistration, RegisterContract, RetireContract } from '@recourse/messages';
import { decideContract } from '../domain/contract/contract.decider.js';
import { CONTRACT_REJECTIONS, EVERY_TENANT } from '../domain/contract/contract.messages.js';
import type {
  Asker,
  ContractAnswer,
  ContractCommand,
  ContractState,
  ContractVersion,
  Proposal,
} from '../domain/contract/contract.messages.js';
import { contractPhaseAfter } from '../domain/contract/contract.transitions.js';
import { proposalPhaseAfter } from '../domain/contract/proposal.transitions.js';
import { dropped } from '../domain/contract/registration.decisions.js';
import { decideEntryCommand, ENTRY_COMMANDS, entryCommandOf, entryKind, evolveEntry } from './entries.part.js';

export const CONTRACTS_LOG = 'recourse.contracts';
export const REGISTRY_COMMANDS = 'recourse.registry-commands';

/** Kind of the rows: group is the capability, key its version. `digest` is 64 hex digits. */
export const CONTRACT_KIND = 'contract';

/** Kind of what waits for a second person: group is the capability. The row is a timer: it lapses. */
export const PROPOSAL_KIND = 'proposal';
const WAITING = 'waiting';

const contractKind: KindSpec = {
  kind: CONTRACT_KIND,
  table: 'contracts',
  columns: [
    { name: 'name', type: 'text', of: (row) => versionOf(row.doc).name },
    { name: 'version', type: 'bigint', of: (row) => versionOf(row.doc).version },
    { name: 'tenant', type: 'text', of: (row) => versionOf(row.doc).tenant },
    { name: 'digest', type: 'text', of: (row) => versionOf(row.doc).digest },
    { name: 'retired', type: 'boolean', of: (row) => versionOf(row.doc).retired },
  ],
  indexes: [['name', 'version'], ['digest']],
};

const proposalKind: KindSpec = {
  kind: PROPOSAL_KIND,
  table: 'contract_proposals',
  columns: [
    { name: 'name', type: 'text', of: (row) => proposalOf(row.doc).name },
    { name: 'tenant', type: 'text', of: (row) => proposalOf(row.doc).tenant },
    { name: 'proposed_by', type: 'text', of: (row) => proposalOf(row.doc).proposed_by },
  ],
  indexes: [['tenant']],
};

const COMMAND_TYPES = ['RegisterContract', 'RetireContract', 'ConfirmRegistration', 'WithdrawRegistration'] as const;

/** Builds the core of the contract registry. */
export function registryCore(): ServiceCore {
  return {
    log: CONTRACTS_LOG,
    inputs: [
      { topic: REGISTRY_COMMANDS, source: 'wire', mode: 'aligned', types: [...COMMAND_TYPES, ...ENTRY_COMMANDS] },
    ],
    views: [],
    kinds: [contractKind, proposalKind, entryKind],
    keyOf: (record) => String(record.body['name']),
    decide: ({ state, now }, input) => {
      if (input.source === 'timer') return lapsed(state, input.address.group, now);
      const entry = entryCommandOf(input);
      if (entry !== null) return decideEntryCommand(state, entry);
      const command = commandOf(input);
      return command === null ? NOTHING : answered(decideContract(command, stateOf(state, command, now)));
    },
    evolve,
    react: () => [],
    owed: () => false,
  };
}

/** A proposal nobody confirmed in time is dropped; a timer of one that is gone changes nothing. */
function lapsed(state: StateView, name: string, now: number): Decision {
  const waiting = waitingOf(state, name);
  return waiting === null || waiting.expires_at > now ? NOTHING : append(dropped(waiting, 'lapsed', null));
}

function evolve(state: StateView, record: AcceptedRecord): readonly Change[] {
  const name = String(record.body['name']);
  switch (record.type) {
    case 'ContractRegistered':
      return [
        versionChange(state, record, record.type),
        ...(isWaiting(state, record) ? [proposalEnd(name, record.type)] : []),
      ];
    case 'ContractRetired':
      return [versionChange(state, record, record.type)];
    case 'RegistrationProposed':
      return [{ op: 'put', row: proposalRow(record) }];
    case 'RegistrationDropped':
      return [proposalEnd(name, record.type)];
    default:
      return evolveEntry(state, record);
  }
}

function versionChange(
  state: StateView,
  record: AcceptedRecord,
  type: 'ContractRegistered' | 'ContractRetired',
): Change {
  const name = String(record.body['name']);
  const key = String(record.body['version']);
  const standing = state.get(CONTRACT_KIND, name, key);
  const phase = contractPhaseAfter(
    standing === undefined ? 'absent' : versionOf(standing).retired ? 'retired' : 'standing',
    type,
  );
  return { op: 'put', row: rowOf(name, key, { ...(standing ?? registeredDoc(record)), retired: phase === 'retired' }) };
}

/** Is it the confirmation of what waits? Whatever else registers drops it first. */
function isWaiting(state: StateView, { body }: AcceptedRecord): boolean {
  // Avro fixed fields are Buffers.
  return waitingOf(state, String(body['name']))?.digest === (body['digest'] as Buffer).toString('hex');
}

function proposalEnd(name: string, type: 'ContractRegistered' | 'RegistrationDropped'): Change {
  proposalPhaseAfter('waiting', type);
  return { op: 'delete', address: { kind: PROPOSAL_KIND, group: name, key: WAITING } };
}

function proposalRow({ body, decidedAt }: AcceptedRecord): Row {
  const { name, version, tenant, weakenings, proposed_by, expires_at } = body;
  // Avro fixed fields are Buffers, timestamps numbers.
  const doc = {
    name,
    version,
    tenant,
    digest: (body['digest'] as Buffer).toString('hex'),
    body: body['body'],
    weakenings,
    proposed_by,
    proposed_at: decidedAt,
    expires_at,
  };
  return { kind: PROPOSAL_KIND, group: String(name), key: WAITING, dueAt: expires_at as number, doc };
}

function registeredDoc({ body, decidedAt }: AcceptedRecord): Doc {
  return {
    name: body['name'],
    version: body['version'],
    tenant: body['tenant'],
    body: body['body'],
    // Avro fixed fields are Buffers.
    digest: (body['digest'] as Buffer).toString('hex'),
    registered_by: body['registered_by'],
    confirmed_by: body['confirmed_by'] ?? null,
    registered_at: decidedAt,
  };
}

function rowOf(name: string, key: string, doc: Doc): Row {
  return { kind: CONTRACT_KIND, group: name, key, dueAt: null, doc };
}

function stateOf(state: StateView, { name, asker }: ContractCommand, now: number): ContractState {
  const contractOf = (other: string): Contract | undefined => {
    const usable = state
      .list(CONTRACT_KIND, other)
      .map(versionOf)
      .filter((version) => !version.retired && (version.tenant === EVERY_TENANT || version.tenant === asker.tenant));
    const newest = usable.sort((a, b) => b.version - a.version)[0];
    return newest === undefined ? undefined : parsed(newest.body);
  };
  if (!isAddress(name)) return { versions: [], proposal: null, contractOf, now };
  return {
    versions: state.list(CONTRACT_KIND, name).map(versionOf),
    proposal: waitingOf(state, name),
    contractOf,
    now,
  };
}

function parsed(body: string): Contract {
  const read = parseContract(body);
  if (!read.ok)
    throw new InvariantViolation('registered contracts parse', read.problems.map(({ code }) => code).join(', '));
  return read.contract;
}

function waitingOf(state: StateView, name: string): Proposal | null {
  const doc = state.get(PROPOSAL_KIND, name, WAITING);
  return doc === undefined ? null : proposalOf(doc);
}

function answered(answer: ContractAnswer): Decision {
  switch (answer.kind) {
    case 'recorded':
      return accepted(answer.isNew ? 201 : 200, { ...answer.outcome }, ...answer.events);
    case 'unchanged':
      return accepted(200, { ...answer.outcome });
    case 'rejected': {
      const { code, message, ...more } = answer.rejection;
      return refused(CONTRACT_REJECTIONS[code], code, message, more);
    }
  }
}

function commandOf(input: Input): ContractCommand | null {
  if (input.source !== 'wire') return null;
  // The codec made the body from the schema of this type.
  const body = input.body as unknown as RegisterContract & RetireContract & ConfirmRegistration;
  const { envelope, name } = body;
  const asker: Asker = {
    commandId: envelope.command_id,
    tenant: envelope.tenant,
    principal: envelope.principal,
    roles: envelope.roles,
  };
  switch (input.type) {
    case 'RegisterContract':
      return { type: 'RegisterContract', asker, name, body: body.body };
    case 'RetireContract':
      return { type: 'RetireContract', asker, name, version: body.version };
    case 'ConfirmRegistration':
      return { type: 'ConfirmRegistration', asker, name, digest: body.digest.toString('hex') };
    case 'WithdrawRegistration':
      return { type: 'WithdrawRegistration', asker, name };
    default:
      throw new InvariantViolation('registry inputs', `no command ${input.type}`);
  }
}

/** Anything else was never registered, and may be no address at all. */
function isAddress(name: string): boolean {
  return name.length <= 128 && CAPABILITY_PATTERN.test(name);
}

function versionOf(doc: Doc): ContractVersion {
  // Rows of this kind are written by evolve alone.
  return doc as unknown as ContractVersion;
}

function proposalOf(doc: Doc): Proposal {
  // Rows of this kind are written by evolve alone.
  return doc as unknown as Proposal;
}
