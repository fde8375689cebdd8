// What nobody may have said on a wire: counted and dropped, with evidence (L14). Pure.
//
// Invariants
//   R1. It stands before no record of anybody else: it parks nothing and holds nothing up.
//   R2. A flood of it leaves one record a batch and partition, whatever is wrong with each: with the number, the offsets, how many for
//       which reason, and a hash over all of it.
import { createHash } from 'node:crypto';
import { excerpt } from '@recourse/kernel';
import type { PlacedDecided } from './parking.decisions.js';

/** A record on a wire that speaks for nobody, or for somebody else. */
export interface RefusedItem {
  readonly kind: 'refused';
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly reason: string;
  readonly detail: string;
  /** Key it claims to be signed with; null when it claims none. */
  readonly signingKey: string | null;
  readonly value: Buffer | null;
}

/** Reason of what a key may not say. */
export const SPEAKER_MISMATCH = 'SPEAKER_MISMATCH';

/** Claimed keys that a record names. */
const KEYS_TOLD = 10;
const DETAIL_MAX = 1_000;

/** Do two refusals that follow each other go into one record? */
export function goTogether(a: RefusedItem, b: RefusedItem): boolean {
  return a.topic === b.topic && a.partition === b.partition;
}

/**
 * The RecordsRefused of a run of refusals.
 *
 * Shape:  `values_sha256` is h(n) with h(0) = 32 zero octets and h(i) = SHA-256 of h(i-1) and the i-th value.
 */
export function refusedRecord(run: readonly [RefusedItem, ...RefusedItem[]]): PlacedDecided {
  const [first] = run;
  const { topic, partition } = first;
  const values_sha256 = run.reduce<Buffer>(
    (hash, { value }) =>
      createHash('sha256')
        .update(hash)
        .update(value ?? Buffer.alloc(0))
        .digest(),
    Buffer.alloc(32),
  );
  const offsets = { from_offset: first.offset, to_offset: run.at(-1)?.offset ?? first.offset, count: run.length };
  const detail = excerpt(first.detail, DETAIL_MAX);
  const why = { reasons: reasonsOf(run), detail, signing_keys: keysOf(run) };
  const body = { topic, partition, ...offsets, ...why, values_sha256 };
  return { decided: { type: 'RecordsRefused', body }, key: `${topic}/${String(partition)}` };
}

/** How many for which reason, the commonest first. */
function reasonsOf(run: readonly RefusedItem[]): readonly { readonly reason: string; readonly count: number }[] {
  return [...Map.groupBy(run, ({ reason }) => reason)]
    .map(([reason, { length }]) => ({ reason, count: length }))
    .sort((one, other) => other.count - one.count);
}

function keysOf(run: readonly RefusedItem[]): readonly string[] {
  return [...new Set(run.flatMap(({ signingKey }) => signingKey ?? []))].slice(0, KEYS_TOLD);
}
