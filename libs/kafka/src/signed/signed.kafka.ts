// A cluster on which access is not authority: what is sent is signed, and what is read is told from what strangers wrote.
//
// Boundary: a port around the port. Knows keys and bytes; what a speaker may say is the business of who decodes it.
//
// Invariants
//   I1. Every record sent to a wire, and every batch appended to a log, carries the signature of this process; what is sent to a
//       wire together shares one, and what is handed on keeps the one it came with.
//   I2. Records of a log that its owner did not sign come as void ones, in their places.
//   I3. Records of a wire come with what their signature says; none is left out.
import { Failure, InvariantViolation, isValidAt, speakerOf, speaksUnder } from '@recourse/kernel';
import type { Speaker } from '@recourse/kernel';
import type {
  FetchedBatch,
  FetchedRecord,
  InputConsumer,
  InputHandlers,
  Kafka,
  LogProducer,
  OutgoingRecord,
  RawReader,
  TopicPartition,
  WireProducer,
} from '../kafka.port.js';
import { aloneText, headerText, logText, SHARED_MAX, sharedWire, SIGNATURE, SIGNED_RECORDS_MAX } from './signature.js';
import type { SignatureHeader } from './signature.js';
import { RunningSieve, siftAll } from './sifting.js';
import { LogSieve, signedReader } from './signed-reader.js';
import type { LogJudge } from './signed-reader.js';
import { judgingOf } from './signing.js';
import type { Judging, Signing } from './signing.js';
import { vouchedAtOnce, vouchedBatch } from './vouchers.js';

/**
 * Signs what goes out through a cluster and judges what comes in.
 *
 * Errors: those of the cluster; InvariantViolation for a send without a signing key, or a batch of more than SIGNED_RECORDS_MAX.
 */
export function signedKafka(kafka: Kafka, signing: Signing): Kafka {
  const judge = logJudge(signing);
  const judging = judgingOf(signing);
  return {
    logProducer: async () => signedLog(await kafka.logProducer(), signing),
    wireProducer: async () => signedWire(await kafka.wireProducer(), signing),
    rawReader: async (of) => vouching(signedReader(await kafka.rawReader(of), judge), judging),
    inputConsumer: (options) => new SignedConsumer(kafka, kafka.inputConsumer(options), judging),
    group: (groupId) => kafka.group(groupId),
    admin: () => kafka.admin(),
  };
}

// Sending -----------------------------------------------------------------------------------------------------------------

function signedLog(producer: LogProducer, signing: Signing): LogProducer {
  return {
    send: (topic, partition, records) =>
      producer.send(topic, partition, signedBatch(topic, partition, records, signing)),
    close: () => producer.close(),
  };
}

function signedBatch(
  topic: string,
  partition: number,
  records: readonly OutgoingRecord[],
  signing: Signing,
): readonly OutgoingRecord[] {
  const [first, ...others] = records;
  if (first === undefined) return records;
  if (records.length > SIGNED_RECORDS_MAX)
    throw new InvariantViolation('signed-log', `${String(records.length)} records in one batch`, 'partition');
  const signedAt = signing.clock.now();
  const said = { signedAt, count: records.length, place: null };
  const header = headerText(signed(signing, said, logText({ topic, partition, signedAt }, records)));
  return [{ ...first, headers: { ...first.headers, [SIGNATURE]: header } }, ...others];
}

function signedWire(producer: WireProducer, signing: Signing): WireProducer {
  return {
    send: (topic, records) => {
      const mine = records.filter(({ headers }) => headers?.[SIGNATURE] === undefined);
      const headers = new Map<OutgoingRecord, string>();
      for (let from = 0; from < mine.length; from += SHARED_MAX)
        for (const [record, header] of wireHeaders(topic, mine.slice(from, from + SHARED_MAX), signing))
          headers.set(record, header);
      return producer.send(
        topic,
        records.map((record) => {
          const header = headers.get(record);
          return header === undefined ? record : { ...record, headers: { ...record.headers, [SIGNATURE]: header } };
        }),
      );
    },
    speaker: () => speakerOfOwn(signing),
    close: () => producer.close(),
  };
}

