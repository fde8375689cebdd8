// Commits as plain data, for specs of the ledger.
import { plainPayload } from '@recourse/contract';
import type { Decided, RecordInput } from '@recourse/event-log';
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { commitIdOf, cutState } from '@recourse/lineage';
import type { Checkpoint, CheckpointState, CheckpointTaken, CommitRef, Gate, Payload } from '@recourse/messages';
import { fact, wire } from '@recourse/testing';
import type { CoreHarness, MemoryView } from '@recourse/testing';
import { triggerOf, NOW, RUN, TENANT } from './ledger.testing.js';

/** A commit ready to be told, with its name. */
export interface Told {
  readonly event: CheckpointTaken;
  readonly ref: CommitRef;
  readonly id: string;
  readonly chunks: readonly Payload[];
}

let salted = 0;
/** A salt per chunk; its bytes do not matter to what is proved. */
function salt(): Buffer {
  salted += 1;
  return Buffer.alloc(16, salted % 251);
}

export interface CommitOptions extends Partial<Omit<Checkpoint, 'state' | 'gate'>> {
  readonly run?: string;
  readonly whole?: Json;
  /** A delta on the state of a commit. */
  readonly delta?: readonly [string, Json];
  readonly gate?: Gate | null;
}

/** A commit of a run. */
export function commit(stepId: string, { run = RUN, whole, delta, ...more }: CommitOptions = {}): Told {
  const cut =
    delta === undefined ? (whole === undefined ? null : cutState(whole, salt)) : cutState(delta[1], salt, delta[0]);
  const state: CheckpointState | null = cut?.state ?? null;
  const checkpoint: Checkpoint = {
    tenant: TENANT,
    run_id: run,
    agent_id: 'agent-1',
    initiator: null,
    objective: null,
    step_id: stepId,
    produced_by: `call-${stepId}`,
    subject_ref: null,
    parents: [],
    assumption_refs: [],
    gate: null,
    release: null,
    committed_at: NOW - 1_000,
    ...more,
    state,
  };
  const id = commitIdOf(checkpoint);
  return {
    event: { event_id: `evt-${id.slice(3, 15)}`, tenant: checkpoint.tenant, run_id: run, commit_id: id, checkpoint },
    ref: { run_id: run, commit_id: id },
    id,
    chunks: cut?.chunks ?? [],
  };
}

/** Stands for the digest of a version of a bundle: what names it, whatever it says. */
export function bundleDigest(name: string, version: number): Buffer {
  return Buffer.from(sha256Hex(`${name} ${String(version)}`), 'hex');
}

/** How a bundle admitted a commit. */
export function gateOf(bundle: string, gate: Json, more: Partial<Gate> = {}): Gate {
  const inputs = plainPayload({ salt: 'a salt', gate });
  const bundle_version = more.bundle_version ?? 1;
  return {
    bundle,
    bundle_version,
    bundle_digest: bundleDigest(bundle, bundle_version),
    verdict: 'admitted',
    inputs_sha256: inputs.sha256,
    inputs,
    ...more,
  };
}

/** A version of a bundle, as the registry announces it. */
export function bundleRegistered(
  name: string,
  admission: readonly { readonly name: string; readonly when: string; readonly reason: string }[],
  version = 1,
  tenant = TENANT,
): Decided {
  const body = canonicalJson({ owner: 'risk', doc: 'What may be committed.', admission, recovery: [] });
  return fact('EntryRegistered', {
    kind: 'policy_bundle',
    name,
    version,
    tenant,
    digest: bundleDigest(name, version),
    body,
    registered_by: 'eddie',
    command_id: `cmd-${name}-${String(version)}`,
  });
}

export function committed({ event }: Told): RecordInput {
  return wire('recourse.tool-executions', 'CheckpointTaken', event, { key: event.run_id });
}

export function chunk({ event, chunks }: Told, index: number): RecordInput {
  const body = {
    event_id: `${event.event_id}-${String(index)}`,
    tenant: event.tenant,
    run_id: event.run_id,
    commit_id: event.commit_id,
    index,
    chunk: chunks[index],
  };
  return wire('recourse.tool-executions', 'StateChunk', body, { key: event.run_id });
}

/** A person says that a commit should not stand. */
export function rollback({ ref, event }: Told): RecordInput {
  return triggerOf(ref.run_id, ref.commit_id, event.tenant);
}

/** What the last decision owes downstream, as every partition reads it. */
export function told(run: CoreHarness, fallen: MemoryView): readonly RecordInput[] {
  return run
    .derived()
    .filter(({ type }) => type === 'RollbackAnnounced' || type === 'BoundReached')
    .map(({ key, type, body }) => fallen.append(key, fact(type, body)));
}

/** Lets a rollback spread until nothing moves: what is announced is read, and what was remembered is marked. */
export function spread(run: CoreHarness, fallen: MemoryView, first: RecordInput, at: number): void {
  const waiting: RecordInput[] = [first];
  for (let input = waiting.shift(), now = at; input !== undefined; input = waiting.shift(), now += 1) {
    run.when(input, now);
    waiting.push(...told(run, fallen));
    run.whenDue(now);
    waiting.push(...told(run, fallen));
  }
}
