// What the record of a call would hold: judged before the call, by the limits of the ledger, and cut after it.
//
// Boundary: pure.
//
// Invariants
//   Q1. What could never be recorded is not made (L7): an intent leaves room for its outcome.
//   Q2. A call that was made is told of, whatever its tool answered: what no record holds is left out, and nothing put in its place.
import { canonicalJson, isTooDeep, JSON_DEPTH_MAX, WIRE_RECORD_BYTES_MAX } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { Contract } from '@recourse/contract';
import { bytesAtMost, unfitFor } from '../producer/fitting.js';
import { plannedBody } from '../producer/producer.js';
import type { Action, Preparation } from '../producer/producer.js';
import type { GuardTrouble } from './guard.messages.js';
import { trouble } from './objections.js';
import { lossText, written } from '../written.js';

/** What an outcome says beside its intent (a handle of 512 bytes, a kind of error), bytes. */
const OUTCOME_BYTES = 2_048;
/** What a payload says beside its body (its hash, its kind), bytes. */
const PAYLOAD_BYTES = 256;

/** Why an intent could not be recorded; null where it can. */
export function intentProblem(
  action: Action,
  { subject }: Pick<Contract, 'subject'>,
  { priorValue = null, rehearsal = null }: Preparation = {},
): GuardTrouble | null {
  const unfit = unfitFor(action.runId, bodyOf(action));
  if (unfit !== null) {
    const isSubject = unfit.path === '/subject';
    const path = isSubject ? `/args${subject ?? ''}` : unfit.path;
    const message = isSubject ? `the subject, ${path}, ${unfit.detail.replace(/^subject /u, '')}` : unfit.detail;
    return { code: 'PLACE_INVALID', problems: [{ code: unfit.reason, path, message }] };
  }
  if (isTooDeep(action.args)) return argsRefused(`args nest ${String(JSON_DEPTH_MAX)} levels at the most`);
  const payloads = [action.args, priorValue, rehearsal];
  if (payloads.some(isTooDeep))
    return trouble('RECORD_TOO_LARGE', `prior value and dry run nest ${String(JSON_DEPTH_MAX)} levels at the most`);
  const bytes = bytesOf(action, payloads);
  const max = WIRE_RECORD_BYTES_MAX - OUTCOME_BYTES;
  return bytes <= max
    ? null
    : trouble(
        'RECORD_TOO_LARGE',
        `what is told of the call may have ${String(max)} bytes, arguments, prior value and dry run among them, and has ${String(bytes)}: pass a reference in place of what is large`,
      );
}

/**
 * Arguments as they are recorded, and as the tool is given them, with what JSON keeps nothing of left out and named; or what is wrong
 * with those of which nobody could tell one call from another.
 */
export function argsWritten(
  given: unknown,
): { readonly args: Json; readonly lost: GuardTrouble | null } | { readonly problem: GuardTrouble } {
  const { json, lost, problem } = written(given);
  if (problem !== null)
    return {
      problem: argsRefused(`args have to be JSON, ${String(JSON_DEPTH_MAX)} levels deep at the most: ${problem}`),
    };
  if (lost.length === 0) return { args: json, lost: null };
  const problems = lost.map((one) => ({
    code: 'ARGS_VALUE',
    path: `/args${one.path}`,
    message: `args hold ${lossText([one])}: pass text, numbers, lists and plain objects`,
  }));
  return { args: json, lost: { code: 'ARGS_INVALID', problems } };
}

const argsRefused = (message: string): GuardTrouble => ({
  code: 'ARGS_INVALID',
  problems: [{ code: 'ARGS_VALUE', path: '/args', message }],
});

/** Why a tool's answer is left out of the record; null where it is recorded. */
export function resultProblem(action: Action, priorValue: Json | null, result: Json): string | null {
  if (isTooDeep(result)) return `it nests deeper than the ${String(JSON_DEPTH_MAX)} levels that are read`;
  const bytes = bytesOf(action, [action.args, priorValue, result]) + OUTCOME_BYTES;
  return bytes <= WIRE_RECORD_BYTES_MAX
    ? null
    : `with it the record would have ${String(bytes)} bytes, and may have ${String(WIRE_RECORD_BYTES_MAX)}`;
}

function bodyOf(action: Action): object {
  return plannedBody('', { ...action, args: null }, 0);
}

function bytesOf(action: Action, payloads: readonly Json[]): number {
  const bodies = payloads.map((json) => PAYLOAD_BYTES + Buffer.byteLength(canonicalJson(json)));
  return bodies.reduce((sum, bytes) => sum + bytes, bytesAtMost(bodyOf(action)));
}
