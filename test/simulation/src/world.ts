// One world: broker, registry, databases, the four services, workers, and whoever lives outside.
//
// Boundary: starts, kills and disturbs actors; runs production code unchanged behind the simulation's ports.
import { createHash } from 'node:crypto';
import { budgetsCore } from '@recourse/budget-accountant';
import { ChainReader, genesisHead } from '@recourse/chain';
import { registryCore } from '@recourse/contract-registry';
import { createServiceRuntime, MemoryDatabase, Vault, withCommonKinds } from '@recourse/event-log';
import type { LoopEvent, Sealing, ServiceCore, ServiceRuntime, StoreFactory } from '@recourse/event-log';
import { MemoryBroker, MemoryRegistry, openGate } from '@recourse/kafka';
import type { Gate, GateOperation, GateVerdict, Kafka } from '@recourse/kafka';
import { createCodecs, TOPICS } from '@recourse/messages';
import type { Codecs, Decoded } from '@recourse/messages';
import { assumptionsCore, mutationsCore } from '@recourse/mutation-ledger';
import { recoveriesCore } from '@recourse/recovery-orchestrator';
import { createWorker, MemoryClaimStore, MemoryPositionStore } from '@recourse/sdk';
import type { ClaimStore, Position, WorkerOptions } from '@recourse/sdk';
import type { ConsumerRecord } from './consumer-plans.js';
import { DecisionClock } from './decision-clock.js';
import { Eyes } from './eyes.js';
import { Faults } from './faults.js';
import { KeptKeys } from './kept-keys.js';
import type { MutantContext, Mutation } from './mutation.js';
import { claimsOf, clockOf, gateOf, keysOf, positionsOf, requestsChanged, storesOf } from './ports.js';
import type { Profile } from './profile.js';
import { Provider } from './provider.js';
import { Random } from './random.js';
import { namingKafka, vouchingKafka } from './speakers.js';
import { EPOCH, Scheduler, SimActor } from './scheduler.js';

export const LOG_ID = 'simulation';
export const PARTITIONS = 2;
export const SERVICES = ['contract-registry', 'mutation-ledger', 'recovery-orchestrator', 'budget-accountant'] as const;
export type ServiceName = (typeof SERVICES)[number];
/** Who is started by name, and again after every crash. An observer looks at what workers say they undid. */
type Role = ServiceName | 'worker' | 'observer';

/** How long states of commits are kept, milliseconds: what is rolled back late in a story is given up before its end. */
const FULL_FIDELITY_MS = 60_000;
const SOFT_ROLLBACK_MS = 5_000;

/** How long each consumer has to answer: shorter than most of them are away now and then, milliseconds. */
export const ACK_WAITS = { sync: 2_500, async: 6_000, poll: 12_000 } as const;

/** Who appended which records: kept while the run goes on, read by the checker. */
export interface Appended {
  readonly actor: string;
  readonly topic: string;
  readonly partition: number;
  readonly order: number;
}

/** A loop read its log and its cursors, at this point of the one order. */
export interface Recovered {
  readonly actor: string;
  readonly log: string;
  readonly partition: number;
  readonly order: number;
}

export interface WorldOptions {
  readonly seed: number;
  readonly profile: Profile;
  readonly random: Random;
  readonly mutation?: Mutation;
  readonly trace?: (at: number, line: string) => void;
}

/** Registered once per process: schemas do not change, and registering them costs more than a run. */
let shared: Promise<{ readonly registry: MemoryRegistry; readonly codecs: Codecs }> | null = null;
let gateOfRegistry: Gate = openGate;

/** Registry with all schemas, and codecs that know them; one for all worlds of a process. */
export function sharedRegistry(): Promise<{ readonly registry: MemoryRegistry; readonly codecs: Codecs }> {
  shared ??= (async () => {
    const registry = new MemoryRegistry({
      enter: (operation) => gateOfRegistry.enter(operation),
      leave: async (operation, verdict) => {
        await gateOfRegistry.leave?.(operation, verdict);
      },
    });
    const source = registry.forActor('simulation');
    const codecs = createCodecs(source);
    for (const { name } of TOPICS) await codecs.prepareWriter(name, { register: true });
    for (let id = 1; ; id += 1) {
      try {
        await codecs.load(id);
      } catch {
        break;
      }
    }
    return { registry, codecs: readOnce(codecs) };
  })();
  return shared;
}

