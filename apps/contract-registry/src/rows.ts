// Rows of the contracts log: versions of contracts, proposals that wait, entries. Holds no rules.
import { toolFingerprint } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { row } from '@recourse/event-log';
import type { AcceptedRecord, Change, Folds, StateView } from '@recourse/event-log';
import type { BodyOf } from '@recourse/messages';
import type { ContractVersion, Proposal } from './rules/contract/contract.messages.js';
import { contractPhaseAfter } from './rules/contract/contract.transitions.js';
import { proposalPhaseAfter } from './rules/contract/proposal.transitions.js';
import type { EntryVersion } from './rules/entry/entry.messages.js';
import { entryPhaseAfter } from './rules/entry/entry.transitions.js';

export const CONTRACTS_LOG = 'recourse.contracts';

/** A version with who registered it and when; epoch milliseconds. */
export interface KeptVersion extends ContractVersion {
  /** Fingerprint of the tool that was approved with it, 64 hex digits. */
  readonly tool_fingerprint: string;
  readonly registered_by: string;
  readonly confirmed_by: string | null;
  readonly registered_at: number;
}

export interface KeptProposal extends Proposal {
  readonly proposed_at: number;
}

/** An entry with who registered it, and who retired it when; epoch milliseconds. */
export interface KeptEntry extends EntryVersion {
  readonly registered_by: string;
  readonly registered_at: number;
  readonly retired_by?: string;
  readonly retired_at?: number;
  readonly reason?: string;
}

/** Group is owner and capability, key its version: a name of one owner blocks none of another. `digest` is 64 hex digits. */
export const versions = row<KeptVersion>({
  kind: 'contract',
  table: 'contracts',
  group: ({ tenant, name }) => contractGroup(tenant, name),
  key: ({ version }) => String(version),
  columns: {
    name: 'text',
    version: 'bigint',
    tenant: 'text',
    digest: 'text',
    tool_fingerprint: 'text',
    retired: 'boolean',
  },
  indexes: [['name', 'version'], ['digest']],
});

const WAITING = 'waiting';

/** What waits for a second person: group is owner and capability. The row is a timer: it lapses. */
export const proposals = row<KeptProposal>({
  kind: 'proposal',
  table: 'contract_proposals',
  group: ({ tenant, name }) => contractGroup(tenant, name),
  key: () => WAITING,
  due: ({ expires_at }) => expires_at,
  columns: { name: 'text', tenant: 'text', proposed_by: 'text' },
  indexes: [['tenant']],
});

/** The newest version of an entry: group is kind and tenant, key the name. */
export const entries = row<KeptEntry>({
  kind: 'entry',
  table: 'entries',
  group: ({ kind, tenant }) => entryGroup(kind, tenant),
  key: ({ name }) => name,
  columns: { kind: 'text', name: 'text', tenant: 'text', version: 'bigint', retired: 'boolean' },
  indexes: [['kind', 'tenant', 'name']],
});

export const CONTRACT_KIND = versions.spec.kind;
export const PROPOSAL_KIND = proposals.spec.kind;
export const ENTRY_KIND = entries.spec.kind;
export const REGISTRY_ROWS = [versions, proposals, entries];

/** `owner` is a tenant, or `*` for the platform. */
export function contractGroup(owner: string, name: string): string {
  return `${owner}/${name}`;
}

export function entryGroup(kind: string, tenant: string): string {
  return `${kind}/${tenant}`;
}

export function waitingOf(state: StateView, group: string): Proposal | null {
  return proposals.find(state, group, WAITING);
}

/** What each record of the log changes. */
export const EVOLVE: Folds<typeof CONTRACTS_LOG> = {
  ContractRegistered: registered,
  ContractRetired: retired,
  RegistrationProposed: proposed,
  RegistrationDropped: ({ tenant, name }) => [proposalEnd(contractGroup(tenant, name), 'RegistrationDropped')],
  EntryRegistered: entryRegistered,
  EntryRetired: entryRetired,
};

