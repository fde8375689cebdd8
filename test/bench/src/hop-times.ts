// Where the time of a recovery goes: when each record of its way reached the broker.
import type { BenchStack } from './bench-stack.js';
import { median } from './rounds.js';

/** A record on the way of a recovery: topic, and the field that names the run or the ref. Of several in one case the last counts. */
export interface WayStep {
  readonly topic: string;
  readonly type: string;
  readonly field: string;
}

/** Records of one recovery in the order they are made. */
const WAY: readonly WayStep[] = [
  { topic: 'recourse.assumption-events', type: 'AssumptionInvalidated', field: 'ref' },
  { topic: 'recourse.assumptions', type: 'AssumptionStated', field: 'ref' },
  { topic: 'recourse.mutations', type: 'MutationsFell', field: 'run_id' },
  { topic: 'recourse.recoveries', type: 'RecoveryPlanned', field: 'run_id' },
];

/** Milliseconds from each record to the next, median over all cases. `caseOf` tells the case of a run or a ref; null for none that counts. */
export async function hopTimes(
  bench: BenchStack,
  caseOf: (name: string) => string | null,
  way: readonly WayStep[] = WAY,
): Promise<readonly { readonly hop: string; readonly ms: number }[]> {
  const times = new Map<string, Map<string, number>>();
  for (const topic of new Set(way.map((one) => one.topic)))
    await readTopic(
      bench,
      way.filter((one) => one.topic === topic),
      caseOf,
      times,
    );
  return way.slice(1).map(({ type }, index) => {
    const before = way[index]?.type ?? '';
    const spans = [...times.values()].flatMap((at) => {
      const [from, to] = [at.get(before), at.get(type)];
      return from === undefined || to === undefined ? [] : [to - from];
    });
    return { hop: `${before} → ${type}`, ms: median(spans) };
  });
}

async function readTopic(
  bench: BenchStack,
  way: readonly WayStep[],
  caseOf: (name: string) => string | null,
  times: Map<string, Map<string, number>>,
): Promise<void> {
  const topic = way[0]?.topic ?? '';
  const reader = await bench.kafka.rawReader();
  const admin = await bench.kafka.admin();
  try {
    const partitions = (await admin.partitionCount(topic)) ?? 0;
    for (let partition = 0; partition < partitions; partition += 1) {
      const { high } = await reader.range(topic, partition);
      for (let offset = 0; offset < high;) {
        const { records } = await reader.read(topic, partition, offset);
        if (records.length === 0) break;
        for (const record of records) {
          offset = record.offset + 1;
          await note(bench, record, way, caseOf, times);
        }
      }
    }
  } finally {
    await reader.close();
    await admin.close();
  }
}

async function note(
  { codecs }: BenchStack,
  { value, timestamp }: { readonly value: Buffer | null; readonly timestamp: number },
  way: readonly WayStep[],
  caseOf: (name: string) => string | null,
  times: Map<string, Map<string, number>>,
): Promise<void> {
  if (value === null) return;
  await codecs.load(value.readInt32BE(1));
  const decoded = codecs.decodeSync(value);
  if (decoded.kind !== 'decoded') return;
  const step = way.find((one) => one.type === decoded.type);
  if (step === undefined) return;
  const name = caseOf(String((decoded.body as Readonly<Record<string, unknown>>)[step.field]));
  if (name === null) return;
  times.set(name, (times.get(name) ?? new Map<string, number>()).set(step.type, timestamp));
}
