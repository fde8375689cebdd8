// Names what a verification found: the evidence that void records leave, and what heads known from elsewhere say. Pure.
//
// Shape: one alteration has one name. What is only its consequence (the rest of the chain, which is void) is not named again.
import type { Head } from './acceptance.js';

/** One piece of evidence. `seq` is the first position it concerns; `offset` where it shows, -1 when nowhere. */
export type Finding =
  | { readonly kind: 'flipped'; readonly seq: number; readonly offset: number }
  /** Its key is another than its follower commits to, and all else is as it was. */
  | { readonly kind: 'rekeyed'; readonly seq: number; readonly offset: number }
  /** Its frame names another schema than its follower commits to. */
  | { readonly kind: 'schema_swapped'; readonly seq: number; readonly offset: number }
  | { readonly kind: 'reordered'; readonly seq: number; readonly offset: number }
  | { readonly kind: 'missing'; readonly seq: number; readonly lastSeq: number; readonly offset: number }
  | { readonly kind: 'foreign_genesis'; readonly seq: number; readonly offset: number }
  /** It claims a place that another accepted record has, after one that is not there. */
  | { readonly kind: 'stray'; readonly seq: number; readonly offset: number }
  | { readonly kind: 'unreadable'; readonly offset: number }
  | { readonly kind: 'unknown_schema'; readonly id: number; readonly offset: number }
  | { readonly kind: 'cut_tail'; readonly seq: number; readonly lastSeq: number }
  /** Several logs end where they ended at one earlier instant. */
  | { readonly kind: 'restored_backup'; readonly seq: number; readonly lastSeq: number }
  /** No head that anybody kept holds. */
  | { readonly kind: 'rewritten'; readonly seq: number; readonly offset: number }
  /** The log holds up to `seq` - 1 and goes on with other records than a head commits to. */
  | { readonly kind: 'regrown'; readonly seq: number; readonly lastSeq: number; readonly offset: number }
  /** Two heads of one length that differ: two readers were shown two logs. */
  | { readonly kind: 'forked'; readonly seq: number; readonly offset: number }
  /** A record stands further behind than when its head was signed, or less far. */
  | { readonly kind: 'inserted'; readonly seq: number; readonly count: number; readonly offset: number }
  | { readonly kind: 'removed'; readonly seq: number; readonly count: number; readonly offset: number };

/** A head known from elsewhere: signed, kept by an earlier verification, or in a database. */
export interface KnownHead extends Head {
  /** Merkle root over the records up to it, where that is known. */
  readonly root?: Buffer;
  /** Offset behind it, where that is known. */
  readonly nextOffset?: number;
}

/** An alteration that leaves everything else of a record as it was. */
export type Alteration = 'rekeyed' | 'schema_swapped';

/** A void record that follows nothing that was there before it. */
export interface Stranger {
  readonly offset: number;
  readonly seq: number;
  /** Accepted records before it, and the offset of the last one. */
  readonly acceptedBefore: number;
  readonly leaderOffset: number;
  /** `seq:hash` of what it follows. */
  readonly leader: string;
  /** It follows the accepted head, but for its seq. */
  readonly isNumberAltered: boolean;
  /** What the record it should follow must have been, by what this one commits to. */
  readonly leaderWas: () => Alteration | null;
  /** Something that comes later is what it follows. */
  isLeaderLater: boolean;
  /** A later record claims the place after it; one of them follows it. */
  isSucceeded: boolean;
  isFollowed: boolean;
  /** A later record follows it as it would be with the right `prev_hash`. */
  isMended: boolean;
}

/** What contradicts a known head. */
export interface Contradiction {
  readonly known: KnownHead;
  readonly offset: number;
  /** The last known head that the log holds; 0 when none. */
  readonly lastGood: number;
  /** All records before this one are as they were. */
  readonly isAlone: boolean;
  /** Known heads of this length differ among themselves. */
  readonly isForked: boolean;
  /** What the record in its place must have been to have the hash of the head. */
  readonly was: Alteration | null;
}

