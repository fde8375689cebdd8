// What every story over the little services does: contracts, a budget, tools under their guard, people who decide, and the world as it is.
import { contractBody, EXPOSURE } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import {
  ask,
  BUDGET_OWNER,
  CONTRACT_EDITOR,
  Desk,
  listOf,
  OPERATOR,
  reachRecourse,
  textOf,
  tokenFrom,
} from '@recourse/example-drifted-refund';
import type { Facts } from '@recourse/example-drifted-refund';
import { sha256Hex } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import {
  createProducer,
  edgeClient,
  guard,
  HttpApprovals,
  HttpBudget,
  registeredContract,
  systemClock,
} from '@recourse/sdk';
import type { KafkaAccess } from '@recourse/kafka';
import type { GuardedResult, Producer, RegisteredContract, RunContext } from '@recourse/sdk';
import { z } from 'zod';
import { ServicesClient } from '../adapters/client.js';
import { forwardTool } from '../adapters/tools.js';
import type { FaultMode } from '../services/faults.js';
import type { Doc, World } from '../services/world.js';
import { contractFiles } from './contract-files.js';

export interface LittleUrls {
  readonly issuer: string;
  readonly registry: string;
  readonly ledger: string;
  readonly orchestrator: string;
  readonly budget: string;
  readonly services: string;
}

/** Where everything is. */
export interface Place {
  readonly urls: LittleUrls;
  readonly brokers: readonly string[];
  /** Schema registry. */
  readonly registryUrl: string;
  /** As whom the agent speaks to Kafka; nobody in particular unless told. */
  readonly access?: KafkaAccess;
  readonly tenant?: string;
  readonly say: (line: string) => void;
}

export type LittleDesk = Desk<keyof LittleUrls>;

/** Longest from an event to what Recourse makes of it, before a story calls it missing. */
const PATIENCE_MS = 60_000;
const TENANT = 'demo';
/** Disclosures a run may make of people: its customer's address, to each service that needs it. */
const DISCLOSURES_MAX = 20;

/** One call of an agent. */
export interface Call {
  readonly step: string;
  readonly capability: string;
  readonly args: Json;
}

const effectShape = z.object({
  seq: z.number(),
  at: z.number(),
  operation: z.string(),
  thing: z.string(),
  key: z.string().nullable(),
  request: z.string(),
  requests: z.number(),
});
const worldShape = z.object({
  things: z.record(z.string(), z.record(z.string(), z.json())),
  effects: z.array(effectShape),
  notices: z.array(z.object({ seq: z.number(), to: z.string(), text: z.string() })),
});

/** A story's means: opened once, closed at its end. */
export class Stage {
  private readonly registered = new Map<string, RegisteredContract>();

  private constructor(
    private readonly place: Place,
    readonly desk: LittleDesk,
    private readonly producer: Producer,
  ) {}

  static async open(place: Place): Promise<Stage> {
    const { urls, brokers, registryUrl, access = {}, tenant = TENANT, say } = place;
    const producer = await createProducer({
      ...reachRecourse(brokers, registryUrl, 'little-agent', access),
      source: 'little-agent',
    });
    return new Stage(place, new Desk<keyof LittleUrls>(urls, tenant, { ask, ...systemClock }, say), producer);
  }

  async close(): Promise<void> {
    await this.producer.close();
  }

  /** Registers what the capabilities need. Answers the number of contracts. */
  async register(capabilities: readonly string[]): Promise<number> {
    const contracts = contractFiles(capabilities);
    for (const contract of contracts) await this.registerOne(contract);
    const held = await Promise.all(
      contracts.map(({ name }) => this.desk.get('registry', `/v1/contracts/${name}`, CONTRACT_EDITOR)),
    );
    this.desk.check(
      `the registry holds ${String(contracts.length)} contracts, from files of examples/contracts`,
      held.every(({ status }) => status === 200),
      held.map(({ status }) => status),
    );
    const registry = edgeClient({ url: this.place.urls.registry, token: () => this.tokenOfAgent() });
    await Promise.all(
      capabilities.map(async (name) => {
        this.registered.set(name, await registeredContract(registry, this.desk.tenant, name));
      }),
    );
    return contracts.length;
  }

  contract(capability: string): Contract {
    return this.registeredOf(capability).contract;
  }

  /** Gives a run its ceilings: for the money it may leave behind, and for what it may disclose of people. */
  async openBudget(runId: string, currency: string, ceilingMinor: number): Promise<boolean> {
    const open = (unit: string, ceiling: number): Promise<{ readonly status: number }> =>
      this.desk.post(
        'budget',
        '/v1/budgets',
        { scope: 'run', scope_id: runId, currency: unit, ceiling_minor: ceiling },
        { person: BUDGET_OWNER, key: `budget-${unit}-${runId}` },
      );
    const answers = await Promise.all([open(currency, ceilingMinor), open(EXPOSURE, DISCLOSURES_MAX)]);
    return answers.every(({ status }) => status < 300);
  }

