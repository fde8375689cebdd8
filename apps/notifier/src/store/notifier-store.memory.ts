// The store in memory, for specs. One call is one step of the event loop, so it is whole.
import { compareText } from '@recourse/event-log';
import { deliveryAfter, UNTOLD } from '../rules/delivery/delivery.transitions.js';
import type { Delivery, DeliveryEvent } from '../rules/delivery/delivery.messages.js';
import type { AttemptVerdict } from '../rules/delivery/attempt.decisions.js';
import type { Superseding } from '../rules/delivery/occasion.decisions.js';
import { isOpenedIn, isWaiting, keyOf } from '../rules/item/item.messages.js';
import type { Thing, WaitingThing } from '../rules/item/item.messages.js';
import type {
  Claim,
  DeliveryQuery,
  EndpointFigures,
  ItemPlace,
  ItemQuery,
  NotifierStore,
  ReadPosition,
  Taken,
} from './notifier-store.port.js';

export class MemoryNotifierStore implements NotifierStore {
  readonly #positions = new Map<string, ReadPosition>();
  readonly #things = new Map<string, Thing>();
  readonly #deliveries = new Map<string, Delivery>();
  readonly #off = new Map<string, number>();

  position(topic: string, partition: number): Promise<ReadPosition | null> {
    return Promise.resolve(this.#positions.get(placeOf(topic, partition)) ?? null);
  }

  keptSeqs(): Promise<ReadonlyMap<string, number>> {
    return Promise.resolve(new Map([...this.#positions].map(([place, { seq }]) => [place, seq])));
  }

  things(keys: readonly string[]): Promise<readonly Thing[]> {
    return Promise.resolve(keys.flatMap((key) => this.#things.get(key) ?? []));
  }

  take({ topic, partition, fromSeq, to, changes, superseded, queued }: Taken): Promise<boolean> {
    const place = placeOf(topic, partition);
    if ((this.#positions.get(place)?.seq ?? 0) !== fromSeq) return Promise.resolve(false);
    this.#positions.set(place, to);
    for (const change of changes) {
      if (change.op === 'put') this.#things.set(keyOf(change.thing), change.thing);
      else this.#things.delete(change.key);
    }
    for (const one of superseded) this.#supersede(one);
    for (const delivery of queued) if (!this.#deliveries.has(delivery.id)) this.#deliveries.set(delivery.id, delivery);
    return Promise.resolve(true);
  }

  beginAnew(topic: string, partition: number, from: ReadPosition, to: ReadPosition): Promise<void> {
    const place = placeOf(topic, partition);
    if (this.#positions.get(place)?.hash.equals(from.hash) !== true) return Promise.resolve();
    this.#positions.set(place, to);
    for (const [key, { item }] of this.#things)
      if (item !== null && isOpenedIn(item.opening, topic, partition)) this.#things.delete(key);
    for (const { id, about, state } of this.#deliveries.values())
      if (about !== null && isOpenedIn(about.opening, topic, partition) && UNTOLD.includes(state))
        this.#deliveries.delete(id);
    return Promise.resolve();
  }

  items({ kind, tenant, countMax, after }: ItemQuery): Promise<readonly WaitingThing[]> {
    const placed = [...this.#things.values()]
      .filter(isWaiting)
      .filter((thing) => (kind ?? thing.item.kind) === thing.item.kind && (tenant ?? thing.tenant) === thing.tenant)
      .filter((thing) => after === undefined || compareItems(thing, after) > 0);
    return Promise.resolve(placed.sort((a, b) => compareItems(a, itemPlaceOf(b))).slice(0, countMax));
  }

  claim({ endpoint, now, until, countMax }: Claim): Promise<readonly Delivery[]> {
    if (this.#off.has(endpoint)) return Promise.resolve([]);
    const due = [...this.#deliveries.values()].filter(
      (one) => one.endpoint === endpoint && one.state === 'queued' && one.nextAt <= now,
    );
    const claimed = due
      .sort((a, b) => a.nextAt - b.nextAt)
      .slice(0, countMax)
      .map((one): Delivery => ({ ...one, attempts: one.attempts + 1, nextAt: until, updatedAt: now }));
    for (const one of claimed) this.#deliveries.set(one.id, one);
    return Promise.resolve(claimed);
  }

  settle(
    { id, attempts, endpoint }: Pick<Delivery, 'id' | 'attempts' | 'endpoint'>,
    { event, error, nextAt, closesEndpoint }: AttemptVerdict,
    now: number,
  ): Promise<void> {
    const standing = this.#deliveries.get(id);
    if (closesEndpoint && !this.#off.has(endpoint)) this.#off.set(endpoint, now);
    if (standing?.attempts !== attempts) return Promise.resolve();
    this.#deliveries.set(id, { ...moved(standing, event, now), lastError: error, nextAt });
    return Promise.resolve();
  }

  queue(delivery: Delivery): Promise<void> {
    if (!this.#deliveries.has(delivery.id)) this.#deliveries.set(delivery.id, delivery);
    return Promise.resolve();
  }

  queuedOnce(ids: readonly string[]): Promise<readonly string[]> {
    return Promise.resolve(ids.filter((id) => this.#deliveries.has(id)));
  }

  find(id: string): Promise<Delivery | null> {
    return Promise.resolve(this.#deliveries.get(id) ?? null);
  }

  list({ state, endpoint, tenant, countMax, after }: DeliveryQuery): Promise<readonly Delivery[]> {
    const fits = (one: Delivery): boolean =>
      (state === undefined || one.state === state) &&
      (endpoint === undefined || one.endpoint === endpoint) &&
      (tenant === undefined || one.tenant === tenant) &&
      (after === undefined ||
        one.updatedAt < after.updatedAt ||
        (one.updatedAt === after.updatedAt && one.id < after.id));
    const newestFirst = [...this.#deliveries.values()]
      .filter(fits)
      .sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1));
    return Promise.resolve(newestFirst.slice(0, countMax));
  }

  retry(id: string, now: number): Promise<Delivery | null> {
    const standing = this.#deliveries.get(id);
    if (standing?.state !== 'queued' && standing?.state !== 'given_up') return Promise.resolve(null);
    const again = { ...moved(standing, 'Retried', now), dueAt: now, nextAt: now, lastError: null };
    this.#deliveries.set(id, again);
    return Promise.resolve(again);
  }

  turnOn(endpoint: string, now: number): Promise<void> {
    this.#off.delete(endpoint);
    for (const one of this.#deliveries.values())
      if (one.endpoint === endpoint && one.state === 'queued')
        this.#deliveries.set(one.id, { ...one, dueAt: Math.max(one.dueAt, now) });
    return Promise.resolve();
  }

  figures(now: number, tenant?: string): Promise<readonly EndpointFigures[]> {
    const all = [...this.#deliveries.values()].filter((one) => tenant === undefined || one.tenant === tenant);
    const names = [...new Set([...all.map(({ endpoint }) => endpoint), ...this.#off.keys()])].sort();
    return Promise.resolve(
      names.map((name) => {
        const own = all.filter(({ endpoint }) => endpoint === name);
        const queued = own.filter(({ state }) => state === 'queued');
        const due = queued.filter(({ dueAt }) => dueAt <= now).map(({ dueAt }) => dueAt);
        return {
          name,
          offSince: this.#off.get(name) ?? null,
          queued: queued.length,
          oldestDueAt: due.length === 0 ? null : Math.min(...due),
          givenUp: own.filter(({ state }) => state === 'given_up').length,
        };
      }),
    );
  }

  prune(before: number): Promise<void> {
    for (const one of this.#deliveries.values()) {
      const waits = one.about !== null && this.#things.get(one.about.key)?.item?.opening === one.about.opening;
      if (one.state !== 'queued' && one.updatedAt < before && !waits) this.#deliveries.delete(one.id);
    }
    return Promise.resolve();
  }

  #supersede({ key, opening, only }: Superseding): void {
    for (const one of this.#deliveries.values()) {
      const isMeant =
        one.state === 'queued' &&
        one.about?.key === key &&
        one.about.opening === opening &&
        (only === null ? one.notice.occasion !== 'ended' : one.notice.occasion === only);
      if (!isMeant) continue;
      if (one.attempts === 0) this.#deliveries.delete(one.id);
      else this.#deliveries.set(one.id, { ...one, state: deliveryAfter(one.state, 'Superseded') });
    }
  }
}

function placeOf(topic: string, partition: number): string {
  return `${topic}/${String(partition)}`;
}
function moved(delivery: Delivery, event: DeliveryEvent, now: number): Delivery {
  return { ...delivery, state: deliveryAfter(delivery.state, event), updatedAt: now };
}

function itemPlaceOf(thing: WaitingThing): ItemPlace {
  return { deadlineAt: thing.item.deadlineAt, key: keyOf(thing) };
}

function compareItems(thing: WaitingThing, { deadlineAt, key }: ItemPlace): number {
  return thing.item.deadlineAt - deadlineAt || compareText(keyOf(thing), key);
}
