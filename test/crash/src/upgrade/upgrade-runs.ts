// An upgrade: services, agent, worker and consumer of an earlier version leave stories at every stand, all of them are killed, and today's
// go on from the same logs, keys and positions.
//
// What has to hold: each effect once and each compensation once, commands that were acknowledged keep their answer, chains verify,
// programs of before go on beside services of today, and rows made anew by today's from all records are the same.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CONTRACTS, REFUND_POLICY } from '@recourse/example-drifted-refund';
import { SERVICES } from '@recourse/dev-stack';
import type { DevStack, ProcessSpec, SystemPlan } from '@recourse/dev-stack';
import { pinnedNode, root } from '../../../../scripts/lib/paths.mjs';
import { Arena, PARTITIONS } from '../arena.js';
import { AUDITOR, CONTRACT_EDITOR, listOf } from '../edge.js';
import type { Side } from '../edge.js';
import { problemsOf } from '../kill.js';
import { prove } from '../proof.js';
import { differences, dropProjections, hashesAtRest } from '../rebuild.js';
import { Story } from '../story.js';
import type { Ending } from '../story.js';
import { Watch } from '../watch.js';
import { STANDS, upgradeTable } from './upgrade.cases.js';
import type { Stand, UpgradeResult } from './upgrade.cases.js';

/** What speaks to services, with an SDK of its version. */
const PROGRAMS: readonly string[] = ['agent', 'worker', 'loyalty'];
/** Services that park what they cannot read. */
const SIDES: readonly Side[] = ['registry', 'ledger', 'orchestrator', 'budget'];
/** Stories at each stand. */
const ABREAST = 4;
/** Everything dies this long after the first approval of those that are struck. */
const STRUCK_AFTER_MS = 250;
/** By then a worker that is gone was asked whether what was approved may still be done. */
const SENT_AFTER_MS = 1_500;
/** A worker's time for a look: three that nobody answers end with a person, and all programs are gone for longer than a development stack allows. */
const LEASE_MS = 45_000;
const REGISTERED_WITHIN_MS = 120_000;

type Version = 'earlier' | 'today';

export class UpgradeRuns {
  readonly problems: string[] = [];
  private readonly results: UpgradeResult[] = [];
  private readonly stories = new Map<Stand, readonly Story[]>();
  private readonly followed = new Map<string, Story>();
  private readonly versions = new Map<string, Version>();
  private checks = 0;

  constructor(
    private readonly stack: DevStack,
    /** Folder of a built checkout. */
    private readonly earlier: string,
    private readonly say: (line: string) => void,
  ) {}

  get passed(): number {
    return this.results.filter(({ isSound }) => isSound).length + this.checks;
  }

  get table(): string {
    return upgradeTable(this.results);
  }

  async all(): Promise<void> {
    registerSchemas(this.earlier, this.stack.registryUrl);
    const before = await this.upgraded();
    if (this.problems.length === 0) await this.rebuilt(before);
  }

  private async upgraded(): Promise<Awaited<ReturnType<typeof hashesAtRest>>> {
    const arena = await this.open((plan) => plan.processes.map((spec) => this.versioned(spec)));
    const watch = new Watch(this.stack, PARTITIONS, (sighting) => {
      this.followed.get(sighting.runId)?.see(sighting);
    });
    try {
      await register(arena);
      await watch.start();
      const endings = await this.leave(arena);
      await this.start(arena, SERVICES, 'today');
      this.say('services of today are ready');
      await this.start(arena, PROGRAMS, 'earlier');
      await this.end(arena, endings);
      await this.beside(arena);
      await this.unparked(arena);
      await this.proven(arena);
      return await hashesAtRest(arena);
    } finally {
      await watch.stop();
      await arena.close();
    }
  }

  /** Stories of the earlier version, left at their stands: it is dead by then. */
  private async leave(arena: Arena): Promise<ReadonlyMap<Story, Promise<Ending>>> {
    const endings = new Map<Story, Promise<Ending>>();
    for (const stand of STANDS) {
      const stories = Array.from({ length: ABREAST }, (_, index) => this.story(arena, `${stand}-${String(index)}`));
      this.stories.set(stand, stories);
      await Promise.all(stories.map((story) => story.refund()));
    }
    await Promise.all(this.of('over').map(async (story) => endings.set(story, Promise.resolve(await story.drift()))));
    await Promise.all(
      [...this.of('asked'), ...this.of('unheard'), ...this.of('struck')].map((one) => one.untilAsked()),
    );
    await arena.processes.kill('worker', 'SIGKILL');
    await Promise.all(this.of('unheard').map((story) => story.agree()));
    await pause(SENT_AFTER_MS);
    for (const story of this.of('struck'))
      endings.set(
        story,
        story.agree().then(() => story.end()),
      );
    await pause(STRUCK_AFTER_MS);
    const left = [...SERVICES, ...PROGRAMS.filter((name) => name !== 'worker')];
    await Promise.all(left.map((name) => arena.processes.kill(name, 'SIGKILL')));
    this.say(`killed: services, agent, worker and consumer of before`);
    return endings;
  }

  /** Every story comes to its end under today's services. */
  private async end(arena: Arena, begun: ReadonlyMap<Story, Promise<Ending>>): Promise<void> {
    const goOn: Readonly<Record<Stand, (story: Story) => Promise<Ending>>> = {
      over: (story) => story.end(),
      done: (story) => story.drift(),
      asked: (story) => story.agree().then(() => story.end()),
      unheard: (story) => story.end(),
      struck: (story) => story.end(),
    };
    for (const stand of STANDS) {
      const stories = this.of(stand);
      await this.judge(
        arena,
        stand,
        await Promise.allSettled(stories.map((one) => begun.get(one) ?? goOn[stand](one))),
      );
    }
  }

