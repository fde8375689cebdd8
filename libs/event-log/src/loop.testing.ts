// A one-service world for specs of the loop: a toy core on the real assumption topics, memory adapters, a clock that is set.
import type { Clock } from '@recourse/kernel';
import { createCodecs, TOPICS } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { MemoryBroker, MemoryRegistry, openGate, partitionForKey } from '@recourse/kafka';
import type { Gate, GateOperation, GateVerdict, Kafka } from '@recourse/kafka';
import { withCommonKinds } from './fold.js';
import { MemoryDatabase } from './memory-store.js';
import { acceptedOf } from './own-log.js';
import { ChainReader, genesisHead } from '@recourse/chain';
import { createServiceRuntime } from './service-runtime.js';
import type { ServiceRuntime, ServiceRuntimeOptions } from './service-runtime.js';
import type { Sealing } from './sealing/sealing.js';
import type { LoopEvent, LoopSettings } from './partition-loop.js';
import { accepted, append, NOTHING } from './service-core.js';
import type { AcceptedRecord, Doc, Outgoing, ServiceCore } from './service-core.js';

export const LOG = 'recourse.assumptions';
export const WIRE = 'recourse.assumption-events';
export const LOG_ID = 'spec';
export const PARTITIONS = 2;

/** Counts statements per ref; `source: 'thrower'` makes the decider throw, `source: 'messenger'` owes a message. */
export function countingCore(over: Partial<ServiceCore> = {}): ServiceCore {
  return {
    log: LOG,
    inputs: [
      { topic: WIRE, source: 'wire', mode: 'aligned', types: ['AssumptionDeclared', 'AssumptionInvalidated'] },
      { topic: 'recourse.ledger-commands', source: 'wire', mode: 'aligned', types: [] },
    ],
    views: [],
    kinds: [{ kind: 'count', table: 'count', columns: [] }],
    keyOf: ({ body }) => String(body['ref']),
    decide: ({ state, now }, input) => {
      if (input.source === 'timer')
        return append(statement({ ref: input.address.group, event_id: 'timer', source: 'timer', stated_at: now }));
      if (input.body['source'] === 'thrower') throw new Error('the decider threw');
      if (input.body['source'] === 'idle') return NOTHING;
      if ('envelope' in input.body) return accepted(200, {});
      state.get('count', input.key, 'count');
      return append(statement(input.body));
    },
    evolve: (state, record) => {
      if (record.type !== 'AssumptionStated') return [];
      const ref = String(record.body['ref']);
      const count = Number(state.get('count', ref, 'count')?.['count'] ?? 0) + 1;
      const dueAt = record.body['source'] === 'timed' ? Number(record.body['stated_at']) : null;
      return [
        { op: 'put', row: { kind: 'count', group: ref, key: 'count', dueAt, doc: { count, hash: record.hash } } },
      ];
    },
    react: (record): readonly Outgoing[] => (record.body['source'] === 'messenger' ? [message(record)] : []),
    owed: () => true,
    ...over,
  };
}

function statement(body: Doc): { readonly type: string; readonly body: Doc } {
  return {
    type: 'AssumptionStated',
    body: {
      event_id: body['event_id'],
      tenant: 'acme',
      ref: body['ref'],
      run_id: null,
      source: body['source'],
      statement: payload(),
      kind: 'declared',
      source_kind: 'observation',
      stated_at: body['stated_at'] ?? 0,
      verdict: 'holds',
      superseded: false,
      content_sha256: Buffer.alloc(32),
    },
  };
}

function message(record: AcceptedRecord): Outgoing {
  const body = {
    leg_id: String(record.body['event_id']),
    kind: 'observe',
    tenant: 'acme',
    run_id: 'run-1',
    attempt: 1,
    lease_id: '',
    not_after: 0,
    reconcile_first: false,
    reason: 'spec',
    steps: [],
  };
  return {
    obligationId: String(record.body['event_id']),
    topic: 'recourse.tool-requests.payments',
    key: 'run-1',
    type: 'recourse.tools.LegRequested',
    body,
    headers: { traceparent: `of ${String(record.body['event_id'])}` },
  };
}

