// Verifies one partition of a log from its start, and says which kind of tampering it found.
//
// Void records are ordinary: rivals and repeated batches leave them. One is *explained* when it follows an accepted record
// or another explained void record (the rest of a rival's batch), or a head that an accepted record gives up as lost (the
// owner's last append after a cut). Every other void record is evidence: whatever it followed is gone, altered or elsewhere.
//
// Boundary: pure; keeps 100 octets per accepted record in memory. What no later record commits to (the last record
// altered, the tail cut) shows only against an older head.
import { FRAME_SIZE, readHead, schemaIdOf } from './framing.js';
import type { Head, FingerprintOf, RawRecord } from './acceptance.js';
import { ChainReader } from './acceptance.js';
import { leafHash } from './leaf.js';
import { MerkleTree } from './merkle.js';

export interface StoredRecord extends RawRecord {
  readonly offset: number;
}

/** One piece of evidence. `seq` is the first position it concerns; `offset` where it shows, null when nowhere. */
export type Finding =
  | { readonly kind: 'flipped'; readonly seq: number; readonly offset: number }
  | { readonly kind: 'reordered'; readonly seq: number; readonly offset: number }
  | { readonly kind: 'missing'; readonly seq: number; readonly lastSeq: number; readonly offset: number }
  | { readonly kind: 'foreign_genesis'; readonly seq: number; readonly offset: number }
  /** It claims a place that another accepted record has, after one that is not there. */
  | { readonly kind: 'stray'; readonly seq: number; readonly offset: number }
  | { readonly kind: 'unreadable'; readonly offset: number }
  | { readonly kind: 'unknown_schema'; readonly id: number; readonly offset: number }
  | { readonly kind: 'cut_tail'; readonly seq: number; readonly lastSeq: number }
  | { readonly kind: 'rewritten'; readonly seq: number; readonly offset: number };

export interface LogCheck {
  /** Genesis head of the partition. */
  readonly genesis: Head;
  readonly fingerprintOf: FingerprintOf;
  /** A head of this partition known from elsewhere: a signed head, a database, an earlier verification. */
  readonly olderHead?: Head;
  /** The head that an accepted record gives up as lost, with everything behind the record it follows; null for all others. */
  readonly lossIn?: (record: StoredRecord) => Head | null;
}

export interface LogReport {
  readonly head: Head;
  readonly accepted: number;
  readonly voids: number;
  /** Merkle root over the accepted records. */
  readonly root: Buffer;
  /** Empty when the log is sound. */
  readonly findings: readonly Finding[];
}

/** A record seen, with the hashes the analysis needs, in hex. */
interface Seen {
  readonly offset: number;
  readonly seq: number;
  readonly prev: string;
  readonly hash: string;
}

interface Reading {
  readonly head: Head;
  readonly root: Buffer;
  /** Accepted records; index = seq - 1. */
  readonly accepted: readonly Seen[];
  readonly voids: readonly Seen[];
  /** Heads that accepted records give up as lost. */
  readonly losses: readonly Head[];
  readonly unreadable: readonly number[];
  readonly stoppedAt: { readonly id: number; readonly offset: number } | null;
}

/**
 * Verifies the records of one partition, given in offset order from its start.
 *
 * Shape:  findings in order of offset, those against the older head last. An unknown schema ends the reading there.
 * Source: promise P11; docs/design/loop.md.
 */
export function verifyLog(records: Iterable<StoredRecord>, check: LogCheck): LogReport {
  const reading = readAll(records, check);
  const findings = [...tamperings(reading, check.genesis), ...againstOlderHead(reading, check)];
  return {
    head: reading.head,
    accepted: reading.accepted.length,
    voids: reading.voids.length + reading.unreadable.length,
    root: reading.root,
    findings,
  };
}

function readAll(records: Iterable<StoredRecord>, { genesis, fingerprintOf, lossIn }: LogCheck): Reading {
  const reader = new ChainReader(genesis, fingerprintOf);
  const tree = new MerkleTree();
  const [accepted, voids, losses, unreadable]: [Seen[], Seen[], Head[], number[]] = [[], [], [], []];
  let stoppedAt: Reading['stoppedAt'] = null;
  for (const record of records) {
    const before = reader.head;
    const verdict = reader.read(record);
    if (verdict.kind === 'accepted') {
      tree.append(verdict.head.hash);
      accepted.push({
        offset: record.offset,
        seq: verdict.head.seq,
        prev: hex(before.hash),
        hash: hex(verdict.head.hash),
      });
      const loss = lossIn?.(record) ?? null;
      if (loss !== null) losses.push(loss);
    } else if (verdict.kind === 'unknown_schema') {
      stoppedAt = { id: verdict.id, offset: record.offset };
      break;
    } else {
      const seen = seenVoid(record, fingerprintOf);
      if (seen === null) unreadable.push(record.offset);
      else voids.push(seen);
    }
  }
  return { head: reader.head, root: tree.root(), accepted, voids, losses, unreadable, stoppedAt };
}

