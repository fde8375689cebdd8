// Consumers of rollbacks: the SDK's own code on this world's ports, with inboxes that outlive their processes.
//
// Boundary: starts, strikes, doubles and takes away processes of consumers, and has them make commits of their own. What a
// process does about a notice is the SDK's.
import { createRollbackConsumer, createRollbackPoll, MemoryInbox } from '@recourse/sdk';
import type { MemoryRows, RollbackConsumer, RollbackHandlers, RollbackPoll } from '@recourse/sdk';
import { createCodecs } from '@recourse/messages';
import type { CommitRef } from '@recourse/messages';
import { CONSUMER_PLANS, note } from './consumer-plans.js';
import type { ConsumerPlan, ConsumerRecord } from './consumer-plans.js';
import { ledgerFetch, polledAll } from './ledger-edge.js';
import type { Outside } from './outside.js';
import { clockOf, inboxOf } from './ports.js';
import type { Random } from './random.js';
import { SimActor } from './scheduler.js';
import { person } from './stories.js';
import { LOG_ID, PARTITIONS, readOnce } from './world.js';
import type { World } from './world.js';

const NOTIFICATIONS = 'recourse.rollback-notifications';

/** One incarnation of a consumer's process. */
interface Process {
  readonly actor: SimActor;
  readonly sdk: RollbackConsumer<MemoryRows> | RollbackPoll<MemoryRows>;
}
interface Consumer extends ConsumerRecord {
  processes: readonly Process[];
}

/** Mean time between two strikes at consumers, and between two commits that one makes; milliseconds. */
const STRIKE_EVERY_MS = 1_500;
const MAKES_EVERY_MS = 900;
const AWAY_MAX_MS = 9_000;
const BARRIER_MS = 1_500;
/** A handler fails now and then: its notice comes again. */
const HANDLER_TROUBLE = 0.02;

export class Consumers {
  readonly #random: Random;
  readonly #consumers: readonly Consumer[];
  #incarnations = 0;
  #made = 0;

