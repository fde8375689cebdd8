// Looks how far the services' rows have come, as long as somebody watches, and tells all who do.
//
// Boundary: one look for everybody, with the token of one who watches: a status says nothing of a tenant.
import type { EdgeName, Edges } from '../edges/edges.js';
import { EDGE_NAMES } from '../edges/edges.js';
import { NOWHERE, positionIn } from './positions.js';
import type { Position, Positions } from './positions.js';

export interface WatchOptions {
  readonly edges: Edges;
  /** Asks a service for its status. Default: over HTTP. */
  readonly ask?: (address: string, token: string) => Promise<unknown>;
  /** Between two looks, milliseconds. Default 100. */
  readonly everyMs?: number;
}

export interface Watcher {
  readonly token: string;
  readonly tell: (positions: Positions) => void;
}

const EVERY_MS = 100;
const LOOK_WITHIN_MS = 2_000;

/** Services that are slow to answer are left alone for as long as they took: looking must not be what keeps them busy. Milliseconds. */
export function pauseAfter(tookMs: number, everyMs: number): number {
  return Math.max(everyMs, tookMs);
}

export class Watch {
  readonly #watchers = new Set<Watcher>();
  #positions: Positions = NOWHERE;
  #isLooking = false;

  constructor(private readonly options: WatchOptions) {}

  /** Tells from the next look on, until the returned function is called. */
  add(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    if (!this.#isLooking) void this.#look();
    return () => {
      this.#watchers.delete(watcher);
    };
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    const { everyMs = EVERY_MS } = this.options;
    for (let [first] = this.#watchers; first !== undefined; [first] = this.#watchers) {
      const began = performance.now();
      this.#positions = await this.#now(first.token);
      for (const { tell } of this.#watchers) tell(this.#positions);
      await new Promise((resolve) => setTimeout(resolve, pauseAfter(performance.now() - began, everyMs)));
    }
    this.#isLooking = false;
  }

  async #now(token: string): Promise<Positions> {
    const found = await Promise.all(
      EDGE_NAMES.map(async (name) => [name, await this.#positionOf(name, token)] as const),
    );
    return { ...NOWHERE, ...Object.fromEntries(found) };
  }

  async #positionOf(name: EdgeName, token: string): Promise<Position | null> {
    const { edges, ask = askStatus } = this.options;
    try {
      return positionIn(await ask(edges[name], token));
    } catch {
      return null;
    }
  }
}

async function askStatus(address: string, token: string): Promise<unknown> {
  const answer = await fetch(`${address.replace(/\/+$/, '')}/v1/status`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(LOOK_WITHIN_MS),
  });
  return answer.ok ? answer.json() : null;
}
