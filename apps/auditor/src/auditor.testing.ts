// An auditor over a broker in memory, beside a log that its owner writes.
import { generateKeyPairSync } from 'node:crypto';
import { HashTree, headsText, NodeList, notesIn, noteSigner } from '@recourse/audit';
import type { NoteSigner, SignedHead } from '@recourse/audit';
import { FRAME_SIZE, genesisHead, HASH_SIZE, leafHash, schemaIdOf } from '@recourse/chain';
import type { Head } from '@recourse/chain';
import { ManualClock } from '@recourse/kernel';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import type { Kafka, RawReader } from '@recourse/kafka';
import { createCodecs, lossReader, recordOf } from '@recourse/messages';
import type { BodyOf, Codecs } from '@recourse/messages';
import { Auditor } from './auditor.js';
import type { AuditorOptions } from './auditor.js';
import { HeadBook, TOPIC } from './book/head-book.js';
import type { BookRecord } from './book/head-book.js';
import { LogFollower } from './follower/log-follower.js';
import type { FollowedPartition } from './follower/followed-partition.js';
import { WireFollower } from './follower/wire-follower.js';
import type { Witness } from './witness/cosigners.js';

export const LOG = 'recourse.budgets';
export const WIRE = 'recourse.tool-results';
const LOG_ID = 'log-1';
const PARTITIONS = 2;

/** Nodes of a tree on a disk that may be full, or damaged. */
class Disk extends NodeList {
  /** Nodes that fit; the one behind them does not, once. */
  left = Infinity;

  override append(tier: number, node: Buffer): void {
    if (this.left === 0) {
      this.left = Infinity;
      throw new Error('ENOSPC');
    }
    this.left -= 1;
    super.append(tier, node);
  }

  spoil(): void {
    const count = this.count(0);
    const rest = this.read(0, 1, count - 1);
    this.truncate(0, 0);
    this.append(0, Buffer.alloc(HASH_SIZE));
    for (let at = 0; at < rest.length; at += HASH_SIZE) this.append(0, rest.subarray(at, at + HASH_SIZE));
  }
}

/** A private key, PKCS#8 in PEM. */
export function freshPem(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
}

/** One cluster, one auditor at a time, a clock that moves a second with each turn. */
export class AuditedCluster {
  readonly broker = new MemoryBroker();
  readonly registry = new MemoryRegistry();
  readonly kafka: Kafka = this.broker.forActor('spec');
  readonly signer: NoteSigner = noteSigner('auditor.spec', 'log', freshPem());
  readonly kept: SignedHead[] = [];
  readonly trouble: string[] = [];
  /** What the auditor's loop rests by, where a spec starts it. */
  rests: Pick<AuditorOptions, 'sleep' | 'news'> = { sleep: () => Promise.resolve(), news: () => Promise.resolve() };
  readonly clock = new ManualClock(1_800_000_000_000);
  /** The broker says where what is followed ends, and hands out nothing. */
  handsOutNothing = false;
  /** Called as the auditor reads of what it follows. */
  onRead: () => void = () => undefined;
  #codecs: Codecs = createCodecs(this.registry.forActor('owner'));
  #heads = new Map<number, Head>();
  #trees = new Map<string, Disk>();
  book!: HeadBook;
  auditor!: Auditor;

  private constructor(private readonly partitions: number) {}

  static async start(witnesses: readonly Witness[] = [], partitions = PARTITIONS): Promise<AuditedCluster> {
    const cluster = new AuditedCluster(partitions);
    const admin = await cluster.kafka.admin();
    await admin.ensureTopics([
      { name: LOG, partitions },
      { name: WIRE, partitions: 1 },
      { name: TOPIC, partitions: 1 },
    ]);
    await cluster.#codecs.prepareWriter(LOG, { register: true });
    await cluster.#codecs.prepareWriter(TOPIC, { register: true });
    await cluster.restart({ witnesses });
    return cluster;
  }

  /** Another process of the auditor: what was in memory is gone; trees stay unless they are lost too. */
  async restart({ witnesses = [] as readonly Witness[], withoutTrees = false, withKept = false } = {}): Promise<void> {
    if (withoutTrees) this.#trees.clear();
    const codecs = createCodecs(this.registry.forActor(`auditor-${this.clock.monotonic()}`));
    const { kafka, signer } = this;
    this.book = new HeadBook({ kafka, codecs, logId: LOG_ID, key: signer.key, now: () => this.clock.now() });
    const reader = this.#readerOver(await kafka.rawReader());
    const common = (topic: string, partition: number) => ({
      reader,
      logId: LOG_ID,
      topic,
      partition,
      tree: new HashTree(this.#nodes(`${topic}/${partition}`)),
      signed: () => this.book.signed({ topic, partition }),
    });
    const logs = Array.from(
      { length: this.partitions },
      (_, partition): FollowedPartition =>
        new LogFollower({
          ...common(LOG, partition),
          codecs,
          partitionCount: this.partitions,
          lossIn: lossReader(codecs),
          voidsPermilleMax: 100,
        }),
    );
    this.auditor = new Auditor({
      partitions: [...logs, new WireFollower(common(WIRE, 0))],
      book: this.book,
      signer,
      witnesses,
      keep: (heads) => this.kept.push(...heads),
      everyRecords: 1_000,
      everyMs: 1_000,
      clock: this.clock,
      ...this.rests,
      onTrouble: (what, cause) => this.trouble.push(`${what}: ${String(cause)}`),
    });
    await this.auditor.prepare(notesIn([withKept ? headsText(this.kept) : '']));
  }

  #readerOver(reader: RawReader): RawReader {
    return {
      ...reader,
      read: async (...asked) => {
        this.onRead();
        const batch = await reader.read(...asked);
        return this.handsOutNothing ? { ...batch, records: [], nextOffset: batch.fetchedOffset } : batch;
      },
    };
  }

