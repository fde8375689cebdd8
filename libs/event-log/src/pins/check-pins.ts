// Makes the decisions of a packet again and says whether they come to the records that are there. Pure.
//
// Invariants
//   K1. What a pin says of records counts for nothing: they are found by their place, and are those whose bytes have the hash.
//   K2. Rows and entries that follow from records of the packet are folded from them; what a pin says of those is compared.
//   K3. What nothing in the packet shows is named beside the decision that rests on it. Nobody calls it proved.
//   K4. Under another policy or ceiling the first decision that comes out otherwise is the last that is told.
import { partitionForKey } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
import type { Decided, Doc, Input, ServiceCore } from '../service-core.js';
import { NotPinned } from './pin-state.js';
import type { RowSource, ViewSource } from './pin-state.js';
import type { Pin, PinnedEntry, PinnedRecord } from './pin.messages.js';
import { Folding, PinnedRows, toldBy } from './pinned-rows.js';
import type { Change, HeldRecord, WhatIf } from './pinned-rows.js';
import { compareRecords } from './compare.js';
import type { Compared, KeyedFields } from './compare.js';
import { NO_KEYS, onlyNamed } from './payload-keys.js';
import type { PayloadKeys } from './payload-keys.js';
import { remake } from './remake.js';
import type { Remade } from './remake.js';
import { sealedIn } from './wire-homes.js';
import { wireInput, withoutContents } from './wire-input.js';

export interface PinsToCheck {
  readonly core: ServiceCore;
  readonly codecs: Codecs;
  readonly keyed: KeyedFields;
  readonly partitions: number;
  /** Partitions of the logs of views; one where it is not told. */
  readonly viewPartitions?: Readonly<Record<string, number>>;
  /** Keys of all payloads in records and rows; none: what was sealed stays so. */
  readonly keys?: PayloadKeys;
  readonly records: readonly HeldRecord[];
  readonly pins: readonly Pin[];
  readonly whatIf?: WhatIf;
}

/** What of a packet is another than it says. */
export type PinDiffers =
  | 'REPLAY_INPUT_DIFFERS'
  | 'REPLAY_ORDER_DIFFERS'
  | 'REPLAY_ROW_DIFFERS'
  | 'REPLAY_VIEW_DIFFERS'
  | 'REPLAY_DECISION_DIFFERS';

const LACKS = [
  'input_missing',
  'record_missing',
  'read_missing',
  'payload_sealed',
  'payload_erased',
  'decider_failed',
] as const;

export interface CheckedPin {
  readonly records: readonly PinnedRecord[];
  readonly outcome: 'equal' | 'differs' | 'not_made';
  readonly code: PinDiffers | (typeof LACKS)[number] | null;
  /** The record at which it differs, and what of it: a field, a row, an entry. */
  readonly at: PinnedRecord | null;
  readonly field: string | null;
  /** What it rests on that no record of the packet shows. */
  readonly pinned: readonly string[];
  /** Under `whatIf`; null without. `decided`: what would have been, where that is another. */
  readonly otherwise: Otherwise | null;
}

export interface Otherwise {
  readonly outcome: 'unchanged' | 'diverged' | 'unknown';
  readonly at: PinnedRecord | null;
  readonly why: string | null;
  readonly decided: readonly Decided[];
  /** Something of what would have been another was read. */
  readonly isConcerned: boolean;
}

type Problem = Pick<CheckedPin, 'code' | 'field'> & { readonly at?: PinnedRecord };

/** Checks each pin, in their order. What a core throws over what a packet tells is said of the decision. */
export function checkPins(asked: PinsToCheck): readonly CheckedPin[] {
  const check = new PinsCheck(asked);
  return asked.pins.map((pin) => check.one(pin));
}

class PinsCheck {
  readonly #held: ReadonlyMap<string, HeldRecord>;
  readonly #partitions = new Map<number, Folding>();
  /** Last offset or seq of each input, by what decided on it. */
  readonly #inputs = new Map<string, number>();

  constructor(private readonly asked: PinsToCheck) {
    this.#held = new Map(asked.records.map((one) => [placeOf(one.place), one]));
  }