const payload = (): Doc => ({
  content_type: 'application/json',
  encoding: 'plain',
  key_id: null,
  body: Buffer.from('{}'),
  sha256: Buffer.alloc(32),
});

/** Waits that hold no process: a loop that was killed in a spec goes on waiting for nobody. */
const UNHELD: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  alarm: (ms, ring) => {
    const timer = setTimeout(ring, ms).unref();
    return () => {
      clearTimeout(timer);
    };
  },
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      signal?.addEventListener(
        'abort',
        () => {
          clearTimeout(timer);
          resolve();
        },
        { once: true },
      );
    }),
};

export interface Statement {
  readonly ref: string;
  readonly id: string;
  readonly source?: string;
  readonly statedAt?: number;
  readonly partition?: number;
  readonly statement?: Doc;
}

/** Broker, registry, database and clock; services come and go. */
export class LoopWorld {
  readonly registry = new MemoryRegistry();
  readonly broker: MemoryBroker;
  readonly events: (LoopEvent & { readonly log: string; readonly partition: number; readonly by: string })[] = [];
  readonly database: MemoryDatabase;
  codecs: Codecs;
  /** What services that are started from now on call the logs. */
  logId = LOG_ID;
  now = 1_000_000;
  /** How a service reaches the broker. */
  clusterOf: (name: string) => Kafka = (name) => this.broker.forActor(name);
  /** Verdict of the next operations, by kind; empty lets all pass. */
  verdicts: ((operation: GateOperation) => GateVerdict | Promise<GateVerdict> | undefined)[] = [];
  #runtimes = new Map<string, ServiceRuntime>();

