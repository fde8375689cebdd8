// The auditor at work: reads every partition on, signs what has grown, raises what is wrong.
//
// Boundary: one loop over ports; what a partition says of itself is its follower's business.
//
// Invariants
//   A1. A head is signed only after what it stands on was looked at again, so that a log which was set back is never signed on.
//   A2. Heads go to witnesses, then into the log, then into the file. A kill in between leaves a head that the next one extends.
//   A3. A partition in trouble holds up no other.
import { extendsHead, headText, noteText, treeName } from '@recourse/audit';
import type { NoteSignature, NoteSigner, SignedHead, TreeHead } from '@recourse/audit';
import { Failure } from '@recourse/kernel';
import { raisedRecord } from './book/head-book.js';
import type { BookRecord, HeadBook } from './book/head-book.js';
import { KeptHeads } from './book/kept-heads.js';
import type { FollowedPartition } from './follower/followed-partition.js';
import { alarmNews } from './rules/alarm/alarm.decisions.js';
import type { Alarm, Found } from './rules/alarm/alarm.messages.js';

/** Who signs with the auditor, having seen that the head extends the one before. */
export interface Witness {
  readonly name: string;
  /**
   * Asks for a cosignature. `proofFrom` proves that the head extends one of a size.
   *
   * Errors: Failure(WITNESS_REFUSED) when it has signed another head; any other when it does not answer.
   */
  cosign(head: SignedHead, proofFrom: (size: number) => readonly Buffer[] | null): Promise<NoteSignature>;
}

export interface AuditorOptions {
  readonly partitions: readonly FollowedPartition[];
  readonly book: HeadBook;
  readonly signer: NoteSigner;
  readonly witnesses: readonly Witness[];
  /** Keeps heads outside the cluster. */
  readonly keep: (heads: readonly SignedHead[]) => void;
  /** A partition is signed when it has grown by so many records, or at the latest after so many milliseconds. */
  readonly everyRecords: number;
  readonly everyMs: number;
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Resolves when there may be something to read. */
  readonly news: () => Promise<void>;
  readonly onTrouble: (what: string, cause: unknown) => void;
  readonly onSigned?: (heads: readonly SignedHead[]) => void;
  readonly onAlarm?: (alarm: Alarm) => void;
}

/** Least time between two looks at partitions that were quiet, and the most that news are waited for after it. */
const POLL_MS = 500;
const NEWS_WITHIN_MS = 1_000;

export class Auditor {
  readonly #stopped = new AbortController();
  readonly #trouble = new Map<string, string>();
  readonly #generations = new Map<string, number>();
  readonly #differing = new Map<string, Found>();
  readonly #lost = new Map<string, Found>();
  #told: ReadonlySet<string> = new Set();
  #isCaughtUp = false;
  #signedAt = 0;
  #loop: Promise<void> = Promise.resolve();

  constructor(private readonly options: AuditorOptions) {}

  /**
   * Reads the log of heads from its beginning, and beside it the notes that are kept elsewhere, oldest first. Heads that the log lacks
   * were lost there, and are taken in; the longest of each log tells how many.
   *
   * Errors: those of the cluster.
   */
  async prepare(notes: Iterator<string>): Promise<void> {
    const { book, signer } = this.options;
    const kept = new KeptHeads({ notes, keys: [signer.key], onLost: (head) => this.#lose(head) });
    await book.readOn((head) => kept.stands(head));
    kept.end();
  }

  #lose(head: SignedHead): void {
    const { topic, partition, size } = head;
    this.options.book.learn(head);
    if (size < (this.#lost.get(treeName(head))?.seq ?? 0)) return;
    this.#lost.set(treeName(head), { kind: 'heads_lost', topic, partition, seq: size, offset: null });
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop;
  }

  health(): { readonly ready: boolean; readonly trouble: Readonly<Record<string, string>>; readonly alarms: number } {
    return {
      ready: this.#isCaughtUp && this.#trouble.size === 0,
      trouble: Object.fromEntries(this.#trouble),
      alarms: this.options.book.open.size,
    };
  }

  async #run(): Promise<void> {
    const { sleep, news } = this.options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const count = await this.turn().catch((cause: unknown) => {
        this.#note('auditor', cause);
        return 0;
      });
      if (count > 0) continue;
      await sleep(POLL_MS, signal);
      await Promise.race([news(), sleep(NEWS_WITHIN_MS, signal)]);
    }
  }

  /** Reads on once, signs what is due and raises what is new; answers how many records came. */
  async turn(): Promise<number> {
    const { book, partitions, everyMs, now } = this.options;
    await book.readOn();
    let count = 0;
    for (const partition of partitions) count += await this.#guarded(partition, () => this.#readOn(partition));
    const isDue = now() - this.#signedAt >= everyMs;
    const grown = partitions.filter((partition) => this.#isDue(partition, isDue));
    await this.#sign(grown);
    if (isDue) this.#signedAt = now();
    await this.#raise();
    this.#trouble.delete('auditor');
    this.#isCaughtUp = true;
    return count;
  }

  async #readOn(partition: FollowedPartition): Promise<number> {
    const { generation } = this.options.book.signed(partition);
    if (this.#generations.get(treeName(partition)) !== generation) {
      await partition.resume();
      this.#generations.set(treeName(partition), generation);
    }
    return partition.readOn();
  }

  /** Is it time, and is there anything new? Signed anew when time is up, whatever it grew by. */
  #isDue(partition: FollowedPartition, isTime: boolean): boolean {
    const last = this.options.book.signed(partition).heads.at(-1)?.size ?? 0;
    const grown = partition.tree.count - last;
    return isTime || grown >= this.options.everyRecords;
  }

  async #sign(partitions: readonly FollowedPartition[]): Promise<void> {
    const heads: SignedHead[] = [];
    for (const partition of partitions) {
      await this.#guarded(partition, () => partition.lookBack());
      const head = this.#offered(partition);
      if (head !== null) heads.push(await this.#signed(head, partition));
    }
    if (heads.length === 0) return;
    const record: BookRecord = {
      type: 'HeadsSigned',
      body: { heads: heads.map(({ topic, partition, size, note }) => ({ topic, partition, size, note })) },
    };
    if (!(await this.options.book.append([record]))) return;
    this.options.keep(heads);
    this.options.onSigned?.(heads);
  }

  /** A head that extends the last one and says more than it. */
  #offered(partition: FollowedPartition): TreeHead | null {
    const head = this.#trouble.has(treeName(partition)) ? null : partition.head(this.options.now());
    const last = this.options.book.signed(partition).heads.at(-1);
    if (head === null || last === undefined) return head;
    if (head.size <= last.size) return null;
    return extendsHead(last, head, last.size === 0 ? [] : partition.tree.consistency(last.size, head.size))
      ? head
      : null;
  }

