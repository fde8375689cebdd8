// Follows one partition of a log: verifies it record by record, grows its tree, and says what may be signed.
//
// Boundary: reads; signs and raises nothing. Where the log is not what was signed, it is read anew from its start against all
// signed heads, so that what was done has its name.
//
// Invariants
//   F1. A head is offered only while every signed head holds.
//   F2. The stored tree is believed only where its root is that of the last signed head.
//   F3. A log is never trimmed. Where the broker holds another beginning of it than was read, it is read anew.
import { FRAME_SIZE, genesisHead, leafHash, LogVerifier, schemaIdOf } from '@recourse/chain';
import type { Head, StoredRecord } from '@recourse/chain';
import { knownHeadOf } from '@recourse/audit';
import type { HashTree, SignedHead, TreeHead } from '@recourse/audit';
import { Failure } from '@recourse/kernel';
import { handsOutNothing } from '@recourse/kafka';
import type { RawReader } from '@recourse/kafka';
import type { Codecs } from '@recourse/messages';
import { contradicts } from '../rules/alarm/alarm.decisions.js';
import type { Found } from '../rules/alarm/alarm.messages.js';
import { counted, isAboveRate, NO_VOIDS } from '../rules/alarm/void-rate.decisions.js';
import type { FollowedPartition } from './followed-partition.js';

export interface LogFollowerOptions {
  readonly reader: RawReader;
  readonly codecs: Codecs;
  readonly logId: string;
  readonly topic: string;
  readonly partition: number;
  readonly partitionCount: number;
  readonly tree: HashTree;
  /** Heads signed of this partition, since a person last gave up those before; and how often that was. */
  readonly signed: () => { readonly heads: readonly SignedHead[]; readonly generation: number };
  /** The head that an accepted record gives up as lost. */
  readonly lossIn: (record: StoredRecord) => Head | null;
  readonly voidsPermilleMax: number;
}

export class LogFollower implements FollowedPartition {
  #verifier: LogVerifier;
  #offset = 0;
  #headOffset = -1;
  #voids = NO_VOIDS;
  #isCut = false;
  /** Its end was not reached: a head that is not there yet is not gone. */
  #isHalfRead = false;
  #gapAt: number | null = null;
  /** Where the log began as it was last read from its start. */
  #low = 0;

  constructor(private readonly options: LogFollowerOptions) {
    this.#verifier = this.#anew();
  }

  get topic(): string {
    return this.options.topic;
  }
  get partition(): number {
    return this.options.partition;
  }
  get tree(): HashTree {
    return this.options.tree;
  }
  get offset(): number {
    return this.#offset;
  }

  async resume(): Promise<void> {
    const last = this.options.signed().heads.at(-1);
    const { tree } = this.options;
    this.#low = 0;
    if (last?.head !== undefined && last.head !== null && tree.count >= last.size) {
      tree.truncate(last.size);
      if (tree.tree.root().equals(last.root)) {
        this.#verifier = this.#behind({ seq: last.size, hash: last.head });
        this.#offset = last.nextOffset;
        this.#headOffset = last.nextOffset - 1;
        await this.lookBack();
        return;
      }
    }
    this.#restart();
    await this.readOn();
  }

