// A worker for specs: broker, registry, stores and a provider in memory, and time by hand.
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { ManualClock } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { createCodecs, recordOf } from '@recourse/messages';
import type { LegReported, LegRequested } from '@recourse/messages';
import type { ClaimStore } from '../stores/claim-store.port.js';
import { MemoryClaimStore } from '../stores/claim-store.memory.js';
import { MemoryPositionStore } from '../stores/position-store.memory.js';
import type { Tool, ToolContext } from '../tool/tool.js';
import type { WorkerSpan } from './spans.js';
import { createWorker, RESULTS_TOPIC } from './worker.js';
import type { Worker, WorkerNote, WorkerOptions } from './worker.messages.js';

const REQUESTS = 'recourse.tool-requests.payments';

/** A provider that deduplicates by key and can be told to misbehave. */
export class Provider {
  status = 'settled';
  calls: { readonly capability: string; readonly context: ToolContext }[] = [];
  reverse: (context: ToolContext) => Promise<Json> = () => {
    this.status = 'reversed';
    return Promise.resolve({ status: 'reversed' });
  };

  readonly tools: Readonly<Record<string, Tool>> = {
    'payments.reverse_refund': (_, context) => {
      this.calls.push({ capability: 'reverse', context });
      return this.reverse(context);
    },
    'payments.get_refund': (_, context) => {
      this.calls.push({ capability: 'get', context });
      return Promise.resolve({ status: this.status });
    },
  };

  get reversals(): number {
    return this.calls.filter(({ capability }) => capability === 'reverse').length;
  }
}

export class WorkerStage {
  readonly clock = new ManualClock(1_000);
  readonly broker = new MemoryBroker({ now: () => this.clock.now() });
  readonly registry = new MemoryRegistry();
  readonly provider = new Provider();
  readonly positions = new MemoryPositionStore();
  claimStore: ClaimStore = new MemoryClaimStore();
  /** How a worker reaches the broker. */
  clusterOf: (name: string) => Kafka = (name) => this.broker.forActor(name);
  readonly notes: WorkerNote[] = [];
  readonly spans: WorkerSpan[] = [];
  onSpan = (span: WorkerSpan): void => {
    this.spans.push(span);
  };
  private workers: Worker[] = [];

  constructor() {
    this.broker.ensureTopics([
      { name: REQUESTS, partitions: 2 },
      { name: RESULTS_TOPIC, partitions: 2 },
    ]);
  }

  async start(name = 'worker', more: Partial<WorkerOptions> = {}): Promise<Worker> {
    const worker = createWorker({
      kafka: this.clusterOf(name),
      codecs: createCodecs(this.registry.forActor(name)),
      adapter: 'payments',
      tools: this.provider.tools,
      clock: this.clock,
      claimStore: this.claimStore,
      positions: this.positions,
      workerId: name,
      groupId: 'workers',
      callTimeoutMs: 500,
      concurrencyMax: 4,
      registerSchemas: true,
      onNote: (note) => this.notes.push(note),
      onSpan: (span) => {
        this.onSpan(span);
      },
      ...more,
    });
    this.workers.push(worker);
    await worker.start();
    return worker;
  }

  ask(...legs: readonly LegRequested[]): Promise<void> {
    return this.askWith({}, ...legs);
  }

  askWith(headers: Readonly<Record<string, string>>, ...legs: readonly LegRequested[]): Promise<void> {
    return this.askAs(this.broker.forActor('orchestrator'), headers, ...legs);
  }

  async askAs(
    asker: Kafka,
    headers: Readonly<Record<string, string>>,
    ...legs: readonly LegRequested[]
  ): Promise<void> {
    const codecs = createCodecs(this.registry.forActor('orchestrator'));
    await codecs.prepareWriter(REQUESTS, { register: true });
    const wire = await asker.wireProducer();
    for (const leg of legs)
      await wire.send(REQUESTS, [
        { key: Buffer.from(leg.run_id), value: codecs.encode(REQUESTS, 'LegRequested', leg), headers },
      ]);
  }

  async garbage(): Promise<void> {
    const wire = await this.broker.forActor('stranger').wireProducer();
    await wire.send(REQUESTS, [{ key: Buffer.from('run-1'), value: Buffer.from('no frame') }]);
  }

  /** Reports so far, once there are so many. */
  async reports(count: number): Promise<readonly LegReported[]> {
    const codecs = createCodecs(this.registry.forActor('reader'));
    for (let turns = 0; turns < 2_000; turns += 1) {
      const values = (this.broker.dump()[RESULTS_TOPIC] ?? []).flat().map(({ value }) => value);
      if (values.length >= count) {
        await codecs.prepareWriter(RESULTS_TOPIC, { register: true });
        for (const value of values) await codecs.load(value?.readInt32BE(1) ?? 0);
        return values.map((value) => recordOf(RESULTS_TOPIC, codecs.decodeSync(value))?.body ?? fail());
      }
      await settle();
    }
    throw new Error(`waited for ${String(count)} reports`);
  }

  async stop(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.stop()));
  }
}

const settle = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
/** Lets everything go on that waits for nothing but its turn. */
export const turns = async (count = 50): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await settle();
};
const fail = (): never => {
  throw new Error('no report');
};
/** What the reports say of their steps. */
export const outcomes = (reports: readonly LegReported[]) =>
  reports.map(({ steps }) => steps.map(({ outcome }) => outcome));
