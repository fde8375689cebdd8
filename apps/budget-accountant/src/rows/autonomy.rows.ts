// Rows of earned autonomy: what agents have earned, how it came about, and what was said by whom.
import { row } from '@recourse/event-log';
import type { Change, Fold, StateView } from '@recourse/event-log';
import { deriveId, keptIds } from '@recourse/kernel';
import type { BodyOf, MovedMutation } from '@recourse/messages';
import type { Autonomy, AutonomyChange, Key } from '../rules/autonomy/autonomy.messages.js';
import { namesOf, spelt } from './names.rows.js';

/** Id of what an agent has earned at a kind of task (D30). */
export const autonomyIdOf: (tenant: string, agent: string, taskKind: string) => string = keptIds('aut');

/** Id of what a source said: the same whenever it is said (L12). */
export function toldIdOf(tenant: string, source: string, eventId: string): string {
  return deriveId('tld', tenant, source, eventId);
}

/** A standing has a timer while a violation or a correction will pass. */
export const autonomies = row<Autonomy>({
  kind: 'autonomy',
  table: 'autonomies',
  group: ({ autonomy_id }) => autonomy_id,
  key: ({ autonomy_id }) => autonomy_id,
  due: ({ reconsider_at }) => reconsider_at,
  columns: {
    autonomy_id: 'text',
    tenant: 'text',
    agent_id: 'text',
    task_kind: 'text',
    rung: 'text',
    earned: 'text',
    capped_by: 'text',
    frozen_by: 'text',
    score_ppm: 'bigint',
  },
  indexes: [['tenant', 'agent_id', 'task_kind']],
});

/**
 * What stands for an agent at a kind of task, under each spelling of its name; where nothing does, nothing under this one.
 *
 * Shape:  one, unless it stood under several spellings before an agent was one agent however it is spelt: then all of them, of
 *         which the lowest holds.
 */
export function standingsAt(
  state: StateView,
  tenant: string,
  agent: string,
  task_kind: string,
): readonly [At, ...At[]] {
  const [first, ...others] = [...new Set([...namesOf(state, tenant, agent), agent])].flatMap((agent_id) => {
    const standing = autonomies.find(state, autonomyIdOf(tenant, agent_id, task_kind));
    return standing === null ? [] : [{ key: standing, standing }];
  });
  const autonomy_id = autonomyIdOf(tenant, agent, task_kind);
  return [first ?? { key: { autonomy_id, tenant, agent_id: agent, task_kind }, standing: null }, ...others];
}

interface At {
  readonly key: Key;
  readonly standing: Autonomy | null;
}

/** Each change is a row of its own: nobody loads them to decide. */
const changes = row<AutonomyChange>({
  kind: 'autonomy_change',
  table: 'autonomy_changes',
  group: ({ change_id }) => change_id,
  key: ({ change_id }) => change_id,
  columns: {
    autonomy_id: 'text',
    tenant: 'text',
    agent_id: 'text',
    task_kind: 'text',
    cause: 'text',
    decided_at: 'bigint',
  },
  indexes: [
    ['tenant', 'autonomy_id', 'decided_at'],
    ['tenant', 'agent_id'],
    ['tenant', 'task_kind'],
  ],
});

/** What a source said, so that the same event with other content is noticed. */
interface Told {
  readonly told_id: string;
  /** 64 hex digits. */
  readonly content_hash: string;
}

export const tellings = row<Told>({
  kind: 'telling',
  table: 'tellings',
  group: ({ told_id }) => told_id,
  key: ({ told_id }) => told_id,
  columns: { told_id: 'text' },
});

/** Where an effect that was taken back counts, so that a person's word about its trigger finds it. */
interface Counted {
  readonly mutation_id: string;
  readonly autonomy_ids: readonly string[];
}

const countedEffects = row<Counted>({
  kind: 'counted_effect',
  table: 'counted_effects',
  group: ({ mutation_id }) => mutation_id,
  key: ({ mutation_id }) => mutation_id,
  columns: { mutation_id: 'text' },
});

