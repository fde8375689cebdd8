// Decides what is said of a piece of work, and what sums over many of them mean. Pure.
import { isSubject, isUsableId } from '@recourse/kernel';
import type { Money, OutcomeRecorded } from '@recourse/messages';
import type { SignalRefusal } from '../autonomy/autonomy.messages.js';
import type { CostedMoney, OutcomeMoney, OutcomeRatios, OutcomeSums } from './outcome.messages.js';

/** How far the clock of a source may be ahead of ours, milliseconds. */
const AHEAD_MS = 300_000;
const SATISFACTION_MAX_PERMILLE = 1_000;

/** Trusted is what was accepted, is grounded and kept within policy; nothing less (D39). */
export function isTrusted({
  accepted,
  grounded,
  policy_compliant,
}: Pick<OutcomeRecorded, 'accepted' | 'grounded' | 'policy_compliant'>): boolean {
  return accepted && grounded && policy_compliant;
}

/** Why an outcome does not count; null when it does. */
export function outcomeProblem(said: OutcomeRecorded, now: number): SignalRefusal | null {
  const { agent_id, source, workflow_id, event_id, run_id, intent, version, cost, revenue, ended_at } = said;
  const names = [workflow_id, event_id, ...[run_id, intent, version].filter((name) => name !== null)];
  if (!isSubject(agent_id) || !isSubject(source) || !names.every(isUsableId)) return 'SIGNAL_NAME_INVALID';
  if (![cost, revenue].every(isFitting)) return 'OUTCOME_AMOUNT_INVALID';
  if (!areCounted(said)) return 'OUTCOME_COUNT_INVALID';
  return ended_at > now + AHEAD_MS ? 'SIGNAL_AHEAD' : null;
}

/** Parts are parts: of tokens, and of calls that asked a cache. */
function areCounted(said: OutcomeRecorded): boolean {
  const { total_tokens, retry_tokens, eval_tokens, cache_lookups, cache_hits, csat_permille } = said;
  const counts = [total_tokens, retry_tokens, eval_tokens, cache_lookups, cache_hits, csat_permille ?? 0];
  return (
    counts.every((count) => Number.isSafeInteger(count) && count >= 0) &&
    retry_tokens <= total_tokens &&
    eval_tokens <= total_tokens &&
    cache_hits <= cache_lookups &&
    (csat_permille ?? 0) <= SATISFACTION_MAX_PERMILLE
  );
}

function isFitting(money: Money | null): boolean {
  if (money === null) return true;
  return Number.isSafeInteger(money.amount_minor) && money.amount_minor >= 0 && /^[A-Z]{3}$/u.test(money.currency);
}

/** What the sums mean. */
export function ratiosOf(sums: OutcomeSums): OutcomeRatios {
  const { outcomes, trusted, total_tokens: tokens, cache_lookups, cache_hits, csat_permille, csat_asked } = sums;
  return {
    trusted_ratio: part(trusted, outcomes),
    retry_token_ratio: part(sums.retry_tokens, tokens),
    eval_overhead_ratio: part(sums.eval_tokens, tokens),
    cache_hit_rate: part(cache_hits, cache_lookups),
    success_rate: part(sums.succeeded, sums.success_asked),
    conversion_rate: part(sums.converted, sums.conversion_asked),
    deflection_rate: part(sums.deflected, sums.deflection_asked),
    csat: part(csat_permille, csat_asked * SATISFACTION_MAX_PERMILLE),
  };
}

/** What one trusted outcome costs: what was spent on those that are not trusted counts towards it (D41). */
export function costed(money: OutcomeMoney, trusted: number): CostedMoney {
  const { cost_minor } = money;
  return { ...money, cost_per_trusted_outcome_minor: cost_minor === null ? null : part(cost_minor, trusted) };
}

/** Null where there is nothing to divide by. */
function part(some: number, all: number): number | null {
  return all === 0 ? null : some / all;
}
