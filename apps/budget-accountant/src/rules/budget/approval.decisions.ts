// Whether people were asked before a reserved effect, where the rung of its agent wanted them asked (A84). Pure.
//
// Invariants
//   Q1. An approval covers what was done and nothing else: its id follows from the digest of the action (P4).
//   Q2. It was used before the ledger recorded the effect: what people agree to afterwards is no approval.
//   Q3. An attempt that failed has used up what was agreed before it (P4): each further one is asked about anew.
//   Q4. What nobody knows of yet is waited for, since it stands in another log; then it is a breach, like an overrun, once.
import type { GrantedApproval } from '@recourse/contract';
import { briefOf, forwardApprovalId } from '@recourse/contract';
import { isPerson, MARGIN_MS, personKey } from '@recourse/kernel';
import type { AwaitedApproval, Excess } from '@recourse/messages';
import { partiesOf } from './budget.decider.js';
import type { BudgetRecord, Escalation, EscalationPolicy, Reservation } from './budget.messages.js';

/** Whom a rung has asked, the fewest first. */
const WANTED: readonly GrantedApproval[] = ['policy', 'human', 'dual_control', 'refused'];

/** Measure of what a rung wants asked, among bounds that were exceeded. */
const RUNG = 'rung';

/** Uses of an approval that are kept: who tries more often is judged by the newest. */
const USES_MAX = 8;
/** Failed attempts that are kept: one fewer, so that the use of an attempt is never taken for that of one before it. */
const FAILURES_MAX = USES_MAX - 1;

/** An approval that was used for an attempt. */
interface Use {
  /** The most that a rung may want of it. */
  readonly satisfies: string;
  /** Epoch milliseconds. */
  readonly used_at: number;
}

/** What people, or a rule, agreed to: as it was used last. */
export interface NotedApproval extends Use {
  readonly approval_id: string;
  /** Uses before that, newest first; absent without one, and in rows older than this. */
  readonly earlier?: readonly Use[];
}

/** An approval after it was used once more; null where that is known. */
export function usedAgain(
  before: NotedApproval | null,
  { approval_id, satisfies, used_at }: NotedApproval,
): NotedApproval | null {
  if (before === null) return { approval_id, satisfies, used_at };
  if (used_at <= before.used_at) return null;
  return { approval_id, satisfies, used_at, earlier: usesOf(before).slice(0, USES_MAX - 1) };
}

function usesOf({ satisfies, used_at, earlier = [] }: NotedApproval): readonly Use[] {
  return [{ satisfies, used_at }, ...earlier];
}

/** Attempts of an effect that failed, by when they began, newest first; null where this one is known. */
export function failedAgain(before: readonly number[], beganAt: number): readonly number[] | null {
  if (before.includes(beganAt)) return null;
  return [...before, beganAt].sort((one, other) => other - one).slice(0, FAILURES_MAX);
}

/**
 * What no failed attempt has used up.
 *
 * Shape:  an attempt used what was agreed before it began. Its producer says when that was: within the tolerance of clocks only the
 *         oldest use is its own, since the next attempt may have been agreed to at once.
 */
function usesLeft(noted: NotedApproval, failed: readonly number[]): readonly Use[] {
  return [...failed].reverse().reduce((uses, beganAt) => {
    const newer = uses.filter(({ used_at }) => used_at + MARGIN_MS >= beganAt);
    const own = newer.filter(({ used_at }) => used_at <= beganAt + MARGIN_MS).at(-1);
    return newer.filter((use) => use !== own);
  }, usesOf(noted));
}

/** How an effect ended that people may have had to be asked about. */
export interface Done {
  readonly tenant: string;
  readonly runId: string;
  readonly effectKey: string;
  readonly capability: string;
  readonly agentId: string;
  /** Digest of what was done; null where its record is older than digests, or its end was told after its data was erased. */
  readonly actionDigest: Buffer | null;
  /** When the ledger recorded it, epoch milliseconds. */
  readonly executedAt: number;
}