/** A leg that is taken back, or what is known of one effect, and fits no batch: it counts in parts, and its timer goes on at once. */
export interface UndoneLeg {
  readonly undoing_id: string;
  readonly tenant: string;
  readonly run_id: string | null;
  readonly members: readonly MovedMutation[];
  /** Id of the last standing that it counts at. */
  readonly after: string;
  /** Epoch milliseconds. */
  readonly due_at: number;
  /** Absent where they were taken back. */
  readonly cause?: 'overrun' | 'false_trigger';
  /** Who said of a trigger that it was wrong, and why. */
  readonly by?: string | null;
  readonly reason?: string | null;
}

export const undoneLegs = row<UndoneLeg>({
  kind: 'undone_leg',
  table: 'undone_legs',
  group: ({ undoing_id }) => undoing_id,
  key: ({ undoing_id }) => undoing_id,
  due: ({ due_at }) => due_at,
  columns: { undoing_id: 'text', tenant: 'text' },
});

export const AUTONOMY_ROWS = [autonomies, changes, tellings, countedEffects, undoneLegs];

/** The standings in which an effect that was taken back counts. */
export function countedIn(state: StateView, mutationId: string): readonly Autonomy[] {
  const counted = countedEffects.find(state, mutationId)?.autonomy_ids ?? [];
  return counted.map((id) => autonomies.find(state, id)).filter((found) => found !== null);
}

type Changed = BodyOf<'recourse.budgets', 'AutonomyChanged'>;

/** What an agent has earned after it was judged anew. */
export const autonomyChanged: Fold<'recourse.budgets', 'AutonomyChanged'> = (body, state, { hash, decidedAt }) => {
  const { autonomy_id, tenant, agent_id, task_kind, standing, source, event_id, content_hash } = body;
  const { signal, run_id, mutation_id, by, reason, cause, before } = body;
  const { pardoned, ...kept } = standing;
  const { rung, earned, capped_by, score_ppm } = kept;
  const key = { autonomy_id, tenant, agent_id, task_kind };
  const change_id = `chg_${hash.toString('hex').slice(0, 32)}`;
  const said = { signal, source, event_id, run_id, mutation_id, by, reason };
  return [
    autonomies.put({ ...key, ...kept, ...(pardoned === null ? {} : { pardoned }) }),
    changes.put({
      ...key,
      ...said,
      change_id,
      cause,
      before,
      rung,
      earned,
      capped_by,
      score_ppm,
      decided_at: decidedAt,
    }),
    ...(source === null || event_id === null || content_hash === null
      ? []
      : [told(toldIdOf(tenant, source, event_id), content_hash)]),
    ...spelt(state, tenant, agent_id),
    ...(cause === 'compensation_verified' ? undoneIn(body, state).map((id) => countedAt(state, id, autonomy_id)) : []),
    ...remainingOf(body, decidedAt),
  ];
};

/** What remains of what counts in parts. */
function remainingOf(
  { undoing_id, remaining, tenant, run_id, autonomy_id: after, cause, by, reason }: Changed,
  due_at: number,
): readonly Change[] {
  if (undoing_id === null) return [];
  const address = { kind: undoneLegs.spec.kind, group: undoing_id, key: undoing_id };
  const said = cause === 'overrun' || cause === 'false_trigger' ? { cause, by, reason } : {};
  return remaining.length === 0
    ? [{ op: 'delete', address }]
    : [undoneLegs.put({ undoing_id, tenant, run_id, members: remaining, after, due_at, ...said })];
}

/** What a record counts as taken back: effects of one leg count in one record, which names the last and keeps all in its standing. */
function undoneIn({ autonomy_id, mutation_id, standing }: Changed, state: StateView): readonly string[] {
  const known = autonomies.find(state, autonomy_id)?.undone.map(({ id }) => id) ?? [];
  const counted = standing.undone.map(({ id }) => id).filter((id) => !known.includes(id));
  return [...new Set([...counted, ...(mutation_id === null ? [] : [mutation_id])])];
}

/** Remembers what was said, whatever came of it. */
export function told(told_id: string, hash: Buffer): Change {
  return tellings.put({ told_id, content_hash: hash.toString('hex') });
}

function countedAt(state: StateView, mutation_id: string, autonomyId: string): Change {
  const known = countedEffects.find(state, mutation_id)?.autonomy_ids ?? [];
  return countedEffects.put({ mutation_id, autonomy_ids: [...new Set([...known, autonomyId])] });
}
