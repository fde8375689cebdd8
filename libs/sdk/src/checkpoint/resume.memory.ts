// Where runs go on, from what a producer in memory was told: the rule in a few lines, as the ledger applies it to its log.
import type { Json } from '@recourse/kernel';
import { applyDelta, isChunk, joinState } from '@recourse/lineage';
import type { Checkpoint, Payload } from '@recourse/messages';
import type { MemoryProducer } from '../producer/producer.memory.js';
import type { ToldCheckpoint } from '../producer/producer.js';
import { ownOf } from './checkpoint.decisions.js';
import type { FallenCommit, FallEvidence, ResumeAnswer, ResumeSource } from './resume.port.js';

/** A record of checkpoints in memory that can be made to fall. For specs and first steps. */
export class MemoryResume implements ResumeSource {
  private readonly triggers: Trigger[] = [];
  /** Set, it answers nobody. */
  isAway = false;

  /** `producer`: what it is told is on record at once. */
  constructor(private readonly producer: MemoryProducer) {}

  /** One commit falls, and with it whatever rests on it. `at` names an effect or a checkpoint. */
  rollBack(at: string, evidence: FallEvidence): void {
    this.triggers.push(ownOf({ commit_id: at, rollback_id: `rb_${String(this.triggers.length + 1)}`, evidence }));
  }

  of(tenant: string, runId: string): Promise<ResumeAnswer> {
    if (this.isAway) return Promise.resolve({ kind: 'unavailable', cause: new Error('the record is away') });
    const checkpoints = this.producer.told.flatMap((told) =>
      told.type === 'CheckpointTaken' && told.taken.checkpoint.tenant === tenant ? [told.taken] : [],
    );
    const own = checkpoints.filter(({ checkpoint }) => checkpoint.run_id === runId);
    return Promise.resolve(own.length === 0 ? { kind: 'unrecorded' } : this.known(checkpoints, own));
  }

  private known(checkpoints: readonly ToldCheckpoint[], own: readonly ToldCheckpoint[]): ResumeAnswer {
    const causes = causesOf(checkpoints, this.triggers);
    const last = own.findLast(({ commitId }) => !causes.has(commitId));
    const state = last === undefined ? null : this.stateOf(last.commitId, checkpoints);
    const fallen = own.flatMap(({ commitId, checkpoint }): FallenCommit[] => {
      const cause = causes.get(commitId);
      return cause === undefined
        ? []
        : [{ ...cause, commit_id: commitId, ref_stands: this.standsNow(checkpoint, cause.evidence) }];
    });
    const resumed = {
      checkpoint: last === undefined ? null : { run_id: last.checkpoint.run_id, commit_id: last.commitId },
      state: state?.kind === 'found' ? state.value : null,
      stateUnavailable: state === null || state.kind === 'found' ? null : state.kind,
      evidence: fallen,
      rolledBack: fallen.map(({ commit_id }) => commit_id),
    };
    return { kind: 'known', resumed };
  }

  /** What was said last of a ref, for all runs and for this one: a statement for all stands whatever the run's own says. */
  private standsNow({ tenant, run_id }: Checkpoint, { ref, stated_at }: FallEvidence): boolean | null {
    if (ref === null) return null;
    const said = [undefined, run_id].flatMap((runId) => {
      const newest = this.producer.told
        .flatMap((told) =>
          told.type === 'AssumptionInvalidated' || told.type === 'AssumptionReaffirmed'
            ? [{ type: told.type, ...told.statement }]
            : [],
        )
        .filter((each) => each.tenant === tenant && each.ref === ref && each.runId === runId)
        .sort((a, b) => a.statedAt - b.statedAt)
        .at(-1);
      return newest === undefined ? [] : [newest];
    });
    return (
      said.every(({ type }) => type === 'AssumptionReaffirmed') && said.some(({ statedAt }) => statedAt >= stated_at)
    );
  }

  private stateOf(commitId: string, checkpoints: readonly ToldCheckpoint[]): FoundState {
    const state = checkpoints.find((each) => each.commitId === commitId)?.checkpoint.state ?? null;
    if (state === null) return { kind: 'no_state' };
    const chunks = this.chunksOf(commitId, state);
    if (chunks === null) return { kind: 'state_unavailable' };
    if (state.base_id === null) return { kind: 'found', value: joinState(chunks) };
    const base = this.stateOf(state.base_id, checkpoints);
    return base.kind === 'found'
      ? { kind: 'found', value: applyDelta(base.value, joinState(chunks)) }
      : { kind: 'state_unavailable' };
  }

  /** The chunks of a state in their order; null when one is missing, or is not the one that was told of. */
  private chunksOf(
    commitId: string,
    { body, chunk_sha256s }: NonNullable<Checkpoint['state']>,
  ): readonly Uint8Array[] | null {
    const apart = this.producer.told.flatMap((told) =>
      told.type === 'StateChunk' && told.chunk.commitId === commitId ? [told.chunk] : [],
    );
    const chunks: readonly (Payload | undefined)[] =
      body !== null ? [body] : chunk_sha256s.map((_, index) => apart.find((each) => each.index === index)?.chunk);
    const whole = chunks.filter((chunk) => chunk !== undefined);
    return whole.length === chunk_sha256s.length && whole.every((chunk, index) => isChunk(chunk, chunk_sha256s[index]))
      ? whole.map((chunk) => chunk.body)
      : null;
  }
}

/** What makes a commit fall, and all that rests on it. */
type Trigger = Omit<FallenCommit, 'ref_stands'>;

type FoundState =
  { readonly kind: 'found'; readonly value: Json } | { readonly kind: 'no_state' | 'state_unavailable' };

/** By checkpoint: the fall it is part of. Checkpoints are in the order they were told, so a parent comes before its children. */
function causesOf(checkpoints: readonly ToldCheckpoint[], triggers: readonly Trigger[]): ReadonlyMap<string, Trigger> {
  const causes = new Map(triggers.map((trigger) => [trigger.commit_id, trigger]));
  for (const {
    commitId,
    checkpoint: { parents },
  } of checkpoints) {
    const cause =
      causes.get(commitId) ?? parents.map(({ commit_id }) => causes.get(commit_id)).find((each) => each !== undefined);
    if (cause !== undefined) causes.set(commitId, cause);
  }
  return causes;
}
