// Whose word a report is, in worlds where another worker observes what workers say they undid.
//
// Boundary: stands for keyring and signatures, which have specs of their own: who sends a report names a key in a header, and
// who reads it vouches for that key. Elsewhere wires are open.
import type { Speaker } from '@recourse/kernel';
import type { FetchedBatch, Kafka, RawReader, WireProducer } from '@recourse/kafka';
import type { Faults } from './faults.js';
import type { Random } from './random.js';
import type { Scheduler, SimActor } from './scheduler.js';

const REPORTS = 'recourse.tool-results';
/** Header in which who sends a report names a key. */
export const KEY_HEADER = 'simulation-key';
const PAYMENTS = ['payments'] as const;

/** What an observer does with its reports, and when. */
export interface Wayward {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly random: Random;
  /** Longest it keeps a report back, milliseconds: longer than a lease. */
  readonly lateMaxMs: number;
}

/** The key of a process is that of the one it was started in the place of. */
function keyIdOf({ name }: SimActor): string {
  return name.replace(/#.*$/, '');
}

/** Is this the key of an observer? */
export function isObserverKey(keyId: string | null): boolean {
  return keyId?.startsWith('observer-') === true;
}

/** Whom a key speaks for; `observed`: tenants for which another worker looks at what this one says it undid. */
function speakerOf(keyId: string, observed: readonly string[]): Speaker {
  const speaker = { keyId, names: PAYMENTS, tenants: ['*'] };
  return isObserverKey(keyId)
    ? { ...speaker, roles: ['observer'] }
    : { ...speaker, roles: ['worker'], observers: [{ names: PAYMENTS, tenants: observed }] };
}

/** The broker as a worker or an observer reaches it: what it sends names its key. */
export function namingKafka(kafka: Kafka, actor: SimActor, observed: readonly string[], wayward: Wayward): Kafka {
  const keyId = keyIdOf(actor);
  return {
    ...kafka,
    wireProducer: async () => {
      const producer = await kafka.wireProducer();
      const named: WireProducer = {
        send: (topic, records) =>
          producer.send(
            topic,
            records.map((record) => ({ ...record, headers: { ...record.headers, [KEY_HEADER]: keyId } })),
          ),
        speaker: () => speakerOf(keyId, observed),
        close: () => producer.close(),
      };
      return isObserverKey(keyId) ? waywardProducer(named, wayward) : named;
    },
  };
}

/** An observer that answers late, twice or not at all. */
function waywardProducer(producer: WireProducer, { scheduler, faults, random, lateMaxMs }: Wayward): WireProducer {
  return {
    ...producer,
    send: async (topic, records) => {
      const fate = faults.healed ? 'well' : random.weighted({ well: 14, late: 2, twice: 2, silent: 2 } as const);
      if (fate !== 'well') faults.note(`observer ${fate}`);
      if (fate === 'well' || fate === 'twice') await producer.send(topic, records);
      if (fate === 'late' || fate === 'twice')
        scheduler.after(random.between(20, lateMaxMs), () => {
          producer.send(topic, records).catch(() => undefined);
        });
    },
  };
}

/** The broker as a service reaches it: each report comes with whose word it is. */
export function vouchingKafka(kafka: Kafka, observed: readonly string[]): Kafka {
  const vouched = <Batch extends FetchedBatch>(batch: Batch): Batch =>
    batch.topic === REPORTS
      ? { ...batch, records: batch.records.map((record) => vouchedFor(record, observed)) }
      : batch;
  return {
    ...kafka,
    rawReader: async (of) => vouchingReader(await kafka.rawReader(of), vouched),
    inputConsumer: (options) => {
      const consumer = kafka.inputConsumer(options);
      return {
        name: consumer.name,
        start: (handlers) =>
          consumer.start({
            onAssigned: (assignment) => {
              handlers.onAssigned(assignment);
            },
            onBatch: (batch) => handlers.onBatch(vouched(batch)),
            onTrouble: (at, cause) => {
              handlers.onTrouble(at, cause);
            },
            onCrash: (cause) => {
              handlers.onCrash(cause);
            },
          }),
        seek: (topic, partition, offset) => {
          consumer.seek(topic, partition, offset);
        },
        pause: (partitions) => {
          consumer.pause(partitions);
        },
        resume: (partitions) => {
          consumer.resume(partitions);
        },
        stop: () => consumer.stop(),
      };
    },
  };
}

function vouchingReader(reader: RawReader, vouched: <Batch extends FetchedBatch>(batch: Batch) => Batch): RawReader {
  return {
    range: (topic, partition) => reader.range(topic, partition),
    read: async (topic, partition, fromOffset, maxBytes) =>
      vouched(await reader.read(topic, partition, fromOffset, maxBytes)),
    readMany: async (positions, options) => (await reader.readMany(positions, options)).map(vouched),
    close: () => reader.close(),
  };
}

/** What names no key is nobody's word. */
function vouchedFor(
  record: FetchedBatch['records'][number],
  observed: readonly string[],
): FetchedBatch['records'][number] {
  const keyId = record.headers[KEY_HEADER]?.toString('latin1');
  return {
    ...record,
    voucher:
      keyId === undefined
        ? { kind: 'refused', reason: 'SIGNATURE_MISSING', keyId: null }
        : { kind: 'vouched', speaker: speakerOf(keyId, observed) },
  };
}
