// A steady rise of rollbacks, told from a storm and from noise (E47): a storm opens a breaker, a rise asks a person and holds nothing.
//
// Boundary: pure; counts of one partition, by windows of fixed length that records name.
//
// Invariants
//   R1. A rise lasts: every one of the newest windows is above the usual rate. A burst fills one of them.
//   R2. The usual rate is that of the older windows, so a slow climb does not become usual while it lasts.
//   R3. Few are no rise, whatever they were before: below the least of a window, and within chance of the usual rate, nobody is asked.
//   R4. One alert at a time. Once a person has looked at it, the rate of then is the usual one.
import { deriveId, isAmong, isPerson, keptIds, personKey } from '@recourse/kernel';
import type { Evidence, Fallen, ReviewTrend } from '@recourse/messages';
import { OWNER_OF_TRENDS } from '../owners.js';
import { record } from '../record.messages.js';
import type { MutationRecord } from '../record.messages.js';
import type { Refusal } from '../refusal.messages.js';
import type { TrendDoc, TrendLimits, TrendOf } from './trend.messages.js';

/** Windows that are remembered: a day of hours. */
const KNOWN_MAX = 24;
/** Newest windows that must all be above the usual rate, and fewest before them that tell what is usual. */
const RECENT = 3;
/** Standard deviations of a usual count that chance is granted. */
const CHANCE = 3;
/** Least rollbacks of a window on one partition, however many share the limit. */
const SHARE_MIN = 3;
/** Events that are remembered: the commits of one fall come together. */
const EVENTS_MAX = 16;

/** A rise. */
export interface Rise {
  /** The newest windows, the newest last. */
  readonly recent: readonly number[];
  /** Mean of a window before. */
  readonly usual: number;
}

const idOfTrend = keptIds('trd');

export function trendKey({ scope, tenant, name }: TrendOf): string {
  return idOfTrend(scope, tenant, name);
}

/** Limits of one partition. */
export function sharedTrend(limits: TrendLimits, partitionCount: number): TrendLimits {
  return { ...limits, min: Math.max(SHARE_MIN, Math.floor(limits.min / Math.max(1, partitionCount))) };
}

/** Whose trends a rollback counts toward, however its agent is spelt; what stood on a commit that fell counts with its root. */
export function trendsOf(tenant: string, agent: string, { kind }: Pick<Evidence, 'kind'>): readonly TrendOf[] {
  return kind === 'lineage'
    ? []
    : [
        { scope: 'tenant', tenant, name: tenant },
        { scope: 'agent', tenant, name: personKey(agent) },
      ];
}

/** The rise that windows show, the oldest first; null for a usual rate, and where nothing tells what is usual. */
export function riseOf(counts: readonly number[], { min, factor }: Pick<TrendLimits, 'min' | 'factor'>): Rise | null {
  const [before, recent] = [counts.slice(0, -RECENT), counts.slice(-RECENT)];
  if (before.length < RECENT) return null;
  const usual = mean(before.slice(0, Math.ceil(before.length / 2)));
  const level = Math.max(min, factor * usual, usual + CHANCE * Math.sqrt(usual));
  return recent.every((count) => count >= level) ? { recent, usual } : null;
}

/** Windows as they are at an instant: those that went by without a rollback count as such. */
export function rolledTo<Doc extends Pick<TrendDoc, 'window' | 'window_ms' | 'count' | 'counts'>>(
  doc: Doc,
  at: number,
): Doc {
  const window = Math.floor(at / doc.window_ms);
  const over = window - doc.window;
  if (over <= 0) return doc;
  const empty = Array.from({ length: Math.min(over - 1, KNOWN_MAX) }, () => 0);
  return { ...doc, window, count: 0, counts: [...doc.counts, doc.count, ...empty].slice(-KNOWN_MAX) };
}

/** One more rollback. */
export interface Counting {
  readonly of: TrendOf;
  readonly eventId: string;
  readonly windowMs: number;
}

/** The row after one more rollback. Windows of another length begin anew. */
export function counted(standing: TrendDoc | null, { of, eventId, windowMs }: Counting, at: number): TrendDoc {
  const begun = { window_ms: windowMs, window: Math.floor(at / windowMs), count: 0, counts: [], events: [] };
  const isSame = standing?.window_ms === windowMs;
  const before: TrendDoc = isSame ? standing : { ...NO_ALERT, ...of, ...standing, ...begun, updated_at: at };
  const doc = { ...rolledTo(before, at), updated_at: at };
  if (doc.events.includes(eventId)) return doc;
  return { ...doc, count: doc.count + 1, events: [...doc.events, eventId].slice(-EVENTS_MAX) };
}

/** What rollbacks of these that are decided now raise: an alert for each trend that has none. */
export function raised(
  standing: TrendDoc | null,
  { run_id }: Pick<Fallen, 'run_id'>,
  limits: TrendLimits,
  {
    now,
    partition,
    reviewDeadlineMs,
  }: { readonly now: number; readonly partition: number; readonly reviewDeadlineMs: number },
): MutationRecord<'TrendRose'> | null {
  if (standing?.phase !== 'usual' || standing.window_ms !== limits.windowMs) return null;
  const rise = riseOf(rolledTo(standing, now).counts, limits);
  if (rise === null) return null;
  const { scope, tenant, name } = standing;
  return record('TrendRose', {
    trend_id: deriveId('trd', scope, tenant, name, partition),
    scope,
    name,
    tenant,
    run_id,
    window_ms: limits.windowMs,
    counts: rise.recent,
    usual_permille: Math.round(rise.usual * 1_000),
    owner: OWNER_OF_TRENDS,
    deadline_at: now + reviewDeadlineMs,
  });
}

/** A person's word about a rise, or why it does not count. `concerned`: the agent it is about, and who owns it. */
export function reviewed(
  standing: TrendDoc | null,
  { envelope, trend_id, reason }: ReviewTrend,
  concerned: readonly (string | null)[],
): MutationRecord | Refusal {
  if (standing?.tenant !== envelope.tenant || standing.trend_id !== trend_id || standing.run_id === null)
    return { code: 'NOT_RISING', message: 'No such rise of this tenant waits for anybody.' };
  if (reason.trim() === '')
    return { code: 'COMMAND_INVALID', message: 'Say what was done, or why it may go on: give a reason.' };
  if (!isPerson(envelope.principal))
    return { code: 'JUDGE_NOT_A_PERSON', message: 'Only a person ends this: no agent, no service account.' };
  if (isAmong(concerned, envelope))
    return { code: 'SELF_APPROVAL', message: 'Nobody ends what is asked about their own agent.' };
  const { scope, name, tenant, run_id } = standing;
  const { principal: by, command_id } = envelope;
  return record('TrendReviewed', { trend_id, scope, name, tenant, run_id, by, reason, command_id });
}

/** The row once a person has looked: the rate of now is the usual one (R4). */
export function accepted(standing: TrendDoc, at: number): TrendDoc {
  const now = rolledTo(standing, at);
  const usual = Math.ceil(mean(now.counts.slice(-RECENT)));
  const counts = Array.from({ length: KNOWN_MAX }, () => usual);
  return { ...now, ...NO_ALERT, counts, updated_at: at };
}

const NO_ALERT = {
  phase: 'usual',
  trend_id: null,
  run_id: null,
  owner: null,
  deadline_at: null,
  raised_at: null,
} as const;

function mean(counts: readonly number[]): number {
  return counts.length === 0 ? 0 : counts.reduce((sum, count) => sum + count, 0) / counts.length;
}
