// Three nodes of Kafka, some of which go while effects are made or taken back, and come back.
//
// What has to hold: each effect once and each compensation once, nothing acknowledged is lost; without a majority nothing is
// acknowledged at all, and who cannot record a command says that it is not ready.
import { CONTRACTS, REFUND_POLICY } from '@recourse/example-drifted-refund';
import { fetchClusterMetadata } from '@recourse/dev-stack';
import type { DevStack, PartName, ProcessSpec } from '@recourse/dev-stack';
import { Arena, PARTITIONS } from '../arena.js';
import { BUDGET_OWNER, CONTRACT_EDITOR, pause } from '../edge.js';
import type { Command, Side } from '../edge.js';
import { effectsOf, problemsOf } from '../kill.js';
import { prove } from '../proof.js';
import { RefundRefused, Story } from '../story.js';
import type { Ending } from '../story.js';
import { CURRENCY } from '../terms.js';
import { Watch } from '../watch.js';
import { BROKER_CASES, brokerTable, nameOf } from './broker.cases.js';
import type { BrokerCase, BrokerResult } from './broker.cases.js';

const NODES: readonly PartName[] = ['kafka', 'kafka-2', 'kafka-3'];
const STRUCK_LOG = 'recourse.mutations';
/** Stories under way at once. */
const ABREAST = 12;
/** A node is struck when this share of a case's stories is through. */
const STRUCK_AFTER = 1 / 4;
/** How long nodes stay away. */
const AWAY_MS = 4_000;
/** An intent whose agent could not tell how it ended is asked about after this: many end so while there is no majority. */
const ASKED_AFTER_MS = 15_000;
/** Within this a service answers again once all nodes are back. */
const ANSWERS_WITHIN_MS = 60_000;
/** Within this a service that could not record a command has to say that it is not ready. */
const UNREADY_WITHIN_MS = 5_000;
const ASKED_AGAIN_MS = 100;
/** Who is asked to record something while there is no majority. */
const ASKED: Side = 'budget';

export class BrokerRuns {
  readonly problems: string[] = [];
  private readonly results: BrokerResult[] = [];
  private readonly followed = new Map<string, Story>();
  private readonly refused = new Set<Story>();
  private checks = 0;
  private named = 0;

  constructor(
    private readonly stack: DevStack,
    private readonly effects: number,
    private readonly say: (line: string) => void,
  ) {}

  get passed(): number {
    return this.results.length + this.checks;
  }

  get table(): string {
    return brokerTable(this.results);
  }

  async all(): Promise<void> {
    const onTrouble = (what: string): void => {
      this.report([what]);
    };
    const arena = await Arena.open(this.stack, {
      instances: 1,
      dataDir: this.stack.dataDir,
      onTrouble,
      reroute: ({ processes }) => processes.map(asking),
    });
    const watch = new Watch(this.stack, PARTITIONS, (sighting) => {
      this.followed.get(sighting.runId)?.see(sighting);
    });
    try {
      await register(arena);
      await watch.start();
      for (const one of BROKER_CASES) if (this.problems.length === 0) await this.play(arena, one);
      if (this.problems.length === 0) await this.proven(arena);
    } finally {
      await watch.stop();
      await arena.close();
    }
  }

  private async play(arena: Arena, one: BrokerCase): Promise<void> {
    const stories = Array.from({ length: this.effects }, () => this.story(arena));
    const refund = async (story: Story): Promise<void> => {
      await story.refund().catch(async (cause: unknown) => {
        if (!(cause instanceof RefundRefused)) throw cause;
        // An earlier try may have acted whose answer was lost: then it is on record, and goes on.
        const has = (await effectsOf(arena)).some(({ order, kind }) => order === story.order && kind === 'refund');
        if (has) await story.find();
        else this.refused.add(story);
      });
    };
    const endings = new Map<Story, Ending>();
    const drift = async (story: Story): Promise<void> => {
      if (!this.refused.has(story)) endings.set(story, await story.drift());
    };
    let struck = { at: 0, goneMs: 0 };
    const strikeOnce = async (): Promise<void> => {
      struck = await this.strike(arena, one);
    };
    await abreast(stories, refund, one.during === 'forward' ? strikeOnce : null);
    await abreast(stories, drift, one.during === 'recovery' ? strikeOnce : null);
    const later = [...endings.values()].map(({ at }) => at).filter((at) => at > struck.at);
    const tookMs = later.length === 0 ? 0 : Math.min(...later) - struck.at;
    const settled = await Promise.allSettled(stories.map((story) => endingOf(story, this.refused, endings)));
    this.report(await problemsOf(arena, stories, settled));
    const result = {
      case: one,
      effects: endings.size,
      refused: stories.length - endings.size,
      tookMs,
      goneMs: struck.goneMs,
    };
    this.results.push(result);
    this.say(`  ${brokerTable([result])}`);
  }

