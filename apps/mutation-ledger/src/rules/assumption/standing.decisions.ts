// What stands of a ref once one more source has spoken: the newest word, unless it lifts the word of a source that weighs more (D65).
//
// Boundary: pure. What a source weighs is told; how its triggers are admitted is admission's.
//
// Invariants
//   W1. A stranger's word makes nothing fall where sources are weighed; so it keeps nothing from falling either: an invalidation
//       is lifted by a newer word of its own source, or of one that weighs as much.
//   W2. While their weights stay, what stands does not depend on the order in which the words arrive. Where all weigh alike it is the
//       newest.
//   W3. What was left out for want of room may have weighed the most that a word can: only a word of that weight lifts it.
import type { StatedVerdict } from '@recourse/messages';
import type { Side, StandingStatement } from './assumption.messages.js';

/** A word of a source. Units: epoch milliseconds. */
export type Word = Pick<Side, 'source' | 'verdict' | 'stated_at' | 'effective_at'>;

/** Thousandths. */
export type Weigh = (word: Pick<Word, 'source' | 'verdict' | 'stated_at'>) => number;

/** The most that a source can be registered with. */
const WEIGHT_MAX = 1_000;

export interface Standing {
  readonly verdict: StatedVerdict;
  /** Another word stands, as it did before this one. */
  readonly superseded: boolean;
  /** Source whose older word stands against a newer one; null where the newest stands. */
  readonly outweighed_by: string | null;
}

/** Says what stands. Of words of one instant the one that was recorded later counts as the newer. */
export function standingAfter(said: Word, before: StandingStatement | null, weigh: Weigh): Standing {
  if (before === null) return { verdict: said.verdict, superseded: false, outweighed_by: null };
  const others: readonly Word[] = before.sides.filter(({ source }) => source !== said.source);
  if (isOutdated(said, before)) return { verdict: before.verdict, superseded: true, outweighed_by: null };
  const words = [...others, said];
  const weights = new Map(words.map((word) => [word, weigh(word)]));
  const weightOf = (word: Word): number => weights.get(word) ?? 0;
  const isNewer = (a: Word, b: Word): boolean =>
    a.effective_at === b.effective_at
      ? a === said || (b !== said && a.verdict === before.verdict)
      : a.effective_at > b.effective_at;
  const isLifted = (word: Word): boolean =>
    words.some((other) => other.verdict === 'holds' && isNewer(other, word) && weightOf(other) >= weightOf(word));
  // What was lifted stays so, whatever its lifter weighs by now: a word that it holds makes nothing fall.
  const isOpen = (word: Word): boolean => word === said || before.verdict === 'invalidated';
  const left = words.filter((word) => word.verdict === 'invalidated' && isOpen(word) && !isLifted(word));
  const crowdedOut = said.verdict === 'holds' && weightOf(said) >= WEIGHT_MAX ? undefined : before.crowded_out;
  if (left.length === 0 && crowdedOut !== undefined)
    return { verdict: 'invalidated', superseded: true, outweighed_by: said.verdict === 'holds' ? crowdedOut : null };
  const verdict = left.length === 0 ? 'holds' : 'invalidated';
  const rivals = left.length === 0 ? words : left;
  const isFirst = rivals.includes(said) && rivals.every((word) => word === said || isNewer(said, word));
  const heavier = said.verdict === 'holds' ? left.find((word) => isNewer(said, word)) : undefined;
  return {
    verdict,
    superseded: !isFirst && verdict === before.verdict,
    outweighed_by: heavier?.source ?? null,
  };
}

/** Its own source has said something newer. */
function isOutdated({ source, effective_at }: Word, { sides }: StandingStatement): boolean {
  return sides.some((side) => side.source === source && side.effective_at > effective_at);
}
