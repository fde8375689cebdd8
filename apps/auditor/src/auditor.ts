// The auditor at work: reads every partition on, signs what has grown, raises what is wrong.
//
// Boundary: one loop over ports; what a partition says of itself is its follower's business.
//
// Invariants
//   A1. A head is signed only after what it stands on was looked at again, so that a log which was set back is never signed on.
//   A2. Heads go to witnesses, then into the log, then into the file. A kill in between leaves a head that the next one extends.
//   A3. A partition in trouble holds up no other, and a witness that is silent no more than one answer of a turn.
//   A4. How often it signs is measured by a clock that nobody sets.
//   A5. A head that a witness did not sign is published again once it has.
import { AUDITOR_ACTOR, extendsHead, headText, noteText, treeName } from '@recourse/audit';
import type { HashTree, NoteSigner, SignedHead, TreeHead } from '@recourse/audit';
import { Failure } from '@recourse/kernel';
import type { Clock } from '@recourse/kernel';
import { closedBody, raisedBody } from './book/alarm-record.js';
import type { BookRecord, HeadBook } from './book/head-book.js';
import { KeptHeads } from './book/kept-heads.js';
import type { FollowedPartition } from './follower/followed-partition.js';
import { alarmNews } from './rules/alarm/alarm.decisions.js';
import type { Alarm, Found } from './rules/alarm/alarm.messages.js';
import type { Standing } from './standing.js';
import { Cosigners } from './witness/cosigners.js';
import type { Unwitnessed, Witness } from './witness/cosigners.js';

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
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
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
/** Least time between two rounds in which witnesses are asked for heads again that they did not sign. */
const ASK_AGAIN_MS = 10_000;
/** What trouble with the file of heads is told under. */
const KEPT = 'heads.notes';
/** Words of persons that one append takes, and what of the reason of each is said again: an append is bounded. */
const ACCEPTED_AT_ONCE = 100;
const REASON_MAX = 500;

export class Auditor {
  readonly #stopped = new AbortController();
  readonly #trouble = new Map<string, string>();
  /** In which generation each partition was taken up; none where it has to be taken up, or anew. */
  readonly #generations = new Map<string, number>();
  readonly #cosigners: Cosigners;
  readonly #lost = new Map<string, Found>();
  #told: ReadonlySet<string> = new Set();
  #isCaughtUp = false;
  /** By the clock that nobody sets. */
  #signedAt = -Infinity;
  #askedAgainAt = -Infinity;
  #loop: Promise<void> = Promise.resolve();

  constructor(private readonly options: AuditorOptions) {
    this.#cosigners = new Cosigners(options);
  }

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
    await kept.end();
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

