// Which input each decision of a log was made from, and what it read: the log and its inputs, gone through as the loop went through them.
//
// Boundary: asks for records and decides by the core; writes and sends nothing, opens payloads by keys that it is given.
//
// Invariants
//   G1. A decision has a pin only where its core, given the pin alone, makes the very bytes that stand in the log.
//   G2. Inputs of one partition are taken in their order, between the two positions that the log's Progress names (L3).
import { partitionForKey } from '@recourse/kernel';
import { evolveAny, LOOP_COMMANDS } from '../fold.js';
import { inputId, InputQueue } from '../input-queue.js';
import type { PlacedRecord } from '../own-log.js';
import type { QueueItem } from '../queue-item.js';
import type { Owns } from '../service-core.js';
import type { StoredCursor } from '../store.port.js';
import { Making } from './making.js';
import type { Attempt, Waiting } from './making.js';
import type { Closed } from './payload-keys.js';
import { Lacking } from '../lacks.js';
import { FoldedRows, stateOver, WatchedRows } from './pin-state.js';
import type { Pin, PinnedRecord, Unpinned } from './pin.messages.js';
import type { PinSource } from './pin-source.js';
import { RowOrigins } from './row-origins.js';
import { pinnedWire } from './wire-input.js';

export interface Pinned {
  readonly pins: readonly Pin[];
  readonly unpinned: readonly Unpinned[];
}

const NOTHING_TOLD: Waiting['told'] = new Map();

type Matched =
  | { readonly kind: 'matched'; readonly attempt: Attempt; readonly count: number }
  | { readonly kind: 'none'; readonly closed: Closed | null };

interface Segment {
  readonly progress: PlacedRecord;
  readonly records: PlacedRecord[];
}

/** Records of the loop's own, which follow from no decision of a core. */
const LOOPS: ReadonlySet<string> = new Set([
  'ObligationResent',
  'RecordParked',
  'ParkedResolved',
  'RecordsRefused',
  'RecordRedirected',
  'PayloadsRead',
  'CutAccepted',
  'WireLossAccepted',
  'TimeAccepted',
]);

/** Pins of the decisions that made the records wanted. Errors: those of `read` and `log`; InvariantViolation of the fold. */
export async function pinDecisions(source: PinSource): Promise<Pinned> {
  return new LogPins(source).all();
}

class LogPins {
  readonly #rows = new FoldedRows();
  readonly #origins = new RowOrigins();
  readonly #cursors = new Map<string, StoredCursor>();
  readonly #making: Making;
  readonly #owns: Owns;
  readonly #unpinned: Unpinned[] = [];

  constructor(private readonly source: PinSource) {
    const { core, partition, partitionCountOf } = source;
    const partitions = partitionCountOf(core.log);
    this.#owns = (key) => partitionForKey(key, partitions) === partition;
    this.#making = new Making(source, { partitions, owns: this.#owns }, this.#rows, this.#origins);
  }

  async all(): Promise<Pinned> {
    let segment: Segment | null = null;
    for await (const records of this.source.log)
      for (const record of records) segment = await this.#next(segment, record);
    if (segment !== null) await this.#take(segment);
    return { pins: this.#making.pins(this.source.wanted), unpinned: this.#unpinned };
  }

  /** A Progress begins the next part of a batch. */
  async #next(segment: Segment | null, record: PlacedRecord): Promise<Segment | null> {
    if (record.type !== 'Progress') {
      segment?.records.push(record);
      return segment;
    }
    if (segment !== null) await this.#take(segment);
    return { progress: record, records: [] };
  }

