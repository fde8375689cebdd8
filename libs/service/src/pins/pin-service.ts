// Pins the decisions that made some records of a service's log: the log, its inputs and its views, read from Kafka.
//
// Boundary: reads, as `recourse replay` does; joins no group, writes and sends nothing. Payloads open where a key store is named, of which it
// only asks.
import { OpenKeys, OwnLog, pinDecisions, ViewHistory } from '@recourse/event-log';
import type { KeyStore, Pinned, PinSource, ServiceCore, ViewRecord } from '@recourse/event-log';
import type { FetchedBatch, Kafka, RawReader } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
import { z } from 'zod';
import type { PartitionCounts } from '../partition-counts.js';
import { packed } from './pin-json.js';
import type { Remaking } from './remaking.js';

export const pinShape = {
  do: z.literal('pin'),
  log: z.string(),
  /** Records by partition. */
  wanted: z.array(z.strictObject({ partition: z.int().min(0), seqs: z.array(z.int().min(1)) })),
  settings: z.record(z.string(), z.string()),
  /** Where the keys are that seal payloads; null: what looks into one has no pin. */
  key_store_url: z.string().nullable(),
};

export interface PinAsked {
  readonly log: string;
  readonly wanted: readonly { readonly partition: number; readonly seqs: readonly number[] }[];
  readonly settings: Readonly<Record<string, string>>;
}

interface Connected {
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  readonly logId: string;
  readonly counts: PartitionCounts;
  readonly keys: Pick<KeyStore, 'find'> | null;
}

/** Lines: the settings and partitions first, then pins, and what has none. Errors: those of reading a log. */
export async function* pinLines(asked: PinAsked, remaking: Remaking, at: Connected): AsyncGenerator<object> {
  const settings = remaking.settingsIn(asked.settings);
  const core = remaking.coreUnder(settings);
  const countOf = await at.counts.all([core.log, ...topicsOf(core)]);
  const view_partitions = Object.fromEntries(core.views.map(({ topic }) => [topic, countOf(topic)]));
  yield { type: 'pinning', settings, partitions: countOf(core.log), view_partitions };
  await at.codecs.prepareWriter(core.log);
  const inputs = new InputReads(at.kafka);
  try {
    const views = await viewsOf(core, at, countOf);
    const keys = at.keys === null ? {} : { keys: new OpenKeys(at.keys) };
    for (const { partition, seqs } of asked.wanted) {
      const log = new OwnLog({ ...at, topic: core.log, partition, partitionCount: countOf(core.log) });
      const source: PinSource = {
        ...{ core, partition, views, keyed: remaking.keyed, partitionCountOf: countOf },
        ...{ codecs: at.codecs, logId: at.logId, ...keys },
        log: log.read(log.origin()),
        read: (place, from, to) => inputs.read(place, from, to),
        wanted: new Set(seqs),
      };
      yield* linesOf(await pinDecisions(source).finally(() => log.close()));
    }
  } finally {
    await inputs.close();
  }
}

function* linesOf({ pins, unpinned }: Pinned): Generator<object> {
  for (const pin of pins) yield { type: 'pin', pin: packed(pin) };
  for (const one of unpinned) yield { type: 'unpinned', ...one };
}

function topicsOf({ inputs, views }: ServiceCore): readonly string[] {
  return [...inputs, ...views].map(({ topic }) => topic);
}

async function viewsOf(
  core: ServiceCore,
  at: Connected,
  countOf: (topic: string) => number,
): Promise<ReadonlyMap<string, ViewHistory>> {
  const read = new Map<string, readonly ViewRecord[]>();
  for (const topic of new Set(core.views.map((view) => view.topic))) {
    const records = await allOf(topic, at, countOf);
    const isDerived = topic === core.derived?.topic;
    read.set(topic, isDerived ? timed(records, await allOf(core.log, at, countOf)) : records);
  }
  return new Map(core.views.map((view) => [view.name, new ViewHistory(view, read.get(view.topic) ?? [])]));
}

async function allOf(
  topic: string,
  { kafka, codecs, logId }: Connected,
  countOf: (topic: string) => number,
): Promise<readonly ViewRecord[]> {
  const records: ViewRecord[] = [];
  const partitionCount = countOf(topic);
  for (let partition = 0; partition < partitionCount; partition += 1)
    for (const one of await recordsOf(new OwnLog({ kafka, codecs, logId, topic, partition, partitionCount })))
      records.push(one);
  return records;
}

/** Records of a derived log have no time of their own: each came when its source was decided. */
function timed(derived: readonly ViewRecord[], sources: readonly ViewRecord[]): readonly ViewRecord[] {
  const name = (partition: number, seq: number): string => `${String(partition)}/${String(seq)}`;
  const times = new Map(sources.map(({ place, record }) => [name(place.partition, place.seq), record.decidedAt]));
  return derived.map((one) => ({
    ...one,
    at: times.get(name(one.place.partition, Number(one.record.body['source_seq']))) ?? 0,
  }));
}

async function recordsOf(log: OwnLog): Promise<readonly ViewRecord[]> {
  const { topic, partition } = log.options;
  const found: ViewRecord[] = [];
  for await (const records of log.read(log.origin()))
    for (const record of records) {
      const { seq, hash } = record;
      found.push({ place: { log: topic, partition, seq, hash: hash.toString('hex') }, record });
    }
  await log.close();
  return found;
}

/** Inputs, some of each at a time: the parts of a log that are asked for follow each other. */
class InputReads {
  readonly #readers = new Map<'logs' | 'wires', Promise<RawReader>>();
  readonly #last = new Map<string, FetchedBatch>();

  constructor(private readonly kafka: Kafka) {}

  /** Null for what a wire no longer holds, or does not let us read. */
  async read(
    { input: { topic, source }, partition }: Parameters<PinSource['read']>[0],
    from: number,
    to: number,
  ): Promise<readonly FetchedBatch[] | null> {
    try {
      const reader = await this.#reader(source === 'log' ? 'logs' : 'wires');
      const batches: FetchedBatch[] = [];
      for (let at = from; at < to;) {
        const batch = await this.#batchAt(reader, { topic, partition }, at);
        if (batch.nextOffset <= at) return null;
        batches.push(batch);
        at = batch.nextOffset;
      }
      return batches;
    } catch (cause) {
      if (source === 'wire' && cause instanceof Failure) return null;
      throw cause;
    }
  }

  async close(): Promise<void> {
    for (const reader of this.#readers.values()) await (await reader).close();
  }

  async #batchAt(
    reader: RawReader,
    { topic, partition }: { readonly topic: string; readonly partition: number },
    at: number,
  ): Promise<FetchedBatch> {
    const id = `${topic}/${String(partition)}`;
    const last = this.#last.get(id);
    if (last !== undefined && last.fetchedOffset <= at && at < last.nextOffset) return last;
    const batch = await reader.read(topic, partition, at);
    this.#last.set(id, batch);
    return batch;
  }

  #reader(of: 'logs' | 'wires'): Promise<RawReader> {
    const reader = this.#readers.get(of) ?? this.kafka.rawReader(of);
    this.#readers.set(of, reader);
    return reader;
  }
}