  private async judge(arena: Arena, stand: Stand, endings: readonly PromiseSettledResult<Ending>[]): Promise<void> {
    const problems = await problemsOf(arena, this.of(stand), endings);
    const result = { stand, stories: endings.length, isSound: problems.length === 0 };
    this.results.push(result);
    this.say(`  ${upgradeTable([result])}`);
    this.report(problems);
  }

  /** Whole stories of programs of before, and then of today's, beside services of today. */
  private async beside(arena: Arena): Promise<void> {
    for (const version of ['earlier', 'today'] as const) {
      if (version === 'today') {
        await Promise.all(PROGRAMS.map((name) => arena.processes.kill(name, 'SIGKILL')));
        await this.start(arena, PROGRAMS, version);
      }
      const stories = Array.from({ length: ABREAST }, (_, index) =>
        this.story(arena, `beside-${version}-${String(index)}`),
      );
      const endings = await Promise.allSettled(
        stories.map(async (story) => {
          await story.refund();
          return story.drift();
        }),
      );
      const problems = await problemsOf(arena, stories, endings);
      this.say(
        `  agent, worker and consumer ${version === 'today' ? 'of today' : 'of before'}: ${String(stories.length)} stories`,
      );
      this.check(problems);
    }
  }

  /** Today's services took everything that was sent: nothing waits for a person to look at its bytes. */
  private async unparked({ edge }: Arena): Promise<void> {
    const parked = await Promise.all(
      SIDES.map(async (side) => {
        const { body } = await edge.get(side, '/v1/parked', AUDITOR);
        return listOf(body['items']).map(
          ({ topic, offset, reason }) => `${side} parked ${String(topic)} offset ${String(offset)}: ${String(reason)}`,
        );
      }),
    );
    this.check(parked.flat());
  }

  private async proven(arena: Arena): Promise<void> {
    const { problems, logs } = await prove(arena, [...this.followed.values()]);
    const accepted = logs.reduce((sum, log) => sum + log.accepted, 0);
    this.say(
      `  chains of ${String(logs.length)} partitions verified from offset 0: ${String(accepted)} records accepted`,
    );
    this.check(problems);
  }

  /** Rows made anew by today's services from the records of both versions. */
  private async rebuilt(before: Awaited<ReturnType<typeof hashesAtRest>>): Promise<void> {
    const empty = await this.open((plan) => plan.processes);
    await empty.close();
    await dropProjections(empty);
    const arena = await this.open((plan) => plan.processes);
    try {
      const hashes = await hashesAtRest(arena);
      this.say(`  rebuilt from offset 0: ${String(hashes.length)} state hashes compared`);
      this.check(differences(before, hashes));
    } finally {
      await arena.close();
    }
  }

  private open(reroute: (plan: SystemPlan) => readonly ProcessSpec[]): Promise<Arena> {
    return Arena.open(this.stack, {
      instances: 1,
      dataDir: this.stack.dataDir,
      onTrouble: (what) => {
        this.report([what]);
      },
      reroute,
    });
  }

  /** A program whose version is chosen at each start; what plays the world around them stays today's. */
  private versioned(spec: ProcessSpec): ProcessSpec {
    if (![...SERVICES, ...PROGRAMS].includes(spec.name)) return spec;
    const { earlier } = this;
    const versionOf = (): Version => this.versions.get(spec.name) ?? 'earlier';
    return {
      ...spec,
      env: { ...spec.env, RECOURSE_LEASE_MS: String(LEASE_MS) },
      get entry() {
        return versionOf() === 'today' ? spec.entry : spec.entry.replace(root, earlier);
      },
    };
  }

  private async start(arena: Arena, names: readonly string[], version: Version): Promise<void> {
    for (const name of names) this.versions.set(name, version);
    await Promise.all(names.map((name) => arena.processes.start(name)));
  }

  private of(stand: Stand): readonly Story[] {
    return this.stories.get(stand) ?? [];
  }

  private story({ edge }: Arena, name: string): Story {
    const story = new Story(edge, `upgrade-${name}`);
    this.followed.set(story.runId, story);
    return story;
  }

  private check(problems: readonly string[]): void {
    if (problems.length === 0) this.checks += 1;
    this.report(problems);
  }

  private report(problems: readonly string[]): void {
    for (const problem of problems) this.say(`  BROKEN  ${problem}`);
    this.problems.push(...problems);
  }
}

async function register({ edge }: Arena): Promise<void> {
  const command = (path: string, body: { readonly name: string }): Promise<unknown> =>
    edge.command({ side: 'registry', path, body, person: CONTRACT_EDITOR, key: `${path}-${body.name}` });
  await command('/v1/entries/policy_bundle', REFUND_POLICY);
  for (const contract of CONTRACTS) await command('/v1/contracts', contract);
}

/** What the earlier version's job registers before its services start. */
function registerSchemas(earlier: string, registryUrl: string): void {
  const cli = join(earlier, 'apps/cli/dist/main.js');
  const { status, stdout, stderr } = spawnSync(pinnedNode, [cli, 'cluster', 'make-schemas', '--adapters', 'payments'], {
    encoding: 'utf8',
    env: { ...process.env, RECOURSE_REGISTRY_URL: registryUrl },
    timeout: REGISTERED_WITHIN_MS,
  });
  if (status !== 0) throw new Error(`schemas of the earlier version: ${`${stdout}${stderr}`.slice(-1_000)}`);
}
