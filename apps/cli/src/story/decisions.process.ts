// Asks the services that made decisions to pin them, or to make those of a packet again: their cores are their own.
//
// Boundary: the request goes through standard input; lines of JSON come back, and are read within the shape of a packet.
import { pinShape } from '@recourse/contract';
import type { PackedDecisions, PackedPin } from '@recourse/contract';
import { z } from 'zod';
import { OWNED_LOGS } from '../log/owned-logs.js';
import { askProcess, problemIn } from '../replay/replay.process.js';
import type { ReplayAsked } from '../replay/replay.process.js';

/** Logs whose decisions are pinned. */
export const PINNED_LOGS = ['recourse.mutations', 'recourse.budgets', 'recourse.recoveries'] as const;

const place = z.strictObject({ log: z.string(), partition: z.int(), seq: z.int(), hash: z.string() });
export type Place = z.infer<typeof place>;
const problem = z.object({ type: z.literal('problem'), code: z.string(), message: z.string() });

const pinLine = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('pinning'),
    settings: z.record(z.string(), z.string()),
    partitions: z.int(),
    view_partitions: z.record(z.string(), z.int()),
  }),
  z.object({ type: z.literal('pin'), pin: pinShape }),
  z.object({ type: z.literal('unpinned'), record: place, why: z.string() }),
  problem,
]);

const otherwise = z.object({
  outcome: z.enum(['unchanged', 'diverged', 'unknown']),
  at: place.nullable(),
  why: z.string().nullable(),
  decided: z.array(z.object({ type: z.string(), body: z.record(z.string(), z.unknown()) })),
  is_concerned: z.boolean(),
});
const checkedLine = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('checked'),
    records: z.array(place),
    outcome: z.enum(['equal', 'differs', 'not_made']),
    code: z.string().nullable(),
    at: place.nullable(),
    field: z.string().nullable(),
    pinned: z.array(z.string()),
    otherwise: otherwise.nullable(),
  }),
  problem,
]);
export type Checked = Extract<z.infer<typeof checkedLine>, { readonly type: 'checked' }>;

/** The same run under another policy bundle, or under other ceilings. */
export interface Other {
  readonly policy: { readonly name: string; readonly body: string } | null;
  readonly ceilings: readonly { readonly scope: string; readonly unit: string; readonly minor: number }[];
}

export type ClusterAsked = Pick<ReplayAsked, 'brokers' | 'kafka_user' | 'keys' | 'registry_url' | 'log_id'>;

/** Where the keys are that open payloads; null: they stay sealed. */
export interface KeysAsked {
  readonly key_store_url: string | null;
}

export interface PinnedLog {
  readonly settings: Readonly<Record<string, string>>;
  readonly partitions: number;
  readonly viewPartitions: Readonly<Record<string, number>>;
  readonly pins: readonly PackedPin[];
  readonly unpinned: PackedDecisions['unpinned'];
}

/** Pins of the decisions that made these records of a log. Errors: those of askProcess; CliProblem of what was in the way. */
export async function pinInProcess(
  log: string,
  wanted: readonly { readonly partition: number; readonly seqs: readonly number[] }[],
  settings: Readonly<Record<string, string>>,
  cluster: ClusterAsked & KeysAsked,
): Promise<PinnedLog> {
  const pins: PackedPin[] = [];
  const unpinned: PackedDecisions['unpinned'] = [];
  let under: Omit<PinnedLog, 'pins' | 'unpinned'> = { settings, partitions: 1, viewPartitions: {} };
  await askProcess(serviceOf(log), { do: 'pin', log, wanted, settings, ...cluster }, (said) => {
    const line = pinLine.parse(said);
    if (line.type === 'problem') throw problemIn(line);
    if (line.type === 'pin') pins.push(line.pin);
    else if (line.type === 'unpinned') unpinned.push({ record: line.record, why: line.why });
    else under = { settings: line.settings, partitions: line.partitions, viewPartitions: line.view_partitions };
  });
  return { ...under, pins, unpinned };
}

export interface CheckAsked extends KeysAsked {
  readonly log: string;
  readonly view_partitions: Readonly<Record<string, number>>;
  readonly settings: Readonly<Record<string, string>>;
  readonly partitions: number;
  readonly schemas: readonly { readonly id: number; readonly text: string }[];
  readonly records: readonly (Place & { readonly key: string; readonly value: string })[];
  readonly pins: readonly PackedPin[];
  readonly other: Other | null;
}

/** What becomes of the decisions of a log of a packet. Errors: as pinInProcess. */
export async function checkInProcess(asked: CheckAsked): Promise<readonly Checked[]> {
  const checked: Checked[] = [];
  await askProcess(serviceOf(asked.log), { do: 'check', ...asked }, (said) => {
    const line = checkedLine.parse(said);
    if (line.type === 'problem') throw problemIn(line);
    checked.push(line);
  });
  return checked;
}

/** The service that owns a log. Errors: TypeError. */
export function serviceOf(log: string): string {
  const service = OWNED_LOGS.get(log);
  if (service === undefined) throw new TypeError(`${log} is no log of a service`);
  return service;
}
