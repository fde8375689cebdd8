// Strikes processes one after the other, and brings each back before the next: killed ones are started, paused ones go on.
import type { Processes } from '@recourse/dev-stack';
import { pause } from '../edge.js';
import { isEachStruck, nextStrike } from './strikes.decisions.js';
import type { Strike } from './strikes.decisions.js';

export interface StrikerPlan {
  readonly dice: () => number;
  /** Time between two strikes, at least and at most. */
  readonly everyMs: readonly [number, number];
  /** Processes there are by now, with the group each belongs to; it may grow. */
  readonly targets: ReadonlyMap<string, Processes>;
  readonly onStrike: (strike: Strike) => void;
}

/** Strikes until it is told to stop and each was struck in each way. */
export class Striker {
  readonly done: Strike[] = [];
  private isEnough = false;
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly plan: StrikerPlan) {}

  start(): void {
    this.running = this.strikes();
  }

  /** Resolves when whoever was struck last is back. Errors: of a process that does not come back. */
  async stop(): Promise<void> {
    this.isEnough = true;
    await this.running;
  }

  private async strikes(): Promise<void> {
    const {
      dice,
      targets,
      everyMs: [least, most],
      onStrike,
    } = this.plan;
    while (!this.isEnough || !isEachStruck([...targets.keys()], this.done)) {
      await pause(least + dice() * (most - least));
      const strike = nextStrike([...targets.keys()], this.done, dice);
      this.done.push(strike);
      onStrike(strike);
      await struck(targets.get(strike.target), strike);
    }
  }
}

async function struck(processes: Processes | undefined, { target, kind, absentMs }: Strike): Promise<void> {
  if (processes === undefined) throw new Error(`nobody is called ${target}`);
  await processes.kill(target, kind === 'pause' ? 'SIGSTOP' : 'SIGKILL');
  await pause(absentMs);
  if (kind === 'pause') await processes.kill(target, 'SIGCONT');
  else await processes.start(target);
}
