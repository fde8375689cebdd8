// One instance of a service: joins the group, runs a loop per owned partition and log, and routes batches to them (L13).
//
// Boundary: owns the consumer and the life of the loops. It does not know what a record means.
//
// Invariants
//   R1. After every join everything is paused until each loop has read its own log's tail and says where its inputs go on.
//   R2. Loops that share a broadcast partition keep their own positions: the consumer is at the lowest, each drops below its own.
//   R3. The group may be wrong about owners; the chain makes that harmless, so nothing here waits for others to stop.
//   R4. What this process appended comes back from the broker as well: who stands right before it takes it at once, nobody else is told.
import { Failure, partitionForKey, systemClock } from '@recourse/kernel';
import type { Clock } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import type { Assignment, FetchedBatch, InputConsumer, Kafka, SchemaRegistry } from '@recourse/kafka';
import { InputTroubles } from './input-troubles.js';
import { checkOrigins } from './log-origin.js';
import { LogView, ViewSet } from './broadcast-view.js';
import { backoffMs } from './loop.decisions.js';
import { PartitionLoop } from './partition-loop.js';
import { Peers } from './peers.js';
import type { PeersOptions } from './peers.js';
import { asFetched } from './own-news.js';
import type { Landed } from './own-news.js';
import type { LoopEvent, LoopHealth, LoopSettings } from './partition-loop.js';
import type { Sealing } from './sealing/sealing.js';
import type { BroadcastView, ServiceCore, ViewSpec } from './service-core.js';
import type { StoreFactory } from './store.port.js';

export interface ServiceRuntimeOptions {
  /** Logs of this service; those that are partitioned have equal partition counts. */
  readonly cores: readonly ServiceCore[];
  readonly kafka: Kafka;
  readonly registry: SchemaRegistry;
  /** Default: codecs of its own over the registry. */
  readonly codecs?: Codecs;
  readonly stores: StoreFactory;
  readonly logId: string;
  readonly groupId: string;
  readonly clock?: Clock;
  /** Key of the edges that sign commands; null where the stack runs without, and says so. */
  readonly edgeKey: Buffer | null;
  /** Seals payloads on their way into logs; absent where the stack runs without. */
  readonly sealing?: Sealing;
  readonly settings?: Partial<LoopSettings>;
  readonly sessionTimeoutMs?: number;
  readonly maxWaitMs?: number;
  /** How other instances are missed when they die; absent: when their session in the group ends. */
  readonly peers?: Pick<PeersOptions, 'presence' | 'kin' | 'onEvent'>;
  readonly onEvent?: (event: LoopEvent & { readonly log: string; readonly partition: number }) => void;
}

export interface RuntimeHealth {
  /** False when only a restart helps. A partition that halted is none of that: another process would halt at the same place. */
  readonly live: boolean;
  /** Every partition of this process decides. */
  readonly ready: boolean;
  readonly started: boolean;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface ServiceRuntime {
  /** Errors: Failure(TOPIC_MISSING, PARTITION_COUNT_CHANGED, LOG_ID_FOREIGN); those of the broker. */
  start(): Promise<void>;
  stop(): Promise<void>;
  health(): RuntimeHealth;
  /** Loops this instance runs now. */
  loops(): readonly PartitionLoop[];
  /** A view, read to the end that was seen a moment ago; null for one that no core declares, and before the start. */
  view(name: string): Promise<BroadcastView | null>;
}

/** How old a view may be that people read, milliseconds. */
const VIEW_MAX_AGE_MS = 250;

export function createServiceRuntime(options: ServiceRuntimeOptions): ServiceRuntime {
  return new Runtime(options);
}

class Runtime implements ServiceRuntime {
  readonly #codecs: Codecs;
  readonly #clock: Clock;
  #counts = new Map<string, number>();
  #views: ViewSet;
  #consumer: InputConsumer | null = null;
  #loops = new Map<string, PartitionLoop>();
  #assigned = false;
  #generation = -1;
  #stopped = false;
  #started = false;
  #crashes = 0;
  #rejoining = false;
  #problem: string | null = null;
  readonly #troubles: InputTroubles;
  readonly #peers: Peers | null;
  #changing: Promise<void> = Promise.resolve();

