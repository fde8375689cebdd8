// What is right after a kill in the undo of eleven effects: each is undone once, none is lost, and somebody takes up the rest. Pure.
import { LEG_STEPS, mirrored } from './leg.cases.js';
import type { LegCase, Moment } from './leg.cases.js';

/** What a call of the tool was for: to look, or to undo. */
export type CallKind = 'look' | 'verify' | 'act';

/** One call of the tool. */
export interface ToolCall {
  readonly call: CallKind;
  readonly effect: number;
  /** Process id of the worker. */
  readonly worker: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The death of a worker. */
export interface Killed {
  readonly worker: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What the tool saw of one run. */
export interface RunSeen {
  readonly calls: readonly ToolCall[];
  /** Effects of the acts that arrived, also of those under a key that was known. */
  readonly acts: readonly number[];
  /** Effects in the order in which they were undone; one that was undone twice is here twice. */
  readonly undone: readonly number[];
  /** Null while nobody was killed. */
  readonly killed: Killed | null;
}

/** How each effect ended, by number: `compensated`, or phase and reason. */
export type Ends = ReadonlyMap<number, string>;

const DONE = 'compensated';
/** Where nobody can know whether a call without a key arrived, these are the words for it (L11). */
const NOBODY_KNOWS: readonly string[] = ['manual OUTCOME_UNKNOWN', 'manual KEY_LIFETIME_OVER'];
/** Before these moments nothing was claimed: the next worker simply goes on. */
const BEFORE_CLAIM: readonly Moment[] = ['look asked'];

/** What is wrong with a run that is at rest. */
export function problemsOf(
  told: LegCase,
  { acts, undone, ends }: RunSeen & { readonly ends: Ends },
): readonly string[] {
  const effects = Array.from({ length: LEG_STEPS }, (_, index) => index + 1);
  return [
    ...undoneAgain(undone),
    ...effects.flatMap((effect) => endProblem(told, effect, { undone, ends })),
    ...orderProblem(undone),
    ...(told.kind === 'keyless' && acts.length > new Set(acts).size
      ? [`a tool without keys was called again for ${repeated(acts).join()}`]
      : []),
  ];
}

/** Effects that were undone more than once. */
export function undoneAgain(undone: readonly number[]): readonly string[] {
  return [...new Set(repeated(undone))].map(
    (effect) => `effect ${String(effect)} was undone ${String(undone.filter((one) => one === effect).length)} times`,
  );
}

function endProblem(
  told: LegCase,
  effect: number,
  { undone, ends }: { readonly undone: readonly number[]; readonly ends: Ends },
): readonly string[] {
  const end = ends.get(effect);
  if (end === undefined) return [`effect ${String(effect)} has no step`];
  if (end === DONE) return undone.includes(effect) ? [] : [`effect ${String(effect)} is called undone and is not`];
  return mayAskPerson(told, effect, end) ? [] : [`effect ${String(effect)} ended as ${end}`];
}

/** Only the step that was struck, only where its tool takes no key, and only once it may have been claimed. */
function mayAskPerson({ kind, step, moment }: LegCase, effect: number, end: string): boolean {
  const isStruck = kind === 'keyless' && effect === mirrored(step) && !BEFORE_CLAIM.includes(moment);
  return isStruck && NOBODY_KNOWS.includes(end);
}

function orderProblem(undone: readonly number[]): readonly string[] {
  const isLastFirst = undone.every((effect, index) => index === 0 || (undone[index - 1] ?? 0) >= effect);
  return isLastFirst ? [] : [`the order of the undo was ${undone.join()}`];
}

const repeated = (effects: readonly number[]): readonly number[] =>
  effects.filter((effect, index) => effects.indexOf(effect) !== index);

/** How long nobody went on with a run, milliseconds: from the kill to the first call of another worker; null when none came. */
export function takenUpAfterMs(calls: readonly ToolCall[], { worker, at }: Killed): number | null {
  const first = calls.find((call) => call.worker !== worker && call.at >= at);
  return first === undefined ? null : first.at - at;
}

/** How long a group misses a member that was killed, milliseconds: a worker's session (libs/kafka). */
export const SESSION_MS = 6_000;
/** What the next one has at least to join, read and call, milliseconds. */
const JOIN_MS = 1_000;

/** Joining, reading and calling are less than this share of a restart: most of it passes while the dead one is still missed. */
const JOIN_SHARE = 0.5;

/**
 * In what time the rest of a run is to be taken up, milliseconds: a session, and what the next worker needs to join, read and call.
 *
 * Shape: `starts` are how long workers of the same runs took to stop and start where nobody was missed, milliseconds: a slow machine is told by them.
 */
export function takenUpWithinMs(starts: readonly number[]): number {
  return SESSION_MS + Math.max(JOIN_MS, Math.ceil(JOIN_SHARE * (permille(starts, 500) ?? 0)));
}

/** The value that so many of a thousand are not above; null when there is none. */
export function permille(values: readonly number[], share: number): number | null {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil((sorted.length * share) / 1_000) - 1)] ?? null;
}
