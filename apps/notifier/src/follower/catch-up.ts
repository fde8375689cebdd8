// What already waits, for endpoints that were added or widened since: they are told of it when the notifier starts.
//
// Boundary: reads what is kept and says what to queue; the follower of the partition it was opened in keeps that, beside its cursor.
//
// Invariants
//   K1. Nobody is told twice: what was ever queued for an endpoint is not queued again.
//   K2. An endpoint that hears of ten thousand things at once hears of one a second, the soonest deadline first, and has CATCH_UP_MAX
//       before it at the most, whichever process queued them; the next start goes on behind what is queued still.
import type { Delivery } from '../rules/delivery/delivery.messages.js';
import { waitingTo } from '../rules/delivery/occasion.decisions.js';
import type { WaitingThing } from '../rules/item/item.messages.js';
import { isOpenedIn, keyOf } from '../rules/item/item.messages.js';
import type { Endpoint } from '../rules/webhook/endpoint.messages.js';
import type { ItemPlace, NotifierStore } from '../store/notifier-store.port.js';

/** Notices that one endpoint has before it: a quarter of an hour of them. */
export const CATCH_UP_MAX = 1_000;
const EVERY_MS = 1_000;
/** Things that are looked at in one question. */
const PAGE = 500;

export interface CatchUpOptions {
  readonly store: Pick<NotifierStore, 'items' | 'queuedOnce' | 'list'>;
  readonly endpoints: readonly Endpoint[];
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Looks once, when a follower asks first. */
export class CatchUp {
  #found: Promise<readonly Delivery[]> | null = null;

  constructor(private readonly options: CatchUpOptions) {}

  /** What to queue of what was opened in a partition. Errors: those of the store; the next call looks again. */
  async of(topic: string, partition: number): Promise<readonly Delivery[]> {
    this.#found ??= this.#look();
    const looking = this.#found;
    try {
      return (await looking).filter(({ about }) => about !== null && isOpenedIn(about.opening, topic, partition));
    } catch (cause) {
      if (this.#found === looking) this.#found = null;
      throw cause;
    }
  }

  async #look(): Promise<readonly Delivery[]> {
    const { store, endpoints, now } = this.options;
    const at = now();
    const paced = new Paced(at, await this.#queuedAt(at));
    for (let after: ItemPlace | undefined; ;) {
      const things = await store.items({ countMax: PAGE, ...(after === undefined ? {} : { after }) });
      const deliveries = things.flatMap((thing) => waitingTo(thing, endpoints, at));
      const known = new Set(await store.queuedOnce(deliveries.map(({ id }) => id)));
      for (const delivery of deliveries) if (!known.has(delivery.id)) paced.add(delivery);
      const last = things.at(-1);
      if (last === undefined || things.length < PAGE || endpoints.every(({ name }) => paced.isFull(name)))
        return paced.all;
      after = placeOf(last);
    }
  }

  /** How many are queued for each endpoint, but for reminders that are due behind the last slot. */
  async #queuedAt(at: number): Promise<ReadonlyMap<string, number>> {
    const { store, endpoints } = this.options;
    const counts = new Map<string, number>();
    for (const { name: endpoint } of endpoints) {
      const queued = await store.list({ endpoint, state: 'queued', countMax: 2 * CATCH_UP_MAX });
      counts.set(endpoint, queued.filter(({ nextAt }) => nextAt < at + CATCH_UP_MAX * EVERY_MS).length);
    }
    return counts;
  }
}

/** One after the other to each endpoint, behind what is queued for it. */
class Paced {
  readonly all: Delivery[] = [];
  readonly #counts: Map<string, number>;

  constructor(
    private readonly now: number,
    queued: ReadonlyMap<string, number>,
  ) {
    this.#counts = new Map(queued);
  }

  isFull(endpoint: string): boolean {
    return this.#countOf(endpoint) >= CATCH_UP_MAX;
  }

  add(delivery: Delivery): void {
    const { endpoint } = delivery;
    if (this.isFull(endpoint)) return;
    const slot = this.now + this.#countOf(endpoint) * EVERY_MS;
    this.#counts.set(endpoint, this.#countOf(endpoint) + 1);
    // An opening is due at once, also by a clock that was ahead when it was written.
    const at = delivery.notice.occasion === 'reminder' ? Math.max(slot, delivery.dueAt) : slot;
    this.all.push({ ...delivery, dueAt: at, nextAt: at, updatedAt: this.now });
  }

  #countOf(endpoint: string): number {
    return this.#counts.get(endpoint) ?? 0;
  }
}

function placeOf({ item, ...named }: WaitingThing): ItemPlace {
  return { deadlineAt: item.deadlineAt, key: keyOf(named) };
}
