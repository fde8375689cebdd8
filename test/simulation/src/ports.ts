// The ports an actor of the simulation is given: production adapters in memory, with the scheduler in between.
import type { Gate, GateOperation, GateVerdict } from '@recourse/kafka';
import type { KeyStore, MemoryDatabase, PartitionStore, StoreFactory } from '@recourse/event-log';
import { recordOf } from '@recourse/messages';
import type { Codecs, LegRequested } from '@recourse/messages';
import type { ClaimStore, Clock, Inbox, PositionStore } from '@recourse/sdk';
import type { Faults } from './faults.js';
import type { Scheduler, SimActor } from './scheduler.js';

export interface GateParts {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly actorOf: (name: string) => SimActor;
  readonly onEffect: (operation: GateOperation, verdict: GateVerdict) => void;
}

/** The gate of broker and registry. */
export function gateOf({ scheduler, faults, actorOf, onEffect }: GateParts): Gate {
  return {
    enter: async (operation) => {
      const actor = actorOf(operation.actor);
      await scheduler.pass(actor, operation.kind, 'before');
      return faults.verdict(operation);
    },
    leave: async (operation, verdict) => {
      onEffect(operation, verdict);
      if (faults.holdsAnswer(operation.kind)) await scheduler.pass(actorOf(operation.actor), operation.kind, 'after');
    },
  };
}

/** The clock of an actor: its wall time is a little off, and its waits are the world's. */
export function clockOf(scheduler: Scheduler, actor: SimActor): Clock {
  return {
    now: () => Math.floor(scheduler.now + actor.skewMs),
    monotonic: () => scheduler.now,
    sleep: (ms, signal) => scheduler.sleep(actor, ms, signal),
    alarm: (ms, ring) => {
      const off = new AbortController();
      void scheduler.sleep(actor, ms, off.signal).then(() => {
        if (!off.signal.aborted) ring();
      });
      return () => {
        off.abort();
      };
    },
  };
}

/** The database as one actor reaches it. */
export function storesOf(
  scheduler: Scheduler,
  faults: Faults,
  actor: SimActor,
  database: MemoryDatabase,
): StoreFactory {
  const around = async <T>(kind: string, act: () => Promise<T>): Promise<T> => {
    await scheduler.pass(actor, `store.${kind}`, 'before');
    faults.database();
    const answer = await act();
    if (faults.holdsAnswer(`store.${kind}`)) await scheduler.pass(actor, `store.${kind}`, 'after');
    return answer;
  };
  return {
    partition: (log, partition): PartitionStore => {
      const store = database.forActor(actor.name).partition(log, partition);
      return {
        head: () => around('head', () => store.head()),
        load: (groups) => around('load', () => store.load(groups)),
        all: (kind) => around('all', () => store.all(kind)),
        groups: (kind, after, limit) => around('groups', () => store.groups(kind, after, limit)),
        due: (until, limit) => around('due', () => store.due(until, limit)),
        project: (from, to, changes) => around('project', () => store.project(from, to, changes)),
        stateHash: () => store.stateHash(),
        drop: () => store.drop(),
      };
    },
  };
}

/** Codecs of a worker that read each request as a mutant changes it. */
export function requestsChanged(codecs: Codecs, change: (leg: LegRequested) => LegRequested): Codecs {
  return {
    ...codecs,
    decodeSync: (value) => {
      const decoded = codecs.decodeSync(value);
      const request = recordOf('recourse.tool-requests.payments', decoded);
      return decoded.kind !== 'decoded' || request === null ? decoded : { ...decoded, body: change(request.body) };
    },
  };
}

export function claimsOf(scheduler: Scheduler, faults: Faults, actor: SimActor, shared: ClaimStore): ClaimStore {
  return {
    claim: async (claim) => {
      await scheduler.pass(actor, 'claim', 'before');
      const answer = await shared.claim(claim);
      if (faults.holdsAnswer('claim')) await scheduler.pass(actor, 'claim', 'after');
      return answer;
    },
  };
}

/**
 * The inbox of a consumer, as one of its processes reaches it. A transaction is whole or not at all; a crash may come before it,
 * or before the process hears that it was. Only some transactions wait: a notice needs two of them.
 */
export function inboxOf<Tx>(scheduler: Scheduler, faults: Faults, actor: SimActor, kept: Inbox<Tx>): Inbox<Tx> {
  const pause = async (stage: 'before' | 'after'): Promise<void> => {
    if (faults.holdsAnswer('inbox')) await scheduler.pass(actor, 'inbox', stage);
  };
  return {
    transact: async (kind, work) => {
      await pause('before');
      const answer = await kept.transact(kind, work);
      await pause('after');
      return answer;
    },
  };
}

/** The key store, as one process reaches it: an outage or a crash may come before or after each answer. */
export function keysOf(scheduler: Scheduler, faults: Faults, actor: SimActor, shared: KeyStore): KeyStore {
  const asked = async <T>(what: string, ask: () => Promise<T>): Promise<T> => {
    await scheduler.pass(actor, what, 'before');
    const answer = await ask();
    if (faults.holdsAnswer(what)) await scheduler.pass(actor, what, 'after');
    return answer;
  };
  return {
    ensure: (wanted) => asked('keys.ensure', () => shared.ensure(wanted)),
    find: (keyIds) => asked('keys.find', () => shared.find(keyIds)),
    destroy: (erasure) => shared.destroy(erasure),
    destroyUnits: (units, by, reason) => shared.destroyUnits(units, by, reason),
    close: () => Promise.resolve(),
  };
}

export function positionsOf(
  scheduler: Scheduler,
  faults: Faults,
  actor: SimActor,
  shared: PositionStore,
): PositionStore {
  return {
    load: async (topic, partition) => {
      await scheduler.pass(actor, 'position.load', 'before');
      const position = await shared.load(topic, partition);
      if (faults.holdsAnswer('position.load')) await scheduler.pass(actor, 'position.load', 'after');
      return position;
    },
    save: async (topic, partition, position) => {
      await scheduler.pass(actor, 'position.save', 'before');
      await shared.save(topic, partition, position);
      if (faults.holdsAnswer('position.save')) await scheduler.pass(actor, 'position.save', 'after');
    },
  };
}
