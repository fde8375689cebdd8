// Verifies one partition of a log, record by record, and says which kind of tampering it found.
//
// Void records are ordinary: rivals and repeated batches leave them. One is *explained* when it follows an accepted record
// or another explained void record (the rest of a rival's batch), or a head that an accepted record gives up as lost (the
// owner's last append after a cut). Every other void record is evidence: whatever it followed is gone, altered or elsewhere.
//
// Boundary: pure. Keeps the void records of the last VOIDS_MAX places, STRANGERS_MAX pieces of evidence of each kind, and what the
// store of leaves keeps: 32 octets per accepted record, in memory or wherever the store has them.
import { FRAME_SIZE, readHead, schemaIdOf } from './framing.js';
import { ChainReader } from './acceptance.js';
import type { FingerprintOf, Head, RawRecord } from './acceptance.js';
import { leafHash } from './leaf.js';
import { findingsOf, reachOf } from './log-findings.js';
import type { Evidence, Finding, KnownHead, Stranger } from './log-findings.js';
import { HeadWatch } from './head-watch.js';
import { MerkleTree } from './merkle.js';
import { StrangerList, STRANGERS_MAX } from './stranger-list.js';
import { forgetFirst, PastLives } from './past-lives.js';
import { LeafList } from './leaf-list.js';
import type { LeafStore } from './leaf-list.js';

export interface StoredRecord extends RawRecord {
  readonly offset: number;
}

/** Where a verification begins that does not begin at the start: what a head says that is trusted. */
export interface VerifiedStart extends Head {
  /** Roots of the complete subtrees over the records before, largest first; without them no root is known behind it. */
  readonly peaks: readonly Buffer[] | null;
}

export interface LogCheck {
  /** Genesis head of the partition. */
  readonly genesis: Head;
  readonly fingerprintOf: FingerprintOf;
  /** Heads of this partition known from elsewhere. */
  readonly known?: readonly KnownHead[];
  /** The records given come behind this one. */
  readonly from?: VerifiedStart;
  /** The head that an accepted record gives up as lost, with everything behind the record it follows; null for all others. */
  readonly lossIn?: (record: StoredRecord) => Head | null;
  /** Where leaf hashes are kept; in memory unless told. It holds those before `from`, or none. */
  readonly leaves?: LeafStore;
}

export interface LogReport {
  readonly head: Head;
  readonly accepted: number;
  readonly voids: number;
  /** Merkle root over the accepted records; null when it began behind a head without peaks. */
  readonly root: Buffer | null;
  readonly peaks: readonly Buffer[] | null;
  /** Empty when the log is sound. */
  readonly findings: readonly Finding[];
  /** Pieces of evidence beyond those that are kept. */
  readonly unlisted: number;
  /** The highest place that the findings speak of, or that is there; without findings that of the head. Infinite where the reading stopped. */
  readonly reached: number;
}

/** Void records that may still be followed: a rival's batch is never longer. */
const VOIDS_MAX = 65_536;

/** The record behind which nothing could be read, and the hash it has to have, where something says so. */
interface Stopped {
  readonly record: StoredRecord;
  committed: Buffer | null;
}

/** What a void record says of itself; hashes in hex. */
interface Claim {
  readonly seq: number;
  readonly prevHash: Buffer;
  readonly hash: string;
  /** `seq:hash` of what it follows. */
  readonly leader: string;
}

export class LogVerifier {
  readonly #reader: ChainReader;
  readonly #isTreeStored: boolean;
  readonly #ownTree: MerkleTree | null;
  readonly #leaves: LeafStore;
  readonly #start: number;
  readonly #heads: HeadWatch;
  #accepted = 0;
  #voids = 0;
  #last: StoredRecord | null = null;
  readonly #voidLinks = new Map<string, null>();
  readonly #strangers = new StrangerList();
  readonly #unreadable: number[] = [];
  readonly #pastLives: PastLives;
  #stopped: Stopped | null = null;
  #stoppedAt: Finding | null = null;
  #highestVoid = 0;
  #unreadableMore = 0;