/** All that a reading left. */
export interface Evidence {
  readonly accepted: number;
  /** Offset of the last accepted record. */
  readonly headOffset: number;
  /** Those that no accepted loss explains. */
  readonly strangers: readonly Stranger[];
  readonly unreadable: readonly number[];
  readonly stoppedAt: Finding | null;
  readonly contradiction: Contradiction | null;
  readonly shift: Finding | null;
  readonly highestKnown: number;
  /** The last known head that the log holds; 0 when none. */
  readonly lastGood: number;
  /** The highest seq of the void records that follow one another. */
  readonly highestVoid: number;
}

/** Findings in order of offset, those against known heads last. */
export function findingsOf(evidence: Evidence): readonly Finding[] {
  const { stoppedAt } = evidence;
  const named = namedAll(evidence);
  const inPlace = [
    ...evidence.unreadable.map((offset): Finding => ({ kind: 'unreadable', offset })),
    ...named,
    ...(stoppedAt === null ? [] : [stoppedAt]),
  ].sort((a, b) => placeOf(a) - placeOf(b));
  return [...inPlace, ...againstHeads(inPlace, evidence)];
}

const placeOf = (finding: Finding): number => ('offset' in finding ? finding.offset : Number.MAX_SAFE_INTEGER);

/** Names the strangers; those that were altered in their places account for the gap before the next one. */
function namedAll(evidence: Evidence): readonly Finding[] {
  const { strangers } = evidence;
  const findings: Finding[] = [];
  const taken = new Set<Stranger>();
  for (const stranger of strangers) {
    const damaged = damagedIn(
      { ...stranger, accepted: stranger.acceptedBefore, before: stranger.offset },
      strangers,
      evidence,
    );
    if (damaged === null || stranger.isLeaderLater) continue;
    for (const [n, { offset, one }] of damaged.entries()) {
      if (one !== null) taken.add(one);
      findings.push({ kind: 'flipped', seq: stranger.acceptedBefore + 1 + n, offset });
    }
    taken.add(stranger);
  }
  const left = strangers.filter((one) => !taken.has(one));
  const atEnd = damagedAtEnd(left, evidence);
  if (atEnd !== null) return [...findings, ...atEnd];
  return [...findings, ...left.map((one) => findingOf(one, evidence))];
}

interface Damaged {
  readonly offset: number;
  readonly one: Stranger | null;
}

/** A gap in the chain: behind the record at `leaderOffset`, before the place `seq`. */
interface Gap {
  readonly seq: number;
  readonly accepted: number;
  readonly leaderOffset: number;
  readonly before: number;
}

/** The records that stand, altered, in a gap: as many as it is wide, and nobody follows them. Null when that is not so. */
function damagedIn(
  { seq, accepted, leaderOffset, before }: Gap,
  strangers: readonly Stranger[],
  evidence: Evidence,
): readonly Damaged[] | null {
  const width = seq - 1 - accepted;
  if (width < 1 || evidence.accepted >= seq) return null;
  const between = [
    ...strangers
      .filter((one) => one.acceptedBefore === accepted && !one.isFollowed && !one.isLeaderLater)
      .map((one): Damaged => ({ offset: one.offset, one })),
    ...evidence.unreadable.map((offset): Damaged => ({ offset, one: null })),
  ].filter(({ offset }) => offset > leaderOffset && offset < before);
  return between.length === width ? between.sort((a, b) => a.offset - b.offset) : null;
}

/** The last records of a log, altered so that nothing can be made of them: a known head says how many there were. */
function damagedAtEnd(left: readonly Stranger[], evidence: Evidence): readonly Finding[] | null {
  const { accepted, headOffset, highestKnown } = evidence;
  const gap = { seq: highestKnown + 1, accepted, leaderOffset: headOffset, before: Infinity };
  const damaged = damagedIn(gap, left, evidence);
  if (damaged === null || left.some((stranger) => !damaged.some(({ one }) => one === stranger))) return null;
  return damaged.map(({ offset }, n) => ({ kind: 'flipped', seq: accepted + 1 + n, offset }));
}

