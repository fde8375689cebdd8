// The ledger on an empty database beside the log it wrote: reads the log, folds it and projects it anew.
import { startLedger } from './ledger-process.js';
import type { LedgerAddress } from './ledger-process.js';
import { peakRssMb } from './peak-rss.js';
import { answer, sharedClockMs, task } from './worker-process.js';

export interface RebuildTask extends LedgerAddress {
  readonly partitions: number;
}

export interface RebuildAnswer {
  /** From the first look at the empty tables to the moment at which all partitions have their rows again. */
  readonly ms: number;
  readonly records: number;
  readonly cpuMs: number;
  readonly rssMaxMb: number;
}

const { partitions, ...address } = task<RebuildTask>();
const seen = { startedAt: 0, cpuBefore: process.cpuUsage(), records: 0, recovered: 0 };

const ledger = await startLedger(address, {
  onLookedAt: () => {
    if (seen.startedAt !== 0) return;
    seen.startedAt = sharedClockMs();
    seen.cpuBefore = process.cpuUsage();
  },
  onEvent: (event) => {
    if (event.kind !== 'recovered') return;
    // Its tables were empty when it began: all that its log holds was read, in however many attempts.
    seen.records += event.seq;
    seen.recovered += 1;
    if (seen.recovered === partitions) void finish(sharedClockMs());
  },
  onProjected: () => undefined,
});

async function finish(at: number): Promise<void> {
  const { user, system } = process.cpuUsage(seen.cpuBefore);
  await ledger.stop();
  answer({
    ms: at - seen.startedAt,
    records: seen.records,
    cpuMs: (user + system) / 1_000,
    rssMaxMb: peakRssMb(),
  } satisfies RebuildAnswer);
}
