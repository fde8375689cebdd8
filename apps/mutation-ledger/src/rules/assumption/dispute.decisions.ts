// What each source last said of a ref, and whether they contradict each other (D65). Supersession is not asked: all sides are kept.
import type { StatedVerdict } from '@recourse/messages';
import type { Dispute, Side, StandingStatement } from './assumption.messages.js';

/** Most sources that are kept of one ref: more than a ref has, and few enough for a row. The oldest word goes first. */
export const SIDES_MAX = 20;

const UNDISPUTED: Dispute = { sides: [], is_disputed: false, disputed_since: null };

/** What the sources say once one of them has spoken, after which `stands` does. Units: epoch milliseconds; `effective_at` orders what one source said. */
export function disputeAfter(
  before: StandingStatement | null,
  said: Side,
  stands: StatedVerdict,
  now: number,
): Dispute {
  const { sides, disputed_since } = before ?? UNDISPUTED;
  const own = sides.find(({ source }) => source === said.source);
  const newest = own !== undefined && own.effective_at > said.effective_at ? own : said;
  const all = [...sides.filter(({ source }) => source !== said.source), newest];
  const ordered = all.sort(lastFirst);
  const kept = ordered.slice(0, SIDES_MAX);
  const crowdedOut = stands === 'invalidated' ? leftOut(before, ordered.slice(SIDES_MAX)) : undefined;
  const verdicts = new Set<StatedVerdict>(kept.map(({ verdict }) => verdict));
  const isDisputed = verdicts.size > 1;
  return {
    sides: kept.sort((a, b) => (a.source < b.source ? -1 : 1)),
    is_disputed: isDisputed,
    disputed_since: isDisputed ? (disputed_since ?? now) : null,
    ...(crowdedOut === undefined ? {} : { crowded_out: crowdedOut }),
  };
}

/** The first source whose open word against the fact nobody will remember; what a fact held already is lifted. */
function leftOut(before: StandingStatement | null, dropped: readonly Side[]): string | undefined {
  if (before?.verdict !== 'invalidated') return undefined;
  return before.crowded_out ?? dropped.find(({ verdict }) => verdict === 'invalidated')?.source;
}

/** What is said to hold is dropped first: whoever speaks under many names crowds out no word against a fact. */
function lastFirst(a: Side, b: Side): number {
  const isFalse = (side: Side): number => (side.verdict === 'invalidated' ? 1 : 0);
  return isFalse(b) - isFalse(a) || b.effective_at - a.effective_at;
}