  async readOn(): Promise<number> {
    const { reader, topic, partition } = this.options;
    const { low, high } = await reader.range(topic, partition);
    if (low !== this.#low || high < this.#offset) return this.#readAnew();
    this.#isCut = false;
    if (this.#offset < low) this.#gapAt = this.#offset = low;
    let count = 0;
    this.#isHalfRead = true;
    while (this.#offset < high) {
      const batch = await reader.read(topic, partition, this.#offset);
      await this.#take(batch.records);
      count += batch.records.length;
      if (batch.nextOffset <= this.#offset && batch.records.length === 0) throw handsOutNothing(this, this.#offset);
      this.#offset = Math.max(this.#offset, batch.nextOffset);
    }
    this.#isHalfRead = false;
    return count;
  }

  async lookBack(): Promise<void> {
    const { reader, codecs, topic, partition } = this.options;
    if (this.#headOffset < 0) return;
    const { low, high } = await reader.range(topic, partition);
    if (low !== this.#low || high <= this.#headOffset) {
      await this.#readAnew();
      return;
    }
    const { records, nextOffset } = await reader.read(topic, partition, this.#headOffset, 1);
    if (nextOffset <= this.#headOffset) throw handsOutNothing(this, this.#headOffset);
    const record = records.find(({ offset }) => offset === this.#headOffset);
    await this.#load(record?.value ?? null);
    if (!isRecordOf(record, this.#verifier.head, codecs)) await this.#readAnew();
  }

  head(now: number): TreeHead | null {
    const { logId, topic, partition, tree, signed } = this.options;
    const { seq, hash } = this.#verifier.head;
    if (seq === 0 || this.#isCut || this.found.some(({ kind }) => contradicts(kind))) return null;
    return {
      logId,
      topic,
      partition,
      generation: signed().generation,
      size: seq,
      root: tree.tree.root(),
      head: hash,
      nextOffset: this.#headOffset + 1,
      firstOffset: 0,
      signedAt: now,
    };
  }

  get found(): readonly Found[] {
    const { topic, partition, voidsPermilleMax } = this.options;
    const here = { topic, partition };
    const rate = isAboveRate(this.#voids, voidsPermilleMax);
    const findings = this.#verifier.report().findings;
    return [
      ...findings
        .filter(({ kind }) => kind !== 'cut_tail' || !this.#isHalfRead)
        .map((finding) => ({
          ...here,
          kind: finding.kind,
          seq: 'seq' in finding ? finding.seq : null,
          offset: 'offset' in finding ? finding.offset : null,
        })),
      ...(this.#gapAt === null ? [] : [{ ...here, kind: 'gap' as const, seq: null, offset: this.#gapAt }]),
      ...(rate ? [{ ...here, kind: 'void_rate' as const, seq: null, offset: null }] : []),
    ];
  }

  /** Reads the log from its start against every signed head. */
  async #readAnew(): Promise<number> {
    this.#restart();
    const { reader, topic, partition } = this.options;
    const { low, high } = await reader.range(topic, partition);
    this.#low = low;
    const count = high === 0 ? 0 : await this.readOn();
    this.#isCut = this.found.some(({ kind }) => contradicts(kind));
    return count;
  }

  #restart(): void {
    this.options.tree.truncate(0);
    this.#verifier = this.#anew();
    [this.#offset, this.#headOffset, this.#voids, this.#gapAt] = [0, -1, NO_VOIDS, null];
  }

  #anew(): LogVerifier {
    const { heads } = this.options.signed();
    return this.#verifierFrom(undefined, heads);
  }

  #behind(head: Head): LogVerifier {
    return this.#verifierFrom(head, []);
  }

  #verifierFrom(from: Head | undefined, heads: readonly SignedHead[]): LogVerifier {
    const { logId, topic, partition, partitionCount, codecs, tree, lossIn } = this.options;
    return new LogVerifier({
      genesis: genesisHead({ logId, topic, partition, partitionCount }),
      fingerprintOf: codecs.fingerprintOf,
      known: heads.flatMap((head) => knownHeadOf(head) ?? []),
      leaves: tree,
      lossIn,
      ...(from === undefined ? {} : { from: { ...from, peaks: null } }),
    });
  }

  async #take(records: readonly StoredRecord[]): Promise<void> {
    for (const record of records) {
      if (record.offset < this.#offset) continue;
      await this.#load(record.value);
      const before = this.#verifier.head.seq;
      this.#verifier.add(record);
      const isVoid = this.#verifier.head.seq === before;
      if (!isVoid) this.#headOffset = record.offset;
      this.#voids = counted(this.#voids, isVoid);
      this.#offset = record.offset + 1;
    }
  }

  /** A schema that the registry does not know stays unknown: that is a finding. Errors: those of the registry otherwise. */
  async #load(value: Buffer | null): Promise<void> {
    const { codecs } = this.options;
    const id = schemaIdOf(value);
    if (id === null || codecs.fingerprintOf(id) !== null) return;
    try {
      await codecs.load(id);
    } catch (problem) {
      if (!(problem instanceof Failure) || problem.code !== 'UNKNOWN_SCHEMA') throw problem;
    }
  }
}

function isRecordOf(
  record: Pick<StoredRecord, 'key' | 'value'> | undefined,
  { hash }: Head,
  { fingerprintOf }: Pick<Codecs, 'fingerprintOf'>,
): boolean {
  const { key, value } = record ?? { key: null, value: null };
  const id = schemaIdOf(value);
  const fingerprint = id === null ? null : fingerprintOf(id);
  if (key === null || value === null || fingerprint === null) return false;
  return leafHash(fingerprint, key, value.subarray(FRAME_SIZE)).equals(hash);
}
