// append: what the chain costs a writer.
//
// Ours: the log writer of the loop. Every batch is sealed (encoded, read back, hashed, linked), begins with Progress, is
// sent as one produce request and taken only at the expected base offset. Raw: kafkajs sends the very same bytes.
// Both have one request in flight, on the same broker, in turns. Signed: ours again, to another partition, with each batch signed;
// reading both back says what checking the signatures costs a reader.
import { OwnLog } from '@recourse/event-log';
import type { Decided } from '@recourse/event-log';
import { signedKafka, testKeys } from '@recourse/kafka';
import type { Kafka, OutgoingRecord } from '@recourse/kafka';
import { plainPayload } from '@recourse/contract';
import { sha256Hex, systemClock } from '@recourse/kernel';
import type { Producer } from 'kafkajs';
import { emptyTopics, freshLogId, makeTopics, PARTITIONS, prepareWriters, say, withStack } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import type { Measured } from './report.js';
import { interleaved, median, rateOf } from './rounds.js';

const LOG = 'recourse.assumptions';
const RAW_TOPIC = `bench.raw.${String(process.pid)}`;
const RECORD_BYTES = 400;
const BATCH_RECORDS = 500;
/** Octets by which sequence number and length prefixes grow past those of an empty record at the start of a log. */
const GROWTH = 4;

export interface AppendSize {
  readonly rounds: number;
  readonly batches: number;
}
export const APPEND_FULL: AppendSize = { rounds: 10, batches: 100 };
export const APPEND_QUICK: AppendSize = { rounds: 6, batches: 40 };

interface Round {
  readonly done: number;
  readonly ms: number;
  readonly sent: readonly (readonly OutgoingRecord[])[];
}

export async function benchAppend(size: AppendSize): Promise<Measured> {
  return withStack(async (bench) => {
    await makeTopics(bench, [{ name: RAW_TOPIC, partitions: 1, replicationFactor: 1 }]);
    await emptyTopics(bench, [LOG]);
    await prepareWriters(bench, LOG);
    const producer = bench.raw.producer({
      idempotent: false,
      allowAutoTopicCreation: false,
      maxInFlightRequests: 1,
      retry: { retries: 0 },
    });
    await producer.connect();
    const logs = { plain: logOver(bench, bench.kafka, 0), signed: logOver(bench, signing(bench.kafka), 1) };
    await Promise.all([logs.plain.prepare(), logs.signed.prepare()]);
    try {
      return await measure(bench, logs, producer, size);
    } finally {
      await Promise.all([logs.plain.close(), logs.signed.close()]);
      await producer.disconnect();
    }
  });
}

interface Logs {
  readonly plain: OwnLog;
  /** The same log with each batch signed, on a partition of its own. */
  readonly signed: OwnLog;
}

function logOver({ codecs }: BenchStack, kafka: Kafka, partition: number): OwnLog {
  return new OwnLog({ kafka, codecs, topic: LOG, partition, partitionCount: PARTITIONS, logId: freshLogId() });
}

function signing(kafka: Kafka): Kafka {
  const keys = testKeys({ ledger: { role: 'service', names: ['mutation-ledger'] } });
  const [signer, keyring] = [keys.signer('ledger'), () => keys.keyring];
  return signedKafka(kafka, { signer, keyring, ownerOf: () => 'mutation-ledger', clock: systemClock });
}

async function measure(
  bench: BenchStack,
  { plain: log, signed: signedLog }: Logs,
  producer: Producer,
  { rounds, batches }: AppendSize,
): Promise<Measured> {
  const facts = paddedFacts(log, BATCH_RECORDS);
  let last = await warmUp({ plain: log, signed: signedLog }, producer, facts, batches);
  const signed: Round[] = [];
  const measured = await interleaved(rounds, {
    ours: async (round) => {
      say(`round ${String(round + 1)} of ${String(rounds)}`);
      // Whichever comes first warms the broker for the other.
      if (round % 2 === 0) signed.push(await appendRound(signedLog, facts, batches));
      last = await appendRound(log, facts, batches);
      if (round % 2 === 1) signed.push(await appendRound(signedLog, facts, batches));
      return last;
    },
    raw: () => rawRound(producer, last.sent),
  });
  const readBack = await readAll(log);
  const readSigned = await readAll(signedLog);
  const appended = (rounds + 1) * batches * (BATCH_RECORDS + 1);
  const isOfTheSize = ({ value }: OutgoingRecord): boolean => Math.abs(value.length - RECORD_BYTES) <= GROWTH;
  return measuredOf(
    { rounds, batches },
    { ...measured, signed },
    {
      readMs: { plain: readBack.ms, signed: readSigned.ms },
      valueBytes: last.sent[0]?.[1]?.value.length ?? 0,
      gates: {
        append_records_are_of_the_size: last.sent.every((batch) => batch.slice(1).every(isOfTheSize)),
        append_all_accepted: readBack.accepted === appended && readBack.voids === 0 && readBack.isHead,
        append_signed_all_accepted: readSigned.accepted === appended && readSigned.voids === 0 && readSigned.isHead,
        append_raw_all_stored: (await endOf(bench, RAW_TOPIC)) === appended,
      },
    },
  );
}

