// What a consumer heard, held against what the log says: each rollback once in effect, its commit before it, per run in the order of the log. Pure.

/** A word of the log, or of a consumer about it. `id` names it: the same word said or heard again has the same one. */
export interface Word {
  readonly id: string;
  readonly kind: 'commit' | 'rollback';
  readonly runId: string;
  readonly commitId: string;
}

/** Words that did not come as they should, each list by id. */
export interface HeardVerdict {
  readonly said: number;
  readonly heard: number;
  readonly rollbacks: number;
  /** Rollbacks that came before their commit. */
  readonly early: readonly string[];
  readonly lost: readonly string[];
  readonly twice: readonly string[];
  /** Words that came after one of the same run that the log has behind them. */
  readonly disordered: readonly string[];
  /** Words that nobody said, or not to this consumer. */
  readonly strange: readonly string[];
}

/**
 * Compares what was said with what was heard.
 *
 * Shape: `said` has every word once, in the order of the log per run; `heard` is in the order in which the consumer kept it.
 */
export function verdictOf(said: readonly Word[], heard: readonly Word[]): HeardVerdict {
  const places = new Map(said.map(({ id }, place) => [id, place]));
  const counts = new Map<string, number>();
  for (const { id } of heard) counts.set(id, (counts.get(id) ?? 0) + 1);
  return {
    said: said.length,
    heard: counts.size,
    rollbacks: new Set(heard.filter(({ kind, id }) => kind === 'rollback' && places.has(id)).map(({ id }) => id)).size,
    early: earlyOf(heard),
    lost: said.filter(({ id }) => !counts.has(id)).map(({ id }) => id),
    twice: [...counts].filter(([, count]) => count > 1).map(([id]) => id),
    disordered: disorderedOf(places, heard),
    strange: [...counts.keys()].filter((id) => !places.has(id)),
  };
}

/** Words each once, the first of them: a consumer that keeps its place beside its words hears some again after a crash. */
export function onceOf(words: readonly Word[]): readonly Word[] {
  const first = new Map<string, Word>();
  for (const word of words) if (!first.has(word.id)) first.set(word.id, word);
  return [...first.values()];
}

/** What is wrong, in a sentence each; nothing when all is as it should be. */
export function complaintsOf(
  consumer: string,
  { early, lost, twice, disordered, strange }: HeardVerdict,
): readonly string[] {
  const wrongs = {
    'rollbacks before their commit': early,
    'words lost': lost,
    'words heard twice': twice,
    'words out of order': disordered,
    'words that nobody said to it': strange,
  };
  return Object.entries(wrongs)
    .filter(([, ids]) => ids.length > 0)
    .map(([what, ids]) => `${consumer}: ${String(ids.length)} ${what}, the first ${ids[0] ?? ''}`);
}

function earlyOf(heard: readonly Word[]): readonly string[] {
  const known = new Set<string>();
  const early: string[] = [];
  for (const { id, kind, commitId } of heard) {
    if (kind === 'commit') known.add(commitId);
    else if (!known.has(commitId)) early.push(id);
  }
  return early;
}

function disorderedOf(places: ReadonlyMap<string, number>, heard: readonly Word[]): readonly string[] {
  const lasts = new Map<string, number>();
  const disordered: string[] = [];
  for (const { id, runId } of onceOf(heard)) {
    const place = places.get(id);
    if (place === undefined) continue;
    if (place < (lasts.get(runId) ?? -1)) disordered.push(id);
    lasts.set(runId, Math.max(place, lasts.get(runId) ?? -1));
  }
  return disordered;
}
