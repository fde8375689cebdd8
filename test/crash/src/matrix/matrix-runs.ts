// The crash matrix: cases in waves, those that missed their point again, then a rebuild from offset 0.
import { CONTRACTS, REFUND_POLICY } from '@recourse/example-drifted-refund';
import type { DevStack } from '@recourse/dev-stack';
import { Arena, PARTITIONS } from '../arena.js';
import { CONTRACT_EDITOR } from '../edge.js';
import { prove, requestsSent } from '../proof.js';
import { differences, dropProjections, hashesAtRest } from '../rebuild.js';
import type { HashSeen } from '../rebuild.js';
import { RefundRefused } from '../story.js';
import type { Story } from '../story.js';
import { Watch } from '../watch.js';
import { CALL_TIMEOUT_MS, Links } from './links.js';
import type { MatrixCase } from './matrix.cases.js';
import { matrixTable, waveLine } from './matrix-report.js';
import { playWave } from './wave.js';
import type { CaseResult, WavePlace, WaveResult } from './wave.js';
import { wavesOf } from './waves.decisions.js';
import type { Wave } from './waves.decisions.js';

/** A case that misses its point is tried again this often. */
const TRIES_AGAIN_MAX = 2;
/** More cases without a strike at their point than this share, and the matrix proves too little. */
const MISSED_SHARE_MAX = 0.1;
/** A run that is broken so often says nothing new by going on. */
const PROBLEMS_MAX = 6;

interface Rest {
  readonly hashes: readonly HashSeen[];
  readonly requests: readonly number[];
}

export class MatrixRuns {
  readonly problems: string[] = [];
  private readonly results = new Map<string, CaseResult>();
  private readonly followed = new Map<string, Story>();
  private checks = 0;
  private number = 0;
  private openSeen = 0;

  constructor(
    private readonly stack: DevStack,
    private readonly cases: readonly MatrixCase[],
    private readonly say: (line: string) => void,
  ) {}

  get passed(): number {
    return (
      [...this.results.values()].filter(({ isCounted, problems }) => isCounted && problems.length === 0).length +
      this.checks
    );
  }

  get table(): string {
    return this.results.size === 0 ? '' : matrixTable(this.cases.flatMap((one) => this.results.get(idOf(one)) ?? []));
  }

  async all(): Promise<void> {
    this.say(`\n${String(this.cases.length)} cases in ${String(wavesOf(this.cases).length)} waves`);
    const rest = await this.strikes();
    if (this.problems.length === 0) await this.rebuilt(rest);
    this.countMissed();
  }

  private async strikes(): Promise<Rest> {
    const links = await Links.open(this.stack);
    const arena = await this.open(links);
    const watch = new Watch(this.stack, PARTITIONS, (sighting) => {
      this.followed.get(sighting.runId)?.see(sighting);
    });
    try {
      await registered(arena);
      await watch.start();
      for (let turn = 0; turn <= TRIES_AGAIN_MAX; turn += 1) await this.waves(arena, links, turn);
      if (this.problems.length === 0)
        this.check(
          `${String(this.openSeen)} times a row was open, and had owner and deadline`,
          this.openSeen > 0 ? [] : ['no row was ever seen open: nothing was looked at'],
        );
      if (this.problems.length === 0)
        this.check(
          'the logs, the acknowledged commands, what consumers heard, what runs owe',
          (await prove(arena, this.compensated())).problems,
        );
      return { hashes: await hashesAtRest(arena), requests: await requestsSent(arena) };
    } finally {
      links.letAllGo();
      await watch.stop();
      await arena.close();
      await links.close();
      if (this.problems.length === 0) await dropProjections(arena);
    }
  }

