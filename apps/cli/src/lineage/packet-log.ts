// What a dump holds of the run of a packet: its commits at the places of their proofs, and the steps the packet may not show.
//
// Boundary: reads a dump. That the dump is what was written shows `audit verify --dump`, not this.
import type { PackedCommit, Packet, WalkStep } from '@recourse/lineage';
import { bodyIn } from '@recourse/messages';
import type { CommitRef } from '@recourse/messages';
import { recordInDump, recordsOfLog } from '../audit/dump-record.js';
import type { RecordFound } from '../audit/dump-record.js';
import type { ReadDump } from '../audit/dump-signed.js';

/** The log of effects and commits. */
const LOG = 'recourse.mutations';

/** What a log holds at the place that a commit's proof names; null where it holds nothing there. */
export type Logged = { readonly commit_id: string; readonly recorded_hash: string } | null;

export interface LoggedRun {
  /** By commit of the packet. */
  readonly commits: ReadonlyMap<string, Logged>;
  /** Commits and effects of the run, by id, as they were recorded last up to the commit: of what came later its gate saw nothing. */
  readonly steps: ReadonlyMap<string, WalkStep>;
}

/** Errors: CliProblem(DUMP_UNREADABLE). */
export async function loggedRun({ commits: packed, commit_id: id }: Packet, dump: ReadDump): Promise<LoggedRun> {
  const commits = new Map<string, Logged>();
  for (const { commit_id, proof } of packed) {
    const found = await recordInDump(dump, proof);
    commits.set(commit_id, found === null ? null : { commit_id: commitOf(found), recorded_hash: found.hash });
  }
  const target = packed.find((one) => one.commit_id === id);
  return { commits, steps: target === undefined ? new Map() : await stepsOf(target, dump) };
}

async function stepsOf({ checkpoint, proof }: PackedCommit, dump: ReadDump): Promise<LoggedRun['steps']> {
  const steps = new Map<string, WalkStep>();
  for await (const { seq, read } of recordsOfLog(dump, { log: LOG, partition: proof.partition })) {
    if (seq > proof.seq) break;
    const found = stepIn(read(), seq);
    if (found?.run_id === checkpoint.run_id && found.tenant === checkpoint.tenant) steps.set(found.id, found.step);
  }
  return steps;
}

interface StepFound {
  readonly id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly step: WalkStep;
}

function stepIn(record: RecordFound | null, seq: number): StepFound | null {
  switch (record?.type) {
    case 'CheckpointRecorded': {
      const { commit_id: id, checkpoint } = bodyIn(LOG, record.type, record);
      return stepOf(id, checkpoint, { hasState: checkpoint.state !== null, parents: checkpoint.parents, seq });
    }
    case 'MutationPlanned':
      return effectStep(bodyIn(LOG, record.type, record));
    case 'MutationRecorded':
      return effectStep(bodyIn(LOG, record.type, record));
    default:
      return null;
  }
}

function effectStep({
  mutation_id: id,
  execution,
}: {
  readonly mutation_id: string;
  readonly execution: Of & { readonly derived_from: readonly CommitRef[] };
}): StepFound {
  return stepOf(id, execution, { hasState: false, parents: execution.derived_from, seq: 0 });
}

type Of = Pick<StepFound, 'tenant' | 'run_id'>;

function stepOf(id: string, { tenant, run_id }: Of, step: WalkStep): StepFound {
  return { id, tenant, run_id, step };
}

function commitOf(found: RecordFound): string {
  return found.type === 'CheckpointRecorded' ? bodyIn(LOG, found.type, found).commit_id : found.type;
}
