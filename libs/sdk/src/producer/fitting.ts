// What the reader of a wire would set aside does not leave: it would be parked, and all that comes after it under its key would wait (L7).
//
// Boundary: pure. The limits are those of whoever reads.
import type { Json } from '@recourse/kernel';
import {
  Failure,
  findStorageProblem,
  isSubject,
  isTenant,
  isTooDeep,
  JSON_DEPTH_MAX,
  namesReserved,
  REFS_MAX,
  RESERVED_PREFIX,
  statedRefProblem,
  SUBJECT_FORM,
  WIRE_RECORD_BYTES_MAX,
} from '@recourse/kernel';
import { BodyUnfit } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { unwrittenIn, writtenAnswer } from '../written.js';

/** Why a record would be parked, and where: a JSON pointer by the names of its callers. */
export interface Unfit {
  readonly reason: string;
  readonly path: string;
  readonly detail: string;
}

/** Callers' names of what a record calls otherwise. */
const CALLED: Readonly<Record<string, string>> = {
  run_id: 'runId',
  agent_id: 'agentId',
  step_id: 'stepId',
  subject_ref: 'subject',
  assumption_refs: 'assumptionRefs',
  derived_from: 'derivedFrom',
  commit_id: 'mutationId',
  produced_by: 'producedBy',
  external_transaction_ref: 'externalTransactionRef',
  source_kind: 'sourceKind',
  task_kind: 'taskKind',
  workflow_id: 'workflowId',
  policy_compliant: 'policyCompliant',
  effect_key: 'effectKey',
  call_id: 'callId',
};

/** Why its reader would set a record aside, whatever its size; null where it takes it. */
export function unfitFor(key: string, body: object): Unfit | null {
  // Any object may be read by name.
  const found = findStorageProblem(key, body as Readonly<Record<string, unknown>>);
  if (found === null) return refsUnfit(body);
  const [place = ''] = /^\/\S*/u.exec(found.detail) ?? [];
  const path = calledPath(place);
  return { reason: found.reason, path, detail: `${path.slice(1)}${found.detail.slice(place.length)}` };
}

/** What an action or a checkpoint relies on. */
interface Relying {
  readonly assumption_refs?: readonly string[];
  readonly derived_from?: readonly unknown[];
  readonly parents?: readonly unknown[];
  readonly checkpoint?: Relying;
}

function refsUnfit(body: Relying): Unfit | null {
  const { assumption_refs: refs = [], derived_from, parents = [] } = body.checkpoint ?? body;
  const count = refs.length + (derived_from ?? parents).length;
  if (count > REFS_MAX)
    return {
      reason: 'TOO_MANY_REFS',
      path: refs.length > count / 2 ? '/assumptionRefs' : '/derivedFrom',
      detail: `it relies on ${String(count)} refs and commits, and ${String(REFS_MAX)} are the most`,
    };
  return namesReserved(refs)
    ? {
        reason: 'REF_RESERVED',
        path: '/assumptionRefs',
        detail: `refs that begin with ${RESERVED_PREFIX} follow from derivedFrom, and are named by nobody`,
      }
    : null;
}

function calledPath(place: string): string {
  return place
    .split('/')
    .map((name) => CALLED[name] ?? name)
    .join('/');
}

/** Errors: Failure(RECORD_UNFIT) for what has to be a text, and is none. */
export function refuseNoText(name: string, given: unknown): void {
  if (typeof given !== 'string') throw new Failure('RECORD_UNFIT', `/${name} is no text`);
}

/** Errors: Failure(TENANT_INVALID, PRINCIPAL_INVALID, RECORD_UNFIT) for names of nobody; of names what is no text is left to the codec. */
export function refuseNobody(tenant: string, names: readonly (string | null | undefined)[]): void {
  refuseNoText('tenant', tenant);
  if (!isTenant(tenant))
    throw new Failure('TENANT_INVALID', `${JSON.stringify(tenant)} names no tenant; it would be parked`);
  for (const name of names)
    if (typeof name === 'string' && !isSubject(name))
      throw new Failure(
        'PRINCIPAL_INVALID',
        `${JSON.stringify(name)} names nobody; it would be parked: ${SUBJECT_FORM}`,
      );
}

/** Errors: Failure(RECORD_UNFIT) for what its reader would park, whatever its size. */
export function refuseUnfit(key: string, body: object): void {
  const unfit = unfitFor(key, body);
  if (unfit !== null) throw new Failure('RECORD_UNFIT', `${unfit.reason}: ${unfit.detail}; it would be parked`);
}

/** Errors: Failure(RECORD_UNFIT) for a ref that nobody may state; for all runs where `runId` is null. */
export function refuseUnstatable(ref: string, runId: string | null): void {
  const problem = statedRefProblem(ref, runId);
  if (problem !== null) throw new Failure('RECORD_UNFIT', `${problem.reason}: ${problem.detail}; it would be parked`);
}

/** A member called `name`, as JSON. Errors: Failure(RECORD_UNFIT) for what is none, or not all of it, or none that anybody reads. */
export function readable(name: string, given: unknown): Json {
  const answer = writtenAnswer(given);
  const problem = unwrittenIn(answer);
  if (problem !== null) throw new Failure('RECORD_UNFIT', `${name} is no JSON: ${problem}`);
  if (isTooDeep(answer.json))
    throw new Failure(
      'RECORD_UNFIT',
      `${name} nests deeper than the ${String(JSON_DEPTH_MAX)} levels that are read; it would be parked`,
    );
  return answer.json;
}

/** The record as bytes. Errors: Failure(RECORD_UNFIT) for a member that its schema does not take, RECORD_TOO_LARGE. */
export function written(codecs: Pick<Codecs, 'encode'>, topic: string, type: string, body: object): Buffer {
  try {
    const value = codecs.encode(topic, type, body);
    refuseLarge(value);
    return value;
  } catch (cause) {
    if (!(cause instanceof BodyUnfit)) throw cause;
    const path = calledPath(cause.path);
    throw new Failure('RECORD_UNFIT', `${path} is missing, or not what a ${type} holds there`, { cause });
  }
}

/** Errors: Failure(RECORD_TOO_LARGE). */
function refuseLarge(value: Buffer): void {
  if (value.length > WIRE_RECORD_BYTES_MAX)
    throw new Failure(
      'RECORD_TOO_LARGE',
      `it has ${String(value.length)} bytes, and a record may have ${String(WIRE_RECORD_BYTES_MAX)}`,
    );
}

/** Longest a number, a length or the mark of a branch is written, bytes. */
const MARK_BYTES = 10;
/** What stands before the members of a record, bytes. */
const FRAME_BYTES = 64;

/** Bytes that a record has at the most. */
export function bytesAtMost(body: unknown): number {
  return FRAME_BYTES + bytesOf(body);
}

function bytesOf(value: unknown): number {
  if (typeof value === 'string') return MARK_BYTES + Buffer.byteLength(value);
  if (value instanceof Uint8Array) return MARK_BYTES + value.length;
  if (typeof value !== 'object' || value === null) return MARK_BYTES;
  return Object.values(value).reduce((sum: number, member) => sum + bytesOf(member), MARK_BYTES);
}
