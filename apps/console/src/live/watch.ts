// Looks how far the services' rows have come, as long as somebody watches, and tells all who do.
//
// Boundary: one look for everybody, with the token of one who watches: a status says nothing of a tenant. A token that a service
// does not take says nothing of the service: whose it is stands last from then on, and the next one's is tried.
import type { EdgeName, Edges } from '../edges/edges.js';
import { EDGE_NAMES } from '../edges/edges.js';
import { NOWHERE, positionIn } from './positions.js';
import type { Position, Positions } from './positions.js';

export interface WatchOptions {
  readonly edges: Edges;
  /** Asks a service for its status; REFUSED where it does not take the token. Default: over HTTP. */
  readonly ask?: (address: string, token: string) => Promise<unknown>;
  /** Between two looks, milliseconds. Default 100. */
  readonly everyMs?: number;
}

export interface Watcher {
  readonly token: string;
  readonly tell: (positions: Positions) => void;
}

/** What a service says of a token without roles, that has expired, or whose holder asks too often. */
export const REFUSED = Symbol('refused');

/** Tokens that one look tries at a service. */
const TOKENS_MAX = 3;
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

  /** As the last look found them, so never ahead of what somebody reads from now on. */
  get positions(): Positions {
    return this.#positions;
  }

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
      this.#positions = await this.#now();
      for (const { tell } of this.#watchers) tell(this.#positions);
      await new Promise((resolve) => setTimeout(resolve, pauseAfter(performance.now() - began, everyMs)));
    }
    this.#isLooking = false;
  }

  async #now(): Promise<Positions> {
    const found = await Promise.all(EDGE_NAMES.map(async (name) => [name, await this.#positionOf(name)] as const));
    return { ...NOWHERE, ...Object.fromEntries(found) };
  }

  async #positionOf(name: EdgeName): Promise<Position | null> {
    for (const watcher of [...this.#watchers].slice(0, TOKENS_MAX)) {
      const status = await this.#statusOf(name, watcher.token);
      if (status !== REFUSED) return positionIn(status);
      if (this.#watchers.delete(watcher)) this.#watchers.add(watcher);
    }
    return this.#positions[name];
  }

  /** Null for one that does not answer. */
  async #statusOf(name: EdgeName, token: string): Promise<unknown> {
    const { edges, ask = askStatus } = this.options;
    try {
      return await ask(edges[name], token);
    } catch {
      return null;
    }
  }
}

const REFUSALS: readonly number[] = [401, 403, 429];

async function askStatus(address: string, token: string): Promise<unknown> {
  const answer = await fetch(`${address.replace(/\/+$/, '')}/v1/status`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(LOOK_WITHIN_MS),
  });
  if (REFUSALS.includes(answer.status)) return REFUSED;
  return answer.ok ? answer.json() : null;
}
