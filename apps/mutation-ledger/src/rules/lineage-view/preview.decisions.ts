// What would fall with a commit, before anybody admits its rollback: commits, money, subjects, consumers, and what the bound leaves out.
import { LineageGraph } from '@recourse/lineage';
import type { Named, Reliance } from './lineage.messages.js';

/** Subjects and ids that are named one by one; the rest is counted. */
const NAMED_MAX = 100;

/** A commit in the closure, as columns have it. */
export interface Reached extends Named {
  readonly kind: 'mutation' | 'commit';
  readonly agent: string | null;
  readonly subject_ref: string | null;
  /** Minor units; null for what has no value. */
  readonly value_minor: number | null;
  readonly currency: string | null;
  /** Epoch milliseconds. */
  readonly recorded_at: number;
  readonly rollback_id: string | null;
}

/** Consumers that hear of a commit, were it rolled back now. */
export type HearersOf = (commit: Reached) => readonly string[];

export interface FallAsked {
  /** Commits that are contradicted; those that are reached alone count. */
  readonly roots: readonly string[];
  /** The roots among them. */
  readonly reached: readonly Reached[];
  readonly reliances: readonly Reliance[];
  /** Commits recorded before this are left to people, epoch milliseconds; null without a bound. */
  readonly boundAt: number | null;
  /** Null where nobody can say who hears. */
  readonly hearersOf: HearersOf | null;
  readonly truncated: boolean;
}

export type PreviewAsked = Omit<FallAsked, 'roots'> & { readonly commit: string };

/** What would fall, added up. */
export interface Fall {
  readonly bound_at: number | null;
  /** Commits that would be rolled back, the one asked about among them. */
  readonly falls: {
    readonly commits: number;
    readonly with_effect: number;
    readonly without_effect: number;
    readonly runs: number;
  };
  /** Of the closure: what was rolled back already. */
  readonly fallen_already: number;
  /** Minor units per currency; decimal text where a number would not be exact. */
  readonly money: readonly {
    readonly currency: string;
    readonly amount_minor: number | string;
    readonly mutations: number;
  }[];
  readonly subjects: { readonly count: number; readonly first: readonly string[] };
  /** Null where nobody can say who hears. */
  readonly consumers: readonly { readonly consumer: string; readonly commits: number }[] | null;
  readonly beyond_bound: { readonly commits: number; readonly first: readonly string[] };
  /** True when there are more commits than were looked at: every figure is a lower bound. */
  readonly truncated: boolean;
}

export type LineagePreview = Fall & { readonly commit: string };

export function lineagePreview({ commit, ...asked }: PreviewAsked): LineagePreview {
  return { commit, ...fallOf({ ...asked, roots: [commit] }) };
}

/** Adds up what would fall. The walk continues through what has already fallen and what is beyond the bound. */
export function fallOf({ roots, reached, reliances, boundAt, hearersOf, truncated }: FallAsked): Fall {
  const byId = new Map(reached.map((one) => [one.id, one] as const));
  const graph = new LineageGraph();
  for (const { child, parent } of reliances) graph.add(child, [parent], byId.get(child)?.recorded_at);
  const closure = graph.closureOf(roots, { boundAt });
  const known = (ids: readonly string[]): readonly Reached[] => ids.flatMap((id) => byId.get(id) ?? []);
  const all = known([...roots, ...closure.ids()]);
  const falls = all.filter(({ rollback_id }) => rollback_id === null);
  const beyond = known(closure.ids('beyond')).filter(({ rollback_id }) => rollback_id === null);
  const subjects = [...new Set(falls.flatMap(({ subject_ref }) => subject_ref ?? []))].sort();
  const withEffect = falls.filter(({ kind }) => kind === 'mutation').length;
  return {
    bound_at: boundAt,
    falls: {
      commits: falls.length,
      with_effect: withEffect,
      without_effect: falls.length - withEffect,
      runs: new Set(falls.map(({ run_id }) => run_id)).size,
    },
    fallen_already: all.length - falls.length,
    money: moneyOf(falls),
    subjects: { count: subjects.length, first: subjects.slice(0, NAMED_MAX) },
    consumers: hearersOf === null ? null : tallied(falls.map(hearersOf)),
    beyond_bound: { commits: beyond.length, first: beyond.slice(0, NAMED_MAX).map(({ id }) => id) },
    truncated,
  };
}

function moneyOf(commits: readonly Reached[]): LineagePreview['money'] {
  const sums = new Map<string, { amount: bigint; mutations: number }>();
  for (const { value_minor: value, currency } of commits) {
    if (value === null || currency === null) continue;
    const { amount, mutations } = sums.get(currency) ?? { amount: 0n, mutations: 0 };
    sums.set(currency, { amount: amount + BigInt(value), mutations: mutations + 1 });
  }
  return [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, { amount, mutations }]) => ({
      currency,
      amount_minor: Number.isSafeInteger(Number(amount)) ? Number(amount) : String(amount),
      mutations,
    }));
}

/** Many commits have one list of hearers: lists are counted first, and then the names in them. */
function tallied(
  lists: readonly (readonly string[])[],
): readonly { readonly consumer: string; readonly commits: number }[] {
  const alike = new Map<readonly string[], number>();
  for (const list of lists) alike.set(list, (alike.get(list) ?? 0) + 1);
  const counts = new Map<string, number>();
  for (const [list, times] of alike) for (const name of list) counts.set(name, (counts.get(name) ?? 0) + times);
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([consumer, commits]) => ({ consumer, commits }));
}