  /** Every case that has not counted yet. */
  private async waves(arena: Arena, links: Links, turn: number): Promise<void> {
    const waves = wavesOf(this.cases.filter((one) => this.results.get(idOf(one))?.isCounted !== true));
    for (const [index, wave] of waves.entries()) {
      if (this.problems.length >= PROBLEMS_MAX) return;
      const startedAt = performance.now();
      const result = await this.play(
        {
          arena,
          links,
          follow: (story) => {
            this.followed.set(story.runId, story);
          },
        },
        wave,
      );
      this.openSeen += result.openSeen;
      for (const one of result.cases) this.results.set(idOf(one), one);
      this.say(
        waveLine(
          `${turn === 0 ? '' : 'again '}${String(index + 1)}/${String(waves.length)}`,
          wave,
          result,
          performance.now() - startedAt,
        ),
      );
      this.report([
        ...result.problems,
        ...result.cases.flatMap((one) => one.problems.map((problem) => `${idOf(one)}: ${problem}`)),
      ]);
    }
  }

  /** A guard that still misses a part refuses the refund, as it must: nothing was struck, and the wave begins anew. */
  private async play(place: WavePlace, wave: Wave): Promise<WaveResult> {
    for (let tries = 1; ; tries += 1) {
      this.number += 1;
      try {
        return await playWave(place, wave, this.number);
      } catch (cause) {
        if (!(cause instanceof RefundRefused) || tries > TRIES_AGAIN_MAX) throw cause;
        this.say(`  begun anew: the agent was refused, ${cause.message.slice(0, 160)}`);
      }
    }
  }

  private async rebuilt(before: Rest): Promise<void> {
    const arena = await this.open(null);
    try {
      const hashes = await hashesAtRest(arena);
      const requests = await requestsSent(arena);
      this.check(`${String(hashes.length)} state hashes after a rebuild from offset 0, nothing sent`, [
        ...differences(before.hashes, hashes),
        ...(requests.join() === before.requests.join()
          ? []
          : [`the rebuild sent requests: ${before.requests.join()} before, ${requests.join()} after`]),
      ]);
    } finally {
      await arena.close();
    }
  }

  private countMissed(): void {
    const missed = this.cases.filter((one) => this.results.get(idOf(one))?.isCounted !== true).length;
    this.say(`${String(this.cases.length - missed)} of ${String(this.cases.length)} cases struck at their point`);
    if (missed > this.cases.length * MISSED_SHARE_MAX)
      this.report([`${String(missed)} of ${String(this.cases.length)} cases never struck at their point`]);
  }

  /** Runs that ended as the consumer's story has it. */
  private compensated(): readonly Story[] {
    const withPeople = new Set(
      [...this.results.values()].filter(({ end }) => end !== 'compensated').map(({ runId }) => runId),
    );
    return [...this.followed.values()].filter(({ runId, mutationId }) => mutationId !== '' && !withPeople.has(runId));
  }

  private open(links: Links | null): Promise<Arena> {
    return Arena.open(this.stack, {
      instances: 1,
      dataDir: this.stack.dataDir,
      onTrouble: (what) => {
        this.report([what]);
      },
      ...(links === null ? {} : { reroute: (plan) => links.through(plan) }),
    });
  }

  private check(what: string, problems: readonly string[]): void {
    if (problems.length === 0) {
      this.checks += 1;
      this.say(`  hold: ${what}`);
    }
    this.report(problems);
  }

  private report(problems: readonly string[]): void {
    for (const problem of problems) this.say(`  BROKEN  ${problem}`);
    this.problems.push(...problems);
  }
}

function idOf({ point, action, target }: MatrixCase): string {
  return `${point} × ${action} × ${target}`;
}

/** The contract, with time for a call to be held. */
function patient(contract: (typeof CONTRACTS)[number]): object {
  return contract.call_timeout_ms === undefined ? contract : { ...contract, call_timeout_ms: CALL_TIMEOUT_MS };
}

/** What the runs are recovered under. */
async function registered({ edge }: Arena): Promise<void> {
  await edge.command({
    side: 'registry',
    path: '/v1/entries/policy_bundle',
    body: REFUND_POLICY,
    person: CONTRACT_EDITOR,
    key: `policy-${REFUND_POLICY.name}`,
  });
  for (const contract of CONTRACTS)
    await edge.command({
      side: 'registry',
      path: '/v1/contracts',
      body: patient(contract),
      person: CONTRACT_EDITOR,
      key: `contract-${contract.name}`,
    });
}