  /** Makes one call under the guard. */
  async act(run: Omit<RunContext, 'tenant'>, { step, capability, args }: Call): Promise<GuardedResult> {
    const token = (): Promise<string> => this.tokenOfAgent();
    const guarded = guard(forwardTool(new ServicesClient(this.place.urls.services), capability), {
      ...this.registeredOf(capability),
      mode: 'enforce',
      producer: this.producer,
      clock: systemClock,
      budget: new HttpBudget({ url: this.place.urls.budget, token }),
      approvals: new HttpApprovals({ url: this.place.urls.orchestrator, token }),
    });
    return guarded({ run: { ...run, tenant: this.desk.tenant }, stepId: step, args, target: null, assumptionRefs: [] });
  }

  /** The operator agrees to the question that waits before an effect of a run. */
  async agree(runId: string, capability: string): Promise<boolean> {
    const item = await this.desk.until(PATIENCE_MS, async () => {
      const { body } = await this.desk.get('orchestrator', `/v1/forward-approvals?run_id=${runId}`, OPERATOR);
      return listOf(body).find((each) => each['capability'] === capability) ?? null;
    });
    const id = textOf(item?.['approval_id']);
    const { status } = await this.desk.post(
      'orchestrator',
      `/v1/forward-approvals/${id}/approve`,
      { action_digest: textOf(item?.['action_digest']), reason: 'as agreed with the customer' },
      { person: OPERATOR, key: `agree-${id}` },
    );
    return status === 200;
  }

  /** The mutation of an effect, once it is as wanted; what it is in the end when it never is. */
  async mutation(id: string, isWanted: (mutation: Facts) => boolean, withinMs = PATIENCE_MS): Promise<Facts | null> {
    let last: Facts | null = null;
    const found = await this.desk.until(withinMs, async () => {
      const { status, body } = await this.desk.get('ledger', `/v1/mutations/${id}`, OPERATOR);
      last = status === 200 ? body : last;
      return status === 200 && isWanted(body) ? body : null;
    });
    return found ?? last;
  }

  /** How many mutations the ledger has of a run. */
  async countOf(runId: string): Promise<number> {
    const { body } = await this.desk.get('ledger', `/v1/mutations?run_id=${runId}&limit=100`, OPERATOR);
    return listOf(body).length;
  }

  /** A mutation that falls, once nothing more is done about it; the operator agrees meanwhile to the steps of its run that wait for people. */
  async undone(id: string, runId: string): Promise<Facts | null> {
    await this.desk.until(PATIENCE_MS, async () => {
      await this.agreeToSteps(runId);
      const { body } = await this.desk.get('ledger', `/v1/mutations/${id}`, OPERATOR);
      return AT_REST.includes(textOf(body['recoverability'])) ? body : null;
    });
    return this.mutation(id, () => true);
  }

  async world(): Promise<World> {
    return worldShape.parse((await this.desk.get('services', '/state')).body);
  }

  /** Puts a thing into a service, as it was before anybody acted. */
  async seed(service: string, id: string, doc: Doc): Promise<void> {
    await ask(`${this.place.urls.services}/things/${service}/${encodeURIComponent(id)}`, { method: 'POST', body: doc });
  }

  async fault(operation: string, about: string, mode: FaultMode): Promise<void> {
    await this.desk.post('services', '/faults', { operation, about, mode });
  }

  /** The operator agrees to every step of a run that waits for people. */
  async agreeToSteps(runId: string): Promise<void> {
    const { body } = await this.desk.get('orchestrator', `/v1/steps?run_id=${runId}&phase=awaiting_approval`, OPERATOR);
    for (const step of listOf(body)) {
      const id = textOf(step['step_id']);
      await this.desk.post(
        'orchestrator',
        `/v1/steps/${id}/approve`,
        { action_digest: textOf(step['action_digest']), reason: 'take it back' },
        { person: OPERATOR, key: `approve-${id}` },
      );
    }
  }

  private async registerOne(contract: Contract): Promise<void> {
    await this.desk.until(PATIENCE_MS, async () => {
      const { status } = await this.desk.post('registry', '/v1/contracts', contract, {
        person: CONTRACT_EDITOR,
        key: sha256Hex(contractBody(contract)),
      });
      return status < 500 && status !== 202 ? status : null;
    });
  }

  private registeredOf(capability: string): RegisteredContract {
    const found = this.registered.get(capability);
    if (found === undefined) throw new Error(`${capability} is not registered here`);
    return found;
  }

  private tokenOfAgent(): Promise<string> {
    return tokenFrom(this.place.urls.issuer, { subject: AGENT_ID, roles: ['agent'], tenant: this.desk.tenant });
  }
}

export const AGENT_ID = 'little-agent';
const AT_REST: readonly string[] = ['compensated', 'compensation_failed', 'manual_resolution_required'];
