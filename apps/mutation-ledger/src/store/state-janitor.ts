// State janitor: destroys the keys of states that were given up, so that nobody reads them again; every hash stays.
//
// Boundary: the ledger decides and records that a state is given up (`hardened`); this only does what stands there. It may
// run in several processes, and again from the start: what is destroyed stays so.
//
// Invariants
//   J1. A key goes only when the row of its commit says that its state was given up.
//   J2. Where it is in a partition is moved after the keys up to there were destroyed; a failure repeats, and skips nothing.
import type { KeyStore } from '@recourse/event-log';
import type { Metrics } from '@recourse/telemetry';
import { HARDEN_CAUSES, MARK_START } from './hardened-commits.js';
import type { HardenedCommits, Mark } from './hardened-commits.js';

export interface StateJanitorOptions {
  readonly commits: Pick<HardenedCommits, 'partitions' | 'after' | 'counts' | 'close'>;
  readonly keys: Pick<KeyStore, 'destroyUnits'>;
  readonly metrics: Pick<Metrics, 'count' | 'set'>;
  /** The tables are there and filled. */
  readonly isReady: () => boolean;
  /** Between two sweeps, milliseconds. */
  readonly everyMs: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** A sweep failed; the next takes up what it left. */
  readonly onError: (cause: unknown) => void;
}

/** Keys that are destroyed with one statement. */
export const PAGE = 500;
const BY = 'mutation-ledger';
const REASON = 'the state of the commit was given up';

export class StateJanitor {
  readonly #stopped = new AbortController();
  readonly #marks = new Map<number, Mark>();
  #running: Promise<void> = Promise.resolve();

  constructor(private readonly options: StateJanitorOptions) {}

  /** Nest calls it when the process starts. */
  onApplicationBootstrap(): void {
    this.#running = this.#run();
  }

  /** Nest calls it when the process ends. */
  async onModuleDestroy(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    await this.options.commits.close();
  }

  /** Destroys what was given up since the last sweep. Errors: Failure(DATABASE_UNAVAILABLE, KEY_STORE_UNAVAILABLE). */
  async sweep(): Promise<number> {
    const { commits, metrics } = this.options;
    let destroyed = 0;
    for (const partition of await commits.partitions()) destroyed += await this.#sweepPartition(partition);
    if (destroyed > 0) metrics.count('stateKeysDestroyed', {}, destroyed);
    const counts = await commits.counts();
    for (const status of ['kept', ...Object.keys(HARDEN_CAUSES)])
      metrics.set('commits', { status }, counts[status] ?? 0);
    return destroyed;
  }

  async #sweepPartition(partition: number): Promise<number> {
    const { commits, keys } = this.options;
    // Others of the same millisecond may have come since.
    let mark: Mark = { ...this.#markOf(partition), commitId: '' };
    let destroyed = 0;
    for (;;) {
      const page = await commits.after(partition, mark, PAGE);
      const last = page.at(-1);
      if (last === undefined) return destroyed;
      destroyed += await keys.destroyUnits(
        page.map(({ tenant, commit_id }) => ({ tenant, unit: commit_id })),
        BY,
        REASON,
      );
      mark = { updatedAt: last.updated_at, commitId: last.commit_id };
      this.#marks.set(partition, mark);
      if (page.length < PAGE || this.#isStopped()) return destroyed;
    }
  }

  #markOf(partition: number): Mark {
    return this.#marks.get(partition) ?? MARK_START;
  }

  #isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  async #run(): Promise<void> {
    const { isReady, everyMs, sleep, onError } = this.options;
    while (!this.#isStopped()) {
      await sleep(everyMs, this.#stopped.signal);
      if (this.#isStopped() || !isReady()) continue;
      try {
        await this.sweep();
      } catch (cause) {
        onError(cause);
      }
    }
  }
}