/** Whom the key of this process speaks for, as its own keyring has it now. */
function speakerOfOwn({ signer, keyring, clock, trouble }: Signing): Speaker {
  const failure = trouble?.() ?? null;
  if (failure?.code === 'KEY_NOT_BELIEVED') throw failure;
  const key = signer === null ? undefined : keyring().get(signer.keyId);
  if (key !== undefined && isValidAt(key, clock.now())) return key;
  const what = signer === null ? 'this process has no key to sign with' : `the key ${signer.keyId} does not speak now`;
  throw new Failure('KEY_NOT_BELIEVED', `${what}: nothing is signed`);
}

/** One signature for records of a wire: the header of each. */
function wireHeaders(
  topic: string,
  records: readonly OutgoingRecord[],
  signing: Signing,
): readonly (readonly [OutgoingRecord, string])[] {
  const [only] = records;
  const signedAt = signing.clock.now();
  const count = records.length;
  if (only !== undefined && count === 1) {
    const alone = { signedAt, count, place: null };
    return [[only, headerText(signed(signing, alone, aloneText(topic, signedAt, only)))]];
  }
  const { text, places } = sharedWire(topic, signedAt, records);
  const shared = signed(signing, { signedAt, count, place: null }, text);
  return records.map((record, at) => [record, headerText({ ...shared, place: places[at] ?? null })]);
}

function signed(
  { signer }: Signing,
  said: Pick<SignatureHeader, 'signedAt' | 'count' | 'place'>,
  text: string,
): SignatureHeader {
  if (signer === null) throw new InvariantViolation('signing', 'this process has no key to sign with', 'partition');
  return { ...said, keyId: signer.keyId, signature: signer.sign(text) };
}

// Reading -----------------------------------------------------------------------------------------------------------------

function logJudge({ ownerOf, keyring, onUnvouched }: Signing): LogJudge {
  return {
    genuine: (topic, partition) => {
      const owner = ownerOf(topic);
      if (owner === null) return null;
      return (batch, { keyId, signedAt, signature }) => {
        const key = keyring().get(keyId);
        if (key === undefined || !key.roles.includes('service') || !speaksUnder(key, owner)) return false;
        const text = logText({ topic, partition, signedAt }, batch);
        const speaker = speakerOf(keyring(), { keyId, text, signature, signedAt });
        return typeof speaker !== 'string';
      };
    },
    onUnvouched: (topic, partition, records) => onUnvouched?.(topic, partition, records),
  };
}

/** Records of a log that lies elsewhere, from its start, as its owner signed them; what nobody vouches for is void. */
export function siftStored(
  { topic, partition }: TopicPartition,
  records: Iterable<FetchedRecord>,
  signing: Signing,
): Iterable<FetchedRecord> {
  const isGenuine = logJudge(signing).genuine(topic, partition);
  return isGenuine === null ? records : siftAll(records, isGenuine);
}

/** The same for records that come one after the other; null for what is no log of ours: it counts as it lies. */
export function storedSieve({ topic, partition }: TopicPartition, signing: Signing): RunningSieve | null {
  const isGenuine = logJudge(signing).genuine(topic, partition);
  return isGenuine === null ? null : new RunningSieve(isGenuine);
}

function vouching(reader: RawReader, judging: Judging): RawReader {
  return {
    ...reader,
    read: async (...asked) => vouchedBatch(await reader.read(...asked), judging),
    readMany: async (...asked) =>
      Promise.all((await reader.readMany(...asked)).map((batch) => vouchedBatch(batch, judging))),
  };
}

/** What one partition still has to hand over. */
interface Turn {
  /** Records of a log whose batch has not come whole. */
  rest: readonly FetchedRecord[];
  handing: Promise<void>;
  /** Batches that are judged, or wait for that. */
  waiting: number;
}

/**
 * Hands over what it judged, in order. To judge takes a while, and so does a look back for the beginning of a batch; nothing more of
 * the partition is fetched meanwhile, and what was fetched before a pause or a seek may arrive behind it, as the port says.
 */
