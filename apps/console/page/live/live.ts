// What moved: services whose rows are others than before. Queries that begin with a service's name are read again.
import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { EDGES } from '../api/clients.js';
import type { EdgeName } from '../api/clients.js';
import { endedBy } from './ends.js';
import type { End, Ways, Who } from './ends.js';
import { Line } from './line.js';
import type { LineParts } from './line.js';
import { Readings } from './readings.js';

export interface LiveState {
  /** `ended`: nobody is signed in here any more. */
  readonly stream: 'connecting' | 'on' | 'lost' | 'ended';
  /** Since when it is so; epoch milliseconds. */
  readonly since: number;
  readonly away: readonly EdgeName[];
}

/** What moves all the time is read this often, and no sooner than it was answered. */
const READ_EVERY_MS = 100;

/** What a browser has for its pages together. */
export interface Browser {
  /** How far services had come before this page read anything; empty where nobody knows. */
  readonly start: string;
  readonly linePartsOf: (who: () => Promise<Who>) => LineParts;
  /** Hears what other pages of this browser say. */
  readonly onSaid: (hear: (said: unknown) => void) => void;
  readonly pause: (ms: number) => Promise<void>;
}

export class Live {
  #state: LiveState = { stream: 'connecting', since: Date.now(), away: [] };
  readonly #listeners = new Set<() => void>();
  readonly #readings: Readings;
  readonly #line: Line;
  /** Nobody is signed in, or signs out in this page, or the end of the session is being seen to. */
  #isLeaving = true;
  /** Another page said so, whatever this one was doing. */
  #isSignedOut = false;
  #onSignedOut: () => void = () => undefined;

  constructor(
    private readonly queries: QueryClient,
    private readonly ways: Omit<Ways, 'isSignedOut' | 'goOn' | 'stay'>,
    { start, linePartsOf, onSaid, pause }: Browser,
  ) {
    const cache = queries.getQueryCache();
    this.#readings = new Readings({
      read: async (hash) => {
        const query = cache.get(hash);
        if (query?.isActive() === true)
          await queries.refetchQueries({ queryKey: query.queryKey, exact: true }, { cancelRefetch: false });
      },
      isUnderWay: (hash) => cache.get(hash)?.state.fetchStatus === 'fetching',
      pause: () => pause(READ_EVERY_MS),
    });
    this.#line = new Line(start, linePartsOf(ways.who), {
      onHeard: (moved, away) => {
        this.#heard(moved, away);
      },
      onLost: () => {
        if (this.#state.stream !== 'ended') this.#turn('lost');
      },
      onEnded: (by) => void this.#over(by),
    });
    // From before anything is read: what moves after a reading is heard.
    onSaid((said) => {
      this.#line.hear(said);
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
    this.#isLeaving = false;
    this.#line.open();
  }

  close(): void {
    this.#isLeaving = true;
    this.#line.close();
  }

  /** The person signed out here: the other pages are told. */
  tellSignedOut(): void {
    this.#line.tellEnded('sign-out');
  }

  #heard(moved: readonly EdgeName[], away: readonly EdgeName[]): void {
    if (this.#isLeaving) return;
    // Another page hears something: somebody is signed in at this browser again.
    if (this.#state.stream === 'ended') {
      void this.#over('lost');
      return;
    }
    if (away.join() !== this.#state.away.join()) this.#set({ ...this.#state, away });
    this.#turn('on');
    for (const name of moved) this.#read(name);
  }

  async #over(by: End): Promise<void> {
    if (by === 'sign-out') {
      this.#isSignedOut = true;
      this.#onSignedOut();
    }
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#turn(by === 'sign-in' ? 'connecting' : 'ended');
    await endedBy(by, {
      ...this.ways,
      // Who signed out leaves nothing behind in a page that nobody looks at.
      seen: () => Promise.race([this.ways.seen(), new Promise<void>((resolve) => (this.#onSignedOut = resolve))]),
      isSignedOut: () => this.#isSignedOut,
      goOn: () => {
        this.#turn('connecting');
        this.open();
        for (const name of EDGES) this.#read(name);
      },
      stay: () => {
        this.#isLeaving = false;
        this.#turn('ended');
      },
    });
  }

  /** What nobody looks at is only marked; it is read when somebody does. */
  #read(name: EdgeName): void {
    void this.queries.invalidateQueries({ queryKey: [name], refetchType: 'none' });
    for (const { queryHash } of this.queries.getQueryCache().findAll({ queryKey: [name], type: 'active' }))
      this.#readings.moved(queryHash);
  }

  #turn(stream: LiveState['stream']): void {
    if (this.#state.stream !== stream) this.#set({ ...this.#state, stream, since: Date.now() });
  }

  #set(state: LiveState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

export function useLive(live: Live): LiveState {
  return useSyncExternalStore(live.subscribe, live.state);
}
