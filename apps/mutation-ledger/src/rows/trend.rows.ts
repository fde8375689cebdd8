// Rows of trends: what rollbacks make of the counts of their tenant and agent, and the alerts people have (L2).
import { row, foldEach } from '@recourse/event-log';
import type { Change, StateView } from '@recourse/event-log';
import { personKey } from '@recourse/kernel';
import { fallenIn, rolledBackIn } from '@recourse/messages';
import type { Admission, Evidence } from '@recourse/messages';
import { accepted, counted, trendKey, trendsOf } from '../rules/trend/trend.decisions.js';
import type { TrendDoc, TrendOf } from '../rules/trend/trend.messages.js';
import type { Fold } from './fold.js';

const trends = row<TrendDoc>({
  kind: 'trend',
  table: 'trends',
  group: trendKey,
  key: trendKey,
  columns: {
    trend_id: 'text',
    tenant: 'text',
    scope: 'text',
    name: 'text',
    phase: 'text',
    owner: 'text',
    deadline_at: 'bigint',
    updated_at: 'bigint',
  },
  indexes: [['tenant', 'phase', 'deadline_at'], ['trend_id']],
});

export const TREND_KIND = trends.spec;

/** Counts of a tenant or an agent; null while nothing of it was rolled back. */
export function trendIn(state: StateView, of: TrendOf): TrendDoc | null {
  const key = trendKey(of);
  return trends.find(state, key);
}

/** The same for a name as a record has it: those of before count an agent by each spelling, and are read with it. */
export function trendNamed(state: StateView, of: TrendOf): TrendDoc | null {
  return trendIn(state, of) ?? (of.scope === 'agent' ? trendIn(state, { ...of, name: personKey(of.name) }) : null);
}

/** A rollback that counts, for its tenant and its agent. */
interface Fallen {
  readonly tenant: string;
  readonly agent: string;
  readonly evidence: Evidence;
  readonly admission: Admission;
}

function counting(
  state: StateView,
  { tenant, agent, evidence, admission: { trend_window_ms: windowMs } }: Fallen,
  at: number,
): readonly Change[] {
  if (windowMs === 0) return [];
  return trendsOf(tenant, agent, evidence).map((of) =>
    trends.put(counted(trendIn(state, of), { of, eventId: evidence.event_id, windowMs }, at)),
  );
}

/** Those that count: an event counts once for an agent, however much of what it did fell together. */
function countedOnce(fallen: readonly Fallen[]): readonly Fallen[] {
  const counts = new Map<string, Fallen>();
  for (const { tenant, agent, evidence, admission } of fallen)
    counts.set(`${String(admission.trend_window_ms)} ${agent}`, { tenant, agent, evidence, admission });
  return [...counts.values()];
}

export const TREND_FOLD = {
  MutationsFell: (body, state, { decidedAt: at }) =>
    foldEach(
      state,
      countedOnce(fallenIn(body).map(({ execution, ...of }) => ({ ...of, agent: execution.agent_id }))),
      (fallen, rows) => counting(rows, fallen, at),
    ),
  CheckpointRolledBack: (body, state, { decidedAt: at }) =>
    foldEach(
      state,
      countedOnce(rolledBackIn(body).map(({ agent_id: agent, ...of }) => ({ ...of, agent }))),
      (fallen, rows) => counting(rows, fallen, at),
    ),
  TrendRose: ({ trend_id, run_id, owner, deadline_at, ...of }, state, { decidedAt: at }) => {
    const standing = trendNamed(state, of);
    const alert = { phase: 'rising', trend_id, run_id, owner, deadline_at, raised_at: at, updated_at: at } as const;
    return standing === null ? [] : [trends.put({ ...standing, ...alert })];
  },
  TrendReviewed: (of, state, { decidedAt: at }) => {
    const standing = trendNamed(state, of);
    return standing === null ? [] : [trends.put(accepted(standing, at))];
  },
} satisfies Fold;
