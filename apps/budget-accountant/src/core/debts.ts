// What the ledger recorded of executions, as debits: of effects, of what was compensated, and of compensations themselves.
//
// Boundary: looks up contracts and rows, and asks the rules; holds none.
import type { Contract } from '@recourse/contract';
import {
  atLeast,
  briefOf,
  contractByDigest,
  contractView,
  debitsOf,
  declaresMoney,
  knownAfterwards,
  reservationId,
} from '@recourse/contract';
import type { Asked, DecideContext, Decision, Owns, StateView } from '@recourse/event-log';
import { NOTHING, RowsOver, append, decidedAtOf } from '@recourse/event-log';
import type { BodyOf, Debit, Money, RecordOf } from '@recourse/messages';
import { accountOf, budgets, reservationOfMutation, reservations, reversedBy } from '../rows/kinds.js';
import type { Allowance } from '../rules/autonomy/grant.decisions.js';
import { unasked, underRung } from '../rules/autonomy/grant.decisions.js';
import { isMoney, negated } from '../rules/budget/bounds.decisions.js';
import { partiesOf } from '../rules/budget/budget.decider.js';
import { isTooLarge } from '../rules/budget/sums.decisions.js';
import { fittingBriefs } from '../rules/budget/briefs.decisions.js';
import type { BudgetRecord, EscalationPolicy, Reservation } from '../rules/budget/budget.messages.js';
import { moved } from '../rows/reservation.rows.js';
import { debitCompensation, leavesNothing } from '../rules/budget/compensation.decider.js';
import type { Executed, Weighed } from '../rules/budget/compensation.decider.js';
import type { Vain } from '../rules/budget/attempts.decisions.js';
import { mayBeOfLater } from '../rules/budget/attempts.decisions.js';
import type { ExecutionEnd } from '../rules/budget/settlement.decider.js';
import { isSomethingElse, refund, release, settle } from '../rules/budget/settlement.decider.js';
import { changesOf } from '../rows.js';
import { attemptFailed, awaitedFor } from './approvals.js';
import { boundsOf, subjectIdOf } from './bounds.js';
import { earnedBy } from './autonomy.js';

export const MUTATIONS_LOG = 'recourse.mutations';

type Recorded = BodyOf<typeof MUTATIONS_LOG, 'MutationRecorded'>;
type Changed = BodyOf<typeof MUTATIONS_LOG, 'RecoverabilityChanged'>;
type Compensations = BodyOf<typeof MUTATIONS_LOG, 'CompensationsExecuted'>;

/** Settles, overruns or gives back what an execution had reserved, in every unit. */
export function onMutation(asked: Asked<Recorded>, policy: EscalationPolicy): Decision {
  const { body: record, context } = asked;
  const end = endOf(record);
  if (end === null) return NOTHING;
  const { execution, terms, ref, consequence, mutation_id: mutationId } = record;
  const { tenant, run_id: runId, effect_key: effectKey, initiator, capability } = execution;
  const agentId = accountOf(context.state, tenant, execution.agent_id);
  const reservation = reservations.find(context.state, reservationId(tenant, runId, effectKey));
  if (end !== 'succeeded') return append(...vainly(end, reservation, asked));
  const digest = terms?.contract_digest ?? null;
  const contract = contractIn(context, digest);
  const subjectId = subjectIdOf(tenant, ref.subject_ref);
  const allowance = pastTheGuard(context, reservation, execution);
  const ended = {
    mutationId,
    tenant,
    runId,
    effectKey,
    end,
    debits: weighed(contract, digest, ref.reversal_class, withLost(contract, consequence, reservation)),
    agentId,
    capability,
    subjectId,
    expiresAt: ref.reversal_expires_at,
    parties: partiesOf(execution.agent_id, initiator),
    digest,
    brief: briefOf(execution.objective, terms),
    awaited: awaitedFor(asked, reservation, policy),
    isUnread: isUnread(contract, consequence),
    // What takes effects back is told otherwise.
    isPosing: reversedBy(context.state, effectKey) !== null,
    unasked: allowance === null || contract?.impact === 'read' ? [] : unasked(allowance, agentId),
  };
  const call = { capability, subjectId, reach: null, isSubjectless: ref.subject_ref === null };
  const isElse = isSomethingElse(ended, reservation);
  const bounds = boundsOf(freed(context, isElse ? reservation : null), { tenant, runId, agentId }, contract, call);
  const earned = isElse ? earnedBy(context, { tenant, agent: execution.agent_id, capability }, true) : allowance;
  const bounded = earned === null ? bounds : underRung(bounds, earned, ended.debits, tenant);
  return append(...settle(ended, reservation, bounded, policy));
}