function findingOf(one: Stranger, { accepted }: Evidence): Finding {
  const { seq, offset } = one;
  if (one.isMended) return { kind: 'flipped', seq, offset };
  if (seq === 1) return { kind: 'foreign_genesis', seq: 1, offset };
  if (one.isLeaderLater) return { kind: 'reordered', seq, offset };
  if (one.isNumberAltered && accepted < seq) return { kind: 'flipped', seq: one.acceptedBefore + 1, offset };
  // What an accepted record commits to was not altered: the chain goes on without this one.
  if (accepted >= seq) return { kind: 'stray', seq, offset };
  if (accepted === seq - 1) return alteredNeighbour(one);
  return { kind: 'missing', seq: accepted + 1, lastSeq: seq - 1, offset };
}

/** One of two neighbours was altered: the follower when nothing follows it, although something comes after. */
function alteredNeighbour(one: Stranger): Finding {
  const leaderWas = one.leaderWas();
  if (leaderWas !== null) return { kind: leaderWas, seq: one.seq - 1, offset: one.leaderOffset };
  return one.isFollowed || !one.isSucceeded
    ? { kind: 'flipped', seq: one.seq - 1, offset: one.leaderOffset }
    : { kind: 'flipped', seq: one.seq, offset: one.offset };
}

/** What only a head that somebody kept shows; what the records themselves show already is not said twice. */
function againstHeads(inPlace: readonly Finding[], evidence: Evidence): readonly Finding[] {
  const { accepted, headOffset, contradiction, shift, highestKnown, lastGood } = evidence;
  const isNamed = (seq: number): boolean => inPlace.some((finding) => 'seq' in finding && finding.seq === seq);
  if (contradiction !== null) return isNamed(contradiction.known.seq) ? [] : [contradicted(contradiction, evidence)];
  if (evidence.stoppedAt !== null) return [];
  const moved = shift === null || inPlace.length > 0 ? [] : [shift];
  const reached = reachOf(evidence, inPlace);
  if (reached < highestKnown) return [...moved, { kind: 'cut_tail', seq: reached + 1, lastSeq: highestKnown }];
  // What a head commits to is there, and void: another record stands before it in its place.
  if (accepted < highestKnown && inPlace.length === 0) {
    return lastGood > 0
      ? [{ kind: 'regrown', seq: lastGood + 1, lastSeq: highestKnown, offset: headOffset }]
      : [{ kind: 'rewritten', seq: accepted, offset: headOffset }];
  }
  return moved;
}

/** The highest place of which something is there, accepted or not, or is found. */
export function reachOf(
  { accepted, highestVoid, strangers }: Pick<Evidence, 'accepted' | 'highestVoid' | 'strangers'>,
  findings: readonly Finding[],
): number {
  return Math.max(accepted, highestVoid, ...strangers.map(({ seq }) => seq), ...ends(findings));
}

function ends(findings: readonly Finding[]): readonly number[] {
  return findings.flatMap((finding) =>
    'lastSeq' in finding ? [finding.lastSeq] : 'seq' in finding ? [finding.seq] : [],
  );
}

function contradicted(
  { known: { seq }, offset, lastGood, isAlone, isForked, was }: Contradiction,
  { accepted, highestKnown }: Evidence,
): Finding {
  if (isForked) return { kind: 'forked', seq, offset };
  // Nothing follows it, so that it need not fit what follows.
  if (accepted === seq && was !== null) return { kind: was, seq, offset };
  if (accepted === seq && isAlone) return { kind: 'flipped', seq, offset };
  return lastGood > 0
    ? { kind: 'regrown', seq: lastGood + 1, lastSeq: highestKnown, offset }
    : { kind: 'rewritten', seq, offset };
}
