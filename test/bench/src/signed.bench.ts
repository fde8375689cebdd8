// ingest-signed, hop-signed: what signatures cost, with and without them in one run.
//
// The same executions, signed by their producer, are ingested by a ledger that believes everybody and by one that asks; in turns,
// each on an empty database. A hop is measured on services with open wires and then on services with strict ones.
import { benchHop } from './hop.bench.js';
import type { HopSize } from './hop.bench.js';
import { execution } from './executions.js';
import { emptyTopics, freshDatabase, makeTopics, PARTITIONS, prepareWriters, say, withStack } from './bench-stack.js';
import { ingestRound, LEAST } from './ingest.bench.js';
import type { IngestSize, Ours } from './ingest.bench.js';
import { EXECUTIONS_TOPIC, LEDGER_TOPICS, preloadSigned } from './preload.js';
import type { Measured } from './report.js';
import { interleaved, rateOf, sum } from './rounds.js';
import { benchKeys } from './signing.js';

/** Turns of services between the statement and the review item. */
const HOPS = 3;
/** What signatures may cost. */
const [INGEST_PART_MAX, HOP_MS_MAX] = [0.1, 0.3];

export async function benchIngestSigned({ rounds, executions }: IngestSize): Promise<Measured> {
  return withStack(async (stack) => {
    const keys = benchKeys(stack.folder);
    await makeTopics(stack);
    await emptyTopics(stack, [EXECUTIONS_TOPIC]);
    await prepareWriters(stack, ...LEDGER_TOPICS);
    await preloadSigned(stack, executions, execution, keys.producing(stack.stack.kafka.brokers));
    const round = async (number: number, isSigned: boolean): Promise<Ours> => {
      say(`round ${String(number + 1)} of ${String(rounds)}: ${isSigned ? 'strict' : 'open'} wires`);
      const { url } = await freshDatabase(stack, 'ingest');
      const signing = isSigned ? keys.placesOf('mutation-ledger') : undefined;
      const result = await ingestRound(stack, LEAST, { databaseUrl: url, executions, signing });
      say(`  ${String(Math.round((executions / result.ms) * 1_000))} executions/s`);
      return result;
    };
    const { ours: open, raw: signed } = await interleaved(rounds, {
      ours: (number) => round(number, false),
      raw: (number) => round(number, true),
    });
    return ingestMeasured({ open, signed }, { rounds, executions });
  });
}

function ingestMeasured(
  { open, signed }: { readonly open: readonly Ours[]; readonly signed: readonly Ours[] },
  { rounds, executions }: IngestSize,
): Measured {
  const cpuOf = (all: readonly Ours[]): number => (sum(all.map(({ cpuMs }) => cpuMs)) / (executions * rounds)) * 1_000;
  const isWhole = ({ recorded, parked, appendsUnknown }: Ours): boolean =>
    recorded === executions && parked === 0 && appendsUnknown === 0;
  const cost = 1 - rateOf(signed) / rateOf(open);
  return {
    figures: {
      ingest_open_per_s: rateOf(open),
      ingest_signed_per_s: rateOf(signed),
      ingest_open_cpu_us: cpuOf(open),
      ingest_signed_cpu_us: cpuOf(signed),
    },
    ratios: { ingest_signed_vs_open: rateOf(signed) / rateOf(open) },
    counts: { executions, rounds, partitions: PARTITIONS },
    gates: {
      ingest_open_recorded_each_once: open.every(isWhole),
      ingest_signed_recorded_each_once: signed.every(isWhole),
    },
    notes: [
      `signatures cost ${(cost * 100).toFixed(1)} % of ingest; at most ${String(INGEST_PART_MAX * 100)} % are aimed at`,
    ],
  };
}

export async function benchHopSigned(size: HopSize): Promise<Measured> {
  const open = await benchHop(size);
  const signed = await benchHop(size, { isSigned: true });
  const at = (measured: Measured, name: string): number => measured.figures[name] ?? NaN;
  const costMs = (at(signed, 'hop_p50_ms') - at(open, 'hop_p50_ms')) / HOPS;
  return {
    figures: {
      hop_open_p50_ms: at(open, 'hop_p50_ms'),
      hop_signed_p50_ms: at(signed, 'hop_p50_ms'),
      hop_open_p99_ms: at(open, 'hop_p99_ms'),
      hop_signed_p99_ms: at(signed, 'hop_p99_ms'),
      hop_signed_cost_ms_per_turn: costMs,
    },
    ratios: { hop_signed_vs_open_p50: at(signed, 'hop_p50_ms') / at(open, 'hop_p50_ms') },
    counts: { hop_samples: size.samples },
    gates: {
      ...open.gates,
      ...Object.fromEntries(Object.entries(signed.gates).map(([name, is]) => [`signed_${name}`, is])),
    },
    notes: [
      `signatures cost ${costMs.toFixed(2)} ms in each of the ${String(HOPS)} turns; at most ${String(HOP_MS_MAX)} ms are aimed at`,
    ],
  };
}
