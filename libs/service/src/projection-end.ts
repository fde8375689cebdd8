// Says whether rows have reached what their log holds, or a wire before it: a row that is missing may only not be there yet (P2).
//
// A database that was killed comes back without its last transactions, and a projection is always some milliseconds behind its
// log. Who was told that a thing is recorded must not hear then that there is no such thing.
//
// Invariants
//   E1. The end is the log's, asked after the row was missed; no loop's memory is trusted: this process may not own the partition.
//   E2. Void records at the end are nothing to wait for.
//   E3. A database that lost what this process projected is told to its loop at once: a loop at rest would look in a minute.
//   E4. What a wire held when it was asked about is taken once the cursor in the rows is behind it; whoever has an acknowledgement
//       of the broker finds what came of it then. Each place of a wire that is passed is said, within a second where it leads to nothing (L3).
//   E5. A look has a reader of its own while it runs, and closes it where it fails: no look ends because another one was slow. Those who
//       ask for one end while it is looked at share the next look, never one that began before they asked.
import { setTimeout as pause } from 'node:timers/promises';
import { genesisHead, judge, readHead } from '@recourse/chain';
import type { Head } from '@recourse/chain';
import type { PartitionLoop, ProjectedHead } from '@recourse/event-log';
import { handsOutNothing, within } from '@recourse/kafka';
import type { RawReader } from '@recourse/kafka';
import { partitionForKey } from '@recourse/kernel';
import type { ProjectedHere } from './running-service.js';
import { SharedLooks } from './shared-looks.js';

export interface ProjectionEndOptions {
  /** Opens a reader for a look that finds none at rest. Errors: Failure(BROKER_UNAVAILABLE). */
  readonly reader: () => Promise<RawReader>;
  readonly partitionCount: (log: string) => Promise<number>;
  /** Head of the projection as the database holds it. Errors: Failure(DATABASE_UNAVAILABLE). */
  readonly head: (log: string, partition: number) => Promise<ProjectedHead | null>;
  /** What this process has projected of a partition, and how to have it read anew; null for what it does not own. */
  readonly projectedHere: (log: string, partition: number) => ProjectedHere | null;
  readonly logId: string;
  /** Longest wait for the end of a log, milliseconds. Default 1,000. */
  readonly patienceMs?: number;
  /** Longest wait for what a wire held, milliseconds. Default 3,000. */
  readonly wirePatienceMs?: number;
  /** How long broker and database have for their answers besides, milliseconds. Default 4,000. */
  readonly answerWithinMs?: number;
  readonly sleep?: (ms: number) => Promise<void>;
}

const PATIENCE_MS = 1_000;
/** Above the second after which a loop says that it passed what led to nothing (L3). */
const WIRE_PATIENCE_MS = 3_000;
const ANSWER_WITHIN_MS = 4_000;
const POLL_MS = 20;

/** What was told about one thing: it lies in one partition of the wire, and in that of the log. */
export interface ToldOn {
  readonly wire: string;
  readonly key: string;
}

interface ToldIn {
  readonly wire: string;
  readonly partition: number;
}

/** Is somewhere what was there when it was asked about? */
type IsThere = () => Promise<boolean>;

export class ProjectionEnd {
  private readonly looks = new SharedLooks<boolean>();
  /** Of the last look that succeeded; the next one takes it. */
  private atRest: RawReader | undefined;
  private isClosed = false;

  constructor(private readonly options: ProjectionEndOptions) {}

  /**
   * Waits until the rows of every partition hold what the log holds now; of what was told on a wire, until those of its partition hold
   * what came of all that the wire holds now. False when patience ends first. Errors: Failure of broker or database.
   */
  async isReached(log: string, told?: ToldOn): Promise<boolean> {
    const { patienceMs = PATIENCE_MS, wirePatienceMs = WIRE_PATIENCE_MS } = this.options;
    if (told === undefined)
      return this.looks.of(log, () =>
        this.inTime((reader) => this.endOf(reader, log), patienceMs, `the end of ${log}`),
      );
    const { wire, key } = told;
    const { partitionCount, answerWithinMs = ANSWER_WITHIN_MS } = this.options;
    const partition = partitionForKey(key, await within(partitionCount(wire), answerWithinMs, `partitions of ${wire}`));
    return this.looks.of(`${log} ${wire} ${String(partition)}`, () =>
      this.inTime((reader) => this.endOn(reader, log, { wire, partition }), wirePatienceMs, `the end of ${wire}`),
    );
  }