/** What a call without an effect gives back: nothing of what may be a later one's. */
function vainly(end: Vain['end'], reservation: Reservation | null, asked: Asked<Recorded>): readonly BudgetRecord[] {
  const { ref, found_out } = asked.body;
  const vain = {
    end,
    beganAt: ref.committed_at,
    endedAt: decidedAtOf(asked.input),
    isFoundOut: found_out !== null,
  };
  const freed = mayBeOfLater(reservation, vain) ? [] : release(reservation, end);
  return end === 'failed' ? [...freed, ...attemptFailed(asked, reservation)] : freed;
}

/** What counts where nobody had reserved it: something else was executed, and no bound has seen that. */
function freed({ state, now }: DecideContext, reservation: Reservation | null): Pick<DecideContext, 'state' | 'now'> {
  if (reservation === null) return { state, now };
  const rows = new RowsOver(state, [budgets.listed]);
  const debits = negated(reservation.debits);
  rows.apply(moved(state, reservation, { decidedAt: now }, { event: 'Released', counting: { debits, calls: -1 } }));
  return { state: rows, now };
}

/** It moved more than is counted, or its contract says that it moves money, and nobody can read how much: that is not nothing (P14). */
function isUnread(contract: Contract | undefined, consequence: readonly Money[]): boolean {
  if (consequence.some(isBeyond)) return true;
  const isRead = consequence.some((one) => isMoney(one) && isCountable(one));
  return contract !== undefined && contract.impact !== 'read' && declaresMoney(contract) && !isRead;
}

/**
 * What it moved, with one of each unit that its contract counts, nobody can tell any more, and nobody held.
 *
 * Shape:  a guard holds what arguments tell: where it held none of a unit it was none, unless only the answer tells.
 */
function withLost(
  contract: Contract | undefined,
  consequence: readonly Money[],
  reservation: Reservation | null,
): readonly Money[] {
  if (contract === undefined) return consequence;
  const isRead = reservation?.phase === 'reserved';
  const counted = isRead ? knownAfterwards(contract) : Object.keys(contract.consequence ?? {});
  const held = reservation?.debits ?? [];
  const unread = counted.filter((unit) => !held.some(({ currency }) => currency === unit));
  return atLeast({ values: consequence, unread });
}

/** What the agent had earned where nobody reserved; null where its guard was told. A keyring holds agents to their names. */
function pastTheGuard(
  context: DecideContext,
  reservation: Reservation | null,
  { tenant, agent_id: agent, capability }: Recorded['execution'],
): Allowance | null {
  return reservation?.phase === 'reserved' ? null : earnedBy(context, { tenant, agent, capability }, true);
}

/** Frees what was observed to be undone, and what a cancelled effect had reserved. */
export function onRecoverability(state: StateView, { event, members }: Changed): Decision {
  if (!isOfInterest(event)) return NOTHING;
  const known = members.map(({ mutation_id: mutationId }) => ({
    mutationId,
    reservation: reservationOfMutation(state, mutationId),
  }));
  return event === 'cancelled'
    ? append(...known.flatMap(({ reservation }) => release(reservation, 'cancelled')))
    : append(...refund(known));
}

/** What happened counts even when it was cancelled before (P8). */
function endOf({ execution_state: state, recoverability }: Recorded): ExecutionEnd | null {
  if (state === 'succeeded') return 'succeeded';
  if (recoverability === 'cancelled') return 'cancelled';
  return state === 'failed' ? 'failed' : null;
}

/** The contract an execution ran under; one that is not read yet is waited for: what it caps, and what it moves, stands there. */
function contractIn({ views }: Pick<DecideContext, 'views'>, digest: Buffer | null): Contract | undefined {
  const known = digest === null ? undefined : contractByDigest(views.view(contractView.name), digest)?.contract;
  if (digest !== null && known === undefined) views.readToEnd();
  return known;
}

/** What is not described is irreversible; what is not read yet counts by the class the ledger bound. */
function weighed(
  contract: Contract | undefined,
  digest: Buffer | null,
  reversalClass: Recorded['ref']['reversal_class'],
  consequence: readonly Money[],
): readonly Debit[] {
  return debitsOf(contract, digest === null ? 'irreversible' : reversalClass, consequence.filter(isCountable));
}

