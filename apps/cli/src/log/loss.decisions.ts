// Compares what was projected with what the log still holds, and says what to do about it (L5, L8). Pure.
import type { Head } from '@recourse/chain';

/** What is known of both sides. */
export interface BothSides {
  /** Head the database was projected to; null when nothing was. */
  readonly projected: Head | null;
  /** Accepted head of the log as it stands. */
  readonly log: Head;
  /** Hash of the accepted record at the projected head's seq; null when the log is shorter. */
  readonly hashAtProjected: Buffer | null;
  /** What the last accepted record accepts, when it is a CutAccepted. */
  readonly lastAccepts: { readonly lostHeadHash: Buffer } | null;
}

export type Loss =
  | { readonly kind: 'nothing_lost' }
  /** Records are gone, and nothing took their place: may be accepted. */
  | { readonly kind: 'cut'; readonly fromSeq: number; readonly toSeq: number; readonly headHash: Buffer }
  /** The loss is recorded already; only the projection is left. */
  | { readonly kind: 'recorded' }
  /** Another history stands where the projected one stood: no cut, and nothing to accept here. */
  | { readonly kind: 'rewritten'; readonly seq: number };

export function judgeLoss({ projected, log, hashAtProjected, lastAccepts }: BothSides): Loss {
  if (projected === null || projected.seq === 0) return { kind: 'nothing_lost' };
  if (hashAtProjected?.equals(projected.hash) === true) return { kind: 'nothing_lost' };
  if (lastAccepts?.lostHeadHash.equals(projected.hash) === true) return { kind: 'recorded' };
  if (hashAtProjected !== null) return { kind: 'rewritten', seq: projected.seq };
  return { kind: 'cut', fromSeq: log.seq + 1, toSeq: projected.seq, headHash: projected.hash };
}