  /** Looks under way go on to their end, and close their readers then. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.taken()?.close();
  }

  private async inTime(
    asked: (reader: RawReader) => Promise<IsThere>,
    patienceMs: number,
    what: string,
  ): Promise<boolean> {
    const { answerWithinMs = ANSWER_WITHIN_MS } = this.options;
    const atRest = this.taken();
    const reading = atRest ? Promise.resolve(atRest) : this.options.reader();
    const reached = reading.then(async (reader) => this.waits(await asked(reader), patienceMs));
    try {
      const isReached = await within(reached, patienceMs + answerWithinMs, what);
      this.rest(await reading);
      return isReached;
    } catch (error) {
      void reading.then(closed).catch(() => undefined);
      throw error;
    }
  }

  private taken(): RawReader | undefined {
    const reader = this.atRest;
    this.atRest = undefined;
    return reader;
  }

  private rest(reader: RawReader): void {
    if (this.isClosed || this.atRest) closed(reader);
    else this.atRest = reader;
  }

  private async waits(isThere: IsThere, patienceMs: number): Promise<boolean> {
    const { sleep = pause } = this.options;
    for (let waitedMs = 0; ; waitedMs += POLL_MS) {
      if (await isThere()) return true;
      if (waitedMs >= patienceMs) return false;
      await sleep(POLL_MS);
    }
  }

  private async endOf(reader: RawReader, log: string): Promise<IsThere> {
    const count = await this.options.partitionCount(log);
    let behind = await this.ends(reader, log, count);
    return async () => {
      behind = await this.stillBehind(reader, log, count, behind);
      return behind.size === 0;
    };
  }

  private async endOn(reader: RawReader, log: string, { wire, partition }: ToldIn): Promise<IsThere> {
    const { high } = await reader.range(wire, partition);
    return async () => {
      const cursors = (await this.headOf(log, partition))?.cursors ?? [];
      const cursor = cursors.find((one) => one.topic === wire && one.partition === partition);
      return (cursor?.offset ?? 0) >= high;
    };
  }

  /** Offset of the next record, by partition. */
  private async ends(reader: RawReader, log: string, count: number): Promise<ReadonlyMap<number, number>> {
    const ends = new Map<number, number>();
    for (let partition = 0; partition < count; partition += 1)
      ends.set(partition, (await reader.range(log, partition)).high);
    return ends;
  }

  private async stillBehind(
    reader: RawReader,
    log: string,
    partitionCount: number,
    ends: ReadonlyMap<number, number>,
  ): Promise<ReadonlyMap<number, number>> {
    const behind = new Map<number, number>();
    for (const [partition, end] of ends) {
      const projected = await this.headOf(log, partition);
      const head = projected ?? {
        ...genesisHead({ logId: this.options.logId, topic: log, partition, partitionCount }),
        offset: 0,
      };
      if (head.offset < end && (await holdsMore(reader, { log, partition, end }, head))) behind.set(partition, end);
    }
    return behind;
  }

  private async headOf(log: string, partition: number): Promise<ProjectedHead | null> {
    // Asked before the database, which may only be ahead of it then, unless it lost something.
    const here = this.options.projectedHere(log, partition);
    const head = await this.options.head(log, partition);
    if (here !== null && (head?.seq ?? 0) < here.seq) here.readAnew();
    return head;
  }
}

/** Its closing may hang like its answer: nobody waits for it. */
function closed(reader: RawReader): void {
  void reader.close().catch(() => undefined);
}

/** What the loops of a process have projected of a partition; null where none of them owns it, or it is reading its log anew. */
export function projectedIn(
  loops: readonly Pick<PartitionLoop, 'health' | 'reset'>[],
  log: string,
  partition: number,
): ProjectedHere | null {
  for (const loop of loops) {
    const { log: own, partition: at, state, projectedSeq } = loop.health();
    if (own === log && at === partition)
      return state === 'ready' || state === 'waiting'
        ? {
            seq: projectedSeq,
            readAnew: () => {
              loop.reset();
            },
          }
        : null;
  }
  return null;
}

interface Tail {
  readonly log: string;
  readonly partition: number;
  readonly end: number;
}

/** Is there a record between a head and the end that the acceptance rule takes? The first two fields of each tell. */
async function holdsMore(
  reader: RawReader,
  { log, partition, end }: Tail,
  head: Head & Pick<ProjectedHead, 'offset'>,
): Promise<boolean> {
  for (let offset = head.offset; offset < end;) {
    const { records, nextOffset } = await reader.read(log, partition, offset);
    if (nextOffset <= offset) throw handsOutNothing({ topic: log, partition }, offset);
    for (const { key, value } of records) {
      const next = key === null ? null : readHead(value);
      if (next !== null && judge(head, next) === 'accepted') return true;
    }
    offset = nextOffset;
  }
  return false;
}