  constructor(
    private readonly core: ServiceCore = countingCore(),
    private readonly settings: Partial<LoopSettings> = {},
  ) {
    const gate: Gate = { enter: (operation) => this.#verdict(operation) };
    this.broker = new MemoryBroker({ gate });
    this.broker.ensureTopics(
      TOPICS.map(({ name, partitioned }) => ({ name, partitions: partitioned ? PARTITIONS : 1 })),
    );
    this.database = new MemoryDatabase({
      kinds: withCommonKinds(core.kinds),
      now: () => this.now,
      gate: ({ kind }) => this.#storeGate(kind),
    });
    this.codecs = createCodecs(this.registry.forActor('world'));
  }

  async prepare(): Promise<this> {
    for (const { name } of TOPICS) await this.codecs.prepareWriter(name, { register: true });
    return this;
  }

  async start(
    name: string,
    core = this.core,
    sealing?: Sealing,
    peers?: ServiceRuntimeOptions['peers'],
  ): Promise<ServiceRuntime> {
    const runtime = createServiceRuntime({
      cores: [core],
      kafka: this.clusterOf(name),
      registry: this.registry.forActor(name),
      stores: this.database.forActor(name),
      logId: this.logId,
      groupId: 'service',
      edgeKey: null,
      ...(sealing === undefined ? {} : { sealing }),
      ...(peers === undefined ? {} : { peers }),
      clock: UNHELD,
      settings: { lazyProgressMs: 20, headCheckMs: 50, ...this.settings },
      onEvent: (event) => this.events.push({ ...event, by: name }),
    });
    this.#runtimes.set(name, runtime);
    await runtime.start();
    return runtime;
  }

  /** Ends everything at once, as a kill does. */
  kill(name: string): void {
    this.die(name);
    this.broker.expireMember(name);
  }

  /** A kill that the group has not noticed yet. */
  die(name: string): void {
    this.broker.crash(name);
    this.registry.crash(name);
    this.#runtimes.delete(name);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#runtimes.values()].map((runtime) => runtime.stop()));
  }

  async state(statements: readonly Statement[]): Promise<void> {
    const producer = await this.broker.forActor('outside').wireProducer();
    for (const { ref, id, source = 'outside', statedAt = 0, statement: told = payload() } of statements) {
      const body = { event_id: id, tenant: 'acme', ref, run_id: null, source, statement: told, stated_at: statedAt };
      await producer.send(WIRE, [
        { key: Buffer.from(ref), value: this.codecs.encode(WIRE, 'AssumptionDeclared', body) },
      ]);
    }
  }

  /** Puts bytes on a partition of the wire, whatever key they carry. */
  async raw(
    partition: number,
    key: string,
    value: Buffer,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const producer = await this.broker.forActor('outside').logProducer();
    await producer.send(WIRE, partition, [{ key: Buffer.from(key), value, headers }]);
  }

  encoded(ref: string, id: string, source = 'outside', tenant = 'acme'): Buffer {
    return this.codecs.encode(WIRE, 'AssumptionDeclared', {
      event_id: id,
      tenant,
      ref,
      run_id: null,
      source,
      statement: payload(),
      stated_at: 0,
    });
  }

  /** Accepted records of a partition, read by the rule alone. */
  async accepted(
    partition: number,
    topic = LOG,
    kafka: Kafka = this.broker.forActor('auditor'),
  ): Promise<readonly AcceptedRecord[]> {
    const reader = await kafka.rawReader();
    const { low, high } = await reader.range(topic, partition);
    const chain = new ChainReader(
      genesisHead({ logId: LOG_ID, topic, partition, partitionCount: PARTITIONS }),
      this.codecs.fingerprintOf,
    );
    const found: AcceptedRecord[] = [];
    for (let offset = low; offset < high;) {
      const batch = await reader.read(topic, partition, offset);
      for (const record of batch.records) {
        const verdict = chain.read(record);
        if (verdict.kind === 'accepted') found.push(await this.#decoded(record.value, verdict.head));
      }
      offset = batch.nextOffset;
    }
    return found;
  }

  /** Accepted statements of all partitions, as `ref:event`, sorted. */
  async statements(): Promise<readonly string[]> {
    const all = (await Promise.all([0, 1].map((partition) => this.accepted(partition)))).flat();
    return all
      .filter(({ type }) => type === 'AssumptionStated')
      .map(({ body }) => `${String(body['ref'])}:${String(body['event_id'])}`)
      .sort();
  }

  /** Waits until a condition holds; the world has no clock of its own to wait for. */
  async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    for (let turn = 0; turn < 2_000; turn += 1) {
      if (await holds()) return;
      await new Promise((resolve) => {
        setTimeout(resolve, 2);
      });
    }
    throw new Error(
      `never: ${what}; ${JSON.stringify(this.events.slice(-5).map((event) => ('cause' in event ? String(event.cause) : event.kind)))}`,
    );
  }

  /** Puts a copy of the database in place just before the next projection, as another owner's projection would. */
  fenceOnce(copy: ReturnType<MemoryDatabase['snapshot']>): void {
    this.#fencing = copy;
  }

  #fencing: ReturnType<MemoryDatabase['snapshot']> | null = null;

  /** Projections wait for it. */
  holding: Promise<void> = Promise.resolve();

  /** Queries for rows and time so far. */
  loads = 0;

  #storeGate(kind: string): Promise<void> {
    if (kind === 'load') this.loads += 1;
    if (kind === 'project' && this.#fencing !== null) {
      this.database.restore(this.#fencing);
      this.#fencing = null;
    }
    return kind === 'project' ? this.holding : Promise.resolve();
  }

  partitionOf(ref: string): number {
    return partitionForKey(ref, PARTITIONS);
  }

  async #decoded(value: Buffer | null, head: { readonly seq: number; readonly hash: Buffer }): Promise<AcceptedRecord> {
    const decoded = this.codecs.decodeSync(value);
    if (decoded.kind === 'unknown_schema') {
      await this.codecs.load(decoded.id);
      return this.#decoded(value, head);
    }
    if (decoded.kind !== 'decoded') throw new Error(decoded.kind);
    return acceptedOf(decoded.type, decoded.body as Doc, head);
  }

  async #verdict(operation: GateOperation): Promise<GateVerdict> {
    for (const verdict of this.verdicts) {
      const answer = verdict(operation);
      if (answer !== undefined) return answer;
    }
    return openGate.enter(operation);
  }
}