  one(pin: Pin): CheckedPin {
    const problem = this.#outOfOrder(pin);
    const standing = pin.records.map((place) => this.#find(place));
    const input = this.#inputOf(pin);
    const first = standing[0];
    if (problem !== null) return said(pin, problem);
    if (first === undefined || first === null || standing.includes(null))
      return said(pin, { code: 'record_missing', field: null });
    if ('code' in input) return said(pin, input);
    const rows = new PinnedRows(pin, this.#foldedBefore(pin));
    const strayRow = rows.stray();
    const stray =
      strayRow === null ? this.#strayEntry(pin) : ({ code: 'REPLAY_ROW_DIFFERS', field: strayRow } as const);
    if (stray !== null) return said(pin, stray);
    const there = standing.flatMap((one) => one ?? []);
    const remade = this.#remade(pin, input, { now: first.record.decidedAt, rows });
    return { ...this.#judged(pin, remade, there, rows), otherwise: this.#otherwise(pin, input, there, rows) };
  }

  #judged(pin: Pin, remade: Remade, there: readonly HeldRecord[], rows: PinnedRows): CheckedPin {
    if (remade.kind !== 'made') return said(pin, lackOf(remade));
    const { differs, taken, closed } = this.#compared(remade, there);
    if (closed !== null) return said(pin, lackOf({ kind: closed }));
    if (differs !== null) {
      const at = pin.records[differs.at];
      return said(pin, { code: 'REPLAY_DECISION_DIFFERS', field: differs.field, ...(at === undefined ? {} : { at }) });
    }
    return { ...said(pin, null), pinned: [...rows.pinned(), ...toldBy(pin), ...taken] };
  }

  #compared({ decided }: Extract<Remade, { readonly kind: 'made' }>, there: readonly HeldRecord[]): Compared {
    const { core, codecs, keyed, keys = NO_KEYS } = this.asked;
    return compareRecords(decided, there, { codecs, log: core.log, keyed, keys });
  }

  #otherwise(pin: Pin, input: Input, there: readonly HeldRecord[], rows: PinnedRows): Otherwise | null {
    const { whatIf } = this.asked;
    if (whatIf === undefined) return null;
    const other = { whatIf, isTouched: false };
    const remade = this.#remade(pin, input, { now: there[0]?.record.decidedAt ?? 0, rows: rows.under(other), other });
    const none = { at: null, why: null, decided: [], isConcerned: other.isTouched };
    const [first = null] = pin.records;
    const unknown = (lack: Problem & { readonly field: string }): Otherwise => ({
      ...none,
      outcome: 'unknown',
      at: first,
      why: lack.field,
    });
    if (remade.kind !== 'made') return unknown(lackOf(remade));
    const { differs, closed } = this.#compared(remade, there);
    if (closed !== null) return unknown(lackOf({ kind: closed }));
    if (differs === null) return { ...none, outcome: 'unchanged' };
    const at = pin.records[differs.at] ?? first;
    return { ...none, outcome: 'diverged', at, why: differs.field, decided: remade.decided.map(withoutContents) };
  }

