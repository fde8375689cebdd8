// The contracts log as a service core: commands in, versions out.
//
// Boundary: translates between the loop and the contract decider. One partition, so every capability is at hand.
//
// Invariants
//   R1. A version never changes once registered; a digest names one body for ever.
//   R2. Every command gets one answer; what is refused leaves no record beside it.
import { CAPABILITY_PATTERN, readContract } from '@recourse/contract';
import { accepted, NOTHING, refused } from '@recourse/event-log';
import type { AcceptedRecord, Change, Decision, Doc, Input, KindSpec, Row, ServiceCore, StateView } from '@recourse/event-log';
import { InvariantViolation } from '@recourse/kernel';
import type { RegisterContract, RetireContract } from '@recourse/messages';
import { decideContract } from '../domain/contract/contract.decider.js';
import { CONTRACT_REJECTIONS, EVERY_TENANT } from '../domain/contract/contract.messages.js';
import type { Asker, ContractAnswer, ContractCommand, ContractState, ContractVersion } from '../domain/contract/contract.messages.js';
import { contractPhaseAfter } from '../domain/contract/contract.transitions.js';

export const CONTRACTS_LOG = 'recourse.contracts';
export const REGISTRY_COMMANDS = 'recourse.registry-commands';

/** Kind of the rows: group is the capability, key its version. `digest` is 64 hex digits. */
export const CONTRACT_KIND = 'contract';

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

/** Builds the core of the contract registry. */
export function registryCore(): ServiceCore {
  return {
    log: CONTRACTS_LOG,
    inputs: [{ topic: REGISTRY_COMMANDS, source: 'wire', mode: 'aligned', types: ['RegisterContract', 'RetireContract'] }],
    views: [],
    kinds: [contractKind],
    keyOf: (record) => String(record.body['name']),
    needs: (input) => namesRead(input).map((name) => ({ kind: CONTRACT_KIND, group: name })),
    decide: ({ state }, input) => {
      const command = commandOf(input);
      return command === null ? NOTHING : answered(decideContract(command, stateOf(state, command)));
    },
    evolve,
    react: () => [],
    owed: () => false,
    owedNeeds: () => [],
  };
}

function evolve(state: StateView, record: AcceptedRecord): readonly Change[] {
  if (record.type !== 'ContractRegistered' && record.type !== 'ContractRetired') return [];
  const name = String(record.body['name']);
  const key = String(record.body['version']);
  const standing = state.get(CONTRACT_KIND, name, key);
  const phase = contractPhaseAfter(standing === undefined ? 'absent' : versionOf(standing).retired ? 'retired' : 'standing', record.type);
  return [{ op: 'put', row: rowOf(name, key, { ...(standing ?? registeredDoc(record)), retired: phase === 'retired' }) }];
}

function registeredDoc({ body, decidedAt }: AcceptedRecord): Doc {
  return {
    name: body['name'], version: body['version'], tenant: body['tenant'], body: body['body'],
    // Avro fixed fields are Buffers.
    digest: (body['digest'] as Buffer).toString('hex'), registered_by: body['registered_by'], registered_at: decidedAt,
  };
}

function rowOf(name: string, key: string, doc: Doc): Row {
  return { kind: CONTRACT_KIND, group: name, key, dueAt: null, doc };
}

function stateOf(state: StateView, command: ContractCommand): ContractState {
  const usable = (name: string): boolean => state.list(CONTRACT_KIND, name).map(versionOf)
    .some((version) => !version.retired && (version.tenant === EVERY_TENANT || version.tenant === command.asker.tenant));
  return { versions: isAddress(command.name) ? state.list(CONTRACT_KIND, command.name).map(versionOf) : [], isKnown: usable };
}

function answered(answer: ContractAnswer): Decision {
  switch (answer.kind) {
    case 'recorded': return accepted(answer.event.type === 'ContractRegistered' ? 201 : 200, answer.version, answer.event);
    case 'unchanged': return accepted(200, answer.version);
    case 'rejected': {
      const { code, message, ...more } = answer.rejection;
      return refused(CONTRACT_REJECTIONS[code], code, message, more);
    }
  }
}

function commandOf(input: Input): ContractCommand | null {
  if (input.source !== 'wire') return null;
  // The codec made the body from the schema of this type.
  const body = input.body as unknown as RegisterContract & RetireContract;
  const { envelope, name } = body;
  const asker: Asker = { commandId: envelope.command_id, tenant: envelope.tenant, principal: envelope.principal, roles: envelope.roles };
  switch (input.type) {
    case 'RegisterContract': return { type: 'RegisterContract', asker, name, body: body.body };
    case 'RetireContract': return { type: 'RetireContract', asker, name, version: body.version };
    default: throw new InvariantViolation('registry inputs', `no command ${input.type}`);
  }
}

/** Capabilities a decision will look up: the own one and those the contract names. */
function namesRead(input: Input): readonly string[] {
  const command = commandOf(input);
  if (command === null) return [];
  if (!isAddress(command.name)) return [];
  if (command.type === 'RetireContract') return [command.name];
  const { draft } = readContract(command.body);
  const named = [
    draft.inverse_capability, draft.compensation_capability, draft.cancel_capability, draft.reconcile_capability,
    draft.stale_check?.observe_capability, draft.verification?.verify_capability, draft.techniques?.dry_run_capability,
  ];
  return [...new Set([command.name, ...named.filter((name) => name !== undefined)])];
}

/** Anything else was never registered, and may be no address at all. */
function isAddress(name: string): boolean {
  return name.length <= 128 && CAPABILITY_PATTERN.test(name);
}

function versionOf(doc: Doc): ContractVersion {
  // Rows of this kind are written by evolve alone.
  return doc as unknown as ContractVersion;
}