  async #take({ progress, records }: Segment): Promise<void> {
    const { wanted } = this.source;
    const cursors = progress.body.cursors as readonly StoredCursor[];
    if (records.some(({ seq }) => wanted.has(seq))) await this.#attribute(progress, records, cursors);
    else for (const record of records) this.#fold(record);
    for (const cursor of cursors) this.#cursors.set(inputId(cursor.topic, cursor.partition), cursor);
  }

  /** Finds the input of each record of a part of a batch. */
  async #attribute(
    progress: PlacedRecord,
    records: readonly PlacedRecord[],
    cursors: readonly StoredCursor[],
  ): Promise<void> {
    const queues = await Promise.all(cursors.map((cursor) => this.#queueOf(cursor)));
    const waiting = queues.flatMap((queue) => (queue === null ? [] : [[...queue]]));
    await this.source.keys?.loadFor([records.map(({ body }) => body), ...waiting.flat().map(({ input }) => input)]);
    // What looked into a closed payload made an unknown number of the records that follow.
    let closed: Closed | null = null;
    for (let at = 0; at < records.length;) {
      const [first] = records.slice(at);
      if (first === undefined) return;
      const found = LOOPS.has(first.type) ? null : await this.#matched(waiting, records.slice(at));
      if (found?.kind === 'matched') {
        const made = records.slice(at, at + found.count);
        this.#making.pin(found.attempt, made, this.#placeOf(progress));
        for (const record of made) this.#fold(record);
        at += found.count;
        continue;
      }
      closed ??= found?.closed ?? null;
      if (this.source.wanted.has(first.seq)) {
        const why = closed ?? (queues.includes(null) ? 'input_missing' : 'not_matched');
        this.#unpinned.push({ record: this.#placeOf(first), why });
      }
      this.#fold(first);
      at += 1;
    }
  }

  /** As `#match`, with the keys that it lacks. Errors: Failure(KEY_STORE_UNAVAILABLE). */
  async #matched(waiting: Waiting[][], rest: readonly PlacedRecord[]): Promise<Matched> {
    for (;;) {
      try {
        return this.#match(waiting, rest);
      } catch (cause) {
        const { keys } = this.source;
        if (!(cause instanceof Lacking) || keys === undefined) throw cause;
        await keys.load(cause.lack.keys ?? []);
      }
    }
  }

  /** The first waiting input that decides the records that come next; inputs that decide nothing are passed over where none does. */
  #match(waiting: Waiting[][], rest: readonly PlacedRecord[]): Matched {
    const timers = this.#rows.due(rest[0]?.decidedAt ?? 0).map(({ kind, group, key, dueAt }): Waiting => {
      const address = { kind, group, key };
      const due = dueAt ?? 0;
      return {
        input: { source: 'timer', address, dueAt: due },
        pinned: { source: 'timer', ...address, dueAt: due },
        told: NOTHING_TOLD,
      };
    });
    let closed: Closed | null = null;
    for (;;) {
      let passed = false;
      for (const queue of [...waiting, [...timers]]) {
        const looked = this.#lookThrough(queue, rest);
        closed ??= looked.closed;
        if (looked.found !== null) return { kind: 'matched', ...looked.found };
      }
      for (const queue of waiting)
        if (queue[0] !== undefined && this.#making.isIdle(queue[0], rest[0]?.decidedAt ?? 0)) {
          queue.shift();
          passed = true;
        }
      if (!passed) return { kind: 'none', closed };
    }
  }

  /** Up to the first of a queue that can be decided: what cannot may have made the records between. */
  #lookThrough(
    queue: Waiting[],
    rest: readonly PlacedRecord[],
  ): { readonly found: { readonly attempt: Attempt; readonly count: number } | null; readonly closed: Closed | null } {
    let closed: Closed | null = null;
    for (const [index, one] of queue.entries()) {
      const tried = this.#making.try(one, rest);
      if (tried.kind === 'matched') {
        queue.splice(0, index + 1);
        return { found: { attempt: tried.attempt, count: tried.count }, closed };
      }
      if (tried.kind !== 'other') closed ??= tried.kind;
      else if (one.input.source !== 'timer') break;
    }
    return { found: null, closed };
  }

  /** What lies between the last position of an input and this one, judged as the loop judges it; null where it is no more. */
  async #queueOf(cursor: StoredCursor): Promise<readonly Waiting[] | null> {
    const { core, codecs, logId, partitionCountOf } = this.source;
    const { topic, partition, offset } = cursor;
    const input = core.inputs.find((spec) => spec.topic === topic);
    const before = this.#cursors.get(inputId(topic, partition));
    const from = before?.offset ?? 0;
    if (input === undefined || from >= offset) return [];
    const batches = await this.source.read({ input, partition }, from, offset);
    if (batches === null) return null;
    const queue = new InputQueue({ inputs: core.inputs, codecs, logId, partitionCountOf, owns: this.#owns });
    queue.reset([{ topic, partition }], before === undefined ? [] : [before]);
    for (const batch of batches) queue.offer(batch);
    await queue.prepare(Infinity);
    const waiting: Waiting[] = [];
    for (const item of queue.peek(Infinity))
      if (item.cursor.offset <= offset) waiting.push(...(await this.#waitingIn(item)));
    return waiting;
  }

  async #waitingIn({ what }: QueueItem): Promise<readonly Waiting[]> {
    if (what.kind !== 'record' || LOOP_COMMANDS.has(what.input.type)) return [];
    const { input, raw } = what;
    if (input.source === 'log') {
      const { topic: log, partition, seq, hash } = input;
      const pinned = { source: 'log', log, partition, seq, hash: hash.toString('hex') } as const;
      return [{ input, pinned, told: NOTHING_TOLD }];
    }
    const { pinned, payloads } = await pinnedWire(input, raw.value ?? Buffer.alloc(0), this.source.codecs);
    return [{ input, pinned, told: payloads }];
  }

  #fold(record: PlacedRecord): void {
    const watched = new WatchedRows(this.#rows);
    const changes = evolveAny(this.source.core, stateOver(watched, this.source.core.kinds), record);
    this.#origins.fold(record.seq, watched, changes, this.#rows);
    this.#rows.apply(changes);
  }

  #placeOf({ seq, hash }: PlacedRecord): PinnedRecord {
    return { log: this.source.core.log, partition: this.source.partition, seq, hash: hash.toString('hex') };
  }
}
