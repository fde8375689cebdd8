// One reading of one log, in a process of its own: verifies it, from Kafka or from a dump, or does nothing with what it reads.
import { auditDump, auditTopics, createDump, withScratch } from '@recourse/cli';
import type { PartitionReport } from '@recourse/cli';
import { sha256 } from '@recourse/chain';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import { peakRssMb } from './peak-rss.js';
import { answer, task } from './worker-process.js';

export interface ReadTask {
  /** `written` verifies and writes the dump that `dump` verifies. */
  readonly how: 'verified' | 'written' | 'dump' | 'noop' | 'hashed';
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  readonly logId: string;
  readonly topic: string;
  /** Folder of the dump. */
  readonly folder: string;
}

export interface ReadAnswer {
  readonly done: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly rssMaxMb: number;
  /** Empty where nothing was verified. */
  readonly reports: readonly PartitionReport[];
}

/** As the verifier asks. */
const FETCH_BYTES = 2 << 20;
const { how, brokers, registryUrl, logId, topic, folder } = task<ReadTask>();
const kafka = createKafka({ brokers, clientId: 'bench-audit' });
const registry = createSchemaRegistry({ url: registryUrl, timeoutMs: 30_000 });

type Read = Pick<ReadAnswer, 'done' | 'reports'> & { readonly ms?: number };
const READ: Readonly<Record<ReadTask['how'], () => Promise<Read>>> = {
  verified: () => verify(),
  written: async () => {
    const dump = createDump(folder, registry);
    const read = await verify(dump);
    dump.close();
    return read;
  },
  dump: async () =>
    reported(
      await withScratch((scratch) =>
        auditDump({ folder, logId: null, known: new Map(), topics: [topic], only: topic, scratch }),
      ),
    ),
  noop: () => pages(() => undefined),
  hashed: async () => {
    let ms = 0;
    const read = await pages((values) => {
      const startedAt = performance.now();
      for (const value of values) sha256(value);
      ms += performance.now() - startedAt;
    });
    return { ...read, ms };
  },
};

async function verify(dump?: ReturnType<typeof createDump>): Promise<Read> {
  const audit = {
    kafka,
    registry,
    logId,
    topics: [topic],
    known: new Map(),
    ...(dump && { dump: { writer: dump, signing: null } }),
  };
  return reported(await withScratch((scratch) => auditTopics({ ...audit, scratch })));
}

function reported(reports: readonly PartitionReport[]): Read {
  return { reports, done: reports.reduce((sum, { records }) => sum + records, 0) };
}

/** Every page of the log, the next one under way while one is looked at, as the verifier has it. */
async function pages(look: (values: readonly Buffer[]) => void): Promise<Read> {
  const reader = await kafka.rawReader();
  const { high } = await reader.range(topic, 0);
  let done = 0;
  let asked = reader.read(topic, 0, 0, FETCH_BYTES);
  for (let at = 0; at < high;) {
    const { records, nextOffset } = await asked;
    if (nextOffset < high) asked = reader.read(topic, 0, nextOffset, FETCH_BYTES);
    look(records.flatMap(({ value }) => value ?? []));
    done += records.length;
    at = nextOffset;
  }
  await reader.close();
  return { done, reports: [] };
}

const [startedAt, cpuBefore] = [performance.now(), process.cpuUsage()];
const read = await READ[how]();
const ms = read.ms ?? performance.now() - startedAt;
const { user, system } = process.cpuUsage(cpuBefore);
const rssMaxMb = peakRssMb();
answer({ done: read.done, reports: read.reports, ms, cpuMs: (user + system) / 1_000, rssMaxMb } satisfies ReadAnswer);
