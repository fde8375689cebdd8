// The answers of one worker to the legs asked of it: each leg is run once at a time, and a copy of it gets the same answer.
//
// Boundary: runs legs, tells their calls and how far slow ones have come; sending the answer is the worker's.
import { Failure } from '@recourse/kernel';
import type { TracePlace } from '@recourse/kernel';
import type { LegReported, LegRequested, LegStep } from '@recourse/messages';
import { CallsUnderWay } from './one-at-a-time.js';
import { KeptAnswers } from './kept-answers.js';
import { reportOf, runLeg } from './leg-runner.js';
import { unlessKilled } from './may-go-on.js';
import type { Objection } from './may-go-on.js';
import { watchLeg } from './progress-reports.js';
import type { ProgressOptions, Watch } from './progress-reports.js';
import { spanOf } from './spans.js';
import type { CalledTool } from './tool-call.js';
import type { WorkerNote, WorkerOptions } from './worker.messages.js';

/** How often a slow leg tells how far it has come, unless told otherwise. */
const PROGRESS_EVERY_MS = 250;

/** How soon a registry that does not say whether a switch stands is asked again. */
const ASK_AGAIN_MS = 1_000;

/** What the worker does for its legs. */
export interface LegSurroundings {
  /** Sends a report of a leg under way. */
  readonly tell: (report: LegReported) => Promise<void>;
  readonly isStopped: () => boolean;
  /** Errors: Failure(KEY_NOT_BELIEVED) while nobody would believe what the worker reports. */
  readonly refuseUnbelieved: () => void;
  readonly note: (note: WorkerNote) => void;
}

export class LegAnswers {
  private readonly answers = new KeptAnswers();
  private readonly running = new Map<string, Promise<LegReported>>();
  private readonly underWay = new CallsUnderWay();
  private readonly unlessKilled: ((leg: LegRequested, step: LegStep) => Promise<Objection>) | undefined;

  constructor(
    private readonly options: WorkerOptions,
    private readonly around: LegSurroundings,
  ) {
    const { entries } = options;
    this.unlessKilled = entries === undefined ? undefined : unlessKilled(entries);
  }

  /** The report of a leg: that of an earlier copy, else of its run. `place` is where its calls belong in a trace. */
  async of(leg: LegRequested, place: TracePlace | null): Promise<LegReported> {
    const key = JSON.stringify([leg.leg_id, leg.attempt, leg.lease_id]);
    return this.answers.of(key) ?? (await (this.running.get(key) ?? this.run(key, leg, place)));
  }

  private async run(key: string, leg: LegRequested, place: TracePlace | null): Promise<LegReported> {
    const watch = this.watch(leg);
    const run = runLeg(leg, {
      ...this.options,
      underWay: this.underWay,
      onCall: this.traced(place),
      onStep: watch?.onStep,
      mayGoOn: (of, step) => this.mayGoOn(of, step),
    });
    this.running.set(key, run);
    try {
      const report = await run;
      this.answers.keep(key, report);
      return report;
    } finally {
      watch?.end();
      this.running.delete(key);
    }
  }

  /** Tells how far a leg of several steps has come while it is slow. */
  private watch(leg: LegRequested): Watch | null {
    const { clock, workerId, progressEveryMs: everyMs = PROGRESS_EVERY_MS } = this.options;
    if (leg.steps.length === 1) return null;
    const tell: ProgressOptions['tell'] = async (steps) => {
      try {
        await this.around.tell(reportOf(leg, steps, { workerId, at: clock.now(), complete: false }));
      } catch (cause) {
        this.around.note({ type: 'trouble', doing: 'tell progress', cause });
      }
    };
    return watchLeg({ clock, everyMs, tell });
  }

  /** Whether the next step of a leg may be begun. While nobody knows whether a switch stands it waits, as long as the leg has time. */
  private async mayGoOn(leg: LegRequested, step: LegStep): Promise<boolean | 'unknown'> {
    const { clock } = this.options;
    for (;;) {
      // Who takes over is to go on with the leg: it is left unanswered rather than ended.
      if (this.around.isStopped()) throw new Failure('NOT_READY', 'the worker stops');
      this.around.refuseUnbelieved();
      const objection = await this.objection(leg, step);
      if (objection.kind === 'none') return true;
      if (objection.kind === 'held') return this.heldBack(leg, step, objection);
      this.around.note({
        type: 'trouble',
        doing: 'ask the registry whether a kill switch stands',
        cause: objection.cause,
      });
      if (clock.now() + ASK_AGAIN_MS >= leg.not_after) return 'unknown';
      await clock.sleep(ASK_AGAIN_MS);
    }
  }

  private async objection(leg: LegRequested, step: LegStep): Promise<Objection> {
    const { mayGoOn } = this.options;
    try {
      if (mayGoOn !== undefined && !(await mayGoOn(leg, step))) return { kind: 'held', reason: 'mayGoOn said no' };
      return (await this.unlessKilled?.(leg, step)) ?? { kind: 'none' };
    } catch (cause) {
      this.around.note({ type: 'trouble', doing: 'ask whether to go on', cause });
      return { kind: 'held', reason: 'mayGoOn failed' };
    }
  }

  private heldBack(
    { leg_id: legId, run_id: runId }: LegRequested,
    { step_id: stepId }: LegStep,
    { reason }: Extract<Objection, { kind: 'held' }>,
  ): false {
    this.around.note({ type: 'held_back', legId, runId, stepId, reason });
    return false;
  }

  /** Tells each call of one leg as a span; undefined where nobody wants it, or the request names no trace. */
  private traced(place: TracePlace | null): ((called: CalledTool) => void) | undefined {
    const { onSpan, workerId } = this.options;
    if (onSpan === undefined || place === null) return undefined;
    let index = 0;
    return (called) => {
      index += 1;
      try {
        onSpan(spanOf(called, { place, workerId, index }));
      } catch (cause) {
        this.around.note({ type: 'trouble', doing: 'trace', cause });
      }
    };
  }
}
