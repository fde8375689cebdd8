// How far each service's rows have come, and what moved between two looks. Pure.
import { z } from 'zod';
import { EDGE_NAMES } from '../edges/edges.js';
import type { EdgeName } from '../edges/edges.js';

/**
 * Sequence number of the last projected record that is no reading, by `log/partition`; and an entry for all that is not as it
 * should be, so that a page reads again once that changes: what it asked meanwhile may have failed.
 */
export type Position = Readonly<Record<string, number>>;
/** Null for a service that does not answer, or cannot read what it would answer. */
export type Positions = Readonly<Record<EdgeName, Position | null>>;

export const NOWHERE: Positions = { contracts: null, ledger: null, recoveries: null, budgets: null, notifier: null };

const LOOP = z.object({
  log: z.string(),
  partition: z.number(),
  movedSeq: z.number(),
  state: z.string(),
  problem: z.string().nullish(),
});
type Loop = z.infer<typeof LOOP>;
const STATUS = z.object({
  ready: z.boolean(),
  detail: z.object({
    in_the_way: z.object({ code: z.string() }).nullish(),
    loops: z.array(LOOP).default([]),
  }),
});
type Status = z.infer<typeof STATUS>;

/** Reads what a service says of itself; null where that is no status, or one of a service that answers no reading. */
export function positionIn(status: unknown): Position | null {
  const read = STATUS.safeParse(status);
  if (!read.success || isBlind(read.data)) return null;
  const { ready, detail } = read.data;
  const marks = [
    ...(ready ? [] : ['not ready']),
    ...(detail.in_the_way ? [`in the way ${detail.in_the_way.code}`] : []),
    ...detail.loops
      .filter(({ state }) => state !== 'ready')
      .map((loop) => `${placeOf(loop)} ${loop.state} ${codeOf(loop)}`),
  ];
  return Object.fromEntries([
    ...detail.loops.map((loop) => [placeOf(loop), loop.movedSeq] as const),
    ...marks.map((mark) => [mark.slice(0, NAME_MAX), 1] as const),
  ]);
}

/** Has it not started, or is its database away? It says so itself, and answers whatever else it is asked with 503. */
function isBlind({ ready, detail: { in_the_way: way, loops } }: Status): boolean {
  const codes = [way?.code, ...loops.map(codeOf)];
  return codes.includes('DATABASE_UNAVAILABLE') || (!ready && loops.length === 0);
}

const placeOf = ({ log, partition }: Loop): string => `${log}/${String(partition)}`;
const codeOf = ({ problem }: Loop): string => /^\w*/.exec(problem ?? '')?.[0] ?? '';

export interface Moved {
  /** Services whose rows are others than before. */
  readonly moved: readonly EdgeName[];
  /** Services that do not answer now. */
  readonly away: readonly EdgeName[];
}

/** What a page has to read again. A service that came back may have moved meanwhile, and what a page asked it before failed. */
export function movedBetween(before: Positions, now: Positions, wereAway: readonly EdgeName[] = []): Moved {
  const differs = (name: EdgeName): boolean =>
    now[name] !== null && (wereAway.includes(name) || !isSame(before[name], now[name]));
  return { moved: EDGE_NAMES.filter(differs), away: EDGE_NAMES.filter((name) => now[name] === null) };
}

function isSame(a: Position | null, b: Position | null): boolean {
  if (a === null || b === null) return a === b;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => a[name] === b[name]);
}

/** Positions as the id of an event. */
export function eventId(positions: Positions): string {
  return Buffer.from(JSON.stringify(positions)).toString('base64url');
}

/** Positions as a page carries them in an address; empty, and everything is read twice, where they do not fit in one. */
export function startOf(positions: Positions): string {
  const id = eventId(positions);
  return id.length > START_MAX ? '' : id;
}

/** An address shares the 16 KB of a request's head with its cookies. */
const START_MAX = 8_192;

const NAME_MAX = 200;
const POSITION = z.record(z.string().max(NAME_MAX), z.number()).nullable();
const POSITIONS = z.object({
  contracts: POSITION,
  ledger: POSITION,
  recoveries: POSITION,
  budgets: POSITION,
  notifier: POSITION,
});

/** Positions of an event id that a browser sends back; from nowhere where it is none of ours. */
export function positionsOf(id: unknown): Positions {
  if (typeof id !== 'string' || id.length > ID_MAX) return NOWHERE;
  try {
    const read = POSITIONS.safeParse(JSON.parse(Buffer.from(id, 'base64url').toString('utf8')));
    return read.success ? read.data : NOWHERE;
  } catch {
    return NOWHERE;
  }
}

/** 2,000 partitions; an id is a header. */
const ID_MAX = 65_536;
