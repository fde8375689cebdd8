// What is told of a partition that is followed: that it has no answer, that a transaction holds it, and that it goes on.
//
// Boundary: knows no broker and asks nothing; whoever follows says what came, and obeys how long to rest.
//
// Invariants
//   H1. Every trouble that was told of is taken back by the next answer, wherever its owner stands by then.
//   H2. What passes by itself mostly, such as a leader that moves, is told of once it lasts; all else at once.
import { Failure } from '@recourse/kernel';
import type { TopicPartition } from '../kafka.port.js';
import type { FetcherHandlers, FetchTerms } from './fetch-terms.kafka.js';

/** A broker answers a fetch within its wait; one that is silent for so long is away, or as good as that. */
export const SILENT_MS = 3_000;
/** Above what a transaction of an exactly-once client takes. */
const HELD_MS = 30_000;
const FIRST_REST_MS = 50;
/** Longest rest before a partition that has no answer is asked for again. */
const REST_MAX_MS = 1_000;
/** Of a broker that is away or leads it no more; a topic that was just made is not known everywhere either. */
const PASSING: ReadonlySet<Failure['code']> = new Set(['BROKER_UNAVAILABLE', 'TOPIC_MISSING']);

/** Is that over soon, mostly, and where another broker is asked? */
export function mayPass({ code }: Failure): boolean {
  return PASSING.has(code);
}

export class PartitionHealth {
  #isTroubled = false;
  /** Since when an open transaction has held it, monotonic milliseconds; null when none does. */
  #heldSince: number | null = null;
  /** Since when it has had no answer, monotonic milliseconds; null when its last fetch had one. */
  #unansweredSince: number | null = null;
  #failures = 0;

  constructor(
    private readonly at: TopicPartition,
    private readonly terms: Pick<FetchTerms, 'silentMs' | 'heldMs'>,
    private readonly tell: FetcherHandlers['onTrouble'],
  ) {}

  /** Its fetch has an answer. Answers how long to rest, milliseconds. `heldAt`: offset from which on a transaction holds it; null where none does. */
  answered(heldAt: number | null, now: number): number {
    this.#unansweredSince = null;
    this.#failures = 0;
    const held = this.#heldLong(heldAt, now);
    this.#say(held);
    return held === null ? 0 : REST_MAX_MS;
  }

  /** Its fetch is waited for still. */
  silent(ms: number): void {
    this.#say(new Failure('BROKER_UNAVAILABLE', `no answer to a fetch for ${String(ms)} ms`));
  }

  /** Its fetch, which began at `askedAt`, has no answer. Answers how long to rest, milliseconds. */
  unanswered(cause: Failure, askedAt: number, now: number): number {
    this.#unansweredSince ??= askedAt;
    this.#failures += 1;
    const { silentMs = SILENT_MS } = this.terms;
    if (!mayPass(cause) || this.#isTroubled || now - this.#unansweredSince >= silentMs) this.#say(cause);
    return mayPass(cause) ? Math.min(REST_MAX_MS, FIRST_REST_MS * 2 ** Math.min(this.#failures, 10)) : REST_MAX_MS;
  }

  /** Transactions are short, mostly, and nobody is told of those. */
  #heldLong(heldAt: number | null, now: number): Failure | null {
    this.#heldSince = heldAt === null ? null : (this.#heldSince ?? now);
    const { heldMs = HELD_MS } = this.terms;
    if (this.#heldSince === null || now - this.#heldSince < heldMs) return null;
    const { topic, partition } = this.at;
    const at = `${topic}/${String(partition)}@${String(heldAt)}`;
    return new Failure('TRANSACTION_OPEN', `${at}: a transaction has been open for ${String(heldMs)} ms or longer`);
  }

  #say(cause: Failure | null): void {
    if (cause !== null || this.#isTroubled) this.tell(this.at, cause);
    this.#isTroubled = cause !== null;
  }
}