/** The stricter of what was said when an effect was reserved and what is granted now; null where nobody is asked. */
export function wantedOf(granted: GrantedApproval, reservation: Reservation | null): string | null {
  const before = reservation?.phase === 'released' ? null : (reservation?.forward_approval ?? null);
  const wanted = WANTED[Math.max(rankOf(granted), rankOf(before))];
  return wanted === undefined || wanted === 'policy' ? null : wanted;
}

/** Is it what was reserved? Who reserves one thing, and does another under its key, was told nothing of that. */
export function isAsReserved(reservation: Reservation, { capability, agentId }: Done): boolean {
  const { agent_id: reservedFor } = reservation;
  return reservation.capability === capability && reservedFor !== null && personKey(reservedFor) === personKey(agentId);
}

/** The approval that an effect needed of those who were `wanted`; null where nobody was, or nobody can tell. */
export function neededFor(
  wanted: string | null,
  { tenant, runId, effectKey, capability, agentId: agent_id, actionDigest, executedAt: executed_at }: Done,
  wait_until: number,
): AwaitedApproval | null {
  if (wanted === null || actionDigest === null) return null;
  const approval_id = forwardApprovalId(tenant, runId, effectKey, actionDigest.toString('hex'));
  return { approval_id, wanted, agent_id, capability, executed_at, wait_until };
}

/** Is this the approval that is waited for, of as many people as were wanted, of before the effect, and of no attempt that failed? */
export function isMetBy(noted: NotedApproval | null, awaited: AwaitedApproval, failed: readonly number[]): boolean {
  if (noted?.approval_id !== awaited.approval_id) return false;
  return usesLeft(noted, failed).some(
    ({ satisfies, used_at }) =>
      rankOf(satisfies) >= rankOf(awaited.wanted) && used_at <= awaited.executed_at + MARGIN_MS,
  );
}

/** What an approval is good for: a rule looked at how many people it stands for; older records name nobody. */
export function satisfiedBy(agreedBy: readonly string[]): 'human' | 'dual_control' {
  return agreedBy.length === 1 && agreedBy.every(isPerson) ? 'human' : 'dual_control';
}

/** What is said of an effect that nobody was asked about whom a rung wanted asked. */
export function rungExcess(wanted: string | null, agentId: string): readonly Excess[] {
  const asked_minor = rankOf(wanted);
  if (asked_minor <= 0) return [];
  const measure = { scope: 'agent', scope_id: agentId, measure: RUNG, currency: '', window: 'life' };
  return [{ ...measure, used_minor: 0, asked_minor, ceiling_minor: 0 }];
}

/** Does it say that nobody was asked? Whatever else an effect broke is no answer to that. */
export function isOfRung(exceeded: readonly Excess[]): boolean {
  return exceeded.some(({ measure }) => measure === RUNG);
}

/** Asks a person about an effect that nobody was asked about in time; null while there is time. Nothing is counted anew. */
export function missApproval(
  reservation: Reservation,
  escalation: Escalation | null,
  policy: EscalationPolicy,
  now: number,
): BudgetRecord | null {
  const { reservation_id, tenant, run_id, effect_key, mutation_id, subject_id } = reservation;
  const { awaited = null, contract_digest, brief, expires_at, parties = [] } = reservation;
  if (awaited === null || now < awaited.wait_until) return null;
  const { agent_id, capability, wanted } = awaited;
  const before = escalation?.about === 'overrun' ? escalation.exceeded : [];
  return {
    type: 'BudgetOverrun',
    body: {
      ...{ reservation_id, tenant, run_id, effect_key, mutation_id, capability, agent_id, subject_id, expires_at },
      brief: brief ?? briefOf(null, null),
      debits: [],
      exceeded: [...before, ...rungExcess(wanted, agent_id)],
      parties: partiesOf(...parties, agent_id),
      contract_digest: contract_digest === null ? null : Buffer.from(contract_digest, 'hex'),
      owner: policy.owner,
      deadline_at: now + policy.deadlineMs,
    },
  };
}

function rankOf(wanted: string | null): number {
  return WANTED.findIndex((one) => one === wanted);
}