function seenVoid({ offset, key, value }: StoredRecord, fingerprintOf: FingerprintOf): Seen | null {
  const head = readHead(value);
  const id = schemaIdOf(value);
  if (key === null || value === null || head === null || id === null) return null;
  const fingerprint = fingerprintOf(id);
  const hash = fingerprint === null ? '' : hex(leafHash(fingerprint, key, value.subarray(FRAME_SIZE)));
  return { offset, seq: head.seq, prev: hex(head.prevHash), hash };
}

function tamperings(reading: Reading, genesis: Head): Finding[] {
  const findings: Finding[] = reading.unreadable.map((offset) => ({ kind: 'unreadable', offset }));
  for (const root of unexplainedRoots(reading, genesis)) findings.push(findingOf(root, reading));
  const { stoppedAt } = reading;
  if (stoppedAt !== null) findings.push({ kind: 'unknown_schema', ...stoppedAt });
  return findings.sort((a, b) => offsetOf(a) - offsetOf(b));
}

/** Void records that follow nothing in the log, or only something that comes after them. */
function unexplainedRoots({ accepted, voids, losses }: Reading, genesis: Head): Seen[] {
  const given = [{ seq: 0, hash: genesis.hash }, ...losses].map(({ seq, hash }) => [link(seq, hex(hash)), -1] as const);
  const followable = new Map<string, number>([
    ...given,
    ...accepted.map((seen) => [link(seen.seq, seen.hash), seen.offset] as const),
  ]);
  const roots: Seen[] = [];
  for (const seen of voids) {
    const leaderOffset = followable.get(link(seen.seq - 1, seen.prev));
    if (leaderOffset === undefined || leaderOffset > seen.offset) roots.push(seen);
    followable.set(
      link(seen.seq, seen.hash),
      Math.min(seen.offset, followable.get(link(seen.seq, seen.hash)) ?? seen.offset),
    );
  }
  return roots;
}

function findingOf(root: Seen, reading: Reading): Finding {
  const { accepted, voids, unreadable } = reading;
  if (root.seq === 1) return { kind: 'foreign_genesis', seq: 1, offset: root.offset };
  const isLaterLeader = (seen: Seen): boolean =>
    seen.offset > root.offset && seen.seq === root.seq - 1 && seen.hash === root.prev;
  if (accepted.some(isLaterLeader) || voids.some(isLaterLeader))
    return { kind: 'reordered', seq: root.seq, offset: root.offset };
  // What an accepted record commits to was not altered: the chain goes on without this one.
  if (accepted.length >= root.seq) return { kind: 'stray', seq: root.seq, offset: root.offset };
  const leader = accepted[root.seq - 2];
  if (leader !== undefined) return flipped(leader, root, voids);
  const from = accepted.length + 1;
  const damaged = unreadable.find((offset) => offset < root.offset && offset > (accepted.at(-1)?.offset ?? -1));
  if (damaged !== undefined && from === root.seq - 1) return { kind: 'flipped', seq: from, offset: damaged };
  return { kind: 'missing', seq: from, lastSeq: root.seq - 1, offset: root.offset };
}

/** One of two neighbours was altered: the follower when nothing follows it, although something comes after. */
function flipped(leader: Seen, follower: Seen, voids: readonly Seen[]): Finding {
  const rest = voids.filter((seen) => seen.offset > follower.offset && seen.seq === follower.seq + 1);
  const isFollowerIntact = rest.length === 0 || rest.some((seen) => seen.prev === follower.hash);
  const altered = isFollowerIntact ? leader : follower;
  return { kind: 'flipped', seq: altered.seq, offset: altered.offset };
}

function againstOlderHead({ head, accepted }: Reading, { genesis, olderHead }: LogCheck): Finding[] {
  if (olderHead === undefined) return [];
  if (olderHead.seq > head.seq) return [{ kind: 'cut_tail', seq: head.seq + 1, lastSeq: olderHead.seq }];
  const now = olderHead.seq === 0 ? { hash: hex(genesis.hash), offset: -1 } : accepted[olderHead.seq - 1];
  if (now !== undefined && now.hash === hex(olderHead.hash)) return [];
  return [{ kind: 'rewritten', seq: olderHead.seq, offset: now?.offset ?? -1 }];
}

const link = (seq: number, hash: string): string => `${seq}:${hash}`;
const hex = (bytes: Buffer): string => bytes.toString('hex');
const offsetOf = (finding: Finding): number => ('offset' in finding ? finding.offset : Number.MAX_SAFE_INTEGER);
