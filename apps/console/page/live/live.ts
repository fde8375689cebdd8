// The stream of what moved: services whose rows are others than before. Queries that begin with a service's name are read again.
import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import * as z from 'zod/mini';
import { EDGES } from '../api/clients.js';
import type { EdgeName } from '../api/clients.js';
import { Readings } from './readings.js';

export interface LiveState {
  readonly stream: 'connecting' | 'on' | 'lost';
  /** Since when it is so; epoch milliseconds. */
  readonly since: number;
  readonly away: readonly EdgeName[];
}

const NAMES = z.array(z.enum(EDGES));
const MOVED = z.object({ moved: NAMES, away: NAMES });
/** The server beats every 5 s; whoever hears nothing for this long has lost the stream, whatever the browser says. */
const SILENT_MS = 12_000;
/** What moves all the time is read this often, and no sooner than it was answered. */
const READ_EVERY_MS = 100;
const AGAIN_MS = 1_000;

/** How far services had come before this page read anything. */
const START = document.querySelector<HTMLMetaElement>('meta[name=position]')?.content ?? '';

export class Live {
  #state: LiveState = { stream: 'connecting', since: Date.now(), away: [] };
  readonly #listeners = new Set<() => void>();
  readonly #readings: Readings;
  #source: EventSource | null = null;
  #silent: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly queries: QueryClient,
    private readonly onEnded: () => void,
  ) {
    const cache = queries.getQueryCache();
    this.#readings = new Readings({
      read: async (hash) => {
        const query = cache.get(hash);
        if (query?.isActive() === true)
          await queries.refetchQueries({ queryKey: query.queryKey, exact: true }, { cancelRefetch: false });
      },
      isUnderWay: (hash) => cache.get(hash)?.state.fetchStatus === 'fetching',
      pause: () => new Promise((resolve) => setTimeout(resolve, READ_EVERY_MS)),
    });
  }

  readonly state = (): LiveState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  open(): void {
    const source = new EventSource(START === '' ? '/events' : `/events?from=${START}`);
    this.#source = source;
    source.onopen = () => {
      this.#heard();
    };
    source.addEventListener('beat', () => {
      this.#heard();
    });
    source.addEventListener('moved', (event) => {
      this.#heard();
      this.#tell(event);
    });
    source.addEventListener('ended', () => {
      this.close();
      this.onEnded();
    });
    source.onerror = () => {
      this.#lost();
      // A browser gives up where the answer is no stream: the session ended, or the console restarts.
      if (source.readyState === EventSource.CLOSED)
        setTimeout(() => {
          this.#again(source);
        }, AGAIN_MS);
    };
  }

  close(): void {
    this.#source?.close();
    this.#source = null;
    clearTimeout(this.#silent);
  }

  #again(old: EventSource): void {
    if (this.#source !== old) return;
    old.close();
    this.open();
    // A new source has no position to send: everything is read again.
    for (const name of EDGES) this.#read(name);
    void this.queries.invalidateQueries({ queryKey: ['session'] });
  }

  #tell({ data }: MessageEvent<unknown>): void {
    const read = MOVED.safeParse(typeof data === 'string' ? JSON.parse(data) : null);
    if (!read.success) return;
    const { moved, away } = read.data;
    if (away.join() !== this.#state.away.join()) this.#set({ ...this.#state, away });
    for (const name of moved) this.#read(name);
  }

  /** What nobody looks at is only marked; it is read when somebody does. */
  #read(name: EdgeName): void {
    void this.queries.invalidateQueries({ queryKey: [name], refetchType: 'none' });
    for (const { queryHash } of this.queries.getQueryCache().findAll({ queryKey: [name], type: 'active' }))
      this.#readings.moved(queryHash);
  }

  #heard(): void {
    clearTimeout(this.#silent);
    this.#silent = setTimeout(() => {
      this.#lost();
      if (this.#source !== null) this.#again(this.#source);
    }, SILENT_MS);
    if (this.#state.stream !== 'on') this.#set({ ...this.#state, stream: 'on', since: Date.now() });
  }

  #lost(): void {
    if (this.#state.stream !== 'lost') this.#set({ ...this.#state, stream: 'lost', since: Date.now() });
  }

  #set(state: LiveState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

export function useLive(live: Live): LiveState {
  return useSyncExternalStore(live.subscribe, live.state);
}