  async #signed(head: TreeHead, { tree }: FollowedPartition): Promise<SignedHead> {
    const { signer, witnesses, now } = this.options;
    const text = headText(head);
    const own = signer.sign(text, Math.floor(now() / 1_000));
    const alone: SignedHead = { ...head, note: noteText({ text, signatures: [own] }) };
    const proofFrom = (size: number): readonly Buffer[] | null =>
      size > head.size ? null : size === 0 ? [] : tree.consistency(size, head.size);
    const asked = await Promise.all(witnesses.map((witness) => this.#cosigned(witness, alone, proofFrom)));
    const signatures = [own, ...asked.filter((one) => one !== null)];
    return { ...head, note: noteText({ text, signatures }) };
  }

  async #cosigned(
    witness: Witness,
    head: SignedHead,
    proofFrom: (size: number) => readonly Buffer[] | null,
  ): Promise<NoteSignature | null> {
    const { topic, partition, size } = head;
    const name = `${witness.name} ${treeName(head)}`;
    try {
      const signature = await witness.cosign(head, proofFrom);
      this.#trouble.delete(witness.name);
      this.#differing.delete(name);
      return signature;
    } catch (cause) {
      // It refuses every head from the first on: what it differs at does not move with each.
      if (cause instanceof Failure && cause.code === 'WITNESS_REFUSED' && !this.#differing.has(name))
        this.#differing.set(name, { kind: 'witness_differs', topic, partition, seq: size, offset: null });
      this.options.onTrouble(witness.name, cause);
      return null;
    }
  }

  async #raise(): Promise<void> {
    const { book, partitions, now, onAlarm } = this.options;
    const found = [
      ...partitions.flatMap((partition) => partition.found),
      ...this.#differing.values(),
      ...this.#lost.values(),
    ];
    const { open, closed } = book;
    const generationOf = (place: Pick<Found, 'topic' | 'partition'>): number => book.signed(place).generation;
    const { raised, over, told } = alarmNews(found, { open, closed, told: this.#told, generationOf }, now());
    this.#told = told;
    const records: BookRecord[] = [
      ...raised.map(raisedRecord),
      ...over.map((id): BookRecord => ({
        type: 'AlarmClosed',
        body: { alarm_id: id, by: 'service:auditor', reason: 'it is no longer so' },
      })),
    ];
    if (await book.append(records)) for (const alarm of raised) onAlarm?.(alarm);
  }

  async #guarded<T>(partition: FollowedPartition, work: () => Promise<T>): Promise<T | 0> {
    const name = treeName(partition);
    try {
      const result = await work();
      this.#trouble.delete(name);
      return result;
    } catch (cause) {
      this.#note(name, cause);
      return 0;
    }
  }

  #note(name: string, cause: unknown): void {
    this.#trouble.set(name, cause instanceof Failure ? cause.code : 'INTERNAL');
    this.options.onTrouble(name, cause);
  }
}
