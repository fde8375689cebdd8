// Rows of a packet: those that its records make, and those that a decision is told of.
import { evolveAny } from '../fold.js';
import type { AcceptedRecord, Doc, ServiceCore } from '../service-core.js';
import { FoldedRows, named, NotPinned, stateOver } from './pin-state.js';
import type { RowSource } from './pin-state.js';
import type { Pin, PinnedRecord } from './pin.messages.js';
import { TIME_KIND } from '../stood-time.js';
import { firstToldOtherwise } from './compare.js';
import type { Standing } from './compare.js';

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

/** What would have been otherwise, and whether anything of it was read. */
export interface Change {
  readonly whatIf: WhatIf;
  isTouched: boolean;
}

/** Rows that the records of a packet make, record by record. */
export class Folding {
  readonly #rows = new FoldedRows();
  readonly #rest: HeldRecord[];

  constructor(
    private readonly asked: { readonly core: ServiceCore; readonly records: readonly HeldRecord[] },
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

/**
 * The rows that a pin tells. What it does not tell was not read: a decision that reads it now is another.
 *
 * Those that follow from records are as these make them: a later version may make more of a record than the one that told the row.
 */
export class PinnedRows implements RowSource {
  readonly #groups: ReadonlyMap<string, Pin['groups'][number]>;

  constructor(
    private readonly pin: Pin,
    private readonly folded: RowSource,
    private readonly other?: Change,
  ) {
    this.#groups = new Map(pin.groups.map((one) => [named(one.kind, one.group), one]));
  }

  under(other: Change): PinnedRows {
    return new PinnedRows(this.pin, this.folded, other);
  }

  row(kind: string, group: string, key: string): Doc | undefined {
    const told = this.#groups.get(named(kind, group));
    // Packets from before it could be accepted say nothing of it, and those where it never was.
    if (told === undefined && kind === TIME_KIND) return undefined;
    const row = told?.rows.find((one) => one.key === key);
    if (told === undefined || (row === undefined && !told.isWhole)) throw new NotPinned(`the row ${kind} ${key}`);
    const doc = row === undefined ? null : this.#madeOf({ kind, group }, row);
    return doc === null ? undefined : this.#shown(kind, doc);
  }

  rowsOf(kind: string, group: string): readonly { readonly key: string; readonly doc: Doc }[] {
    const told = this.#groups.get(named(kind, group));
    if (told?.isWhole !== true) throw new NotPinned(`the rows ${kind} of ${group}`);
    return told.rows.flatMap((row) => {
      const doc = this.#madeOf({ kind, group }, row);
      return doc === null ? [] : [{ key: row.key, doc: this.#shown(kind, doc) }];
    });
  }

  /** Name of the first row that records of the packet make another than it is told; null where none is. */
  stray(): string | null {
    const { folded } = this;
    for (const { kind, group, isWhole, rows } of this.pin.groups) {
      for (const { key, doc, isFolded } of rows) {
        const made = folded.row(kind, group, key) ?? null;
        const of = isFolded ? firstToldOtherwise(doc, made, '') : null;
        if (of === null) continue;
        return `${kind} ${key}${of}`;
      }
      const told = new Set(rows.map(({ key }) => key));
      const left = isWhole ? folded.rowsOf(kind, group).find(({ key }) => !told.has(key)) : undefined;
      if (left !== undefined) return `${kind} ${left.key}`;
    }
    return null;
  }

  /** Rows that records of the packet do not show. */
  pinned(): readonly string[] {
    return this.pin.groups.flatMap(({ kind, rows }) =>
      rows.flatMap(({ key, isFolded }) => (isFolded ? [] : [`row ${kind} ${key}`])),
    );
  }

  #madeOf(
    { kind, group }: { readonly kind: string; readonly group: string },
    { key, doc, isFolded }: Pin['groups'][number]['rows'][number],
  ): Doc | null {
    return isFolded ? (this.folded.row(kind, group, key) ?? null) : doc;
  }

  #shown(kind: string, doc: Doc): Doc {
    const instead = this.other?.whatIf.row(kind, doc) ?? null;
    if (instead === null || this.other === undefined) return doc;
    this.other.isTouched = true;
    return instead;
  }
}

/** What of a pin no record shows, but for rows: what a wire told in the clear, and how far views were read. */
export function toldBy({ input, payloads, positions }: Pin): readonly string[] {
  const place = input.source === 'wire' ? `${input.topic}/${String(input.partition)}@${String(input.offset)}` : '';
  return [
    ...(payloads.some(({ wire }) => wire !== null) ? [`payloads of ${place}`] : []),
    ...positions.map(({ view, partition }) => `position of ${view}/${String(partition)}`),
  ];
}
