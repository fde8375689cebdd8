// The auditor's own log: the heads it signed and the alarms it raised.
//
// Boundary: reads and appends `recourse.signed-heads` under the acceptance rule, as every log is; shares no code with the services.
//
// Invariants
//   B1. A head counts only with the auditor's signature: who can write to the topic cannot sign.
//   B2. What was not accepted is read again before anything else is appended.
//   B3. What it keeps does not grow with the heads that were ever signed.
//   B4. Heads are given up only with an alarm that the auditor signed about them, and signed as closed: who can write to the topic cannot
//       make it forget one by an alarm of their own.
import { ChainReader, FRAME_SIZE, genesisHead, leafHash, schemaIdOf } from '@recourse/chain';
import { originOf, readSignedHead, treeName } from '@recourse/audit';
import type { NoteKey, SignedHead } from '@recourse/audit';
import { Failure, InvariantViolation } from '@recourse/kernel';
import { handsOutNothing } from '@recourse/kafka';
import type { Kafka, LogProducer, OutgoingRecord, RawReader } from '@recourse/kafka';
import { recordOf } from '@recourse/messages';
import type { BodyOf, Codecs, RecordTypeOf } from '@recourse/messages';
import { contradicts, givesUp } from '../rules/alarm/alarm.decisions.js';
import { AlarmBook } from './alarm-book.js';
import { HeadLine } from './head-line.js';

export const TOPIC = 'recourse.signed-heads';
const PARTITION = 0;
const KEY = Buffer.from('heads');

type Type = RecordTypeOf<typeof TOPIC>;
export type BookRecord = {
  readonly [One in Type]: { readonly type: One; readonly body: BodyOf<typeof TOPIC, One> };
}[Type];

export interface HeadBookOptions {
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  readonly logId: string;
  readonly key: NoteKey;
  readonly now: () => number;
}

export class HeadBook {
  readonly #lines = new Map<string, HeadLine>();
  readonly #generations = new Map<string, number>();
  /** By the origin of heads that came after: the notes that gave up those before. */
  readonly #givenUp = new Map<string, string>();
  readonly alarms: AlarmBook;
  #chain: ChainReader;
  #offset = 0;
  /** Of the newest record: time never goes back along a chain, also where the clock did. */
  #decidedAt = 0;
  #reader: RawReader | null = null;
  #producer: LogProducer | null = null;

  constructor(private readonly options: HeadBookOptions) {
    const { logId, codecs } = options;
    const genesis = genesisHead({ logId, topic: TOPIC, partition: PARTITION, partitionCount: 1 });
    this.#chain = new ChainReader(genesis, codecs.fingerprintOf);
    this.alarms = new AlarmBook(options);
  }

  readonly topic = TOPIC;
  readonly partition = PARTITION;
  get logId(): string {
    return this.options.logId;
  }
  /** Where the next read begins. */
  get offset(): number {
    return this.#offset;
  }