  constructor(
    private readonly world: World,
    private readonly outside: Outside,
    private readonly parentOf: (tenant: string) => CommitRef | null,
  ) {
    this.#random = world.random.fork();
    const left = [...CONSUMER_PLANS];
    const chosen = Array.from({ length: Math.min(world.options.profile.consumers, left.length) }, () =>
      left.splice(this.#random.below(left.length), 1),
    ).flat();
    this.#consumers = chosen.map((plan) => ({
      plan,
      inbox: new MemoryInbox(),
      opened: [],
      isMeantToRun: plan.reads !== null,
      processes: [],
    }));
    world.consumers.push(...this.#consumers);
  }

  begin(): void {
    for (const consumer of this.#consumers) {
      const { subscribesAtMs, startsAtMs, leavesAtMs, reads } = consumer.plan;
      this.world.scheduler.after(subscribesAtMs, () => {
        this.#register(consumer.plan);
      });
      if (leavesAtMs !== null)
        this.world.scheduler.after(leavesAtMs, () => {
          this.#retire(consumer);
        });
      if (reads === null) continue;
      this.world.scheduler.after(startsAtMs, () => {
        this.#start(consumer);
      });
      this.#make(consumer);
    }
    this.#strike();
  }

  /** One that never answers subscribes again, or no longer. */
  resubscribe(): void {
    const silent = this.#consumers.filter(({ plan }) => plan.reads === null);
    if (silent.length === 0) return;
    const consumer = this.#random.pick(silent);
    if (this.#random.chance(0.5)) this.#register(consumer.plan);
    else this.#retire(consumer);
  }

  /** Every process has read what there is, and answered it. */
  async areThrough(): Promise<boolean> {
    for (const {
      plan: { reads },
      inbox,
      isMeantToRun,
    } of this.#consumers) {
      if (!isMeantToRun || reads === null) continue;
      const isThrough = await inbox.transact('derive', async (session) => {
        if ((await session.owed(1)).length > 0) return false;
        if (reads.mode === 'poll') return polledAll(this.world, reads.scope, await session.mark(`poll/${reads.scope}`));
        for (let partition = 0; partition < PARTITIONS; partition += 1) {
          const place = JSON.parse((await session.mark(`position/${String(partition)}/${reads.scope}`)) ?? '{}') as {
            readonly offset?: number;
          }; // the SDK wrote it
          if ((place.offset ?? 0) < (this.world.broker.find(NOTIFICATIONS, partition)?.range().high ?? 0)) return false;
        }
        return true;
      });
      if (!isThrough) return false;
    }
    return true;
  }

  // Subscriptions --------------------------------------------------------------------------------------------------------

  #register({ name: consumer, subscriptions }: ConsumerPlan): void {
    for (const { name, tenant, scope, mode } of subscriptions) {
      const body = JSON.stringify({
        owner: 'downstream',
        doc: 'Acts on commits.',
        consumer,
        scope,
        mode,
        commit_to_user_ms: 5_000,
      });
      void this.outside.command(
        'recourse.registry-commands',
        'RegisterEntry',
        name,
        person(tenant, 'rosa', 'administrator'),
        { kind: 'subscription', name, body },
      );
    }
  }

  /** Retires the subscriptions; the process goes a little later, whatever it still has to hear. */
  #retire(consumer: Consumer): void {
    for (const { name, tenant } of consumer.plan.subscriptions)
      void this.outside.command(
        'recourse.registry-commands',
        'RetireEntry',
        name,
        person(tenant, 'rosa', 'administrator'),
        { kind: 'subscription', name, reason: 'nobody reads it' },
      );
    if (!consumer.isMeantToRun) return;
    this.world.scheduler.after(this.#random.between(100, 3_000), () => {
      consumer.isMeantToRun = false;
      for (const process of consumer.processes) void this.#stop(consumer, process);
    });
  }

  // Processes ------------------------------------------------------------------------------------------------------------

  #start(consumer: Consumer): void {
    const { world } = this;
    const { workerSkewMs } = world.options.profile;
    const actor = new SimActor(
      `consumer ${consumer.plan.name}#${String((this.#incarnations += 1))}`,
      'consumer',
      this.#random.between(-workerSkewMs, workerSkewMs),
    );
    world.adopt(actor, () => {
      this.#revive(consumer);
    });
    const process: Process = { actor, sdk: this.#sdkOf(consumer, actor) };
    consumer.processes = [...consumer.processes.filter((one) => one.actor.alive), process];
    world.trace(() => `${actor.name} starts`);
    // A process whose start fails is started anew by its supervisor.
    process.sdk.start().catch((cause: unknown) => {
      world.trouble(actor.name, 'start', cause);
      world.kill(actor, 'start failed');
    });
  }

  #revive(consumer: Consumer): void {
    if (consumer.isMeantToRun && !consumer.processes.some(({ actor }) => actor.alive)) this.#start(consumer);
  }

  #sdkOf({ plan, inbox: kept }: Consumer, actor: SimActor): Process['sdk'] {
    const { world } = this;
    const {
      scheduler,
      faults,
      options: { mutation },
    } = world;
    const { scope, mode, from } = plan.reads ?? { scope: '', mode: 'async', from: 'beginning' };
    const common = {
      kafka: mutation?.consumerKafka?.(world.kafkaOf(actor)) ?? world.kafkaOf(actor),
      codecs: readOnce(createCodecs(world.registry.forActor(actor.name))),
      clock: clockOf(scheduler, actor),
      ...this.#handlers(),
      inbox: inboxOf(scheduler, faults, actor, mutation?.inbox?.(kept, world.mutantContext) ?? kept),
      onTrouble: (cause: unknown) => {
        world.trouble(actor.name, 'consumer', cause);
      },
    };
    if (mode !== 'poll')
      return createRollbackConsumer({
        ...common,
        logId: LOG_ID,
        partitionCount: PARTITIONS,
        subscription: { consumer: plan.name, scope, mode },
        from,
        pollMs: this.#random.between(400, 1_200),
      });
    return createRollbackPoll({
      ...common,
      subscription: { consumer: plan.name, scope, mode },
      edge: { url: 'http://ledger', token: () => Promise.resolve(''), fetch: ledgerFetch(world, actor) },
      intervalMs: this.#random.between(800, 2_500),
    });
  }

  /** What a consumer does about what it hears: it notes it, in the transaction that keeps its place. */
  #handlers(): Required<RollbackHandlers<MemoryRows>> {
    const maybe = (act: () => void): Promise<void> => {
      if (!this.world.faults.healed && this.#random.chance(HANDLER_TROUBLE))
        return Promise.reject(new Error('the handler failed'));
      act();
      return Promise.resolve();
    };
    return {
      onCommit: ({ runId, commitId }, { rows }) =>
        maybe(() => {
          note(rows, { kind: 'commit', run: runId, commit: commitId });
        }),
      onRollback: ({ runId, commitId, rollbackId, derived, emissions }, { rows }) =>
        maybe(() => {
          note(rows, {
            kind: 'rollback',
            run: runId,
            commit: commitId,
            rollback: rollbackId,
            derived: derived.map(({ commit_id }) => commit_id),
            emissions: emissions.map(({ ref }) => String(ref)),
          });
        }),
    };
  }

  /** A stop in order: what is under way ends, nothing begins. */
  async #stop(consumer: Consumer, process: Process): Promise<void> {
    this.world.trace(() => `${process.actor.name} stops`);
    await process.sdk.stop().catch((cause: unknown) => {
      this.world.trouble(process.actor.name, 'stop', cause);
    });
    process.actor.alive = false;
    consumer.processes = consumer.processes.filter((one) => one !== process);
  }

  // What happens to them -------------------------------------------------------------------------------------------------

  #strike(): void {
    const { world } = this;
    world.scheduler.after(1 + Math.floor(-Math.log(1 - this.#random.next()) * STRIKE_EVERY_MS), () => {
      if (world.faults.healed) return;
      const running = this.#consumers.filter(
        ({ isMeantToRun, processes }) =>
          isMeantToRun && processes.length === 1 && processes.every(({ actor }) => actor.alive && !actor.frozen),
      );
      if (running.length > 0) this.#strikeOne(this.#random.pick(running));
      this.#strike();
    });
  }

  #strikeOne(consumer: Consumer): void {
    const { world } = this;
    const [process] = consumer.processes;
    if (process === undefined) return;
    const what = this.#random.weighted({ crash: 8, pause: 3, leave: 2, twin: 3 } as const);
    const ms = this.#random.between(200, AWAY_MAX_MS);
    world.trace(() => `${process.actor.name}: ${what} (${String(ms)} ms)`);
    if (what !== 'crash') world.faults.note(`consumer ${what}`);
    switch (what) {
      case 'crash':
        world.faults.arm('consumer');
        return;
      case 'pause':
        process.actor.frozen = true;
        world.scheduler.after(ms, () => {
          world.scheduler.thaw(process.actor);
        });
        return;
      // It may be paused while it stops: its supervisor starts the next one when it is gone.
      case 'leave': {
        const stopped = this.#stop(consumer, process);
        world.scheduler.after(ms, () => {
          void stopped.then(() => {
            this.#revive(consumer);
          });
        });
        return;
      }
      // A new one is started before the old one goes, as a rolling change does: both read, over one inbox.
      case 'twin':
        this.#start(consumer);
        world.scheduler.after(Math.floor(ms / 3), () => {
          if (process.actor.alive)
            void this.#stop(consumer, process).then(() => {
              this.#revive(consumer);
            });
        });
    }
  }

  /** Makes commits of its own, of what was told it, and lets some of them out; a synchronous one asks first. */
  #make(consumer: Consumer): void {
    const { world } = this;
    world.scheduler.after(1 + Math.floor(-Math.log(1 - this.#random.next()) * MAKES_EVERY_MS), () => {
      if (world.faults.healed) return;
      const process = consumer.processes.findLast(({ actor }) => actor.alive && !actor.frozen);
      if (process !== undefined)
        void this.#makeOne(consumer, process).catch((cause: unknown) => {
          world.trouble(process.actor.name, 'own commit', cause);
        });
      this.#make(consumer);
    });
  }

  async #makeOne(consumer: Consumer, { sdk, actor }: Process): Promise<void> {
    const { world } = this;
    const { name, reads } = consumer.plan;
    const earlier: CommitRef = {
      run_id: `own ${name}`,
      commit_id: `own-${String(this.#random.between(Math.max(1, this.#made - 12), Math.max(1, this.#made)))}`,
    };
    const told = this.parentOf(this.#random.pick(['acme', 'beta']));
    const parents = [...(told === null ? [] : [told]), ...(this.#random.chance(0.3) ? [earlier] : [])];
    const commit: CommitRef = { run_id: `own ${name}`, commit_id: `own-${String((this.#made += 1))}` };
    const isMade = await sdk.transact(async ({ rows }, own) => {
      const stands = await own.derive({ commit, parents });
      if (stands)
        note(rows, { kind: 'derived', commit: commit.commit_id, parents: parents.map(({ commit_id }) => commit_id) });
      return stands;
    });
    if (!isMade || !this.#random.chance(0.7)) return;
    if (reads?.mode === 'sync' && 'barrier' in sdk) {
      const askedAtOrder = world.order;
      const { kind } = await sdk.barrier(BARRIER_MS, commit);
      if (kind !== 'clear') return;
      consumer.opened.push({ askedAtOrder, noted: consumer.inbox.rows.size });
    }
    const ref = `out-${commit.commit_id}`;
    await sdk.transact(async ({ rows }, own) => {
      if (await own.emitted(commit, { kind: 'email', ref, emitted_at: Math.floor(world.scheduler.now + actor.skewMs) }))
        note(rows, { kind: 'emitted', commit: commit.commit_id, ref });
    });
  }
}
