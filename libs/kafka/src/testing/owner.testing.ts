// What the contract suites share: an owner that behaves as the loop does, and ways to wait and to ask.
import { Failure, systemClock } from '@recourse/kernel';
import type {
  Assignment,
  FetchedBatch,
  InputConsumer,
  InputConsumerOptions,
  InputHandlers,
  Kafka,
  OutgoingRecord,
  TopicPartition,
} from '../kafka.port.js';

export const PATIENCE_MS = 20_000;
const POLL_MS = 5;

/** Polls until something holds; fails the spec when it never does. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const deadline = systemClock.monotonic() + patienceMs;
  while (!(await holds())) {
    if (systemClock.monotonic() > deadline) throw new Error(`never so: ${what}`);
    await systemClock.sleep(POLL_MS);
  }
}

/** A record whose value is its key, unless said otherwise. */
export const record = (key: string, value = key): OutgoingRecord => ({
  key: Buffer.from(key),
  value: Buffer.from(value),
});

/** `prefix-0`, `prefix-1`, … */
export const records = (prefix: string, count: number): OutgoingRecord[] =>
  Array.from({ length: count }, (_, index) => record(`${prefix}-${String(index)}`));

export const valuesOf = (batch: FetchedBatch): string[] => batch.records.map(({ value }) => String(value));

/** Code of the failure something ends with, or `no failure`, or what else was thrown. */
export const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no failure',
    (error: unknown) => (error instanceof Failure ? error.code : error),
  );

/** An owner as the loop is one: takes only batches that start where it stands, and keeps its cursors outside of itself. */
export class TestOwner implements InputHandlers {
  readonly assignments: Assignment[] = [];
  readonly crashes: unknown[] = [];
  readonly taken: { readonly at: string; readonly value: string }[] = [];
  dropped = 0;
  consumer!: InputConsumer;
  onTaken: (batch: FetchedBatch) => void = () => undefined;
  private readonly own = new Map<string, number>();

  /** `cursors` plays the chain: whoever owns a partition goes on from there. */
  constructor(
    readonly options: InputConsumerOptions,
    readonly broadcastPartitions: number,
    readonly cursors: Map<string, number>,
    private readonly resumesAtOnce = true,
  ) {}

  async startOn(kafka: Kafka): Promise<this> {
    this.consumer = kafka.inputConsumer(this.options);
    await this.consumer.start(this);
    return this;
  }

  get partitions(): readonly number[] {
    return this.assignments.at(-1)?.partitions ?? [];
  }

  owned(): TopicPartition[] {
    const aligned = this.options.aligned.flatMap((topic) => this.partitions.map((partition) => ({ topic, partition })));
    const broadcast = this.options.broadcast.flatMap((topic) =>
      Array.from({ length: this.broadcastPartitions }, (_, partition) => ({ topic, partition })),
    );
    return [...aligned, ...broadcast];
  }

  onAssigned(assignment: Assignment): void {
    this.assignments.push(assignment);
    this.own.clear();
    for (const { topic, partition } of this.owned())
      this.seek(topic, partition, this.cursors.get(`${topic}/${String(partition)}`) ?? 0);
    if (this.resumesAtOnce) this.consumer.resume(this.owned());
  }

  seek(topic: string, partition: number, offset: number): void {
    this.own.set(`${topic}/${String(partition)}`, offset);
    this.consumer.seek(topic, partition, offset);
  }

  onBatch(batch: FetchedBatch): void {
    const at = `${batch.topic}/${String(batch.partition)}`;
    if (batch.fetchedOffset !== this.own.get(at)) {
      this.dropped += 1;
      return;
    }
    this.own.set(at, batch.nextOffset);
    if (this.options.aligned.includes(batch.topic)) this.cursors.set(at, batch.nextOffset);
    for (const value of valuesOf(batch)) this.taken.push({ at, value });
    this.onTaken(batch);
  }

  onTrouble(_at: TopicPartition, cause: Failure | null): void {
    if (cause !== null) this.crashes.push(cause);
  }

  onCrash(cause: unknown): void {
    this.crashes.push(cause);
  }

  valuesAt(topic: string): string[] {
    return this.taken.filter(({ at }) => at.startsWith(`${topic}/`)).map(({ value }) => value);
  }
}
