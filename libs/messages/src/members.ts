// Records about several things of one run hold each as a member, and what is common once: here they are taken apart, and made.
//
// Boundary: copies fields; decides nothing. A member is named by its index in the record.
import { isDeepStrictEqual } from 'node:util';
import type {
  CheckpointRolledBack,
  ContractTerms,
  Evidence,
  FallenMember,
  MovedMutation,
  MutationsFell,
  PlannedStep,
  RecoverabilityChanged,
  RecoveryPlanned,
  RollbackAnnounced,
  RollbackSettled,
  RolledBackCheckpoint,
  RolledBackCommit,
  SettledCommit,
} from './generated/index.js';
import type { ChainField } from './records.js';

type Packed = 'contracts' | 'members' | ChainField;

/** A notice as it is derived: without its place in its log and in the source. */
export type NoticeOf<Notice> = Omit<Notice, ChainField | 'source_seq' | 'source_index'>;

/** A mutation that fell, with what its record says of all. */
export type Fallen = Omit<MutationsFell, Packed> &
  Omit<FallenMember, 'contract' | 'root'> & { readonly terms: ContractTerms | null };

/** A commit without an effect that was rolled back, with what its record says of all. */
export type RolledBack = Omit<CheckpointRolledBack, 'others' | ChainField>;

/** A step that was planned, with what its record says of all. */
export type Planned = Omit<RecoveryPlanned, Packed> &
  Omit<PlannedStep, 'contract' | 'root'> & { readonly terms: ContractTerms | null };

/** A mutation that moved, with what its record says of all. */
export type Moved = Omit<RecoverabilityChanged, Packed> & MovedMutation;

/** A commit that was announced as rolled back, with what its notice says of all. */
export type Announced = Omit<NoticeOf<RollbackAnnounced>, 'members'> & Omit<RolledBackCommit, 'root'>;

/** A rolled-back commit that came to rest, with what its notice says of all. */
export type Settled = Omit<NoticeOf<RollbackSettled>, 'members'> & SettledCommit;

/** The records that were taken apart last: each fold of one asks for the same. */
let last: { readonly record: object; readonly fallen: readonly Fallen[] } | null = null;
let lastRolledBack: { readonly record: object; readonly members: readonly RolledBack[] } | null = null;

/** What a record says of each mutation that fell, in its order. Nobody changes what was read. */
export function fallenIn(record: Omit<MutationsFell, ChainField>): readonly Fallen[] {
  if (last?.record !== record) last = { record, fallen: apart(record) };
  return last.fallen;
}

function apart({ contracts, members, ...common }: Omit<MutationsFell, ChainField>): readonly Fallen[] {
  return members.map(({ contract, root, ...member }) => ({
    ...common,
    ...member,
    evidence: rooted(common.evidence, root),
    terms: termsAt(contracts, contract),
  }));
}

/** The record of mutations that fell together. Shape: all of one run, for one reason; only the roots may differ. */
export function fellTogether(fallen: readonly [Fallen, ...Fallen[]]): Omit<MutationsFell, ChainField> {
  const [{ tenant, run_id, evidence }] = fallen;
  const contracts = new Contracts();
  const members = fallen.map(({ tenant: _tenant, run_id: _run, evidence: { root }, terms, ...member }) => ({
    ...member,
    root,
    contract: contracts.placeOf(terms),
  }));
  return { tenant, run_id, evidence: rooted(evidence, null), contracts: contracts.all, members };
}

/** What a record says of each commit that was rolled back, in its order: the one it is about is the first. Nobody changes what was read. */
export function rolledBackIn(record: Omit<CheckpointRolledBack, ChainField>): readonly RolledBack[] {
  if (record.others.length === 0) return [record];
  if (lastRolledBack?.record !== record) lastRolledBack = { record, members: rolledBackApart(record) };
  return lastRolledBack.members;
}

function rolledBackApart({ others, ...first }: Omit<CheckpointRolledBack, ChainField>): readonly RolledBack[] {
  const { tenant, run_id, evidence } = first;
  return [first, ...others.map(({ root, ...own }) => ({ tenant, run_id, evidence: rooted(evidence, root), ...own }))];
}

/** The record of commits that were rolled back together. Shape: all of one run, for one reason; only the roots may differ. */
export function rolledBackTogether([first, ...others]: readonly [RolledBack, ...RolledBack[]]): Omit<
  CheckpointRolledBack,
  ChainField