  /** Epoch milliseconds: what is written next is of no earlier time. */
  now(): number {
    return Math.max(this.options.now(), this.#decidedAt);
  }

  /** Heads of the generation that counts, oldest first: the newest, and some of those before it. */
  signed(place: { readonly topic: string; readonly partition: number }): {
    readonly heads: readonly SignedHead[];
    readonly generation: number;
  } {
    const generation = this.#generations.get(treeName(place)) ?? 0;
    const { topic, partition } = place;
    const origin = originOf({ logId: this.options.logId, topic, partition, generation });
    return { heads: this.#lines.get(origin)?.heads ?? [], generation };
  }

  /** Notes by which a person gave up the heads of the generation before; null where its log says of none. */
  givenUp(head: Pick<SignedHead, 'logId' | 'topic' | 'partition' | 'generation'>): string | null {
    return this.#givenUp.get(originOf(head)) ?? null;
  }

  /** Keeps a head, also one that stands elsewhere than in the log: in the auditor's file. */
  learn(head: SignedHead): void {
    if (head.logId === this.logId) this.#reach(head, head.generation);
    const line = this.#lines.get(originOf(head)) ?? new HeadLine();
    this.#lines.set(originOf(head), line);
    line.add(head);
  }

  /**
   * Reads on to the end of the log, and tells of each head there.
   *
   * Errors: those of the cluster; Failure(LOG_CUT) where it ends before what was read.
   */
  async readOn(onHead: (head: SignedHead) => void = () => undefined): Promise<void> {
    const { kafka, codecs } = this.options;
    await codecs.prepareWriter(TOPIC);
    this.#reader ??= await kafka.rawReader();
    const { high } = await this.#reader.range(TOPIC, PARTITION);
    if (high < this.#offset) throw new Failure('LOG_CUT', `${TOPIC} ends at ${high}, but ${this.#offset} was known`);
    while (this.#offset < high) {
      const { records, nextOffset } = await this.#reader.read(TOPIC, PARTITION, this.#offset);
      for (const record of records) {
        if (record.offset < this.#offset) continue;
        if (this.#chain.read(record).kind === 'accepted') this.#fold(codecs.decodeSync(record.value), onHead);
      }
      if (nextOffset <= this.#offset) throw handsOutNothing(this, this.#offset);
      this.#offset = nextOffset;
    }
  }

  /**
   * Appends records in one batch; false when they were not accepted, or nobody can say.
   *
   * Errors: those of the cluster.
   */
  async append(records: readonly BookRecord[]): Promise<boolean> {
    if (records.length === 0) return true;
    const { kafka } = this.options;
    this.#producer ??= await kafka.logProducer();
    const wanted = this.#offset;
    const outcome = await this.#producer.send(TOPIC, PARTITION, this.#sealed(records));
    const isOurs = outcome.kind === 'landed' && outcome.baseOffset === wanted;
    if (!isOurs) {
      await this.#producer.close();
      this.#producer = null;
    }
    await this.readOn();
    return isOurs;
  }

  async close(): Promise<void> {
    await Promise.all([this.#reader?.close(), this.#producer?.close()]);
  }

  #sealed(records: readonly BookRecord[]): readonly OutgoingRecord[] {
    const { codecs } = this.options;
    let { seq, hash } = this.#chain.head;
    const decidedAt = this.now();
    return records.map(({ type, body }) => {
      const value = codecs.encode(TOPIC, type, { ...body, seq: seq + 1, prev_hash: hash, decided_at: decidedAt });
      const id = schemaIdOf(value);
      const fingerprint = id === null ? null : codecs.fingerprintOf(id);
      if (fingerprint === null) throw new InvariantViolation('head-book', `${type} has no schema id`, 'partition');
      [seq, hash] = [seq + 1, leafHash(fingerprint, KEY, value.subarray(FRAME_SIZE))];
      return { key: KEY, value };
    });
  }

  #fold(decoded: ReturnType<Codecs['decodeSync']>, onHead: (head: SignedHead) => void): void {
    const record = recordOf(TOPIC, decoded);
    this.#decidedAt = Math.max(this.#decidedAt, decidedAtOf(decoded));
    switch (record?.type) {
      case undefined:
        return;
      case 'HeadsSigned':
        for (const { note } of record.body.heads) this.#foldHead(note, onHead);
        return;
      case 'AlarmRaised':
        this.alarms.raise(record.body, decidedAtOf(decoded));
        return;
      case 'AlarmClosed':
        this.#foldClosed(record.body);
    }
  }

  #foldHead(note: string, onHead: (head: SignedHead) => void): void {
    const head = readSignedHead(note, [this.options.key]);
    if (head?.logId !== this.options.logId) return;
    this.learn(head);
    onHead(head);
  }

  /** With an alarm that contradicts its heads a person gives them up: the next head begins another generation. */
  #foldClosed(body: BodyOf<typeof TOPIC, 'AlarmClosed'>): void {
    const closed = this.alarms.close(body);
    if (closed === null) return;
    const { alarm, notes } = closed;
    const { topic, partition, generation } = alarm;
    if (contradicts(alarm.kind) && generation !== null)
      this.#givenUp.set(originOf({ logId: this.logId, topic, partition, generation: generation + 1 }), notes);
    const current = this.signed(alarm).generation;
    if (givesUp(alarm, current)) this.#reach(alarm, current + 1);
  }

  /** A head that the auditor signed says which generation it had come to, also where nothing else does any more. */
  #reach(place: { readonly topic: string; readonly partition: number }, generation: number): void {
    const name = treeName(place);
    if (generation > (this.#generations.get(name) ?? 0)) this.#generations.set(name, generation);
  }
}

function decidedAtOf(decoded: ReturnType<Codecs['decodeSync']>): number {
  if (decoded.kind !== 'decoded') return 0;
  return Number((decoded.body as { readonly decided_at?: unknown }).decided_at ?? 0);
}
