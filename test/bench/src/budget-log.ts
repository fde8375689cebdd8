// The budgets log, read as anybody could.
import { BUDGETS_LOG } from '@recourse/budget-accountant';
import type { RawReader } from '@recourse/kafka';
import { recordOf } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { PARTITIONS } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import type { LogRecount } from './budget-load.js';

const FETCH_BYTES = 4 << 20;

/** Counts again what the log says. */
export async function recounted({ kafka, codecs }: BenchStack, recount: LogRecount): Promise<LogRecount> {
  const reader = await kafka.rawReader();
  try {
    for (let partition = 0; partition < PARTITIONS; partition += 1)
      for await (const value of valuesOf(reader, partition)) await add(codecs, recount, value);
    return recount;
  } finally {
    await reader.close();
  }
}

async function add(codecs: Codecs, recount: LogRecount, value: Buffer): Promise<void> {
  await codecs.load(value.readInt32BE(1));
  const record = recordOf(BUDGETS_LOG, codecs.decodeSync(value));
  if (record !== null) recount.add(record.type, { ...record.body });
}

async function* valuesOf(reader: RawReader, partition: number): AsyncGenerator<Buffer> {
  const { high } = await reader.range(BUDGETS_LOG, partition);
  for (let at = 0; at < high;) {
    const { records, nextOffset } = await reader.read(BUDGETS_LOG, partition, at, FETCH_BYTES);
    yield* records.flatMap(({ value }) => value ?? []);
    at = nextOffset;
  }
}