> {
  return {
    ...first,
    others: others.map(({ tenant: _tenant, run_id: _run, evidence: { root }, ...own }): RolledBackCheckpoint => ({
      ...own,
      root,
    })),
  };
}

/** What a record says of each step that was planned, in its order. */
export function plannedIn({ contracts, members, ...common }: Omit<RecoveryPlanned, ChainField>): readonly Planned[] {
  return members.map(({ contract, root, ...member }) => ({
    ...common,
    ...member,
    evidence: rooted(common.evidence, root),
    terms: termsAt(contracts, contract),
  }));
}

/** The record of steps that were planned together. Shape: all of one recovery, for one reason; only the roots may differ. */
export function plannedTogether(planned: readonly [Planned, ...Planned[]]): Omit<RecoveryPlanned, ChainField> {
  const [{ recovery_id, tenant, run_id, evidence }] = planned;
  const contracts = new Contracts();
  const members = planned.map(
    ({ recovery_id: _recovery, tenant: _tenant, run_id: _run, evidence: { root }, terms, ...member }) => ({
      ...member,
      root,
      contract: contracts.placeOf(terms),
    }),
  );
  return { recovery_id, tenant, run_id, evidence: rooted(evidence, null), contracts: contracts.all, members };
}

/** What a record says of each mutation that moved, in its order. */
export function movedIn({ members, ...common }: Omit<RecoverabilityChanged, ChainField>): readonly Moved[] {
  return members.map((member) => ({ ...common, ...member }));
}

/** What a notice says of each commit that was rolled back, in its order. */
export function announcedIn({ tenant, run_id, caused_by, members }: NoticeOf<RollbackAnnounced>): readonly Announced[] {
  return members.map(({ root, ...member }) => ({ tenant, run_id, caused_by: rooted(caused_by, root), ...member }));
}

/** The notice of commits that were rolled back together. Shape: all of one run, for one reason; only the roots may differ. */
export function announcedTogether(announced: readonly [Announced, ...Announced[]]): NoticeOf<RollbackAnnounced> {
  const [{ tenant, run_id, caused_by }] = announced;
  const members = announced.map(({ tenant: _tenant, run_id: _run, caused_by: { root }, ...member }) => ({
    ...member,
    root,
  }));
  return { tenant, run_id, caused_by: rooted(caused_by, null), members };
}

/** What a notice says of each rolled-back commit that came to rest, in its order. */
export function settledIn({ tenant, run_id, members }: NoticeOf<RollbackSettled>): readonly Settled[] {
  return members.map((member) => ({ tenant, run_id, ...member }));
}

/** The notice of rolled-back commits that came to rest together. Shape: all of one run. */
export function settledTogether(settled: readonly [Settled, ...Settled[]]): NoticeOf<RollbackSettled> {
  const [{ tenant, run_id }] = settled;
  return { tenant, run_id, members: settled.map(({ tenant: _tenant, run_id: _run, ...member }) => member) };
}

/** Whether two pieces of evidence are one, but for the roots they name. */
export function isSameReason(one: Evidence, other: Evidence): boolean {
  return (
    one.event_id === other.event_id &&
    one.ref === other.ref &&
    one.kind === other.kind &&
    one.source === other.source &&
    one.partition === other.partition &&
    one.position === other.position
  );
}

function rooted(evidence: Evidence, root: Evidence['root']): Evidence {
  return evidence.root === root ? evidence : { ...evidence, root };
}

function termsAt(contracts: readonly ContractTerms[], place: number | null): ContractTerms | null {
  return place === null ? null : (contracts[place] ?? null);
}

/** Terms of contracts, each once. */
class Contracts {
  readonly all: ContractTerms[] = [];

  placeOf(terms: ContractTerms | null): number | null {
    if (terms === null) return null;
    const known = this.all.findIndex((one) => one === terms || areSame(one, terms));
    return known >= 0 ? known : this.all.push(terms) - 1;
  }
}

/**
 * A digest stands for all of a contract; the terms are compared all the same, for what they are is what is recorded. Member by member:
 * what was read from a database is no less the same than what was read from a log.
 */
function areSame(one: ContractTerms, other: ContractTerms): boolean {
  if (!one.contract_digest.equals(other.contract_digest)) return false;
  for (const name in one) {
    const [left, right] = [one[name as keyof ContractTerms], other[name as keyof ContractTerms]];
    if (left !== right && !isDeepStrictEqual(left, right)) return false;
  }
  return true;
}