async function warmUp(
  { plain, signed }: Logs,
  producer: Producer,
  facts: readonly Decided[],
  batches: number,
): Promise<Round> {
  say('warming up');
  const last = await appendRound(plain, facts, batches);
  await appendRound(signed, facts, batches);
  await rawRound(producer, last.sent);
  return last;
}

type Timed = readonly { readonly done: number; readonly ms: number }[];

function measuredOf(
  { rounds, batches }: AppendSize,
  { ours, raw, signed }: { readonly ours: Timed; readonly raw: Timed; readonly signed: Timed },
  {
    valueBytes,
    gates,
    readMs,
  }: Pick<Measured, 'gates'> & {
    readonly valueBytes: number;
    readonly readMs: { readonly plain: number; readonly signed: number };
  },
): Measured {
  return {
    figures: { append_per_s: rateOf(ours), append_raw_per_s: rateOf(raw), append_signed_per_s: rateOf(signed) },
    ratios: {
      append_vs_raw: median(ours.map(({ ms }, round) => (raw[round]?.ms ?? NaN) / ms)),
      append_signed_vs_unsigned: median(signed.map(({ ms }, round) => (ours[round]?.ms ?? NaN) / ms)),
      append_signed_read_vs_unsigned: readMs.plain / readMs.signed,
    },
    counts: {
      append_rounds: rounds,
      append_records: rounds * batches * BATCH_RECORDS,
      append_requests: rounds * batches,
      append_progress_per_batch: 1,
      append_value_bytes: valueBytes,
    },
    gates,
    notes: [
      `append: ${String(BATCH_RECORDS)} records of ${String(RECORD_BYTES)} bytes and a Progress per request; writer and broker share the cores, registry and PostgreSQL idle beside them`,
    ],
  };
}

async function appendRound(log: OwnLog, facts: readonly Decided[], batches: number): Promise<Round> {
  const sent: (readonly OutgoingRecord[])[] = [];
  const startedAt = performance.now();
  for (let batch = 0; batch < batches; batch += 1) {
    const sealer = log.seal(1_700_000_000_000 + batch);
    sealer.add(progress(batch), 'progress');
    for (const fact of facts) sealer.add(fact, String(fact.body['ref']));
    const judgement = await log.append(sealer);
    if (judgement !== 'accepted') throw new Error(`an append was ${judgement}`);
    sent.push(sealer.outgoing);
  }
  return { done: batches * facts.length, ms: performance.now() - startedAt, sent };
}

async function rawRound(producer: Producer, batches: readonly (readonly OutgoingRecord[])[]): Promise<Round> {
  const startedAt = performance.now();
  let done = 0;
  for (const batch of batches) {
    await producer.send({
      topic: RAW_TOPIC,
      acks: -1,
      timeout: 5_000,
      messages: batch.map(({ key, value }) => ({ key, value, partition: 0 })),
    });
    done += batch.length - 1;
  }
  return { done, ms: performance.now() - startedAt, sent: batches };
}

function progress(batch: number): Decided {
  return {
    type: 'Progress',
    body: {
      cursors: [
        {
          topic: 'recourse.assumption-events',
          partition: 0,
          offset: batch * BATCH_RECORDS,
          seq: 0,
          hash: Buffer.alloc(32),
        },
      ],
      reacted_seq: batch,
    },
  };
}

/** Facts whose framed bytes have the size asked for; what is missing is text of the statement. */
function paddedFacts(log: OwnLog, count: number): readonly Decided[] {
  return Array.from({ length: count }, (_, index) => {
    const bare = log.seal(1_700_000_000_000);
    bare.add(statement(index, ''), 'probe');
    return statement(index, 'x'.repeat(RECORD_BYTES - GROWTH - (bare.outgoing[0]?.value.length ?? 0)));
  });
}

function statement(index: number, padding: string): Decided {
  const ref = `order/${String(100_000 + index)}#not_shipped`;
  return {
    type: 'AssumptionStated',
    body: {
      event_id: `evt_${String(index).padStart(8, '0')}`,
      tenant: 'acme',
      ref,
      run_id: null,
      source: 'warehouse',
      source_kind: 'observation',
      kind: 'declared',
      verdict: 'holds',
      superseded: false,
      statement: plainPayload({ padding }),
      stated_at: 1_700_000_000_000,
      content_sha256: Buffer.from(sha256Hex(ref), 'hex'),
    },
  };
}

async function readAll(
  log: OwnLog,
): Promise<{ readonly accepted: number; readonly voids: number; readonly isHead: boolean; readonly ms: number }> {
  const startedAt = performance.now();
  const head = log.position.head;
  let accepted = 0;
  for await (const records of log.read(log.origin())) accepted += records.length;
  return {
    accepted,
    ms: performance.now() - startedAt,
    voids: log.voids.length,
    isHead: log.position.head.seq === head.seq && log.position.head.hash.equals(head.hash),
  };
}

async function endOf({ kafka }: BenchStack, topic: string): Promise<number> {
  const reader = await kafka.rawReader();
  try {
    return (await reader.range(topic, 0)).high;
  } finally {
    await reader.close();
  }
}
