// Comparers: how one field of a contract is weighed when it changes. Each is a pure function of the two values.
import { canonicalJson } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';

/** weakening: less is checked, asked or bounded than before. strengthening: more is. neutral: neither. */
export type DifferenceKind = 'weakening' | 'strengthening' | 'neutral';

/** One difference of two versions. */
export interface Difference {
  /** JSON pointer into the contract. */
  readonly path: string;
  readonly kind: DifferenceKind;
  /** Null where the version does not have it. */
  readonly from: Json;
  readonly to: Json;
  /** Why it is of this kind. */
  readonly reason: string;
}

/** Compares one field; undefined stands for a field that is not there. */
export type Comparer = (from: Json | undefined, to: Json | undefined, path: string) => readonly Difference[];

type Reasons = Readonly<{ weaker: string; stronger: string }>;

/** Texts and names that no decision rests on. */
export const text = (reason: string): Comparer => changed('neutral', reason);

/** Any change counts as this. */
export function changed(kind: DifferenceKind, reason: string): Comparer {
  return (from, to, path) => (same(from, to) ? [] : [difference(path, kind, { from, to }, reason)]);
}

/** Values in order of strictness, weakest first; `absent` is what a field means that is not there. */
export function ladder(order: readonly string[], absent: string, { weaker, stronger }: Reasons): Comparer {
  const rank = (value: Json | undefined): number => order.indexOf(typeof value === 'string' ? value : absent);
  return (from, to, path) => {
    if (rank(from) === rank(to)) return [];
    return [
      rank(to) < rank(from)
        ? difference(path, 'weakening', { from, to }, weaker)
        : difference(path, 'strengthening', { from, to }, stronger),
    ];
  };
}

/** A bound: more allows more; without it there is none. */
export function cap(reasons: Reasons): Comparer {
  return numeric(Number.POSITIVE_INFINITY, 'higher', reasons);
}

/** A duration or weight that protects: less protects less; without it there is none. */
export function guard(reasons: Reasons): Comparer {
  return numeric(0, 'lower', reasons);
}

/** A claim of the provider that lets more happen the larger it is; without it nothing is claimed. */
export function claim(reasons: Reasons): Comparer {
  return count(0, reasons);
}

/** A number that lets more happen the larger it is; `absent` is what counts where it is not said. */
export function count(absent: number, reasons: Reasons): Comparer {
  return numeric(absent, 'higher', reasons);
}

function numeric(absent: number, weakerWhen: 'higher' | 'lower', { weaker, stronger }: Reasons): Comparer {
  const valueOf = (value: Json | undefined): number => (typeof value === 'number' ? value : absent);
  return (from, to, path) => {
    if (valueOf(from) === valueOf(to)) return [];
    const isHigher = valueOf(to) > valueOf(from);
    return [
      isHigher === (weakerWhen === 'higher')
        ? difference(path, 'weakening', { from, to }, weaker)
        : difference(path, 'strengthening', { from, to }, stronger),
    ];
  };
}

/** A flag that demands something when it is true. */
export function demand(reasons: Reasons): Comparer {
  return (from, to, path) =>
    (from === true) === (to === true)
      ? []
      : [
          difference(
            path,
            to === true ? 'strengthening' : 'weakening',
            { from, to },
            to === true ? reasons.stronger : reasons.weaker,
          ),
        ];
}

/** A check: dropped is weaker, added is stronger, another one cannot be told to be as strict, so it counts as weaker. */
export function check(what: string): Comparer {
  return (from, to, path) => {
    if (same(from, to)) return [];
    if (to === undefined) return [difference(path, 'weakening', { from, to }, `${what} is dropped`)];
    if (from === undefined) return [difference(path, 'strengthening', { from, to }, `${what} is added`)];
    return [
      difference(path, 'weakening', { from, to }, `${what} is another one, and nothing shows that it is as strict`),
    ];
  };
}

/** A list of which every entry demands something. */
export function demands(what: string): Comparer {
  return entriesOfList({ dropped: 'weakening', added: 'strengthening' }, what);
}

/** A list of which every entry lets something go unchecked. */
export function concedes(what: string): Comparer {
  return entriesOfList({ dropped: 'strengthening', added: 'weakening' }, what);
}

function entriesOfList(kinds: Readonly<Record<'dropped' | 'added', DifferenceKind>>, what: string): Comparer {
  return (from, to, path) => {
    const [before, after] = [texts(from), texts(to)];
    const found = {
      dropped: before.filter((each) => !after.includes(each)),
      added: after.filter((each) => !before.includes(each)),
    };
    return (['dropped', 'added'] as const)
      .filter((how) => found[how].length > 0)
      .map((how) => difference(path, kinds[how], { from, to }, `${what} is ${how}: ${found[how].join(', ')}`));
  };
}

/** An object whose fields are compared one by one; a whole that is dropped or added is weighed as `whole` says. */
export function fields(comparers: Readonly<Record<string, Comparer>>, whole: Comparer | null = null): Comparer {
  return (from, to, path) => {
    if (whole !== null && (from === undefined || to === undefined)) return whole(from, to, path);
    return Object.entries(comparers).flatMap(([name, compare]) =>
      compare(member(from, name), member(to, name), `${path}/${name}`),
    );
  };
}

/** An object of named entries, each compared alike. */
export function entries(compare: Comparer): Comparer {
  return (from, to, path) =>
    [...new Set([...keys(from), ...keys(to)])].flatMap((name) =>
      compare(member(from, name), member(to, name), `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
    );
}

export function difference(
  path: string,
  kind: DifferenceKind,
  { from, to }: { readonly from: Json | undefined; readonly to: Json | undefined },
  reason: string,
): Difference {
  return { path, kind, from: from ?? null, to: to ?? null, reason };
}

export function same(from: Json | undefined, to: Json | undefined): boolean {
  return (from === undefined) === (to === undefined) && canonicalJson(from ?? null) === canonicalJson(to ?? null);
}

export function member(value: Json | undefined, name: string): Json | undefined {
  if (value === undefined || value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, Json>>)[name] : undefined;
}

export function keys(value: Json | undefined): readonly string[] {
  return value === undefined || value === null || typeof value !== 'object' || Array.isArray(value)
    ? []
    : Object.keys(value);
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter((each) => typeof each === 'string') : [];
}
