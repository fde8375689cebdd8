// What a person reads of the consumers' crash runs: a row per consumer, a line of strikes. Pure.
import type { HeardVerdict } from './heard.decisions.js';
import { STRIKE_KINDS } from './strikes.decisions.js';
import type { Strike } from './strikes.decisions.js';

/** Deliveries that a consumer owed an answer for, as the ledger counts them; null for one that did not subscribe. */
export interface Answered {
  readonly due: number;
  readonly acknowledged: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}
export interface ConsumerRow {
  readonly name: string;
  readonly processes: readonly string[];
  readonly verdict: HeardVerdict;
  readonly answered: Answered | null;
}

const HEAD = [
  'consumer',
  'killed',
  'paused',
  'rollbacks',
  'words said',
  'heard',
  'before its commit',
  'lost',
  'twice',
  'out of order',
  'due',
  'acknowledged',
  'mark to ack p50/p99 ms',
] as const;

export function consumerTable(rows: readonly ConsumerRow[], strikes: readonly Strike[]): string {
  const lines = [[...HEAD], ...rows.map((row) => lineOf(row, strikes))];
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** How often each was struck: `mutation-ledger 3 x kill -9, 2 x pause`. */
export function strikesLine(strikes: readonly Strike[]): string {
  const names = [...new Set(strikes.map(({ target }) => target))].sort();
  return names
    .map(
      (name) =>
        `${name} ${STRIKE_KINDS.map((kind) => `${String(timesOf(strikes, [name], kind))} x ${kind}`).join(', ')}`,
    )
    .join('; ');
}

function lineOf({ name, processes, verdict, answered }: ConsumerRow, strikes: readonly Strike[]): readonly string[] {
  const { rollbacks, said, heard, early, lost, twice, disordered } = verdict;
  const counts = [
    timesOf(strikes, processes, 'kill -9'),
    timesOf(strikes, processes, 'pause'),
    rollbacks,
    said,
    heard,
    early.length,
    lost.length,
    twice.length,
    disordered.length,
  ];
  const answers =
    answered === null
      ? ['-', '-', '-']
      : [String(answered.due), String(answered.acknowledged), `${String(answered.p50Ms)}/${String(answered.p99Ms)}`];
  return [name, ...counts.map(String), ...answers];
}

function timesOf(strikes: readonly Strike[], names: readonly string[], kind: Strike['kind']): number {
  return strikes.filter((strike) => names.includes(strike.target) && strike.kind === kind).length;
}