  #remade(
    pin: Pin,
    input: Input,
    { now, rows, other }: { readonly now: number; readonly rows: PinnedRows; readonly other?: Change },
  ): Remade {
    const { core, partitions, keys = NO_KEYS } = this.asked;
    const views = this.#viewsOf(pin, other);
    const owns = (key: string): boolean => partitionForKey(key, partitions) === pin.partition;
    const named = new Set(pin.payloads.map(({ sha256 }) => sha256));
    // What would have been otherwise may open what was not opened.
    const opened = other === undefined ? onlyNamed(keys, named) : keys;
    return remake({ core, rows, views, keys: opened, now, partition: pin.partition, partitions, owns }, input);
  }

  #viewsOf(pin: Pin, other?: Change): ViewSource {
    const { core, viewPartitions = {} } = this.asked;
    return {
      entryOf: (view, key) => {
        const entry = pin.entries.find((one) => one.view === view && one.key === key);
        if (entry === undefined) throw new NotPinned(`the entry ${key} of ${view}`);
        return this.#entry(entry, other);
      },
      positionOf: (view, partition) => {
        const told = pin.positions.find((one) => one.view === view && one.partition === partition);
        if (told === undefined) throw new NotPinned(`the position of ${view}/${String(partition)}`);
        return told.seq;
      },
      partitionOf: (view, key) => {
        const topic = core.views.find(({ name }) => name === view)?.topic ?? '';
        return partitionForKey(key, viewPartitions[topic] ?? 1);
      },
    };
  }

  // Order ---------------------------------------------------------------------------------------------------------------

  /** Records in the order of their chain, inputs in that of their partitions and not beyond the position that Progress names (L3). */
  #outOfOrder({ partition, records, progress, input }: Pin): Problem | null {
    const order: Problem = { code: 'REPLAY_ORDER_DIFFERS', field: null };
    const seqs = records.map(({ seq }) => seq);
    const first = seqs[0] ?? 0;
    if (seqs.some((seq, at) => seq !== first + at) || progress.seq >= first) return order;
    if (this.#isPassed(`chain/${String(partition)}`, first)) return order;
    return input.source === 'timer' ? null : this.#inputOutOfOrder(partition, input, progress);
  }

  #inputOutOfOrder(
    partition: number,
    input: Exclude<Pin['input'], { readonly source: 'timer' }>,
    progress: PinnedRecord,
  ): Problem | null {
    const [topic, place] = input.source === 'log' ? [input.log, input.seq] : [input.topic, input.offset];
    const isPassed = this.#isPassed(`${String(partition)} of ${topic}/${String(input.partition)}`, place);
    const named = this.#find(progress)?.record;
    if (named?.type !== 'Progress') return { code: 'record_missing', field: 'Progress' };
    const cursors = named.body.cursors as readonly Doc[]; // as the schema of Progress has it
    const cursor = cursors.find((one) => one.topic === topic && one.partition === input.partition);
    const reached = input.source === 'log' ? Number(cursor?.seq) : Number(cursor?.offset) - 1;
    const isBeyond = cursor === undefined || place > reached;
    return isPassed || isBeyond ? { code: 'REPLAY_ORDER_DIFFERS', field: null } : null;
  }

  #isPassed(id: string, place: number): boolean {
    const before = this.#inputs.get(id) ?? -1;
    this.#inputs.set(id, Math.max(before, place));
    return place <= before;
  }

  // Inputs, rows, entries -----------------------------------------------------------------------------------------------

  #inputOf({ input, payloads, records }: Pin): Input | Problem {
    if (input.source === 'timer') {
      const { kind, group, key, dueAt } = input;
      return { source: 'timer', address: { kind, group, key }, dueAt };
    }
    const { codecs } = this.asked;
    if (input.source === 'wire')
      return (
        wireInput(input, codecs, sealedIn(payloads, this.#bodiesOf(records))) ?? {
          code: 'REPLAY_INPUT_DIFFERS',
          field: input.topic,
        }
      );
    const standing = this.#held.get(placeOf(input));
    if (standing === undefined) return { code: 'input_missing', field: placeOf(input) };
    const { record, whole: body, key, place } = standing;
    if (place.hash !== input.hash) return { code: 'REPLAY_INPUT_DIFFERS', field: placeOf(input) };
    const { log: topic, partition, seq } = place;
    return { source: 'log', topic, partition, offset: 0, key, type: record.type, body, seq, hash: record.hash };
  }

  #bodiesOf(places: readonly PinnedRecord[]): readonly Doc[] {
    return places.map((place) => this.#find(place)?.record.body ?? {});
  }

  #foldedBefore({ partition, records }: Pin): RowSource {
    const folding = this.#partitions.get(partition) ?? new Folding(this.asked, partition);
    this.#partitions.set(partition, folding);
    return folding.before(records[0]?.seq ?? 0);
  }

  #strayEntry({ entries }: Pin): Problem | null {
    const stray = entries.find((entry) => !entry.records.every((place) => this.#find(place) !== null));
    return stray === undefined ? null : { code: 'REPLAY_VIEW_DIFFERS', field: `${stray.view} ${stray.key}` };
  }

  #entry({ view, key, records }: PinnedEntry, other?: Change): Doc | undefined {
    const spec = this.asked.core.views.find(({ name }) => name === view);
    const entries = new Map<string, Doc>();
    for (const place of records) {
      const found = this.#find(place)?.record;
      if (found === undefined || spec === undefined || place.log !== spec.topic) continue;
      const instead = other?.whatIf.record(found) ?? null;
      if (instead !== null && other !== undefined) other.isTouched = true;
      for (const [name, doc] of spec.fold(instead ?? found, (one) => entries.get(one)))
        if (doc === null) entries.delete(name);
        else entries.set(name, doc);
    }
    return entries.get(key);
  }

  #find(place: PinnedRecord): HeldRecord | null {
    const standing = this.#held.get(placeOf(place));
    return standing?.place.hash === place.hash ? standing : null;
  }
}

function lackOf(remade: Exclude<Remade, { readonly kind: 'made' }>): Problem & { readonly field: string } {
  if (!('what' in remade))
    return { code: remade.kind, field: `a payload ${remade.kind === 'payload_erased' ? 'was erased' : 'is sealed'}` };
  return { code: remade.kind === 'not_pinned' ? 'read_missing' : 'decider_failed', field: remade.what };
}

function said({ records }: Pin, problem: Problem | null): CheckedPin {
  const none = { records, at: null, field: null, pinned: [], otherwise: null };
  if (problem === null) return { ...none, outcome: 'equal', code: null };
  const { code, field, at } = problem;
  const isLack = (LACKS as readonly (string | null)[]).includes(code);
  return { ...none, outcome: isLack ? 'not_made' : 'differs', code, field, at: at ?? records[0] ?? null };
}

const placeOf = ({ log, partition, seq }: PinnedRecord): string => `${log}/${String(partition)} seq ${String(seq)}`;