class SignedConsumer implements InputConsumer {
  private readonly turns = new Map<string, Turn>();
  private readonly sieve: LogSieve;
  private reader: Promise<RawReader> | null = null;
  private generation = 0;
  private isStopped = false;

  constructor(
    private readonly kafka: Kafka,
    private readonly consumer: InputConsumer,
    private readonly judging: Judging,
  ) {
    this.sieve = new LogSieve(logJudge(judging.signing), () => this.lookBack());
  }

  get name(): string {
    return this.consumer.name;
  }

  start(handlers: InputHandlers): Promise<void> {
    return this.consumer.start({
      onAssigned: (assignment) => {
        this.generation += 1;
        this.turns.clear();
        handlers.onAssigned(assignment);
      },
      onBatch: (batch) => {
        const judged = this.judgedAtOnce(batch);
        return judged === null ? this.queue(batch, handlers) : handlers.onBatch(judged);
      },
      onTrouble: handlers.onTrouble.bind(handlers),
      onCrash: handlers.onCrash.bind(handlers),
    });
  }

  seek(topic: string, partition: number, offset: number): void {
    this.turns.delete(`${topic}/${String(partition)}`);
    this.consumer.seek(topic, partition, offset);
  }

  pause(partitions: Parameters<InputConsumer['pause']>[0]): void {
    this.consumer.pause(partitions);
  }

  resume(partitions: Parameters<InputConsumer['resume']>[0]): void {
    this.consumer.resume(partitions);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.consumer.stop();
    const reader = await this.reader?.catch(() => null);
    await reader?.close();
  }

  /** A few records of a wire are judged in no time; null for others, and behind what is not judged yet. */
  private judgedAtOnce(batch: FetchedBatch): FetchedBatch | null {
    const { topic, partition } = batch;
    const isBehind = (this.turns.get(`${topic}/${String(partition)}`)?.waiting ?? 0) > 0;
    return isBehind || this.judging.signing.ownerOf(topic) !== null ? null : vouchedAtOnce(batch, this.judging);
  }

  private queue(batch: FetchedBatch, handlers: InputHandlers): Promise<void> {
    const id = `${batch.topic}/${String(batch.partition)}`;
    const turn = this.turns.get(id) ?? { rest: [], handing: Promise.resolve(), waiting: 0 };
    this.turns.set(id, turn);
    const { generation } = this;
    turn.waiting += 1;
    turn.handing = turn.handing.then(async () => {
      if (this.isStopped || generation !== this.generation || this.turns.get(id) !== turn) return;
      await this.handOver(batch, turn, handlers);
      turn.waiting -= 1;
    });
    return turn.handing;
  }

  private async handOver(batch: FetchedBatch, turn: Turn, handlers: InputHandlers): Promise<void> {
    const { generation } = this;
    try {
      const judged = await this.judged(batch, turn);
      if (this.isStopped || generation !== this.generation) return;
      await handlers.onBatch(judged);
    } catch (cause) {
      // Whoever reads makes a new consumer, and seeks: nothing was handed over that was not judged.
      if (!this.isStopped && generation === this.generation) handlers.onCrash(cause);
    }
  }

  private async judged(batch: FetchedBatch, turn: Turn): Promise<FetchedBatch> {
    if (this.judging.signing.ownerOf(batch.topic) === null) return vouchedBatch(batch, this.judging);
    const joined = joinedTo(turn.rest, batch);
    const sifted = await this.sieve.sifted(joined);
    turn.rest = joined.records.filter(({ offset }) => offset >= sifted.nextOffset);
    return sifted;
  }

  private lookBack(): Promise<RawReader> {
    this.reader ??= this.kafka.rawReader();
    return this.reader;
  }
}

/** What was left of the batch before, and the one that goes on behind it. */
function joinedTo(rest: readonly FetchedRecord[], batch: FetchedBatch): FetchedBatch {
  const [first, last] = [rest[0], rest.at(-1)];
  const next = batch.records[0]?.offset ?? batch.fetchedOffset;
  if (first === undefined || last === undefined || last.offset + 1 !== next) return batch;
  return { ...batch, fetchedOffset: first.offset, records: [...rest, ...batch.records] };
}