  /** Nodes go, stay away for a while and come back. */
  private async strike(arena: Arena, one: BrokerCase): Promise<{ readonly at: number; readonly goneMs: number }> {
    const leader = await this.leader();
    const victims = [leader, ...NODES.filter((node) => node !== leader)].slice(0, one.gone);
    const at = Date.now();
    await Promise.all(
      victims.map((node) => (one.how === 'killed' ? this.stack.kill(node, 'SIGKILL') : this.stack.halt(node))),
    );
    if (one.gone > 1) this.report(await this.open(arena, one));
    await pause(AWAY_MS);
    await Promise.all(victims.map((node) => this.stack.start(node)));
    const goneMs = Date.now() - at;
    this.report(await this.answering(arena, one));
    return { at, goneMs };
  }

  /** A service that answers no command though all nodes are there again. */
  private async answering({ edge }: Arena, one: BrokerCase): Promise<readonly string[]> {
    this.named += 1;
    const giveUpAt = Date.now() + ANSWERS_WITHIN_MS;
    for (;;) {
      const answer = await edge.sendOnce(budgetNobodyNeeds(`again-${String(this.named)}`));
      if (answer !== null && answer.status < 300) return [];
      if (Date.now() > giveUpAt)
        return [
          `${nameOf(one)}: ${ASKED} answered ${answer === null ? 'nothing' : `${String(answer.status)} ${answer.text}`}, all nodes back`,
        ];
      await pause(ASKED_AGAIN_MS);
    }
  }

  /** A command that is acknowledged while there is no majority, and a service that could not record it and still says it is ready. */
  private async open(arena: Arena, one: BrokerCase): Promise<readonly string[]> {
    this.named += 1;
    const answer = await arena.edge.sendOnce(budgetNobodyNeeds(`majority-${String(this.named)}`));
    const giveUpAt = Date.now() + UNREADY_WITHIN_MS;
    let isReady = await arena.edge.isReady(ASKED);
    while (isReady && Date.now() < giveUpAt) {
      await pause(ASKED_AGAIN_MS);
      isReady = await arena.edge.isReady(ASKED);
    }
    return [
      ...(answer === null || answer.status >= 500
        ? []
        : [`${nameOf(one)}: a command was answered ${String(answer.status)} ${answer.text}`]),
      ...(isReady ? [`${nameOf(one)}: ${ASKED} said it was ready and could not record a command`] : []),
    ];
  }

  private async leader(): Promise<PartName> {
    for (const address of this.stack.kafka.brokers) {
      const port = Number(address.split(':').at(-1));
      const { partitions } = await fetchClusterMetadata({ port, user: null }, [STRUCK_LOG]);
      const first = partitions.find(({ partition }) => partition === 0)?.leader ?? null;
      const node = first === null ? undefined : NODES[this.stack.kafka.brokers.indexOf(first)];
      if (node !== undefined) return node;
    }
    throw new Error(`nobody leads the first partition of ${STRUCK_LOG}`);
  }

  private async proven(arena: Arena): Promise<void> {
    const { problems, logs } = await prove(
      arena,
      [...this.followed.values()].filter((story) => !this.refused.has(story)),
    );
    const accepted = logs.reduce((sum, log) => sum + log.accepted, 0);
    this.say(
      `  chains of ${String(logs.length)} partitions verified from offset 0: ${String(accepted)} records accepted`,
    );
    this.report(problems);
    if (problems.length === 0) this.checks += 1;
  }

  private story({ edge }: Arena): Story {
    this.named += 1;
    const story = new Story(edge, `brokers-${String(this.named)}`);
    this.followed.set(story.runId, story);
    return story;
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

/** A few at a time, all of them; once a share of them is through, `strike` begins beside them. */
async function abreast(
  stories: readonly Story[],
  act: (story: Story) => Promise<void>,
  strike: (() => Promise<void>) | null,
): Promise<void> {
  const waiting = [...stories];
  let through = 0;
  const striking: Promise<void>[] = [];
  const begin = (act: () => Promise<void>): void => {
    const begun = act();
    begun.catch(() => undefined); // is awaited below, when the stories are through
    striking.push(begun);
  };
  const work = async (): Promise<void> => {
    for (let story = waiting.shift(); story !== undefined; story = waiting.shift()) {
      await act(story);
      through += 1;
      if (strike !== null && striking.length === 0 && through >= stories.length * STRUCK_AFTER) begin(strike);
    }
  };
  await Promise.all(Array.from({ length: ABREAST }, work));
  await Promise.all(striking);
}

/** A ledger that asks early how an execution ended. */
function asking(spec: ProcessSpec): ProcessSpec {
  const env = { ...spec.env, RECOURSE_CONCLUDE_WITHIN_MS: String(ASKED_AFTER_MS) };
  return spec.name.startsWith('mutation-ledger') ? { ...spec, env } : spec;
}

function endingOf(story: Story, refused: ReadonlySet<Story>, endings: ReadonlyMap<Story, Ending>): Promise<Ending> {
  const ending = endings.get(story);
  if (ending !== undefined) return Promise.resolve(ending);
  return Promise.reject(refused.has(story) ? new RefundRefused() : new Error(`${story.runId} did not end`));
}

function budgetNobodyNeeds(scopeId: string): Command {
  return {
    side: ASKED,
    path: '/v1/budgets',
    body: { scope: 'run', scope_id: scopeId, currency: CURRENCY, ceiling_minor: 1 },
    person: BUDGET_OWNER,
    key: scopeId,
  };
}
