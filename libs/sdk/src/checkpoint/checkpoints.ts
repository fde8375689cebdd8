// Checkpoints: records the admitted steps of one run as checkpoints, each on the one before it.
//
// Boundary: asks the registry which bundle stands, judges here, tells the wire. What falls later is the ledger's to say; `resume` reads it.
//
// Invariants
//   C1. A candidate that its gate does not admit is not told (E3).
//   C2. Steps of one run go one after the other: each rests on the one before, which was acknowledged.
//   C3. A checkpoint is told before the chunks of its state.
//   C4. What is told is what the caller gave when it called: an agent that keeps one object and changes it changes nothing here.
import { randomBytes } from 'node:crypto';
import type { Clock } from '@recourse/kernel';
import { SALT_BYTES } from '@recourse/lineage';
import type { Checkpoint, CommitRef, Gate } from '@recourse/messages';
import type { Entries } from '../entries/entries.port.js';
import { standingNamed } from '../entries/named.js';
import type { RunContext } from '../guard/guard.messages.js';
import type { Producer } from '../producer/producer.js';
import { releaseRef, releaseStatement } from '../release.js';
import { checkpointOf, cutFor, gateInputs, judge, ownOf, ownStep, refused, tipOf } from './checkpoint.decisions.js';
import type { Tip } from './checkpoint.decisions.js';
import type { CheckpointAnswer, CheckpointRefused, CheckpointStep } from './checkpoint.messages.js';
import { FRESH_START } from './resume.js';
import type { Resumed } from './resume.port.js';

/** What recording checkpoints of a run needs. */
export interface CheckpointsOptions {
  readonly producer: Pick<Producer, 'checkpointTaken' | 'stateChunk' | 'assumptionDeclared'>;
  readonly clock: Clock;
  readonly run: RunContext;
  /** Policy bundles as they stand; without them only ungated checkpoints are recorded. */
  readonly entries?: Entries;
  /** Where the run goes on, as `resume` answered; from its beginning unless told. */
  readonly from?: Resumed;
  /** Refuses checkpoints that name no gate; they are marked ungated unless told. */
  readonly isGateRequired?: boolean;
  /** 16 bytes nobody can guess; random unless told. */
  readonly saltOf?: () => Uint8Array;
}

/** Checkpoints of one run. */
export interface Checkpoints {
  /** The checkpoint the next one rests on; null before the first. */
  readonly last: CommitRef | null;
  /** Records a step as it is now. Errors: those of the producer, TypeError for what is no JSON; the step may be recorded again, and `last` has not moved. */
  record(step: CheckpointStep): Promise<CheckpointAnswer>;
}

/**
 * Makes the checkpoints of a run: each admitted step becomes a checkpoint with its state, resting on the one before.
 *
 * Shape:  one object per run and process; after a fall, make another one of what `resume` answers.
 * Errors: none; those of `record` are its own.
 */
export function createCheckpoints(options: CheckpointsOptions): Checkpoints {
  const { from = FRESH_START } = options;
  return new RunCheckpoints({ ...options, from: ownOf(from) });
}

class RunCheckpoints implements Checkpoints {
  private tip: Tip;
  /** Releases whose parts were told. */
  private readonly released = new Set<string>();
  private turn: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: CheckpointsOptions) {
    this.tip = tipOf(options.from ?? FRESH_START);
  }

  get last(): CommitRef | null {
    return this.tip.last;
  }

  async record(step: CheckpointStep): Promise<CheckpointAnswer> {
    // Copied before anything is waited for: the caller may change its objects while this waits for its turn.
    const own = ownStep(step, this.options.run);
    const answer = this.turn.then(() => this.take(own));
    this.turn = answer.catch(() => undefined);
    return answer;
  }

  private async take(step: CheckpointStep): Promise<CheckpointAnswer> {
    const { run, clock, saltOf = () => randomBytes(SALT_BYTES) } = this.options;
    const gate = await this.gateOf(step, saltOf);
    if (isRefused(gate)) return gate;
    const told = cutFor(step.state, this.tip, saltOf);
    if (isRefused(told)) return told;
    const { commitId, checkpoint } = checkpointOf(step, {
      run,
      tip: this.tip,
      gate,
      cut: told?.cut ?? null,
      now: clock.now(),
    });
    await this.release(checkpoint);
    await this.options.producer.checkpointTaken({ commitId, checkpoint });
    for (const [index, chunk] of (told?.cut.chunks ?? []).entries())
      await this.options.producer.stateChunk({ tenant: run.tenant, runId: run.runId, commitId, index, chunk });
    this.tip = {
      last: { run_id: run.runId, commit_id: commitId },
      state:
        told === null || step.state === undefined ? this.tip.state : { commitId, value: step.state, depth: told.depth },
    };
    return { admitted: true, commitId, isGated: gate !== null };
  }

  /** Tells once what a release consists of, so that its ref leads there (D63). */
  private async release({ tenant, release }: Checkpoint): Promise<void> {
    if (release === null || this.released.has(releaseRef(release))) return;
    await this.options.producer.assumptionDeclared(releaseStatement(tenant, release));
    this.released.add(releaseRef(release));
  }

  /** The verdict of the gate a step names; null where it names none. */
  private async gateOf({ gate }: CheckpointStep, saltOf: () => Uint8Array): Promise<Gate | CheckpointRefused | null> {
    const {
      entries,
      run: { tenant },
      isGateRequired = false,
      from = FRESH_START,
    } = this.options;
    if (gate === undefined) return isGateRequired ? refused('GATE_REQUIRED', 'the step names no gate') : null;
    if (entries === undefined)
      return refused('REGISTRY_UNAVAILABLE', 'these checkpoints were made without entries of the registry');
    const answer = await entries.standing('policy_bundle', tenant);
    if (answer.kind === 'unavailable')
      return refused(
        'REGISTRY_UNAVAILABLE',
        `nobody knows which ${gate.bundle} stands: ${answer.cause instanceof Error ? answer.cause.message : String(answer.cause)}`,
      );
    const bundle = standingNamed('policy_bundle', answer.entries, { tenant, name: gate.bundle });
    return bundle === undefined
      ? refused('POLICY_UNKNOWN', `no policy bundle ${gate.bundle} is registered`)
      : judge(bundle, gateInputs(gate.inputs, from.evidence), this.tip, saltOf());
  }
}

function isRefused(answer: object | null): answer is CheckpointRefused {
  return answer !== null && 'admitted' in answer;
}
