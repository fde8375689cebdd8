// The notifier at work: one loop per partition that reads, one per endpoint that sends, one that looks at the database, one that tidies up.
//
// Boundary: runs the loops and says how they are; what each does is in its own file.
//
// Invariants
//   R1. Nothing is sent before every partition was read to the end seen at the start, or since it is read anew: what is over by then is told
//       to nobody. One that no reading on helps holds nobody up between two tries.
//   R2. A loop that fails says so, waits, and goes on; the others do not notice.
import { Failure } from '@recourse/kernel';
import type { EndpointSender } from './sender/endpoint-sender.js';
import type { LogFollower } from './follower/log-follower.js';
import type { NotifierStore } from './store/notifier-store.port.js';

export interface NotifierOptions {
  readonly followers: readonly { readonly name: string; readonly follower: Pick<LogFollower, 'readOn'> }[];
  readonly senders: readonly { readonly name: string; readonly sender: Pick<EndpointSender, 'sendDue'> }[];
  readonly store: Pick<NotifierStore, 'prune'>;
  /** Looks at the store, which quiet logs ask nothing. */
  readonly look: () => Promise<void>;
  readonly keepMs: number;
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Resolves when there may be something to read. */
  readonly news: () => Promise<void>;
  /** A loop failed; it goes on. */
  readonly onTrouble: (name: string, cause: unknown) => void;
}

export interface NotifierHealth {
  /** Every log was read to the end seen at the start, and none is in trouble. */
  readonly ready: boolean;
  /** Loops in trouble, with the code of what is in the way. */
  readonly trouble: Readonly<Record<string, string>>;
  /** The first of it, as every service names what is in its way. */
  readonly in_the_way: Trouble | null;
}

/** Why a loop does not go on. */
interface Trouble {
  readonly code: string;
  readonly detail: string;
}

/** How one loop does, in the words that every service has for it. */
export interface NotifierLoop {
  readonly state: 'catching_up' | 'ready' | 'waiting';
  /** Code of what is in the way; null while nothing is. */
  readonly problem: string | null;
}

/** Least time between two looks at what was quiet, and the most that news are waited for after it. */
const POLL_MS = 200;
const NEWS_WITHIN_MS = 1_000;
const TROUBLE_MS = 1_000;
/** As a service at rest looks at its database. */
const LOOK_EVERY_MS = 2_000;
const PRUNE_EVERY_MS = 3_600_000;

const BUG: Trouble = { code: 'INTERNAL', detail: 'the log of the notifier has the details' };

/** What is in the way of a log until a person does something: notices of all the others are not held for that long. */
const NEEDS_A_PERSON: readonly Failure['code'][] = [
  'LOG_CUT',
  'LOG_FRONT_CUT',
  'CHAIN_BROKEN',
  'CURSOR_OUT_OF_RANGE',
  'RECORD_UNREADABLE',
  'UNKNOWN_SCHEMA',
];

export class Notifier {
  readonly #stopped = new AbortController();
  readonly #trouble = new Map<string, Trouble>();
  readonly #behind: Set<string>;
  /** Those of them that are waited for. */
  readonly #awaited = new Set<string>();
  #loops: readonly Promise<void>[] = [];

  constructor(private readonly options: NotifierOptions) {
    this.#behind = new Set(options.followers.map(({ name }) => name));
    for (const name of this.#behind) this.#awaited.add(name);
  }

  start(): void {
    const { followers, senders, store, look, keepMs, now, sleep } = this.options;
    this.#loops = [
      ...followers.map(({ name, follower }) =>
        this.#run(
          name,
          () => this.#read(name, follower),
          (signal) => this.#untilNews(signal),
        ),
      ),
      ...senders.map(({ name, sender }) =>
        this.#run(
          name,
          () => (this.#awaited.size > 0 ? Promise.resolve(0) : sender.sendDue()),
          (signal) => sleep(POLL_MS, signal),
        ),
      ),
      this.#every(LOOK_EVERY_MS, 'database', look),
      this.#every(PRUNE_EVERY_MS, 'tidying', () => store.prune(now() - keepMs)),
    ];
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#loops);
  }

  health(): NotifierHealth {
    const [first] = this.#trouble;
    return {
      ready: this.#behind.size === 0 && this.#trouble.size === 0 && !this.#stopped.signal.aborted,
      trouble: Object.fromEntries([...this.#trouble].map(([name, { code }]) => [name, code])),
      in_the_way: first === undefined ? null : { code: first[1].code, detail: `${first[0]}: ${first[1].detail}` },
    };
  }

  loop(name: string): NotifierLoop {
    const problem = this.#trouble.get(name)?.code ?? null;
    if (problem !== null) return { state: 'waiting', problem };
    return { state: this.#behind.has(name) ? 'catching_up' : 'ready', problem };
  }

  /** Works without a pause while there is something to do. */
  async #run(name: string, work: () => Promise<number>, rest: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { sleep, onTrouble } = this.options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        const count = await work();
        this.#trouble.delete(name);
        if (count === 0) await rest(signal);
      } catch (cause) {
        this.#trouble.set(name, cause instanceof Failure ? cause : BUG);
        onTrouble(name, cause);
        await sleep(TROUBLE_MS, signal);
      }
    }
  }

  #every(ms: number, name: string, work: () => Promise<void>): Promise<void> {
    return this.#run(
      name,
      async () => {
        await work();
        return 0;
      },
      (signal) => this.options.sleep(ms, signal),
    );
  }

  async #untilNews(signal: AbortSignal): Promise<void> {
    const { sleep, news } = this.options;
    await sleep(POLL_MS, signal);
    await Promise.race([news(), sleep(NEWS_WITHIN_MS, signal)]);
  }

  /** A call that ended has read to the end seen when it began. */
  async #read(name: string, follower: Pick<LogFollower, 'readOn'>): Promise<number> {
    const isAwaited = (): void => {
      this.#behind.add(name);
      this.#awaited.add(name);
    };
    if (this.#behind.has(name)) isAwaited();
    try {
      const count = await follower.readOn(isAwaited);
      this.#behind.delete(name);
      this.#awaited.delete(name);
      return count;
    } catch (cause) {
      if (cause instanceof Failure && NEEDS_A_PERSON.includes(cause.code)) this.#awaited.delete(name);
      throw cause;
    }
  }
}
