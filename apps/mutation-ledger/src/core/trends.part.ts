// Trends, as a part of the mutations core: what marks raise, and a person's word about it (E47).
//
// Boundary: rows read, the decisions of rules/trend asked; holds no rule.
import { accepted } from '@recourse/event-log';
import type { DecideContext } from '@recourse/event-log';
import { personKey } from '@recourse/kernel';
import type { Evidence, ReviewTrend } from '@recourse/messages';
import { trendIn } from '../rows/trend.rows.js';
import type { MutationRecord } from '../rules/record.messages.js';
import type { Reviewing } from '../rules/rollback/rollback.messages.js';
import { raised, reviewed, trendKey, trendsOf } from '../rules/trend/trend.decisions.js';
import type { TrendLimits, TrendOf } from '../rules/trend/trend.messages.js';
import { concernedBy, doneInRun, editorRefusal, partiesTo } from './ending.part.js';
import { refuse } from './refuse.js';

/** A rollback that is marked. */
export interface MarkedBy {
  readonly tenant: string;
  readonly run_id: string;
  readonly agent: string;
  readonly evidence: Evidence;
}

/** Alerts that rollbacks of one decision raise, each once. Windows that are over are told from the rows of before. */
export function rises(
  { state, now, partition }: Pick<DecideContext, 'state' | 'now' | 'partition'>,
  marked: readonly MarkedBy[],
  limits: TrendLimits | null,
  { reviewDeadlineMs }: Reviewing,
): readonly MutationRecord[] {
  if (limits === null) return [];
  const asked = new Map<string, { readonly of: TrendOf; readonly run_id: string }>();
  for (const { tenant, agent, evidence, run_id } of marked)
    for (const of of trendsOf(tenant, agent, evidence))
      asked.set(trendKey(of), asked.get(trendKey(of)) ?? { of, run_id });
  return [...asked.values()].flatMap(
    ({ of, run_id }) => raised(trendIn(state, of), { run_id }, limits, { now, partition, reviewDeadlineMs }) ?? [],
  );
}

/** A person says what was done about a rise, or why it may go on. One of an agent is also about what it did in the run that raised it. */
export function onReviewTrend(context: DecideContext, command: ReviewTrend) {
  const { envelope, scope, name, trend_id } = command;
  const { tenant } = envelope;
  const standing = trendIn(context.state, { scope, name, tenant });
  const run = scope === 'agent' ? (standing?.run_id ?? null) : null;
  const all = run === null ? [] : doneInRun(context.state, tenant, run);
  const done = all.filter((one) => personKey(one.agent_id) === personKey(name));
  const concerned = [
    ...concernedBy(context, tenant, scope === 'agent' ? [name] : []),
    ...partiesTo(context, tenant, done),
  ];
  const told = reviewed(standing, command, concerned);
  if ('code' in told) return refuse(told);
  const refusal = editorRefusal(context, tenant, done, envelope);
  return refusal === null ? accepted(200, { trend_id, reviewed: true }, told) : refuse(refusal);
}