function registered(
  body: BodyOf<typeof CONTRACTS_LOG, 'ContractRegistered'>,
  state: StateView,
  { decidedAt }: AcceptedRecord,
): readonly Change[] {
  const { name, version, tenant, registered_by, confirmed_by } = body;
  const group = contractGroup(tenant, name);
  const standing = versions.find(state, group, String(version));
  const phase = contractPhaseAfter(standing === null ? 'absent' : phaseOf(standing), 'ContractRegistered');
  const digest = body.digest.toString('hex');
  const kept = standing ?? {
    name,
    version,
    tenant,
    body: body.body,
    digest,
    tool_fingerprint: toolFingerprint(JSON.parse(body.body) as Contract), // what registered is a contract in JSON
    registered_by,
    confirmed_by: confirmed_by ?? null,
    registered_at: decidedAt,
  };
  // Is it the confirmation of what waits? Whatever else registers drops it first.
  const isConfirmed = waitingOf(state, group)?.digest === digest;
  return [
    versions.put({ ...kept, retired: phase === 'retired' }),
    ...(isConfirmed ? [proposalEnd(group, 'ContractRegistered')] : []),
  ];
}

function retired(
  { tenant, name, version, digest }: BodyOf<typeof CONTRACTS_LOG, 'ContractRetired'>,
  state: StateView,
): readonly Change[] {
  const group = contractGroup(tenant, name);
  const standing = versions.find(state, group, String(version));
  const phase = contractPhaseAfter(standing === null ? 'absent' : phaseOf(standing), 'ContractRetired');
  const waiting = waitingOf(state, group);
  const isAsked = waiting?.retires === true && waiting.digest === digest.toString('hex');
  return [
    ...(standing === null ? [] : [versions.put({ ...standing, retired: phase === 'retired' })]),
    ...(isAsked ? [proposalEnd(group, 'ContractRetired')] : []),
  ];
}

function proposed(
  {
    name,
    version,
    tenant,
    digest,
    body,
    weakenings,
    proposed_by,
    expires_at,
    retires,
  }: BodyOf<typeof CONTRACTS_LOG, 'RegistrationProposed'>,
  _: StateView,
  { decidedAt: proposed_at }: AcceptedRecord,
): readonly Change[] {
  const hex = digest.toString('hex');
  return [
    proposals.put({
      name,
      version,
      tenant,
      digest: hex,
      body,
      weakenings,
      retires,
      proposed_by,
      proposed_at,
      expires_at,
    }),
  ];
}

function proposalEnd(group: string, type: 'ContractRegistered' | 'ContractRetired' | 'RegistrationDropped'): Change {
  proposalPhaseAfter('waiting', type);
  return { op: 'delete', address: { kind: PROPOSAL_KIND, group, key: WAITING } };
}

function entryRegistered(
  { kind, tenant, name, version, digest, body, registered_by }: BodyOf<typeof CONTRACTS_LOG, 'EntryRegistered'>,
  state: StateView,
  { decidedAt }: AcceptedRecord,
): readonly Change[] {
  const standing = entries.find(state, entryGroup(kind, tenant), name);
  const phase = entryPhaseAfter(standing === null ? 'absent' : phaseOf(standing), 'EntryRegistered');
  const kept = { kind, name, tenant, version, digest: digest.toString('hex'), body, registered_by };
  return [entries.put({ ...kept, registered_at: decidedAt, retired: phase === 'retired' })];
}

function entryRetired(
  { kind, tenant, name, retired_by, reason }: BodyOf<typeof CONTRACTS_LOG, 'EntryRetired'>,
  state: StateView,
  { decidedAt }: AcceptedRecord,
): readonly Change[] {
  const standing = entries.find(state, entryGroup(kind, tenant), name);
  const phase = entryPhaseAfter(standing === null ? 'absent' : phaseOf(standing), 'EntryRetired');
  if (standing === null) return [];
  return [entries.put({ ...standing, retired_by, retired_at: decidedAt, reason, retired: phase === 'retired' })];
}

function phaseOf({ retired: isRetired }: { readonly retired: boolean }): 'retired' | 'standing' {
  return isRetired ? 'retired' : 'standing';
}