  constructor(private readonly check: LogCheck) {
    const { from, genesis, fingerprintOf, known = [], leaves } = check;
    this.#start = from?.seq ?? 0;
    this.#reader = new ChainReader(from ?? genesis, fingerprintOf);
    this.#leaves = leaves ?? new LeafList();
    // A store that holds nothing of before the start grows another tree.
    this.#isTreeStored = this.#leaves.tree?.size === this.#start;
    this.#ownTree = this.#isTreeStored ? null : treeFrom(from);
    this.#pastLives = new PastLives(fingerprintOf);
    this.#heads = new HeadWatch(known);
    this.#heads.after(this.head, { offset: -1, tree: this.#tree, wasOf: () => null });
  }

  get #tree(): MerkleTree | null {
    return this.#isTreeStored ? (this.#leaves.tree ?? null) : this.#ownTree;
  }

  get head(): Head {
    return this.#reader.head;
  }

  /** Offset of the last accepted record; -1 before the first. */
  get headOffset(): number {
    return this.#last?.offset ?? -1;
  }

  /** Takes the next record, in order of offsets. */
  add(record: StoredRecord): void {
    if (this.#stopped !== null) {
      this.#behindUnknown(this.#stopped, record);
      return;
    }
    const verdict = this.#reader.read(record);
    if (verdict.kind === 'accepted') this.#accept(record, verdict.head);
    else if (verdict.kind === 'unknown_schema') this.#stop(record, verdict.id);
    else this.#takeVoid(record);
  }

  report(): LogReport {
    if (this.#stopped !== null) this.#judgeStopped(this.#stopped);
    const evidence = this.#evidence();
    const findings = findingsOf(evidence);
    const told = findings.length === 0 ? this.head.seq : reachOf(evidence, findings);
    return {
      head: this.head,
      accepted: this.#accepted,
      voids: this.#voids,
      root: this.#tree?.root() ?? null,
      peaks: this.#tree?.peaks ?? null,
      findings,
      unlisted: this.#unreadableMore + this.#strangers.unlisted,
      reached: this.#stopped === null ? told : Infinity,
    };
  }

  /** Hash of the accepted record at a place; null where there is none, or it was not read here. The bytes are the caller's to read, not to keep. */
  hashAt(seq: number): Buffer | null {
    if (seq < 1 || seq > this.head.seq) return null;
    return this.#leaves.at(seq - 1 - (this.#start - this.#leavesBefore()));
  }

  #evidence(): Evidence {
    return {
      accepted: this.head.seq,
      headOffset: this.headOffset,
      strangers: this.#strangers.kept,
      unreadable: this.#unreadable,
      stoppedAt: this.#stoppedAt,
      contradiction: this.#heads.contradiction,
      shift: this.#heads.shift,
      highestKnown: this.#heads.highest,
      lastGood: this.#heads.lastGood,
      highestVoid: this.#highestVoid,
    };
  }

  #accept(record: StoredRecord, head: Head): void {
    const isConcerned = this.#heads.concerns(head.seq);
    if (isConcerned) this.#heads.before(head, this.#tree);
    this.#leaves.append(head.hash);
    this.#ownTree?.append(head.hash);
    this.#accepted += 1;
    if (this.#strangers.kept.length > 0) this.#arrive(head.seq, hex(head.hash), '');
    this.#pastLives.learn(record);
    this.#last = record;
    const loss = this.check.lossIn?.(record) ?? null;
    if (loss !== null) this.#strangers.giveUp(link(loss.seq, hex(loss.hash)));
    if (!isConcerned) return;
    this.#heads.after(head, {
      offset: record.offset,
      tree: this.#tree,
      wasOf: (hash) => this.#pastLives.alterationOf(record, hash),
    });
  }

  #stop(record: StoredRecord, id: number): void {
    this.#stopped = { record, committed: this.#heads.hashAt(this.head.seq + 1) };
    this.#stoppedAt = { kind: 'unknown_schema', id, offset: record.offset };
  }

  /** What comes behind a record of an unknown schema may say what its hash has to be. */
  #behindUnknown(stopped: Stopped, record: StoredRecord): void {
    this.#pastLives.learn(record);
    const follower = readHead(record.value);
    if (follower?.seq === this.head.seq + 2) stopped.committed ??= follower.prevHash;
  }

  /** With a schema that is known it would have the hash that it has to have: its frame names another. */
  #judgeStopped({ record, committed }: Stopped): void {
    if (committed !== null && this.#pastLives.isOfOtherSchema(record, committed))
      this.#stoppedAt = { kind: 'schema_swapped', seq: this.head.seq + 1, offset: record.offset };
  }

  #takeVoid(record: StoredRecord): void {
    this.#voids += 1;
    const { offset, key, value } = record;
    const claimed = readHead(value);
    const id = schemaIdOf(value);
    if (key === null || value === null || claimed === null || id === null) {
      if (this.#unreadable.length < STRANGERS_MAX) this.#unreadable.push(offset);
      else this.#unreadableMore += 1;
      return;
    }
    this.#pastLives.learn(record);
    const fingerprint = this.check.fingerprintOf(id);
    const hash = fingerprint === null ? '' : hex(leafHash(fingerprint, key, value.subarray(FRAME_SIZE)));
    const leader = link(claimed.seq - 1, hex(claimed.prevHash));
    if (this.#strangers.kept.length > 0) this.#arrive(claimed.seq, hash, hex(claimed.prevHash));
    if (this.#isKnown(claimed.seq - 1, claimed.prevHash, leader))
      this.#highestVoid = Math.max(this.#highestVoid, claimed.seq);
    else this.#meetStranger(record, { seq: claimed.seq, prevHash: claimed.prevHash, hash, leader });
    const own = link(claimed.seq, hash);
    this.#voidLinks.delete(own);
    this.#voidLinks.set(own, null);
    if (this.#voidLinks.size > VOIDS_MAX) forgetFirst(this.#voidLinks);
  }

  /** Was what it follows there before it? What lies before the start of this verification counts as there. */
  #isKnown(seq: number, hash: Buffer, leader: string): boolean {
    if (seq === 0 && hash.equals(this.check.genesis.hash)) return true;
    if (seq >= 1 && seq <= this.head.seq) {
      const leaf = this.hashAt(seq);
      if (leaf === null ? seq <= this.#start : leaf.equals(hash)) return true;
    }
    return this.#voidLinks.has(leader);
  }

  /** Leaves the store holds of before the start. */
  #leavesBefore(): number {
    return this.#leaves.count - this.#accepted;
  }

  #meetStranger(record: StoredRecord, { seq, prevHash, hash, leader }: Claim): void {
    if (this.#strangers.isSettled(leader)) return;
    const head = this.head;
    const [last, committed] = [this.#last, Buffer.from(prevHash)];
    const mended = this.#pastLives.mended(record, head);
    const signed = this.#heads.hashAt(seq)?.toString('hex') ?? null;
    const one: Stranger = {
      offset: record.offset,
      seq,
      acceptedBefore: head.seq,
      leaderOffset: this.headOffset,
      leader,
      isNumberAltered: seq !== head.seq + 1 && prevHash.equals(head.hash),
      leaderWas: () => (last === null || seq !== head.seq + 1 ? null : this.#pastLives.alterationOf(last, committed)),
      isLeaderLater: false,
      isSucceeded: false,
      isFollowed: signed === hash,
      isMended: signed === mended,
    };
    this.#strangers.keep(one, { hash, mended });
  }

  #arrive(seq: number, hash: string, prev: string): void {
    this.#strangers.arrive({ seq, link: link(seq, hash), prev });
  }
}

/**
 * Verifies the records of one partition, given in order of offsets.
 *
 * Shape:  findings in order of offset, those against known heads last. An unknown schema ends the reading there.
 * Source: promise P11; docs/design/loop.md.
 */
export function verifyLog(records: Iterable<StoredRecord>, check: LogCheck): LogReport {
  const verifier = new LogVerifier(check);
  for (const record of records) verifier.add(record);
  return verifier.report();
}

/** A tree that grows on behind a start; null where nothing is known of what it grew from. */
function treeFrom(from: VerifiedStart | undefined): MerkleTree | null {
  if (from === undefined) return new MerkleTree();
  return from.peaks === null ? null : MerkleTree.of(from.seq, from.peaks);
}

const link = (seq: number, hash: string): string => `${seq}:${hash}`;
const hex = (bytes: Buffer): string => bytes.toString('hex');
