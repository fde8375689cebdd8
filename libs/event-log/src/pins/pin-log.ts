// Which input each decision of a log was made from, and what it read: the log and its inputs, gone through as the loop went through them.
//
// Boundary: asks for records and decides by the core; writes and sends nothing, opens no payload.
//
// Invariants
//   G1. A decision has a pin only where its core, given the pin alone, makes the very bytes that stand in the log.
//   G2. Inputs of one partition are taken in their order, between the two positions that the log's Progress names (L3).
import { partitionForKey } from '@recourse/kernel';
import { evolveAny, LOOP_COMMANDS } from '../fold.js';
import { inputId, InputQueue } from '../input-queue.js';
import type { PlacedRecord } from '../own-log.js';
import type { QueueItem } from '../queue-item.js';
import type { Input, Owns } from '../service-core.js';
import type { StoredCursor } from '../store.port.js';
import { Making } from './making.js';
import type { Attempt } from './making.js';
import { FoldedRows, stateOver, WatchedRows } from './pin-state.js';
import type { Pin, PinnedInput, PinnedRecord, Unpinned } from './pin.messages.js';
import type { PinSource } from './pin-source.js';
import { RowOrigins } from './row-origins.js';
import { pinnedWire, wireInput } from './wire-input.js';

export interface Pinned {
  readonly pins: readonly Pin[];
  readonly unpinned: readonly Unpinned[];
}

/** One record of an input that waits to be taken. */
interface Waiting {
  readonly input: Input;
  readonly pinned: PinnedInput;
}

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
    // What looked into a payload made an unknown number of the records that follow.
    let isSealed = false;
    for (let at = 0; at < records.length;) {
      const [first] = records.slice(at);
      if (first === undefined) return;
      const found = LOOPS.has(first.type) ? null : this.#match(waiting, records.slice(at));
      if (found?.kind === 'matched') {
        const made = records.slice(at, at + found.count);
        this.#making.pin(found.attempt, made, this.#placeOf(progress));
        for (const record of made) this.#fold(record);
        at += found.count;
        continue;
      }
      isSealed ||= found?.isSealed === true;
      if (this.source.wanted.has(first.seq)) {
        const why = isSealed ? 'payload_sealed' : queues.includes(null) ? 'input_missing' : 'not_matched';
        this.#unpinned.push({ record: this.#placeOf(first), why });
      }
      this.#fold(first);
      at += 1;
    }
  }

  /** The first waiting input that decides the records that come next; inputs that decide nothing are passed over where none does. */
  #match(
    waiting: Waiting[][],
    rest: readonly PlacedRecord[],
  ):
    | { readonly kind: 'matched'; readonly attempt: Attempt; readonly count: number }
    | { readonly kind: 'none'; readonly isSealed: boolean } {
    const timers = this.#rows.due(rest[0]?.decidedAt ?? 0).map(({ kind, group, key, dueAt }): Waiting => {
      const address = { kind, group, key };
      const due = dueAt ?? 0;
      return {
        input: { source: 'timer', address, dueAt: due },
        pinned: { source: 'timer', ...address, dueAt: due },
      };
    });
    let isSealed = false;
    for (;;) {
      let passed = false;
      for (const queue of [...waiting, [...timers]]) {
        const looked = this.#lookThrough(queue, rest);
        isSealed ||= looked.isSealed;
        if (looked.found !== null) return { kind: 'matched', ...looked.found };
      }
      for (const queue of waiting)
        if (queue[0] !== undefined && this.#making.isIdle(queue[0].input, rest[0]?.decidedAt ?? 0)) {
          queue.shift();
          passed = true;
        }
      if (!passed) return { kind: 'none', isSealed };
    }
  }

  /** Up to the first of a queue that can be decided: what cannot may have made the records between. */
  #lookThrough(
    queue: Waiting[],
    rest: readonly PlacedRecord[],
  ): { readonly found: { readonly attempt: Attempt; readonly count: number } | null; readonly isSealed: boolean } {
    let isSealed = false;
    for (const [index, one] of queue.entries()) {
      const tried = this.#making.try(one, rest);
      if (tried.kind === 'matched') {
        queue.splice(0, index + 1);
        return { found: { attempt: tried.attempt, count: tried.count }, isSealed };
      }
      isSealed ||= tried.kind === 'payload_sealed';
      if (tried.kind === 'other' && one.input.source !== 'timer') break;
    }
    return { found: null, isSealed };
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
      return [{ input, pinned: { source: 'log', log, partition, seq, hash: hash.toString('hex') } }];
    }
    const { codecs } = this.source;
    const pinned = await pinnedWire(input, raw.value ?? Buffer.alloc(0), codecs);
    const read = wireInput(pinned, codecs);
    return read === null ? [] : [{ input: read, pinned }];
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
