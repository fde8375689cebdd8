// What people say of triggers, and what that does: a held one is admitted or closed, the weight of its source moves (E31).
//
// Invariants
//   J1. Whoever stated the evidence does not judge it, nor who owns its source.
//   J2. A trigger is judged once, and moves the weight of its source once; what is rolled back stays so, whatever is said of it later.
//       One whose commit does not come is closed by a person's no even then: nothing else would ever end it.
//   J3. A weight stays between 0 and 1000, and moves the way it is told.
import { isAmong, isPerson } from '@recourse/kernel';
import type { BreakerClosed, CloseBreaker, ConfirmTrigger, RejectTrigger, SourceJudged } from '@recourse/messages';
import { CONFIRMED_ADDS, REJECTED_TAKES, WEIGHT_MAX } from './admission.messages.js';
import type { BreakerDoc } from './admission.messages.js';
import { record } from '../record.messages.js';
import type { Body, MutationRecord } from '../record.messages.js';
import type { Refusal } from '../refusal.messages.js';
import type { RollbackDoc } from '../rollback/rollback.messages.js';

export type Verdict = 'confirmed' | 'rejected';

/** A person's word on a trigger. */
export interface Judging {
  readonly command: ConfirmTrigger | RejectTrigger;
  readonly verdict: Verdict;
}

/** Why somebody may not judge a trigger; null when they may. `owners`: who stands behind its source. */
export function judgingRefusal(
  standing: RollbackDoc | undefined,
  { command: { envelope, rollback_id }, verdict }: Judging,
  owners: readonly (string | null)[],
): Refusal | null {
  if (standing?.tenant !== envelope.tenant || standing.rollback_id !== rollback_id)
    return {
      code: 'ROLLBACK_UNKNOWN',
      message: 'There is no such rollback in this run of this tenant.',
    };
  if (standing.phase === 'beyond' || standing.phase === 'reviewed')
    return {
      code: 'NO_TRIGGER',
      message: 'No trigger names this commit: a fall reaches it beyond its bound. Review it.',
    };
  if (!isPerson(envelope.principal))
    return {
      code: 'JUDGE_NOT_A_PERSON',
      message: 'Only a person says whether a trigger was right: no agent, no service account, no role.',
    };
  if (isAmong([standing.evidence.source, ...owners], envelope))
    return { code: 'SELF_JUDGEMENT', message: 'Nobody judges their own trigger, or one of a source of theirs.' };
  return standing.judged === null || isClosedBy(standing, verdict)
    ? null
    : {
        code: 'TRIGGER_JUDGED',
        message: `Somebody has ${standing.judged.verdict} this trigger already.`,
      };
}

/** Whether a person's no closes it: nothing fell for it yet, and nothing falls without them, or its commit did not come in time. */
export function isClosedBy({ phase }: Pick<RollbackDoc, 'phase'>, verdict: Verdict): boolean {
  return verdict === 'rejected' && (phase === 'held' || phase === 'escalated');
}

/** The weight after a person's word, thousandths. */
export function movedWeight(weight: number, verdict: Verdict): number {
  return Math.min(WEIGHT_MAX, Math.max(0, weight + (verdict === 'confirmed' ? CONFIRMED_ADDS : -REJECTED_TAKES)));
}

/** What is taken back for a trigger, and whose it was. */
export type TakenBack = Pick<SourceJudged, 'agent_id' | 'capability'>;

/** Nothing is taken back for a trigger that waits for a word. */
export const NOTHING_TAKEN_BACK: TakenBack = { agent_id: null, capability: null };

/** That a source was right or wrong. */
export function judgedFact(
  { rollback_id, tenant, run_id, mutation_id, evidence: { source } }: RollbackDoc,
  { envelope, reason }: ConfirmTrigger | RejectTrigger,
  { verdict, weight, takenBack }: { readonly verdict: Verdict; readonly weight: number; readonly takenBack: TakenBack },
): MutationRecord {
  return record('SourceJudged', {
    rollback_id,
    tenant,
    run_id,
    mutation_id,
    source,
    confirmed: verdict === 'confirmed',
    weight_permille: movedWeight(weight, verdict),
    by: envelope.principal,
    reason,
    command_id: envelope.command_id,
    ...takenBack,
  });
}

/** Closes a trigger that is held, or whose commit did not come. */
export function rejectedFact(
  { rollback_id, tenant, run_id, mutation_id, evidence: { event_id } }: RollbackDoc,
  { envelope, reason }: RejectTrigger,
): MutationRecord {
  return record('TriggerRejected', {
    rollback_id,
    tenant,
    run_id,
    mutation_id,
    event_id,
    by: envelope.principal,
    reason,
    command_id: envelope.command_id,
  });
}

/** Closes a breaker, or says why not. `concerned`: who made what it holds, for whom, who owns the agents, and its source. */
export function closeBreaker(
  breaker: BreakerDoc | undefined,
  { envelope, reason }: CloseBreaker,
  concerned: readonly (string | null)[],
): MutationRecord | Refusal {
  if (breaker?.tenant !== envelope.tenant)
    return { code: 'BREAKER_UNKNOWN', message: 'There is no such breaker of this tenant.' };
  if (!isPerson(envelope.principal))
    return {
      code: 'JUDGE_NOT_A_PERSON',
      message: 'Only a person closes a breaker: no agent, no service account, no role.',
    };
  if (breaker.phase === 'closed')
    return { code: 'BREAKER_CLOSED', message: 'Somebody has closed this breaker already.' };
  if (isAmong(concerned, envelope))
    return {
      code: 'SELF_APPROVAL',
      message: 'Nobody closes a breaker over their own source, or what their agent did.',
    };
  const { breaker_id, scope, name, tenant, run_id } = breaker;
  const body: Body<BreakerClosed> = {
    breaker_id,
    scope,
    name,
    tenant,
    run_id,
    by: envelope.principal,
    reason,
    command_id: envelope.command_id,
  };
  return record('BreakerClosed', body);
}
