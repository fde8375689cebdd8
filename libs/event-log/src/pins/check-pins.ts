// Makes the decisions of a packet again and says whether they come to the records that are there. Pure.
//
// Invariants
//   K1. What a pin says of records counts for nothing: they are found by their place, and are those whose bytes have the hash.
//   K2. Rows and entries that follow from records of the packet are folded from them; what a pin says of those is compared.
//   K3. What nothing in the packet shows is named beside the decision that rests on it. Nobody calls it proved.
//   K4. Under another policy or ceiling the first decision that comes out otherwise is the last that is told.
import { partitionForKey } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
import { evolveAny } from '../fold.js';
import type { AcceptedRecord, Decided, Doc, Input, ServiceCore } from '../service-core.js';
import { FoldedRows, NotPinned, named, stateOver } from './pin-state.js';
import type { RowSource } from './pin-state.js';
import type { Pin, PinnedEntry, PinnedRecord } from './pin.messages.js';
import { compareRecords, firstDifference, remake } from './remake.js';
import type { KeyedFields, Remade, Standing } from './remake.js';
import { wireInput } from './wire-input.js';

/** A record of the packet whose bytes have its hash. */
export interface HeldRecord extends Standing {
  readonly place: PinnedRecord;
  /** With the fields that every record of a log begins with. */
  readonly whole: Doc;
}

/** How things would have been: nothing of it is in any log. */
export interface WhatIf {
  /** A record of the log of a view as it would have been; null where it would have been as it was. */
  readonly record: (record: AcceptedRecord) => AcceptedRecord | null;
  /** Likewise a row that is read. */
  readonly row: (kind: string, doc: Doc) => Doc | null;
}

export interface PinsToCheck {
  readonly core: ServiceCore;
  readonly codecs: Codecs;
  readonly keyed: KeyedFields;
  readonly partitions: number;
  readonly records: readonly HeldRecord[];
  readonly pins: readonly Pin[];
  readonly whatIf?: WhatIf;
}

export const PIN_CODES = [
  'REPLAY_INPUT_DIFFERS',
  'REPLAY_ORDER_DIFFERS',
  'REPLAY_ROW_DIFFERS',
  'REPLAY_VIEW_DIFFERS',
  'REPLAY_DECISION_DIFFERS',
] as const;
export const PIN_LACKS = ['input_missing', 'record_missing', 'read_missing', 'payload_sealed', 'decider_failed'] as const;

export interface CheckedPin {
  readonly records: readonly PinnedRecord[];
  readonly outcome: 'equal' | 'differs' | 'not_made';
  readonly code: (typeof PIN_CODES)[number] | (typeof PIN_LACKS)[number] | null;
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

/** Checks each pin, in their order. Errors: InvariantViolation of scope `partition`, of a core that breaks its own rules. */
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
    const rows = new PinnedRows(pin);
    const stray = rows.strayFrom(this.#foldedBefore(pin)) ?? this.#strayEntry(pin);
    if (stray !== null) return said(pin, stray);
    const there = standing.flatMap((one) => one ?? []);
    const remade = this.#remade(pin, input, first.record.decidedAt, rows);
    return { ...this.#judged(pin, remade, there, rows), otherwise: this.#otherwise(pin, input, there, rows) };
  }

  #judged(pin: Pin, remade: Remade, there: readonly HeldRecord[], rows: PinnedRows): CheckedPin {
    if (remade.kind !== 'made') return said(pin, lackOf(remade));
    const { core, codecs, keyed } = this.asked;
    const { differs, taken } = compareRecords(remade.decided, there, { codecs, log: core.log, keyed });
    if (differs !== null) {
      const at = pin.records[differs.at];
      return said(pin, { code: 'REPLAY_DECISION_DIFFERS', field: differs.field, ...(at === undefined ? {} : { at }) });
    }
    return { ...said(pin, null), pinned: [...rows.pinned(), ...taken] };
  }