/** How long a process believes in a key where somebody erases: shorter than most stories of an effect, milliseconds. */
export const BELIEVED_MS = 2_000;

/** Length of a retention window: some go by in every run. */
const SEAL_WINDOW_MS = 20_000;

export class World {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly broker: MemoryBroker;
  readonly provider: Provider;
  readonly databases: Readonly<Record<ServiceName, MemoryDatabase>>;
  readonly cores: Readonly<Record<ServiceName, readonly ServiceCore[]>>;
  readonly appended: Appended[] = [];
  /** Places of records that landed after their sender had given up, as `topic/partition@offset`. */
  readonly landedLate = new Set<string>();
  readonly recovered: Recovered[] = [];
  readonly halted: string[] = [];
  /** Worker that was the first to ask for a claim, by its place. */
  readonly firstClaims = new Map<string, string>();
  readonly troubles = new Map<string, number>();
  readonly runtimes = new Map<SimActor, ServiceRuntime>();
  readonly random: Random;
  readonly mutantContext: MutantContext;
  readonly decisionClock: DecisionClock;
  /** Services whose database was replaced under them: they are started anew, as an operator does after a restore. */
  readonly restored = new Set<ServiceName>();
  lastAppendAt = EPOCH;
  #actors = new Map<string, SimActor>();
  #order = 0;
  #clockOffset = 0;
  #incarnations = 0;
  readonly #revivals = new Map<SimActor, () => void>();
  readonly keys = new KeptKeys(() => this.order);
  /** What living processes seal and open with. */
  readonly sealings = new Map<SimActor, Sealing>();
  /** Erasures that were carried out, with their place in the one order. */
  readonly erased = new Map<string, number>();
  readonly #awaited = new Map<string, () => void>();
  /** Consumers of rollbacks, and what outlives their processes. */
  readonly consumers: ConsumerRecord[] = [];
  /** Acknowledgements that are none, by event id: the code that each is refused with. */
  readonly forged = new Map<string, string>();
  #secrets = 0;
  #claims = new MemoryClaimStore();
  readonly #positions = { worker: new MemoryPositionStore(), observer: new MemoryPositionStore() };
  /** A stream of its own: a world without observers draws nothing from it. */
  readonly #observing: Random;
  readonly eyes: Eyes;

