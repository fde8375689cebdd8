// Reads which groups the store holds, page by page beside the loop, once after each start or reset.
//
// Boundary: whatever the loop accepts meanwhile is added by the loop itself: what the store holds when the last page was read
// was there before the first, or was accepted since.
//
// Invariants
//   I1. What was read for one start says nothing about the next.
//   I2. Nothing is learned of a database that has lost what was projected: it would deny what the log holds (L8).
import type { Clock } from '@recourse/kernel';
import { BackgroundLoop } from './background.js';
import type { KnownGroups } from './group-rows.js';
import type { PartitionStore } from './store.port.js';

export interface GroupReaderOptions {
  readonly store: Pick<PartitionStore, 'groups'>;
  readonly kinds: readonly string[];
  readonly known: KnownGroups;
  readonly clock: Clock;
  /** What the store holds at the least, by seq. */
  readonly projectedSeq: () => number;
  /** The database is an older copy. */
  readonly onOlder: () => void;
  readonly onError: (cause: unknown) => void;
}

interface Place {
  readonly kind: string;
  readonly after: string | null;
}

const PAGE = 5_000;
/** Rest with nothing to read; whoever asks for it ends it. */
const REST_MS = 60_000;

export class GroupReader {
  #places: readonly Place[] = [];
  #epoch = 0;
  readonly #loop: BackgroundLoop;

  constructor(private readonly options: GroupReaderOptions) {
    this.#loop = new BackgroundLoop({
      clock: options.clock,
      turn: () => this.#readPage(),
      onError: (cause) => {
        options.onError(cause);
        return 'retry';
      },
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** What was read counts no more. */
  forget(): void {
    this.#epoch += 1;
    this.#places = [];
  }

  /** Begins: rows of the log are in the store, or on their way through the loop. */
  read(): void {
    this.forget();
    this.#places = this.options.kinds.map((kind) => ({ kind, after: null }));
    this.#loop.wake();
  }

  async #readPage(): Promise<number> {
    const [place, ...rest] = this.#places;
    if (place === undefined) return REST_MS;
    const epoch = this.#epoch;
    const { store, known } = this.options;
    const leastSeq = this.options.projectedSeq();
    const { groups, headSeq } = await store.groups(place.kind, place.after, PAGE);
    if (epoch !== this.#epoch) return 0;
    if ((headSeq ?? 0) < leastSeq) {
      this.forget();
      this.options.onOlder();
      return REST_MS;
    }
    for (const group of groups) known.add(place.kind, group);
    const last = groups.length < PAGE ? undefined : groups[groups.length - 1];
    this.#places = last === undefined ? rest : [{ kind: place.kind, after: last }, ...rest];
    if (this.#places.length === 0) known.complete();
    return 0;
  }
}
