// What a candidate becomes: admitted or not, a state whole or a delta, a checkpoint with its id. Pure: salts and time come in.
import { hash } from 'node:crypto';
import { admissionVerdict } from '@recourse/contract';
import { canonicalJson } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { CHUNK_BYTES, CHUNKS_MAX, commitIdOf, cutState, deltaOf, DEPTH_MAX, sortedParents } from '@recourse/lineage';
import type { CutState } from '@recourse/lineage';
import type { Checkpoint, CommitRef, Gate, Payload } from '@recourse/messages';
import type { RegisteredEntry } from '../entries/entries.port.js';
import type { RunContext } from '../guard/guard.messages.js';
import { releaseRef } from '../release.js';
import { unwrittenIn, written } from '../written.js';
import { CHECKPOINT_REMEDIES } from './checkpoint.messages.js';
import type { CheckpointRefusalCode, CheckpointRefused, CheckpointStep } from './checkpoint.messages.js';
import type { FallenCommit, Resumed } from './resume.port.js';

/** Most of the gate inputs, bytes: they ride beside a state of CHUNK_BYTES in a record of 256 KB. */
export const GATE_BYTES_MAX = 32 * 1_024;
/** Most evidence a gate is given: the newest; it is told how much is older. */
const EVIDENCE_MAX = 100;
/** Most of what was stated that a gate is given, bytes; beyond it the gate is told who contradicted what, not how. */
const STATEMENTS_BYTES_MAX = 8 * 1_024;
/** Most of what speaks against a run that a gate is given, bytes: the rest of GATE_BYTES_MAX is the caller's. Refs come first, then evidence. */
const AGAINST_BYTES_MAX = 28 * 1_024;

/** Where the chain of a run stands in this process. */
export interface Tip {
  readonly last: CommitRef | null;
  /** The newest state told; `depth` counts deltas since the whole one, null where nobody here knows. */
  readonly state: { readonly commitId: string; readonly value: Json; readonly depth: number | null } | null;
}

/** A policy bundle as it stands. */
export type Bundle = RegisteredEntry<'policy_bundle'>;

/** A copy as JSON, as it would be told: what is changed in the original is not changed in it. Errors: TypeError for what is no JSON, or not all of it. */
export function ownOf<Of>(value: Of): Of {
  const own = written(value);
  const problem = unwrittenIn(own);
  // A run would go on from what is left of it.
  if (problem !== null) throw new TypeError(`a checkpoint is no JSON: ${problem}`);
  return own.json as Of; // what was written of it
}

/** A step as it is now, with what decided it. Errors: TypeError for what is no JSON. */
export function ownStep(step: CheckpointStep, run: RunContext): CheckpointStep {
  const release = step.release ?? run.release;
  return ownOf(release === undefined ? step : { ...step, release });
}

/** Where a run begins, or goes on. */
export function tipOf(resumed: Resumed): Tip {
  const { checkpoint, state, stateUnavailable } = resumed;
  const isKnown = checkpoint !== null && stateUnavailable === null;
  return { last: checkpoint, state: isKnown ? { commitId: checkpoint.commit_id, value: state, depth: null } : null };
}

/**
 * What the predicates read as `gate`: the caller's inputs, and under reserved names what is known now and was not then (E12).
 *
 * Shape: `contradicted` are all refs that do not hold now, or of which nobody can say that they do, however many fell; `evidence` is the
 *        newest EVIDENCE_MAX of `fallen`, which is oldest first, or fewer, where the refs leave no room. `evidence_left_out` counts the
 *        rest, and is absent where there is none.
 */
export function gateInputs(
  inputs: Readonly<Record<string, Json>>,
  fallen: readonly FallenCommit[],
): Readonly<Record<string, Json>> {
  const newest = fallen.slice(-EVIDENCE_MAX);
  const contradicted = [
    ...new Set(
      fallen.flatMap(({ evidence: { ref }, ref_stands }) => (ref === null || ref_stands === true ? [] : [ref])),
    ),
  ].sort();
  const isShort = bytesOf(newest.map(({ evidence: { statement } }) => statement)) <= STATEMENTS_BYTES_MAX;
  const told = newest.map(({ commit_id, ref_stands, evidence: { kind, source, ref, statement, stated_at } }) => ({
    commit_id,
    kind,
    source,
    ref,
    statement: isShort ? statement : null,
    stated_at,
    ref_stands,
  }));
  const evidence = newestWithin(told, AGAINST_BYTES_MAX - bytesOf(contradicted));
  const leftOut = fallen.length - evidence.length;
  return { ...inputs, contradicted, evidence, ...(leftOut === 0 ? {} : { evidence_left_out: leftOut }) };
}

