// Take-over: two instances of every service, one is killed, and the next verified compensation is waited for on each partition.
// Then one instance of each, killed and started: how long until it is ready. Nothing may be lost, and nothing happen twice.
import { CONTRACTS, REFUND_POLICY } from '@recourse/example-drifted-refund';
import { processName, SERVICES } from '@recourse/dev-stack';
import type { DevStack } from '@recourse/dev-stack';
import { partitionForKey } from '@recourse/kafka';
import { Arena, PARTITIONS } from '../arena.js';
import { CONTRACT_EDITOR, pause } from '../edge.js';
import { prove } from '../proof.js';
import { Story } from '../story.js';
import { Watch } from '../watch.js';
import { takeOverLine, takeOverTable } from './takeover.decisions.js';
import type { Restart, TakeOver } from './takeover.decisions.js';

/** Those on the way of a recovery. */
const VICTIMS = ['recovery-orchestrator', 'mutation-ledger'] as const;
/** Every so often nobody is killed: what a recovery takes by itself. */
const CONTROL_EVERY = 10;
const RESTARTS_PART = 1 / 10;
/** After a start, until the group has settled. */
const SETTLES_MS = 1_500;
const READY_POLL_MS = 25;

export class TakeOverRuns {
  readonly problems: string[] = [];
  private readonly takeOvers: TakeOver[] = [];
  private readonly restarts: Restart[] = [];
  private readonly stories: Story[] = [];
  private named = 0;
  private checks = 0;

  constructor(
    private readonly stack: DevStack,
    private readonly kills: number,
    private readonly say: (line: string) => void,
  ) {}

  get passed(): number {
    return this.takeOvers.length + this.restarts.length + this.checks;
  }

  get table(): string {
    return this.takeOvers.length === 0 ? '' : takeOverTable(this.takeOvers, this.restarts);
  }

  async all(): Promise<void> {
    await this.withArena(2, async (arena) => {
      await this.register(arena);
      for (let number = 1; number <= this.kills && this.problems.length === 0; number += 1)
        await this.killOne(arena, number);
    });
    await this.withArena(1, async (arena) => {
      const rounds = Math.max(1, Math.ceil((this.kills * RESTARTS_PART) / SERVICES.length));
      for (let round = 0; round < rounds; round += 1) for (const name of SERVICES) await this.restart(arena, name);
      await this.oneMore(arena);
      const { problems } = await prove(arena, this.stories);
      this.report(problems);
      if (problems.length === 0) this.checks += 1;
    });
  }

  private async withArena(instances: number, act: (arena: Arena) => Promise<void>): Promise<void> {
    const onTrouble = (what: string): void => {
      this.report([what]);
    };
    const arena = await Arena.open(this.stack, { instances, dataDir: this.stack.dataDir, onTrouble });
    const byRun = (runId: string): Story | undefined => this.stories.find((story) => story.runId === runId);
    const watch = new Watch(this.stack, PARTITIONS, (sighting) => byRun(sighting.runId)?.see(sighting));
    await watch.start();
    try {
      await act(arena);
    } finally {
      await watch.stop();
      await arena.close();
    }
  }

  private async register({ edge }: Arena): Promise<void> {
    const register = (path: string, body: { readonly name: string }): Promise<unknown> =>
      edge.command({ side: 'registry', path, body, person: CONTRACT_EDITOR, key: `${path}-${body.name}` });
    await register('/v1/entries/policy_bundle', REFUND_POLICY);
    for (const contract of CONTRACTS) await register('/v1/contracts', contract);
  }

  /** A recovery on each partition waits for its approval; one instance dies, and both are approved. */
  private async killOne(arena: Arena, number: number): Promise<void> {
    const service = VICTIMS[number % VICTIMS.length] ?? VICTIMS[0];
    const isControl = number % CONTROL_EVERY === 0;
    const victim = isControl ? null : processName(service, Math.floor(number / VICTIMS.length) % 2);
    const stories = Array.from({ length: PARTITIONS }, (_, partition) => this.storyOn(arena, partition));
    await Promise.all(stories.map((story) => story.refund()));
    await Promise.all(stories.map((story) => story.untilAsked()));
    const diedAt = Date.now();
    if (victim !== null) await arena.processes.kill(victim, 'SIGKILL');
    await Promise.all(stories.map((story) => story.agree()));
    const endings = await Promise.all(stories.map((story) => story.end()));
    for (const { recoverability } of endings)
      if (recoverability !== 'compensated') this.report([`a recovery ended ${recoverability}`]);
    const took = { victim, tookMs: Math.max(...endings.map(({ at }) => at)) - diedAt };
    this.takeOvers.push(took);
    this.say(takeOverLine(number, took));
    if (victim === null) return;
    await arena.processes.start(victim);
    await Promise.all([0, 1].map((index) => ready(arena, processName(service, index))));
    await pause(SETTLES_MS);
  }

  /** It runs alone: from its start until it says that it is ready. */
  private async restart(arena: Arena, service: string): Promise<void> {
    await arena.processes.kill(service, 'SIGKILL');
    const startedAt = performance.now();
    await arena.processes.start(service);
    const restarted = { service, readyMs: performance.now() - startedAt };
    this.restarts.push(restarted);
    this.say(`       ${service.padEnd(24)} ready after ${(restarted.readyMs / 1_000).toFixed(2)} s`);
  }

  private async oneMore(arena: Arena): Promise<void> {
    const story = this.storyOn(arena, 0);
    await story.refund();
    const { recoverability } = await story.drift();
    if (recoverability !== 'compensated') this.report([`the last recovery ended ${recoverability}`]);
  }

  private storyOn({ edge }: Arena, partition: number): Story {
    for (;;) {
      this.named += 1;
      const story = new Story(edge, `takeover-${String(this.named)}`);
      if (partitionForKey(Buffer.from(story.runId), PARTITIONS) !== partition) continue;
      this.stories.push(story);
      return story;
    }
  }

  private report(problems: readonly string[]): void {
    for (const problem of problems) this.say(`  BROKEN  ${problem}`);
    this.problems.push(...problems);
  }
}

async function ready({ plan }: Arena, name: string): Promise<void> {
  const port = plan.processes.find((process) => process.name === name)?.env?.['RECOURSE_HTTP_PORT'] ?? '0';
  const isReady = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) await pause(READY_POLL_MS);
}