/** Debits what compensations leave behind themselves, whatever they gave back (B9): each over what those before it counted. */
export function onCompensations({ body, context }: Asked<Compensations>, policy: EscalationPolicy): Decision {
  const { tenant, run_id: runId, members } = body;
  const { now, views } = context;
  const state = new RowsOver(context.state, [budgets.listed]);
  // Caps bound what agents do; what takes it back is bounded by what there is to take back.
  const call = { capability: '', subjectId: null, reach: null, isSubjectless: false };
  const debit = (member: Compensations['members'][number]): readonly BudgetRecord[] => {
    // Most cost nothing: whose they are and what bounds them is read for none of these.
    if (leavesNothing(weighedOf({ state, views }, body, member))) return [];
    const one = executedOf({ state, views }, body, member);
    const { agentId } = one.ended;
    const told = debitCompensation(one, boundsOf({ state, now }, { tenant, runId, agentId }, undefined, call), policy);
    for (const record of told) state.apply(changesOf(record, state, now));
    return told;
  };
  return append(...fittingBriefs(members.filter(isExecuted).flatMap(debit)));
}

/** What a compensation moves, and what somebody reserved for it. */
function weighedOf(
  context: Pick<DecideContext, 'state' | 'views'>,
  { tenant, run_id }: Pick<Compensations, 'tenant' | 'run_id'>,
  { contract_digest: digest, reversal_class, consequence, effect_key }: Compensations['members'][number],
): Weighed {
  return {
    debits: weighed(contractIn(context, digest), digest, reversal_class, consequence),
    isUnread: consequence.some(isBeyond),
    reservation: reservations.find(context.state, reservationId(tenant, run_id, effect_key)),
  };
}

function executedOf(
  context: Pick<DecideContext, 'state' | 'views'>,
  { tenant, run_id: runId }: Pick<Compensations, 'tenant' | 'run_id'>,
  member: Compensations['members'][number],
): Executed {
  const { effect_key: effectKey, compensation_id, reverses_mutation_id, consequence } = member;
  const agentId = accountOf(context.state, tenant, member.agent_id);
  const { contract_digest: digest, capability, reversal_class, initiator, subject_ref } = member;
  const ended = {
    mutationId: compensation_id,
    tenant,
    runId,
    effectKey,
    end: 'succeeded' as const,
    debits: weighed(contractIn(context, digest), digest, reversal_class, consequence),
    agentId,
    capability,
    subjectId: subjectIdOf(tenant, subject_ref),
    expiresAt: null,
    parties: partiesOf(member.agent_id, initiator),
    digest,
    // It belongs to the run whose effect it takes back.
    brief: reservationOfMutation(context.state, reverses_mutation_id)?.brief ?? briefOf(null, null),
    unasked: [],
    isUnread: consequence.some(isBeyond),
    isPosing: false,
    awaited: null,
  };
  return {
    ended,
    reversesMutationId: reverses_mutation_id,
    reservation: reservations.find(context.state, reservationId(tenant, runId, effectKey)),
  };
}

function isExecuted({ execution_state }: Compensations['members'][number]): boolean {
  return execution_state === 'succeeded';
}

/** Does this record say how an effect ended, of a tenant that lives on the partition that reads it? (B2) */
export function isOurs(record: RecordOf<typeof MUTATIONS_LOG>, owns: Owns): boolean {
  if (record.type === 'MutationRecorded')
    return isOf(record.body.execution.tenant, owns) && endOf(record.body) !== null;
  if (record.type === 'CompensationsExecuted')
    return isOf(record.body.tenant, owns) && record.body.members.some(isExecuted);
  return record.type === 'RecoverabilityChanged' && isOf(record.body.tenant, owns) && isOfInterest(record.body.event);
}

function isOf(tenant: string, owns: Owns): boolean {
  return tenant !== '' && owns(tenant);
}

function isOfInterest(event: Changed['event']): boolean {
  return event === 'compensation_verified' || event === 'cancelled';
}

function isCountable(one: Money): boolean {
  return Number.isSafeInteger(one.amount_minor) && one.amount_minor >= 0 && one.currency !== '' && !isBeyond(one);
}

/** More than one effect moves: counted, a few would fill the sums of its tenant for good, also once taken back. */
function isBeyond({ amount_minor }: Money): boolean {
  return isTooLarge(amount_minor);
}
