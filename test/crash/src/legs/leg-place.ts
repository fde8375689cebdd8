// One place of these runs: an adapter with one worker, which is killed and started again, a case at a time.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DevStack, ProcessSpec } from '@recourse/dev-stack';
import { deriveId } from '@recourse/kernel';
import { mutationId } from '@recourse/sdk';
import type { Producer } from '@recourse/sdk';
import type { Arena } from '../arena.js';
import { CONTRACT_EDITOR, listOf, OPERATOR, pause, TENANT } from '../edge.js';
import type { Facts, Person } from '../edge.js';
import { LEG_STEPS, TOOL_KINDS } from './leg.cases.js';
import type { LegCase, ToolKind } from './leg.cases.js';
import { problemsOf, takenUpAfterMs } from './leg.decisions.js';
import { legContracts, putOf } from './leg-contracts.js';
import type { LegTool } from './leg-tool.js';

/** What became of one kill. */
export interface LegResult extends LegCase {
  readonly run: string;
  /** The worker died at its moment. */
  readonly isCounted: boolean;
  readonly takenUpMs: number | null;
  /** From the kill until all steps were at rest, milliseconds. */
  readonly restMs: number;
  /** Steps that a person has. */
  readonly withPeople: number;
  /** Calls that came again under a key whose effect was there. */
  readonly repeats: number;
  readonly problems: readonly string[];
}

export interface LegScene {
  readonly arena: Arena;
  readonly producer: Producer;
  readonly tool: LegTool;
}

const UNDOER: Person = { subject: 'ursula', roles: ['requester'], tenant: TENANT };
const AT_REST: readonly string[] = ['compensated', 'manual', 'not_needed', 'denied', 'resolved'];
/** Longest for the eleven to be on record, for the moment to come, and for the run to come to rest, milliseconds. */
const RECORDED_WITHIN_MS = 60_000;
const REST_WITHIN_MS = 120_000;
const POLL_MS = 150;
const READY_WITHIN_MS = 120_000;
const ENTRY = fileURLToPath(new URL('leg-worker.main.js', import.meta.url));

/** The worker of an adapter. */
export function workerOf(adapter: string, port: number, stack: DevStack, tool: LegTool): ProcessSpec {
  return {
    name: workerName(adapter),
    entry: ENTRY,
    args: [adapter, tool.url],
    stage: 2,
    readyUrl: `http://127.0.0.1:${String(port)}/health`,
    readyWithinMs: READY_WITHIN_MS,
    env: {
      PORT: String(port),
      DATA_DIR: join(stack.dataDir, workerName(adapter)),
      RECOURSE_KAFKA_BROKERS: stack.kafka.brokers.join(','),
      RECOURSE_REGISTRY_URL: stack.registryUrl,
    },
  };
}

export const workerName = (adapter: string): string => `${adapter}-worker`;

export class LegPlace {
  private readonly digests = new Map<string, Buffer>();

  constructor(
    private readonly scene: LegScene,
    private readonly adapter: string,
  ) {}

  /** Takes its tools into use. Shape: how long its worker takes to go, start and join where no dead member is waited for, milliseconds. */
  async prepare(): Promise<number> {
    const { edge, processes } = this.scene.arena;
    for (const contract of legContracts(this.adapter)) {
      const key = `contract-${contract.name}`;
      await edge.command({ side: 'registry', path: '/v1/contracts', body: contract, person: CONTRACT_EDITOR, key });
    }
    for (const kind of TOOL_KINDS) {
      const { body } = await edge.get('registry', `/v1/contracts/${putOf(this.adapter, kind)}`, CONTRACT_EDITOR);
      this.digests.set(kind, Buffer.from(String(body['digest']), 'hex'));
    }
    const startedAt = performance.now();
    await processes.restart(workerName(this.adapter));
    return performance.now() - startedAt;
  }

  /** Eleven effects, their undo, and the death of the worker at its moment. */
  async play(told: LegCase, number: number): Promise<LegResult> {
    const { arena, tool } = this.scene;
    const run = deriveId('run', this.adapter, number);
    const worker = workerName(this.adapter);
    const died = Promise.withResolvers<undefined>();
    tool.arm(run, told, async () => {
      await arena.processes.kill(worker, 'SIGKILL');
      died.resolve(undefined);
    });
    const mutations = await this.execute(run, told);
    await this.undo(run);
    const rest = this.atRest(run);
    const isStruck = await Promise.race([died.promise.then(() => true), rest.then(() => false)]);
    if (isStruck) await arena.processes.start(worker);
    const steps = await rest;
    return this.resultOf(told, { run, steps, mutations });
  }