  constructor(
    readonly options: WorldOptions,
    readonly registry: MemoryRegistry,
    readonly codecs: Codecs,
  ) {
    const { random, profile, mutation } = options;
    this.random = random;
    this.#observing = new Random(options.seed + 0x0b5e_0000);
    this.scheduler = new Scheduler(random.fork());
    this.faults = new Faults(
      random.fork(),
      profile,
      () => this.scheduler.now,
      (actor) => this.#mayDie(actor),
      (actor, why) => {
        this.kill(actor, why);
      },
    );
    this.scheduler.interrupt = (operation) => this.faults.interrupt(operation);
    const gate = gateOf({
      scheduler: this.scheduler,
      faults: this.faults,
      actorOf: (name) => this.actor(name),
      onEffect: (operation, verdict) => {
        this.#onEffect(operation, verdict);
      },
    });
    gateOfRegistry = gate;
    this.broker = new MemoryBroker({ gate, now: () => this.tick() });
    this.broker.ensureTopics(
      TOPICS.map(({ name, partitioned }) => ({ name, partitions: partitioned ? PARTITIONS : 1 })),
    );
    this.mutantContext = {
      now: () => this.scheduler.now,
      endOf: (topic, partition) => this.broker.find(topic, partition)?.range().high ?? 0,
      beforeNewest: (topic, partition, type) => this.#beforeNewest(topic, partition, type),
    };
    this.decisionClock = new DecisionClock({
      now: () => this.scheduler.now,
      frozenMs: profile.chaos.freeze > 0 ? profile.freezeMaxMs : 0,
    });
    this.cores = this.#makeCores(mutation);
    this.databases = Object.fromEntries(
      SERVICES.map((service) => [service, this.#makeDatabase(this.cores[service])]),
    ) as Record<ServiceName, MemoryDatabase>; // one per name of the list
    this.eyes = new Eyes({
      random: this.#observing.fork(),
      tenants: profile.observed,
      isHealed: () => this.faults.healed,
      tick: () => this.tick(),
      noted: (fault) => {
        this.faults.note(fault);
      },
    });
    this.provider = new Provider({
      eyes: this.eyes,
      scheduler: this.scheduler,
      random: random.fork(),
      terms: profile.terms,
      tick: () => this.tick(),
      databaseNow: () => this.databaseNow(),
      noted: (fault) => {
        this.faults.note(fault);
      },
      trace: (line) => {
        this.trace(line);
      },
      trouble: () => (this.faults.healed ? 0 : profile.toolTrouble),
      keyKeptMs: mutation?.keyKeptMs ?? profile.terms.keyLifetimeMs,
    });
  }

  /** The one order over everything that takes effect. */
  tick(): number {
    return (this.#order += 1);
  }
  get order(): number {
    return this.#order;
  }
  databaseNow(): number {
    return Math.floor(this.scheduler.now + this.#clockOffset);
  }

  /** Resolves once the ledger has the erasure on record; never where it is refused. */
  ordered(erasureId: string): Promise<void> {
    return new Promise((resolve) => this.#awaited.set(erasureId, resolve));
  }

  trace(line: () => string): void {
    this.options.trace?.(this.scheduler.now - EPOCH, line());
  }

  actor(name: string): SimActor {
    const known = this.#actors.get(name);
    if (known !== undefined) return known;
    const made = new SimActor(name, 'outside');
    this.#actors.set(name, made);
    return made;
  }

  /** Takes in an actor; `revive` starts another one in its place when it dies. */
  adopt(actor: SimActor, revive?: () => void): void {
    this.#actors.set(actor.name, actor);
    if (revive !== undefined) this.#revivals.set(actor, revive);
  }

  living(): readonly SimActor[] {
    return [...this.#actors.values()].filter((actor) => actor.alive && actor.role !== 'outside');
  }

  kafkaOf(actor: SimActor): Kafka {
    const kafka = this.#signed(this.broker.forActor(actor.name), actor);
    const wrap = this.options.mutation?.logProducer;
    if (wrap === undefined || actor.role === 'outside' || actor.role === 'rebuild') return kafka;
    return { ...kafka, logProducer: async () => wrap(await kafka.logProducer(), this.mutantContext) };
  }

  /** Where another worker observes, reports are somebody's word. */
  #signed(kafka: Kafka, actor: SimActor): Kafka {
    const { observed, leaseMs } = this.options.profile;
    if (observed.length === 0) return kafka;
    const { scheduler, faults } = this;
    return actor.role === 'worker' || actor.role === 'observer'
      ? namingKafka(kafka, actor, observed, { scheduler, faults, random: this.#observing, lateMaxMs: 3 * leaseMs })
      : vouchingKafka(kafka, observed);
  }

  /** Starts an instance of a service, a worker or an observer, and again after every crash. */
  start(role: Role, instance: number): void {
    const skew =
      role === 'worker' || role === 'observer'
        ? this.random.between(-this.options.profile.workerSkewMs, this.options.profile.workerSkewMs)
        : 0;
    const actor = new SimActor(`${role}-${String(instance)}#${String((this.#incarnations += 1))}`, role, skew);
    this.#actors.set(actor.name, actor);
    this.trace(() => `${actor.name} starts`);
    void this.#keepStarting(actor, role);
  }

  async #keepStarting(actor: SimActor, role: Role): Promise<void> {
    for (let attempt = 1; actor.alive; attempt += 1) {
      try {
        if (role === 'worker' || role === 'observer') await this.#startWorker(actor, role);
        else await this.#startService(actor, role);
        return;
      } catch (cause) {
        this.trouble(actor.name, 'start', cause);
        // A process whose start fails is started anew by its supervisor.
        this.kill(actor, `start failed (${messageOf(cause)})`);
      }
    }
  }

  kill(actor: SimActor, why: string): void {
    if (!actor.alive) return;
    actor.alive = false;
    this.trace(() => `CRASH ${actor.name}: ${why}`);
    this.runtimes.delete(actor);
    this.sealings.delete(actor);
    this.broker.crash(actor.name);
    this.registry.crash(actor.name);
    const instance = Number(/-(\d+)#/.exec(actor.name)?.[1] ?? 1);
    this.scheduler.after(this.random.between(50, 2_500), () => {
      this.broker.expireMember(actor.name);
    });
    // Services and workers are started by their role; whoever else dies says how it comes back.
    const revive =
      this.#revivals.get(actor) ??
      (() => {
        this.start(actor.role as Role, instance);
      });
    this.scheduler.after(this.random.between(100, 4_000), revive);
  }

  stepClock(): void {
    const { clockBackMs, clockForwardMs } = this.options.profile;
    this.#clockOffset = this.random.chance(0.5)
      ? -this.random.below(clockBackMs + 1)
      : this.random.below(clockForwardMs + 1);
    this.decisionClock.stepped(this.#clockOffset);
    this.faults.note('clock step');
    this.trace(() => `database clock is now off by ${String(this.#clockOffset)} ms`);
  }

  /** Ends all disturbance: what is frozen thaws, what is late lands, what is evicted comes back. */
  heal(): void {
    this.faults.healed = true;
    this.#clockOffset = 0;
    this.decisionClock.stepped(0);
    for (const actor of this.living()) {
      this.scheduler.thaw(actor);
      this.broker.rejoin(actor.name);
    }
    for (const packet of this.broker.pendingLate) this.#land(packet);
    for (const actor of this.living())
      if (this.restored.has(actor.role as ServiceName)) this.kill(actor, 'restarted after a restore of its database'); // workers are in no such set
    this.trace(() => 'everything is well from here on');
  }

  trouble(who: string, where: string, cause: unknown): void {
    const text = `${where}: ${messageOf(cause)}`;
    this.troubles.set(text, (this.troubles.get(text) ?? 0) + 1);
    this.trace(() => `${who} ${text}`);
  }

  // Parts ---------------------------------------------------------------------------------------------------------------

  async #startService(actor: SimActor, service: ServiceName): Promise<void> {
    const { mutation } = this.options;
    const wrapStore = mutation?.store;
    const plain = storesOf(this.scheduler, this.faults, actor, this.databases[service]);
    const stores: StoreFactory =
      wrapStore === undefined ? plain : { partition: (log, partition) => wrapStore(plain.partition(log, partition)) };
    const runtime = this.runtimeOf(actor, service, stores);
    this.runtimes.set(actor, runtime);
    await runtime.start();
  }

  /** A runtime of a service: the production code, on this world's ports. */
  runtimeOf(actor: SimActor, service: ServiceName, stores: StoreFactory): ServiceRuntime {
    return createServiceRuntime({
      cores: this.cores[service],
      kafka: this.kafkaOf(actor),
      registry: this.registry.forActor(actor.name),
      codecs: readOnce(createCodecs(this.registry.forActor(actor.name))),
      stores,
      logId: LOG_ID,
      groupId: actor.role === 'rebuild' ? actor.name : service,
      clock: clockOf(this.scheduler, actor),
      edgeKey: null,
      ...this.#sealingOf(actor),
      settings: { itemsMax: 40, rowsMax: 60, lazyProgressMs: 400, viewAgeMs: 250, ...this.options.mutation?.loop },
      onEvent: (event) => {
        this.#onLoop(actor, event);
      },
    });
  }

  /** What a process holds of keys dies with it; the store does not. */
  #sealingOf(actor: SimActor): { readonly sealing?: Sealing } {
    const vault = new Vault({
      store: keysOf(this.scheduler, this.faults, actor, this.keys),
      windowMs: SEAL_WINDOW_MS,
      now: () => this.scheduler.now,
      ...(this.options.profile.eraseEveryMs === null
        ? {}
        : { believedMs: this.options.mutation?.believedMs ?? BELIEVED_MS }),
      random: (size) =>
        Buffer.alloc(
          size,
          createHash('sha512')
            .update(String((this.#secrets += 1)))
            .digest(),
        ),
    });
    const sealing = this.options.mutation?.sealing === undefined ? vault : this.options.mutation.sealing(vault);
    if (sealing === null) return {};
    this.sealings.set(actor, sealing);
    return { sealing };
  }

  async #startWorker(actor: SimActor, role: 'worker' | 'observer'): Promise<void> {
    const { profile, mutation } = this.options;
    const codecs = createCodecs(this.registry.forActor(actor.name));
    const claims = this.#noting(mutation?.claims?.(this.#claims) ?? this.#claims);
    const options: WorkerOptions = {
      kafka: this.kafkaOf(actor),
      codecs: mutation?.leg === undefined ? codecs : requestsChanged(codecs, mutation.leg),
      adapter: 'payments',
      tools: this.provider.toolsOf(actor),
      forwardTools: this.provider.forwardToolsOf(actor),
      clock: clockOf(this.scheduler, actor),
      claimStore: claimsOf(this.scheduler, this.faults, actor, claims),
      positions: positionsOf(this.scheduler, this.faults, actor, this.#positions[role]),
      workerId: actor.name,
      groupId: `${role}s`,
      isObserver: role === 'observer',
      callTimeoutMs: profile.terms.callTimeoutMs,
      onNote: (note) => {
        if (note.type === 'trouble') this.trouble(actor.name, note.doing, note.cause);
        else
          this.trace(
            () =>
              `${actor.name} ${note.type} ${note.type === 'answered' ? `${note.legId} ${note.steps.map(({ outcome }) => outcome).join()}` : ''}`,
          );
      },
    };
    await createWorker(mutation?.worker?.(options) ?? options).start();
  }

  /** The same claims; who asked for each first is noted. */
  #noting(claims: ClaimStore): ClaimStore {
    return {
      claim: (claim) => {
        const place = claimPlaceOf(claim.id, claim.attempt);
        if (!this.firstClaims.has(place)) this.firstClaims.set(place, claim.workerId);
        return claims.claim(claim);
      },
    };
  }

  #makeCores(mutation: Mutation | undefined): Readonly<Record<ServiceName, readonly ServiceCore[]>> {
    const { profile } = this.options;
    const wrap = (core: ServiceCore): ServiceCore =>
      this.decisionClock.watching(mutation?.core?.(core, this.mutantContext) ?? core);
    return {
      'contract-registry': [wrap(registryCore())],
      'mutation-ledger': [
        wrap(assumptionsCore()),
        wrap(
          mutationsCore({
            effectsMax: 4,
            concludeWithinMs: profile.reviewDeadlineMs,
            reviewDeadlineMs: profile.reviewDeadlineMs,
            fullFidelityMs: FULL_FIDELITY_MS,
            softRollbackMs: SOFT_ROLLBACK_MS,
            boundMs: profile.boundMs,
            admission: profile.isCareful
              ? { ...CAREFUL, ...(mutation?.trustsAll === true ? { trustThresholdPermille: null } : {}) }
              : UNLIMITED,
            ackWaits: ACK_WAITS,
            leaseKey: Buffer.alloc(32, 8),
            leaseMs: profile.leaseMs,
            askAttemptsMax: 3,
            backoff: { baseMs: 300, maxMs: 3_000 },
          }),
        ),
      ],
      'recovery-orchestrator': [
        wrap(
          recoveriesCore({
            leaseKey: Buffer.alloc(32, 7),
            leaseMs: profile.leaseMs,
            reviewDeadlineMs: profile.reviewDeadlineMs,
            backoff: { baseMs: 300, maxMs: 3_000 },
            ownerOf,
            childrenFirstMs: 4_000,
            ...(mutation?.marginMs === undefined ? {} : { marginMs: mutation.marginMs }),
            ...(profile.isCareful ? { rates: { tenantPerMinute: 120, capabilityPerMinute: 60 } } : {}),
          }),
        ),
      ],
      'budget-accountant': [
        wrap(
          budgetsCore({
            escalationDeadlineMs: profile.reviewDeadlineMs,
            settleWithinMs: profile.reviewDeadlineMs,
          }),
        ),
      ],
    };
  }

  #makeDatabase(cores: readonly ServiceCore[]): MemoryDatabase {
    return new MemoryDatabase({
      kinds: withCommonKinds(cores.flatMap(({ kinds }) => kinds)),
      now: () => this.databaseNow(),
      keepsReferences: true,
    });
  }

  makeEmptyDatabase(service: ServiceName): MemoryDatabase {
    return this.#makeDatabase(this.cores[service]);
  }

  #mayDie(actor: SimActor): boolean {
    return actor.role !== 'outside' && actor.role !== 'rebuild' && actor.role !== 'network';
  }

  #beforeNewest(topic: string, partition: number, type: string): Position | null {
    const chain = new ChainReader(
      genesisHead({ logId: LOG_ID, topic, partition, partitionCount: PARTITIONS }),
      this.codecs.fingerprintOf,
    );
    let found: Position | null = null;
    for (const record of this.broker.find(topic, partition)?.all() ?? []) {
      const { seq, hash } = chain.head;
      const decoded = this.codecs.decodeSync(record.value);
      if (chain.read(record).kind === 'accepted' && decoded.kind === 'decoded' && decoded.type === type)
        found = { offset: record.offset, seq, hash: hash.toString('hex') };
    }
    return found;
  }

  #onEffect({ kind, actor, topic, partition }: GateOperation, verdict: GateVerdict): void {
    if (kind !== 'append' && kind !== 'wire') return;
    this.lastAppendAt = this.scheduler.now;
    if (verdict === 'late')
      this.scheduler.after(this.random.between(5, 4_000), () => {
        this.#releaseOne();
      });
    this.appended.push({ actor, topic: topic ?? '', partition: partition ?? 0, order: this.#order });
    this.trace(() => `${actor} ${kind} ${topic ?? ''}/${String(partition)} ${verdict}`);
  }

  #releaseOne(): void {
    const { pendingLate } = this.broker;
    if (pendingLate.length > 0) this.#land(this.random.pick(pendingLate));
  }

  /** Who decided it may be long gone: what it holds is nobody's start. */
  #land(packet: World['broker']['pendingLate'][number]): void {
    const base = packet.release();
    for (let offset = base; offset < base + packet.count; offset += 1)
      this.landedLate.add(`${packet.topic}/${String(packet.partition)}@${String(offset)}`);
    this.lastAppendAt = this.scheduler.now;
    this.trace(() => `a late packet of ${packet.actor} lands on ${packet.topic}/${String(packet.partition)}`);
  }

  #onLoop(actor: SimActor, event: LoopEvent & { readonly log: string; readonly partition: number }): void {
    const where = `${event.log}/${String(event.partition)}`;
    switch (event.kind) {
      case 'recovered':
        this.recovered.push({ actor: actor.name, log: event.log, partition: event.partition, order: this.#order });
        this.trace(() => `${actor.name} ${where} reads on at seq ${String(event.seq)}`);
        return;
      case 'halted':
        this.halted.push(`${actor.name} ${where}: ${messageOf(event.cause)}`);
        this.trace(() => `HALTED ${actor.name} ${where}: ${messageOf(event.cause)}`);
        return;
      case 'error':
        this.trouble(actor.name, `${where} ${event.where}`, event.cause);
        return;
      case 'accepted':
        this.#awaited.get(String(event.record.body['erasure_id']))?.();
        if (event.record.type !== 'Progress')
          this.trace(
            () =>
              `${actor.name} ${where}@${String(event.record.seq)} ${event.record.type} ${summaryOf(event.record.body)}`,
          );
        return;
      default:
    }
  }
}

/** Where a claim is kept. */
export function claimPlaceOf(id: string, attempt: number): string {
  return JSON.stringify([id, attempt]);
}

/** What each value was decoded to: every reader of a topic is handed the same bytes. */
const DECODED = new WeakMap<Buffer, Decoded>();

/** The same codecs; a value that any process has decoded is not decoded again. */
export function readOnce(codecs: Codecs): Codecs {
  return {
    ...codecs,
    decodeSync: (value) => {
      const known = value === null ? undefined : DECODED.get(value);
      if (known !== undefined) return known;
      const decoded = codecs.decodeSync(value);
      if (value !== null && decoded.kind === 'decoded') DECODED.set(value, decoded);
      return decoded;
    },
  };
}

/** Weight from which a source is trusted in a careful world, thousandths. */
export const TRUSTED_FROM = 600;

/** Limits of a partition in a careful world: small, so that each of them holds something in every story. */
const CAREFUL = {
  trustThresholdPermille: TRUSTED_FROM,
  storm: { limit: 4, windowMs: 3_000 },
  closureMax: 2,
  trend: { windowMs: 2_000, min: 3, factor: 2 },
} as const;
const UNLIMITED = { trustThresholdPermille: null, storm: null, closureMax: null, trend: null } as const;

/** Agent a1 has a registered owner, a2 has none. */
export function ownerOf(_tenant: string, agentId: string): string | null {
  return agentId === 'agent:a1' ? 'olga' : null;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

const SHOWN = [
  'mutation_id',
  'commit_id',
  'run_id',
  'ref',
  'step_id',
  'leg_id',
  'attempt',
  'phase',
  'verdict',
  'outcome',
  'event',
  'to_state',
  'reason',
  'command_id',
  'status',
  'code',
  'decision',
  'event_id',
  'approval_id',
] as const;

function summaryOf(body: Readonly<Record<string, unknown>>): string {
  return SHOWN.filter((name) => name in body)
    .map((name) => `${name}=${shortOf(body[name])}`)
    .join(' ');
}

function shortOf(value: unknown): string {
  const text = String(value);
  return text.length > 24 ? `${text.slice(0, 14)}…` : text;
}
