// What kills of one of two instances come to: figures and a line for each. Pure.
import { permille } from '../legs/leg.decisions.js';

/** Longest from a death to the next verified compensation on what the dead one owned (p99), milliseconds. */
const TAKEN_OVER_WITHIN_MS = 1_500;
/** Longest from a start to ready of a service that runs alone, milliseconds. */
const READY_WITHIN_MS = 3_000;

export interface TakeOver {
  /** Process that was killed; null: nobody was, to know what a recovery takes by itself. */
  readonly victim: string | null;
  /** From the death to the end of the later of two recoveries, one on each partition. */
  readonly tookMs: number;
}

export interface Restart {
  readonly service: string;
  readonly readyMs: number;
}

export interface Figures {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export function figuresOf(times: readonly number[]): Figures {
  return {
    count: times.length,
    p50: permille(times, 500) ?? 0,
    p99: permille(times, 990) ?? 0,
    max: permille(times, 1_000) ?? 0,
  };
}

export function takeOverLine(number: number, { victim, tookMs }: TakeOver): string {
  return `${String(number).padStart(5)}  ${(victim ?? 'nobody').padEnd(24)} verified after ${seconds(tookMs)} s`;
}

/** A line per service and one for all, with what a recovery takes when nobody dies. */
export function takeOverTable(takeOvers: readonly TakeOver[], restarts: readonly Restart[]): string {
  const serviceOf = ({ victim }: TakeOver): string => victim?.replace(/-\d+$/u, '') ?? 'nobody died';
  const groups = Map.groupBy(takeOvers, serviceOf);
  const killed = takeOvers.filter(({ victim }) => victim !== null);
  const lines = [...groups].map(([name, of]) =>
    lineOf(
      name,
      of.map(({ tookMs }) => tookMs),
    ),
  );
  const ready = [...Map.groupBy(restarts, ({ service }) => service)].map(([name, of]) =>
    lineOf(
      `ready: ${name}`,
      of.map(({ readyMs }) => readyMs),
    ),
  );
  return [
    ...lines,
    lineOf(
      'all that were killed',
      killed.map(({ tookMs }) => tookMs),
      { what: 'p99', withinMs: TAKEN_OVER_WITHIN_MS },
    ),
    ...ready,
    lineOf(
      'ready: all',
      restarts.map(({ readyMs }) => readyMs),
      { what: 'max', withinMs: READY_WITHIN_MS },
    ),
  ].join('\n');
}

interface Goal {
  readonly what: 'p99' | 'max';
  readonly withinMs: number;
}

function lineOf(name: string, times: readonly number[], goal: Goal | null = null): string {
  const figures = figuresOf(times);
  const { count, p50, p99, max } = figures;
  const line = `${name.padEnd(30)} ${String(count).padStart(4)} times, ${seconds(p50)} s p50, ${seconds(p99)} s p99, ${seconds(max)} s max`;
  if (goal === null) return line;
  const { what, withinMs } = goal;
  return `${line}; goal ${what} ≤ ${seconds(withinMs)} s: ${figures[what] <= withinMs ? 'held' : 'missed'}`;
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(2);
}