  /** Puts eleven things down, and waits until the ledger says of the last that it can be taken back. Answers their numbers by mutation. */
  private async execute(run: string, { kind }: LegCase): Promise<ReadonlyMap<string, number>> {
    const { arena } = this.scene;
    const mutations = new Map<string, number>();
    for (let effect = 1; effect <= LEG_STEPS; effect += 1) mutations.set(await this.put(run, effect, kind), effect);
    const [last = ''] = [...mutations.keys()].slice(-1);
    await until(RECORDED_WITHIN_MS, `the effects of ${run} are not on record`, async () => {
      const { body } = await arena.edge.get('ledger', `/v1/mutations/${last}`, OPERATOR);
      return body['recoverability'] === 'reversal_available' ? true : null;
    });
    return mutations;
  }

  /** Tells that a thing was put down; the id of its mutation. */
  private async put(run: string, effect: number, kind: ToolKind): Promise<string> {
    const thing = `${run}/${String(effect)}`;
    const action = {
      tenant: TENANT,
      runId: run,
      agentId: 'crash-agent',
      initiator: 'asha',
      objective: 'put things in place',
      stepId: `step-${String(effect)}`,
      callId: `${run}-${String(effect)}`,
      capability: putOf(this.adapter, kind),
      contractDigest: this.digests.get(kind) ?? null,
      effectKey: thing,
      idempotencyKey: thing,
      subjectRef: null,
      args: { thing },
      assumptionRefs: [],
    };
    await this.scene.producer.toolExecuted(action, {
      outcome: 'succeeded',
      result: { thing, status: 'there' },
      priorValue: null,
      externalTransactionRef: thing,
      errorKind: null,
      committedAt: Date.now(),
    });
    return mutationId(TENANT, run, thing);
  }

  private async undo(run: string): Promise<void> {
    const { status, text } = await this.scene.arena.edge.command({
      side: 'ledger',
      path: '/v1/undos',
      body: { run_id: run, reason: 'the crash runs take it back' },
      person: UNDOER,
      key: `undo-${run}`,
    });
    if (status >= 300) throw new Error(`the undo of ${run} was answered ${String(status)} ${text}`);
  }

  private atRest(run: string): Promise<readonly Facts[]> {
    return until(REST_WITHIN_MS, `${run} does not come to rest`, async () => {
      const { body } = await this.scene.arena.edge.get('orchestrator', `/v1/steps?run_id=${run}&limit=50`, OPERATOR);
      const steps = listOf(body['items']);
      const isAtRest = steps.length === LEG_STEPS && steps.every(({ phase }) => AT_REST.includes(String(phase)));
      return isAtRest ? steps : null;
    });
  }

  private resultOf(
    told: LegCase,
    {
      run,
      steps,
      mutations,
    }: {
      readonly run: string;
      readonly steps: readonly Facts[];
      readonly mutations: ReadonlyMap<string, number>;
    },
  ): LegResult {
    const seen = this.scene.tool.runs.get(run) ?? { calls: [], acts: [], undone: [], killed: null };
    const ends = new Map(steps.map((step) => [mutations.get(String(step['mutation_id'])) ?? 0, endOf(step)] as const));
    return {
      ...told,
      run,
      isCounted: seen.killed !== null,
      takenUpMs: seen.killed === null ? null : takenUpAfterMs(seen.calls, seen.killed),
      restMs: seen.killed === null ? 0 : Date.now() - seen.killed.at,
      withPeople: [...ends.values()].filter((end) => end !== 'compensated').length,
      repeats: seen.acts.length - new Set(seen.acts).size,
      problems: problemsOf(told, { ...seen, ends }).map((problem) => `${run} (${nameOf(told)}): ${problem}`),
    };
  }
}

export function nameOf({ kind, step, moment }: LegCase): string {
  return `${kind}, step ${String(step)}, ${moment}`;
}

function endOf({ phase, reason }: Facts): string {
  return phase === 'compensated' ? 'compensated' : `${String(phase)} ${String(reason)}`;
}

/** Asks until there is an answer. Errors: Error with the complaint when there is none in time. */
async function until<T>(withinMs: number, complaint: string, look: () => Promise<T | null>): Promise<T> {
  const deadlineAt = Date.now() + withinMs;
  while (Date.now() < deadlineAt) {
    const found = await look();
    if (found !== null) return found;
    await pause(POLL_MS);
  }
  throw new Error(`${complaint} within ${String(withinMs / 1_000)} s`);
}