  constructor(private readonly options: ServiceRuntimeOptions) {
    this.#codecs = options.codecs ?? createCodecs(options.registry);
    this.#clock = options.clock ?? systemClock;
    this.#views = this.#viewSet([]);
    this.#troubles = new InputTroubles(options.onEvent);
    const { peers, kafka, groupId } = options;
    this.#peers =
      peers === undefined ? null : new Peers({ ...peers, groupId, group: kafka.group(groupId), clock: this.#clock });
  }

  async start(): Promise<void> {
    await this.#learnPartitionCounts();
    await checkOrigins(this.options.kafka, this.options.logId, this.#logs());
    this.#views = this.#viewSet(this.#viewSpecs().map((spec) => this.#makeView(spec)));
    this.#started = true;
    await this.#join();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#consumer?.stop();
    await this.#changing;
    await Promise.all([...this.#loops.values()].map((loop) => loop.stop()));
    await this.#views.close();
    await this.#peers?.stop();
  }

  loops(): readonly PartitionLoop[] {
    return [...this.#loops.values()];
  }

  async view(name: string): Promise<BroadcastView | null> {
    const view = this.#views.all().find(({ spec }) => spec.name === name) ?? null;
    if (view !== null) await this.#views.refreshIfOlder(VIEW_MAX_AGE_MS);
    return view;
  }

  health(): RuntimeHealth {
    const loops: readonly LoopHealth[] = this.loops().map((loop) => loop.health());
    const problem = this.#problem ?? this.#troubles.problem ?? this.#peers?.problem?.message ?? null;
    return {
      live: !this.#stopped,
      ready: this.#assigned && problem === null && loops.every(({ state }) => state === 'ready'),
      started: this.#started && this.#assigned,
      detail: { problem, loops, ...this.#beside() },
    };
  }

  /** How many partitions each log of the service has, and who else is in its group; null where nobody can tell. */
  #beside(): Readonly<Record<string, unknown>> {
    const logs = this.options.cores.map(({ log }) => log);
    const partitions = Object.fromEntries(logs.map((log) => [log, this.#counts.get(log) ?? null]));
    return { partitions, others: this.#peers?.others ?? null };
  }

  // Start ---------------------------------------------------------------------------------------------------------------

  async #learnPartitionCounts(): Promise<void> {
    const admin = await this.options.kafka.admin();
    try {
      const missing: string[] = [];
      for (const topic of this.#topics()) {
        const count = await admin.partitionCount(topic);
        if (count === null) missing.push(topic);
        else this.#counts.set(topic, count);
      }
      if (missing.length > 0) throw new Failure('TOPIC_MISSING', missing.join(', '));
    } finally {
      await admin.close();
    }
    for (const core of this.options.cores) this.#checkAligned(core);
  }

  #checkAligned(core: ServiceCore): void {
    for (const { topic, mode } of core.inputs) {
      if (mode === 'aligned' && this.#count(topic) !== this.#count(core.log)) {
        throw new Failure(
          'PARTITION_COUNT_CHANGED',
          `${topic} has ${this.#count(topic)} partitions, ${core.log} has ${this.#count(core.log)}`,
        );
      }
    }
  }

  /** Logs that it reads or writes. */
  #logs(): readonly { readonly topic: string; readonly partitionCount: number }[] {
    const logs = this.options.cores.flatMap(({ log, inputs, views }) => [
      log,
      ...inputs.flatMap(({ source, topic }) => (source === 'log' ? [topic] : [])),
      ...views.map(({ topic }) => topic),
    ]);
    return [...new Set(logs)].map((topic) => ({ topic, partitionCount: this.#count(topic) }));
  }

  #topics(): ReadonlySet<string> {
    return new Set(
      this.options.cores.flatMap((core) => [
        core.log,
        ...core.inputs.map(({ topic }) => topic),
        ...core.views.map(({ topic }) => topic),
        ...(core.derived === undefined ? [] : [core.derived.topic]),
      ]),
    );
  }

  #viewSpecs(): readonly ViewSpec[] {
    const specs = new Map(this.options.cores.flatMap((core) => core.views.map((view) => [view.name, view] as const)));
    return [...specs.values()];
  }

  #makeView(spec: ViewSpec): LogView {
    const { kafka, logId } = this.options;
    const partitionCount = this.#count(spec.topic);
    const common = { kafka, codecs: this.#codecs, logId, partitionCount };
    return new LogView(spec, common, (key) => partitionForKey(key, partitionCount));
  }

  #viewSet(views: readonly LogView[]): ViewSet {
    return new ViewSet(views, this.options.kafka, () => this.#clock.monotonic());
  }

  // Group ---------------------------------------------------------------------------------------------------------------

  async #join(): Promise<void> {
    const { kafka, groupId, sessionTimeoutMs, maxWaitMs } = this.options;
    const inputs = this.options.cores.flatMap((core) => core.inputs);
    const consumer = kafka.inputConsumer({
      groupId,
      aligned: [...new Set(inputs.filter(({ mode }) => mode === 'aligned').map(({ topic }) => topic))],
      broadcast: [...new Set(inputs.filter(({ mode }) => mode === 'broadcast').map(({ topic }) => topic))],
      logs: [...new Set(inputs.filter(({ source }) => source === 'log').map(({ topic }) => topic))],
      ...(sessionTimeoutMs === undefined ? {} : { sessionTimeoutMs }),
      ...(maxWaitMs === undefined ? {} : { maxWaitMs }),
    });
    this.#consumer = consumer;
    await this.#peers?.beforeJoin(consumer.name);
    await consumer.start({
      onAssigned: (assignment) => {
        if (this.#consumer === consumer) this.#onAssigned(assignment);
      },
      onBatch: (batch) => {
        if (this.#consumer === consumer) this.#onBatch(batch);
      },
      onTrouble: (at, cause) => {
        if (this.#consumer === consumer) this.#troubles.note(at, cause, this.loops());
      },
      onCrash: (cause) => {
        if (this.#consumer === consumer) void this.#onCrash(cause);
      },
    });
  }

  #onAssigned(assignment: Assignment): void {
    this.#generation = assignment.generation;
    this.#assigned = true;
    this.#crashes = 0;
    this.#problem = null;
    this.#troubles.clear();
    this.#peers?.joined();
    this.#changing = this.#changing
      .then(() => this.#own(assignment))
      .catch((cause: unknown) => {
        this.#problem = String(cause);
      });
  }

  /** Ends loops that are no longer owned, begins the new ones, and lets the others read their tails anew. */
  async #own({ partitions, generation }: Assignment): Promise<void> {
    if (this.#stopped || generation !== this.#generation) return;
    const wanted = new Map<string, { readonly core: ServiceCore; readonly partition: number }>();
    for (const core of this.options.cores) {
      for (const partition of partitions)
        if (partition < this.#count(core.log)) wanted.set(`${core.log}/${partition}`, { core, partition });
    }
    const ended = [...this.#loops].filter(([id]) => !wanted.has(id));
    for (const [id] of ended) this.#loops.delete(id);
    for (const loop of this.#loops.values()) loop.reset();
    await Promise.all(ended.map(([, loop]) => loop.stop()));
    for (const [id, { core, partition }] of wanted)
      if (!this.#loops.has(id)) this.#loops.set(id, this.#makeLoop(core, partition));
    for (const loop of this.#loops.values()) loop.start();
  }

  /** Joins anew with another consumer, one at a time: a join can crash while it is waited for, and an orphan would hold partitions that nobody serves. */
  async #onCrash(cause: unknown): Promise<void> {
    this.#assigned = false;
    this.#problem = `consumer crashed: ${String(cause)}`;
    const crashed = this.#consumer;
    this.#consumer = null;
    await crashed?.stop().catch(() => undefined);
    if (this.#rejoining) return;
    this.#rejoining = true;
    while (!this.#stopped && this.#consumer === null) {
      this.#crashes += 1;
      await this.#clock.sleep(backoffMs(this.#crashes));
      try {
        if (!this.#stopped) await this.#join();
      } catch (failed) {
        this.#consumer = null;
        this.#problem = `cannot join the group: ${String(failed)}`;
      }
    }
    this.#rejoining = false;
  }

  #makeLoop(core: ServiceCore, partition: number): PartitionLoop {
    const { kafka, logId, stores, edgeKey, sealing, settings, onEvent } = this.options;
    const loop: PartitionLoop = new PartitionLoop({
      core,
      partition,
      kafka,
      logId,
      edgeKey,
      codecs: this.#codecs,
      views: this.#views,
      clock: this.#clock,
      partitionCountOf: (topic) => this.#count(topic),
      store: stores.partition(core.log, partition),
      ...(core.derived === undefined ? {} : { derivedStore: stores.partition(core.derived.topic, partition) }),
      ...(sealing === undefined ? {} : { sealing }),
      ...(settings === undefined ? {} : { settings }),
      onPositioned: () => {
        this.#position(loop.inputPartitions());
      },
      onPressure: () => {
        this.#relieve(loop.inputPartitions());
      },
      onLanded: (landed) => {
        this.#onLanded(landed);
      },
      ...(onEvent === undefined
        ? {}
        : {
            onEvent: (event: LoopEvent) => {
              onEvent({ ...event, log: core.log, partition });
            },
          }),
    });
    return loop;
  }

  // Routing -------------------------------------------------------------------------------------------------------------

  #onBatch(batch: FetchedBatch): void {
    for (const view of this.#views.all()) if (view.spec.topic === batch.topic) view.offer(batch);
    let mustSeek = false;
    for (const loop of this.#loops.values()) {
      if (loop.expected(batch.topic, batch.partition) !== undefined && loop.offer(batch) === 'seek') mustSeek = true;
    }
    if (mustSeek) this.#position([{ topic: batch.topic, partition: batch.partition }]);
  }

  /** Hands on what landed in a log that is read here too; whoever stands elsewhere, or has too much, hears of it from the broker. */
  #onLanded(landed: Landed): void {
    const { topic, partition, offset } = landed;
    const views = this.#views.all().filter(({ spec }) => spec.topic === topic);
    const loops = this.loops().filter(
      (loop) => loop.expected(topic, partition) === offset && !loop.isUnderPressure(topic),
    );
    if (views.length + loops.length === 0) return;
    const batch = asFetched(landed, this.#clock.now());
    for (const view of views) view.offer(batch);
    for (const loop of loops) loop.offer(batch);
  }

  /** Seeks each partition to the lowest position a positioned loop wants, and lets it flow. */
  #position(partitions: readonly { readonly topic: string; readonly partition: number }[]): void {
    for (const { topic, partition } of partitions) {
      const wanted = this.loops()
        .filter((loop) => loop.isPositioned)
        .map((loop) => loop.expected(topic, partition))
        .filter((offset) => offset !== undefined);
      if (wanted.length === 0) continue;
      this.#consumer?.seek(topic, partition, Math.min(...wanted));
    }
    this.#relieve(partitions);
  }

  /** Pauses what a reader has too much of, resumes what all can take. */
  #relieve(partitions: readonly { readonly topic: string; readonly partition: number }[]): void {
    const flows: { readonly topic: string; readonly partition: number }[] = [];
    const stands: { readonly topic: string; readonly partition: number }[] = [];
    for (const at of partitions) {
      const readers = this.loops().filter(
        (loop) => loop.isPositioned && loop.expected(at.topic, at.partition) !== undefined,
      );
      (readers.some((loop) => loop.isUnderPressure(at.topic)) || readers.length === 0 ? stands : flows).push(at);
    }
    if (stands.length > 0) this.#consumer?.pause(stands);
    if (flows.length > 0) this.#consumer?.resume(flows);
  }

  #count(topic: string): number {
    const count = this.#counts.get(topic);
    if (count === undefined) throw new Failure('TOPIC_MISSING', topic);
    return count;
  }
}