  #otherwise(pin: Pin, input: Input, there: readonly HeldRecord[], rows: PinnedRows): Otherwise | null {
    const { whatIf, core, codecs, keyed } = this.asked;
    if (whatIf === undefined) return null;
    const touched = { is: false };
    const remade = this.#remade(pin, input, there[0]?.record.decidedAt ?? 0, rows, { whatIf, touched });
    const none = { at: null, why: null, decided: [], isConcerned: touched.is };
    const [first = null] = pin.records;
    if (remade.kind !== 'made') return { ...none, outcome: 'unknown', at: first, why: lackOf(remade).field };
    const { differs } = compareRecords(remade.decided, there, { codecs, log: core.log, keyed });
    if (differs === null) return { ...none, outcome: 'unchanged' };
    const at = pin.records[differs.at] ?? first;
    return { ...none, outcome: 'diverged', at, why: differs.field, decided: remade.decided };
  }

  #remade(
    pin: Pin,
    input: Input,
    now: number,
    rows: PinnedRows,
    other?: { readonly whatIf: WhatIf; readonly touched: { is: boolean } },
  ): Remade {
    const { core, partitions } = this.asked;
    const entryOf = (view: string, key: string): Doc | undefined => {
      const entry = pin.entries.find((one) => one.view === view && one.key === key);
      if (entry === undefined) throw new NotPinned(`the entry ${key} of ${view}`);
      return this.#entry(entry, other);
    };
    const owns = (key: string): boolean => partitionForKey(key, partitions) === pin.partition;
    const read = other === undefined ? rows : rows.under(other.whatIf, other.touched);
    return remake({ core, rows: read, entryOf, now, partition: pin.partition, partitions, owns }, input);
  }

  // Order ---------------------------------------------------------------------------------------------------------------

  /** Records in the order of their chain, inputs in that of their partitions and not beyond the position that Progress names (L3). */
  #outOfOrder({ partition, records, progress, input }: Pin): Problem | null {
    const order: Problem = { code: 'REPLAY_ORDER_DIFFERS', field: null };
    const seqs = records.map(({ seq }) => seq);
    const first = seqs[0] ?? 0;
    if (seqs.some((seq, at) => seq !== first + at) || progress.seq >= first) return order;
    if (this.#isPassed(`chain/${String(partition)}`, first)) return order;
    if (input.source === 'timer') return null;
    const [topic, place] = input.source === 'log' ? [input.log, input.seq] : [input.topic, input.offset];
    const id = `${String(partition)} of ${topic}/${String(input.partition)}`;
    if (this.#isPassed(id, place)) return order;
    const named = this.#find(progress)?.record;
    if (named?.type !== 'Progress') return { code: 'record_missing', field: 'Progress' };
    const cursors = named.body.cursors as readonly Doc[]; // as the schema of Progress has it
    const cursor = cursors.find((one) => one.topic === topic && one.partition === input.partition);
    const reached = input.source === 'log' ? Number(cursor?.seq) : Number(cursor?.offset) - 1;
    return cursor === undefined || place > reached ? order : null;
  }

  #isPassed(id: string, place: number): boolean {
    const before = this.#inputs.get(id) ?? -1;
    this.#inputs.set(id, Math.max(before, place));
    return place <= before;
  }

  // Inputs, rows, entries -----------------------------------------------------------------------------------------------

  #inputOf({ input }: Pin): Input | Problem {
    if (input.source === 'timer') {
      const { kind, group, key, dueAt } = input;
      return { source: 'timer', address: { kind, group, key }, dueAt };
    }
    if (input.source === 'wire')
      return wireInput(input, this.asked.codecs) ?? { code: 'REPLAY_INPUT_DIFFERS', field: input.topic };
    const standing = this.#held.get(placeOf(input));
    if (standing === undefined) return { code: 'input_missing', field: placeOf(input) };
    const { record, whole: body, key, place } = standing;
    if (place.hash !== input.hash) return { code: 'REPLAY_INPUT_DIFFERS', field: placeOf(input) };
    const { log: topic, partition, seq } = place;
    return { source: 'log', topic, partition, offset: 0, key, type: record.type, body, seq, hash: record.hash };
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

  #entry(
    { view, key, records }: PinnedEntry,
    other?: { readonly whatIf: WhatIf; readonly touched: { is: boolean } },
  ): Doc | undefined {
    const spec = this.asked.core.views.find(({ name }) => name === view);
    const entries = new Map<string, Doc>();
    for (const place of records) {
      const found = this.#find(place)?.record;
      if (found === undefined || spec === undefined || place.log !== spec.topic) continue;
      const instead = other?.whatIf.record(found) ?? null;
      if (instead !== null && other !== undefined) other.touched.is = true;
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

/** Rows that the records of a packet make, record by record. */
class Folding {
  readonly #rows = new FoldedRows();
  readonly #rest: HeldRecord[];

  constructor(
    private readonly asked: Pick<PinsToCheck, 'core' | 'records'>,
    partition: number,
  ) {
    this.#rest = asked.records
      .filter(({ place }) => place.log === asked.core.log && place.partition === partition)
      .sort((a, b) => a.place.seq - b.place.seq);
  }

  before(seq: number): RowSource {
    const { core } = this.asked;
    for (let next = this.#rest[0]; next !== undefined && next.place.seq < seq; next = this.#rest[0]) {
      this.#rest.shift();
      try {
        this.#rows.apply(evolveAny(core, stateOver(this.#rows, core.kinds), next.record));
      } catch {
        // It changes rows that the packet does not hold: what is read of them is told, not folded.
        continue;
      }
    }
    return this.#rows;
  }
}

/** The rows that a pin tells. What it does not tell was not read: a decision that reads it now is another. */
class PinnedRows implements RowSource {
  readonly #groups: ReadonlyMap<string, Pin['groups'][number]>;

  constructor(
    private readonly pin: Pin,
    private readonly other?: { readonly whatIf: WhatIf; readonly touched: { is: boolean } },
  ) {
    this.#groups = new Map(pin.groups.map((one) => [named(one.kind, one.group), one]));
  }

  under(whatIf: WhatIf, touched: { is: boolean }): PinnedRows {
    return new PinnedRows(this.pin, { whatIf, touched });
  }

  row(kind: string, group: string, key: string): Doc | undefined {
    const told = this.#groups.get(named(kind, group));
    const row = told?.rows.find((one) => one.key === key);
    if (told === undefined || (row === undefined && !told.isWhole)) throw new NotPinned(`the row ${kind} ${key}`);
    return row === undefined || row.doc === null ? undefined : this.#shown(kind, row.doc);
  }

  rowsOf(kind: string, group: string): readonly { readonly key: string; readonly doc: Doc }[] {
    const told = this.#groups.get(named(kind, group));
    if (told?.isWhole !== true) throw new NotPinned(`the rows ${kind} of ${group}`);
    return told.rows.flatMap(({ key, doc }) => (doc === null ? [] : [{ key, doc: this.#shown(kind, doc) }]));
  }

  /** The first row that records of the packet make another than it is told. */
  strayFrom(folded: RowSource): Problem | null {
    for (const { kind, group, isWhole, rows } of this.pin.groups) {
      for (const { key, doc, isFolded } of rows) {
        const made = folded.row(kind, group, key) ?? null;
        const of = isFolded ? firstDifference(made, doc, '') : null;
        if (of === null) continue;
        return { code: 'REPLAY_ROW_DIFFERS', field: `${kind} ${key}${of}` };
      }
      const told = new Set(rows.map(({ key }) => key));
      const left = isWhole ? folded.rowsOf(kind, group).find(({ key }) => !told.has(key)) : undefined;
      if (left !== undefined) return { code: 'REPLAY_ROW_DIFFERS', field: `${kind} ${left.key}` };
    }
    return null;
  }

  /** Rows that records of the packet do not show. */
  pinned(): readonly string[] {
    return this.pin.groups.flatMap(({ kind, rows }) =>
      rows.flatMap(({ key, isFolded }) => (isFolded ? [] : [`row ${kind} ${key}`])),
    );
  }

  #shown(kind: string, doc: Doc): Doc {
    const instead = this.other?.whatIf.row(kind, doc) ?? null;
    if (instead === null || this.other === undefined) return doc;
    this.other.touched.is = true;
    return instead;
  }
}

function lackOf(remade: Exclude<Remade, { readonly kind: 'made' }>): Problem & { readonly field: string } {
  if (remade.kind === 'payload_sealed') return { code: 'payload_sealed', field: 'a payload is sealed' };
  return { code: remade.kind === 'not_pinned' ? 'read_missing' : 'decider_failed', field: remade.what };
}

function said({ records }: Pin, problem: Problem | null): CheckedPin {
  const none = { records, at: null, field: null, pinned: [], otherwise: null };
  if (problem === null) return { ...none, outcome: 'equal', code: null };
  const { code, field, at } = problem;
  const isLack = (PIN_LACKS as readonly (string | null)[]).includes(code);
  return { ...none, outcome: isLack ? 'not_made' : 'differs', code, field, at: at ?? records[0] ?? null };
}

const placeOf = ({ log, partition, seq }: PinnedRecord): string => `${log}/${String(partition)} seq ${String(seq)}`;