/** The newest of what is oldest first, as many as there is room for. */
function newestWithin<Of extends Json>(told: readonly Of[], room: number): readonly Of[] {
  let [bytes, from] = [0, told.length];
  for (const one of told.toReversed()) {
    bytes += bytesOf(one) + 1;
    if (bytes > room) break;
    from -= 1;
  }
  return told.slice(from);
}

/**
 * Judges a candidate by a bundle.
 *
 * Shape: `state` of the predicates is the state the step goes on from, `{}` where there is none: it is what a gate that is run
 * again after a rollback finds in its place (E15).
 */
export function judge(
  bundle: Bundle,
  inputs: Readonly<Record<string, Json>>,
  { state }: Tip,
  salt: Uint8Array,
): Gate | CheckpointRefused {
  const payload = payloadOf({ salt: Buffer.from(salt).toString('hex'), gate: inputs });
  if (payload.body.length > GATE_BYTES_MAX)
    return refused(
      'GATE_TOO_LARGE',
      `the gate inputs are ${String(payload.body.length)} bytes, at most ${String(GATE_BYTES_MAX)}`,
    );
  const verdict = admissionVerdict(bundle.entry, { gate: inputs, state: state?.value ?? {} });
  if (!verdict.admitted)
    return refused(
      verdict.code === 'POLICY_REFUSED' ? 'POLICY_REFUSED' : 'POLICY_UNDECIDED',
      `${bundle.name} ${String(bundle.version)}: ${verdict.reason}`,
    );
  return {
    bundle: bundle.name,
    bundle_version: bundle.version,
    bundle_digest: bundle.digest,
    verdict: 'admitted',
    inputs_sha256: payload.sha256,
    inputs: payload,
  };
}

/**
 * How a state is told: as a delta on the newest one told, while that is much smaller and not too deep; else whole.
 *
 * Shape: null where the step carries no state.
 */
export function cutFor(
  value: Json | undefined,
  { state }: Tip,
  saltOf: () => Uint8Array,
): { readonly cut: CutState; readonly depth: number } | CheckpointRefused | null {
  if (value === undefined) return null;
  const size = bytesOf(value);
  const delta = state === null || state.depth === null || state.depth >= DEPTH_MAX ? null : deltaOf(state.value, value);
  if (state !== null && state.depth !== null && delta !== null && bytesOf(delta) * 2 < size)
    return { cut: cutState(delta, saltOf, state.commitId), depth: state.depth + 1 };
  if (size > CHUNKS_MAX * CHUNK_BYTES)
    return refused(
      'STATE_TOO_LARGE',
      `the state is ${String(size)} bytes, at most ${String(CHUNKS_MAX * CHUNK_BYTES)}`,
    );
  return { cut: cutState(value, saltOf), depth: 0 };
}

/** What a checkpoint is made of beside the step. */
export interface Circumstances {
  readonly run: RunContext;
  readonly tip: Tip;
  readonly gate: Gate | null;
  readonly cut: CutState | null;
  readonly now: number;
}

/** The checkpoint of an admitted step, and its id. */
export function checkpointOf(
  step: CheckpointStep,
  { run, tip, gate, cut, now }: Circumstances,
): { readonly commitId: string; readonly checkpoint: Checkpoint } {
  const release = step.release ?? run.release ?? null;
  const refs = [...(step.assumptionRefs ?? []), ...(release === null ? [] : [releaseRef(release)])];
  const checkpoint: Checkpoint = {
    tenant: run.tenant,
    run_id: run.runId,
    agent_id: run.agentId,
    initiator: run.initiator,
    objective: run.objective,
    step_id: step.stepId,
    produced_by: step.producedBy,
    subject_ref: step.subjectRef ?? null,
    parents: sortedParents([...(tip.last === null ? [] : [tip.last]), ...(step.parents ?? [])]),
    assumption_refs: [...new Set(refs)].sort(),
    gate,
    release,
    state: cut?.state ?? null,
    committed_at: now,
  };
  return { commitId: commitIdOf(checkpoint), checkpoint };
}

/** The refusal of a candidate, with its remedy. */
export function refused(code: CheckpointRefusalCode, what: string): CheckpointRefused {
  return { admitted: false, code, reason: `${what}. ${CHECKPOINT_REMEDIES[code]}` };
}

function bytesOf(json: Json): number {
  return Buffer.byteLength(canonicalJson(json), 'utf8');
}

function payloadOf(json: Json): Payload {
  const body = Buffer.from(canonicalJson(json), 'utf8');
  return {
    content_type: 'application/json',
    encoding: 'plain',
    key_id: null,
    body,
    sha256: Buffer.from(hash('sha256', body, 'binary'), 'latin1'),
  };
}