  /** Ends with the partition that is being read; what it reads with may be closed at once. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop;
  }

  health(): Standing {
    return {
      ready: this.#isCaughtUp && this.#trouble.size === 0,
      trouble: Object.fromEntries([...this.#cosigners.trouble, ...this.#trouble]),
      alarms: this.options.book.alarms.open.size,
      witnesses: this.#cosigners.waits(),
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
    const { book, partitions, everyMs, clock } = this.options;
    await book.readOn();
    await this.#accept();
    let count = 0;
    for (const partition of partitions) {
      count += (await this.#guarded(partition, () => this.#readOn(partition))) ?? 0;
      if (this.#stopped.signal.aborted) return count;
    }
    const isDue = clock.monotonic() - this.#signedAt >= everyMs;
    const grown = partitions.filter((partition) => this.#isDue(partition, isDue));
    await this.#sign(grown);
    if (isDue) this.#signedAt = clock.monotonic();
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
    const fresh: Unwitnessed[] = [];
    for (const partition of partitions) {
      if (!this.#generations.has(treeName(partition))) continue;
      const head = await this.#guarded(partition, () => this.#offered(partition));
      if (head !== null) fresh.push(this.#signed(head, partition));
    }
    const asked = [...fresh, ...this.#lacking(new Set(fresh.map(({ head }) => treeName(head))))];
    if (asked.length === 0) return;
    const answered = await this.#cosigners.sign(asked);
    await this.#publish(answered.filter(({ note }, at) => at < fresh.length || note !== asked[at]?.head.note));
  }

  async #publish(heads: readonly SignedHead[]): Promise<void> {
    if (heads.length === 0) return;
    const record: BookRecord = {
      type: 'HeadsSigned',
      body: { heads: heads.map(({ topic, partition, size, note }) => ({ topic, partition, size, note })) },
    };
    if (!(await this.options.book.append([record]))) return;
    this.#keep(heads);
    this.options.onSigned?.(heads);
  }

  /** They stand in the log: a disk that takes none of them holds up no alarm. */
  #keep(heads: readonly SignedHead[]): void {
    try {
      this.options.keep(heads);
      this.#trouble.delete(KEPT);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      this.#note(KEPT, new Failure('HEADS_NOT_KEPT', `the disk of heads.notes takes none: ${why}`, { cause }));
    }
  }

  /**
   * Last heads that a witness did not sign, of logs other than these: one that does not grow would stay without. Where the log is no longer
   * what they say, nobody is asked.
   */
  #lacking(others: ReadonlySet<string>): readonly Unwitnessed[] {
    const { partitions, book, clock } = this.options;
    if (clock.monotonic() - this.#askedAgainAt < ASK_AGAIN_MS) return [];
    this.#askedAgainAt = clock.monotonic();
    return partitions.flatMap((partition) => {
      const [{ tree }, head] = [partition, book.signed(partition).heads.at(-1)];
      if (head === undefined || others.has(treeName(head)) || !this.#generations.has(treeName(head))) return [];
      return this.#cosigners.lacks(head) && isTreeOf(head, tree) ? [{ head, tree, givenUp: book.givenUp(head) }] : [];
    });
  }

  /** A head that extends the last one and says more than it. Errors: those of the cluster; Failure(TREE_DAMAGED). */
  async #offered(partition: FollowedPartition): Promise<TreeHead | null> {
    await partition.lookBack();
    const last = this.options.book.signed(partition).heads.at(-1);
    // Also where a clock that was ahead is put right.
    const head = partition.head(Math.max(this.options.clock.now(), last?.signedAt ?? 0));
    if (head === null || last === undefined) return head;
    if (head.size <= last.size) return null;
    if (extendsHead(last, head, last.size === 0 ? [] : partition.tree.consistency(last.size, head.size))) return head;
    throw new Failure('TREE_DAMAGED', `the stored tree of ${treeName(partition)} does not extend ${last.size} records`);
  }

  #signed(head: TreeHead, { tree }: FollowedPartition): Unwitnessed {
    const { signer, clock, book } = this.options;
    const text = headText(head);
    const signatures = [signer.sign(text, Math.floor(clock.now() / 1_000))];
    return { head: { ...head, note: noteText({ text, signatures }) }, tree, givenUp: book.givenUp(head) };
  }

  /** Signs what persons said of open alarms, which closes them. */
  async #accept(): Promise<void> {
    const { book } = this.options;
    const said = book.alarms.said.slice(0, ACCEPTED_AT_ONCE);
    await book.append(said.map(({ alarm_id: id, by, reason }) => this.#closing({ id, by, reason })));
  }

  #closing(said: { readonly id: string; readonly by: string; readonly reason: string }): BookRecord {
    const { book, signer } = this.options;
    const reason = said.reason.slice(0, REASON_MAX).toWellFormed();
    return {
      type: 'AlarmClosed',
      body: closedBody({ ...said, reason, at: book.now() }, { logId: book.logId, signer }),
    };
  }

  async #raise(): Promise<void> {
    const { book, partitions, clock, signer, onAlarm } = this.options;
    const found = [
      ...partitions.flatMap((partition) => partition.found),
      ...this.#cosigners.differing,
      ...this.#lost.values(),
    ];
    const { open, closed } = book.alarms;
    const generationOf = (place: Pick<Found, 'topic' | 'partition'>): number => book.signed(place).generation;
    const { raised, over, told } = alarmNews(found, { open, closed, told: this.#told, generationOf }, clock.now());
    this.#told = told;
    const denied = book.alarms.denied.filter(({ alarm_id: id }) => !over.includes(id));
    const by = { logId: book.logId, signer };
    const records = [
      ...raised.map((one): BookRecord => ({ type: 'AlarmRaised', body: raisedBody(one, by) })),
      ...denied.map((body): BookRecord => ({ type: 'AlarmRaised', body })),
      ...over.map((id) => this.#closing({ id, by: AUDITOR_ACTOR, reason: 'it is no longer so' })),
    ];
    if (!(await book.append(records))) return;
    const again = denied.flatMap(({ alarm_id: id }) => open.get(id) ?? []);
    for (const alarm of [...raised, ...again]) onAlarm?.(alarm);
  }

  async #guarded<T>(partition: FollowedPartition, work: () => Promise<T>): Promise<T | null> {
    const name = treeName(partition);
    try {
      const result = await work();
      this.#trouble.delete(name);
      return result;
    } catch (cause) {
      // What failed in the middle of a record left what is stored and what is known apart: it is taken up from what was signed.
      if (!(cause instanceof Failure) || cause.code === 'TREE_DAMAGED') this.#generations.delete(name);
      this.#note(name, cause);
      return null;
    }
  }

  #note(name: string, cause: unknown): void {
    if (this.#stopped.signal.aborted) return;
    this.#trouble.set(name, cause instanceof Failure ? cause.code : 'INTERNAL');
    this.options.onTrouble(name, cause);
  }
}

/** Not where the tree cannot be read, either: who follows the log tells of that. */
function isTreeOf({ size, root }: SignedHead, tree: HashTree): boolean {
  try {
    return tree.count >= size && tree.rootAt(size).equals(root);
  } catch {
    return false;
  }
}
