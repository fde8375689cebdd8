// Release tuple: what decided to act, pinned. An action carries it as one of its refs, so a bad release can be invalidated like
// any other assumption, and everything it did is found by it.
//
// Grammar:
//   release-ref = "release/" hex( SHA-256( canonical-json( tuple ) ) ) "#stands"
import { canonicalJson, deriveId, sha256Hex } from '@recourse/kernel';
import type { Statement } from './producer/producer.js';

/** The parts of a release tuple, in their order (D63). */
export const RELEASE_PARTS = ['prompt', 'model', 'policy', 'tools', 'context', 'eval', 'memory'] as const;
/** Name of a part of a release tuple. */
export type ReleasePart = (typeof RELEASE_PARTS)[number];

/** Version or digest of each part. Source: requirement D63. */
export type ReleaseTuple = { readonly [Part in ReleasePart]: string };

/** One part in which two releases differ. */
export interface ReleaseDifference {
  readonly part: ReleasePart;
  readonly from: string;
  readonly to: string;
}

/** The tuple alone, in the order of its parts; what else an object carries is left out. */
function plain(tuple: ReleaseTuple): ReleaseTuple {
  const { prompt, model, policy, tools, context, eval: evaluation, memory } = tuple;
  return { prompt, model, policy, tools, context, eval: evaluation, memory };
}

/** Digest of a tuple, hex. */
export function releaseDigest(tuple: ReleaseTuple): string {
  return sha256Hex(canonicalJson(plain(tuple)));
}

/** The ref an action of this release carries. */
export function releaseRef(tuple: ReleaseTuple): string {
  return `release/${releaseDigest(tuple)}#stands`;
}

/** Parts in which two releases differ, in the order of the tuple. */
export function releaseDiff(from: ReleaseTuple, to: ReleaseTuple): readonly ReleaseDifference[] {
  return RELEASE_PARTS.filter((part) => from[part] !== to[part]).map((part) => ({
    part,
    from: from[part],
    to: to[part],
  }));
}

/**
 * What is stated about a release, so that its ref leads to the tuple.
 *
 * Units: stated at 0: the statement follows from the tuple alone, so every producer's copy is the same.
 */
export function releaseStatement(tenant: string, tuple: ReleaseTuple): Statement {
  const ref = releaseRef(tuple);
  return { eventId: deriveId('rel', tenant, ref), tenant, ref, statement: plain(tuple), statedAt: 0 };
}