  #nodes(name: string): Disk {
    const nodes = this.#trees.get(name) ?? new Disk();
    this.#trees.set(name, nodes);
    return nodes;
  }

  /** The first leaf of a stored tree becomes another. */
  spoilTree(name: string): void {
    this.#nodes(name).spoil();
  }

  /** So many nodes of a tree fit, and the next one does not, once. */
  fillDisk(name: string, count: number): void {
    this.#nodes(name).left = count;
  }

  async turn(): Promise<void> {
    await this.clock.advance(1_000);
    await this.auditor.turn();
  }

  /** The owner appends records; `mark` makes them differ from others in the same places. */
  async write(count: number, { partition = 0, mark = 0 } = {}): Promise<void> {
    const producer = await this.kafka.logProducer();
    let head = this.#heads.get(partition) ?? this.genesis(partition);
    const records = Array.from({ length: count }, () => {
      const body = { seq: head.seq + 1, prev_hash: head.hash, decided_at: 1, cursors: [], reacted_seq: mark };
      const value = this.#codecs.encode(LOG, 'Progress', body);
      const fingerprint = this.#codecs.fingerprintOf(schemaIdOf(value) ?? 0) ?? Buffer.alloc(0);
      head = { seq: head.seq + 1, hash: leafHash(fingerprint, Buffer.from('k'), value.subarray(FRAME_SIZE)) };
      return { key: Buffer.from('k'), value };
    });
    await producer.send(LOG, partition, records);
    await producer.close();
    this.#heads.set(partition, head);
  }

  /** Somebody sends bytes to a topic, past its owner. */
  async send(topic: string, values: readonly string[], partition = 0): Promise<void> {
    const producer = await this.kafka.logProducer();
    await producer.send(
      topic,
      partition,
      values.map((value) => ({ key: Buffer.from('k'), value: Buffer.from(value) })),
    );
    await producer.close();
  }

  /** Cuts a log behind so many records; its owner then writes on from there. */
  cut(count: number, partition = 0, head: Head | null = null): void {
    this.broker.truncate(LOG, partition, count);
    this.#heads.set(partition, head ?? this.genesis(partition));
  }

  headOf(partition = 0): Head {
    return this.#heads.get(partition) ?? this.genesis(partition);
  }

  genesis(partition: number): Head {
    return genesisHead({ logId: LOG_ID, topic: LOG, partition, partitionCount: this.partitions });
  }

  /** Whoever can write to the auditor's log, and has no key of its notes, appends what they like. */
  async forge(records: readonly BookRecord[]): Promise<void> {
    const [kafka, codecs] = [this.broker.forActor('stranger'), createCodecs(this.registry.forActor('stranger'))];
    const { key } = this.signer;
    const book = new HeadBook({ kafka, codecs, logId: LOG_ID, key, now: () => this.clock.now() });
    await book.readOn();
    if (!(await book.append(records))) throw new Error('somebody else came first');
    await book.close();
  }

  /** Alarms as they stand in the auditor's log, each as often as it was raised. */
  async raised(): Promise<readonly BodyOf<typeof TOPIC, 'AlarmRaised'>[]> {
    return (await this.#inBook()).flatMap((record) => (record.type === 'AlarmRaised' ? [record.body] : []));
  }

  /** The same of what says that they are closed. */
  async closings(): Promise<readonly BodyOf<typeof TOPIC, 'AlarmClosed'>[]> {
    return (await this.#inBook()).flatMap((record) => (record.type === 'AlarmClosed' ? [record.body] : []));
  }

  async #inBook(): Promise<readonly BookRecord[]> {
    const reader = await this.kafka.rawReader();
    const { records } = await reader.read(TOPIC, 0, 0);
    return records.flatMap(({ value }) => recordOf(TOPIC, this.#codecs.decodeSync(value)) ?? []);
  }

  /** Sizes that were signed of a partition, oldest first. */
  sizes(topic = LOG, partition = 0): readonly number[] {
    return this.book.signed({ topic, partition }).heads.map(({ size }) => size);
  }

  /** Instants that the records of heads bear. */
  async decidedAt(): Promise<readonly number[]> {
    const reader = await this.kafka.rawReader();
    const { records } = await reader.read(TOPIC, 0, 0);
    return records.map(({ value }) => {
      const decoded = this.#codecs.decodeSync(value);
      return decoded.kind === 'decoded' ? (decoded.body as { readonly decided_at: number }).decided_at : NaN;
    });
  }

  alarms(): readonly string[] {
    return [...this.book.alarms.open.values()]
      .map(({ kind, topic, partition }) => `${kind} in ${topic}/${partition}`)
      .sort();
  }

  /** A person closes every alarm, as `recourse log close-alarm` does. */
  async close(by: string): Promise<void> {
    await this.book.readOn();
    const records = [...this.book.alarms.open.keys()].map((id): BookRecord => ({
      type: 'AlarmClosed',
      body: { alarm_id: id, by, reason: 'looked at', note: null },
    }));
    await this.book.append(records);
  }
}
