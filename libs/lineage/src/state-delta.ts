// Deltas between states: JSON merge patches (RFC 7396).
//
// A patch cannot set a member to null, nor change a list in part: where it would have to, the whole member is given, and where
// even that does not do, the state is told whole.
import { canonicalJson, isJsonObject } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';

/** Most deltas between a state and the whole one it builds on: bounds the time to restore it. */
export const DEPTH_MAX = 32;

type Members = Readonly<Record<string, Json>>;

/** Applies a patch, as RFC 7396 section 2 has it. */
export function applyDelta(base: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const next = new Map<string, Json>(isJsonObject(base) ? Object.entries(base) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) next.delete(name);
    else next.set(name, applyDelta(next.get(name) ?? null, value));
  }
  return Object.fromEntries(next);
}

/** The patch that makes `next` of `base`; null when no patch does, and the state has to be told whole. */
export function deltaOf(base: Json, next: Json): Json | null {
  const patch = isJsonObject(base) && isJsonObject(next) ? patchOf(base, next) : null;
  return patch !== null && canonicalJson(applyDelta(base, patch)) === canonicalJson(next) ? patch : null;
}

function patchOf(base: Members, next: Members): Members {
  const gone = Object.keys(base)
    .filter((name) => !Object.hasOwn(next, name))
    .map((name) => [name, null] as const);
  const told = Object.entries(next).flatMap(([name, value]): (readonly [string, Json])[] => {
    const before = Object.hasOwn(base, name) ? base[name] : undefined;
    if (before !== undefined && canonicalJson(before) === canonicalJson(value)) return [];
    return [
      [name, before !== undefined && isJsonObject(before) && isJsonObject(value) ? patchOf(before, value) : value],
    ];
  });
  return Object.fromEntries([...gone, ...told]);
}
