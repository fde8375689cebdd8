// The state a decision is made over, watched while it is read; and the same from what was noted, where there is no more than that.
//
// Boundary: payloads open as far as keys are at hand. A decider that only hands a closed one on does not notice; one that looks into it has
// decided nothing.
import type { Closed, Opened, PayloadKeys } from './payload-keys.js';
import { nameOf } from './payload-keys.js';
import { mapPayloads } from '../sealing/payload-walk.js';
import { openingPayload } from '../sealing/sealing.js';
import type { PayloadDoc } from '../sealing/sealing.js';
import type { Change, Doc, KindSpec, Row, RowAddress, StateView, Views } from '../service-core.js';
import { compareText } from '../row-codec.js';

/** The decision looks into a payload. */
export class PayloadClosed extends Error {
  override readonly name = 'PayloadClosed';
}

/** The decision reads what was not noted. */
export class NotPinned extends Error {
  override readonly name = 'NotPinned';
}

/** What a decision did with sealed payloads. */
export interface Looked {
  /** Looked into one that stays closed: it has decided nothing. */
  into: Closed | null;
  /** Took the hash of a closed one, which is that of its sealed bytes. */
  atHash: boolean;
  /** Those that were opened, by their names. */
  readonly opened: Map<string, PayloadDoc>;
}

/** Payloads that are not in the clear, as if they were: each opens when it is used, as far as there are keys. */
export function opening(doc: Doc, looked: Looked, keys: PayloadKeys): Doc {
  return mapPayloads(doc, (payload) =>
    payload.encoding === 'plain' ? payload : openingPayload(payload, () => new UsedPayload(payload, looked, keys)),
  ) as Doc;
}

class UsedPayload implements PayloadDoc {
  readonly encoding = 'plain';
  readonly key_id = null;

  constructor(
    private readonly payload: PayloadDoc,
    private readonly looked: Looked,
    private readonly keys: PayloadKeys,
  ) {}

  get content_type(): string {
    return this.payload.content_type;
  }
  get sha256(): Buffer {
    const used = this.#open();
    if (used.kind === 'opened') return used.payload.sha256;
    this.looked.atHash = true;
    return this.payload.sha256;
  }
  get body(): Buffer {
    const used = this.#open();
    if (used.kind === 'opened') return used.payload.body;
    this.looked.into ??= used.kind;
    throw new PayloadClosed('a payload would have to be opened');
  }

  #open(): Opened {
    const used = this.keys.open(this.payload);
    if (used.kind === 'opened') this.looked.opened.set(nameOf(this.payload), used.payload);
    return used;
  }
}

/** Where rows come from: one of them, or all of a group in the order of their keys. */
export interface RowSource {
  row(kind: string, group: string, key: string): Doc | undefined;
  rowsOf(kind: string, group: string): readonly { readonly key: string; readonly doc: Doc }[];
}

/** A state over rows. Shape: lists and walks have the orders that the loop gives them. */
export function stateOver(
  source: RowSource,
  kinds: readonly KindSpec[],
  shown: (doc: Doc) => Doc = (doc) => doc,
): StateView {
  const list = (kind: string, group: string): readonly Doc[] => source.rowsOf(kind, group).map(({ doc }) => shown(doc));
  return {
    get: (kind, group, key) => {
      const doc = source.row(kind, group, key);
      return doc === undefined ? undefined : shown(doc);
    },
    stored: (kind, group, key) => source.row(kind, group, key),
    list,
    all: list,
    lastFirst: (kind, group, below) => {
      const placeOf = kinds.find((spec) => spec.kind === kind)?.place ?? ((): null => null);
      return source
        .rowsOf(kind, group)
        .map(({ doc }) => ({ doc, place: placeOf(doc) ?? -1 }))
        .filter(({ place }) => place < (below ?? Infinity))
        .sort((a, b) => b.place - a.place)
        .map(({ doc }) => shown(doc));
    },
  };
}

/** All rows of a partition, folded. */
export class FoldedRows implements RowSource {
  readonly #groups = new Map<string, Map<string, Row>>();
  readonly #due = new Map<string, Row>();

  row(kind: string, group: string, key: string): Doc | undefined {
    return this.#groups.get(named(kind, group))?.get(key)?.doc;
  }

  rowsOf(kind: string, group: string): readonly { readonly key: string; readonly doc: Doc }[] {
    return [...(this.#groups.get(named(kind, group))?.values() ?? [])].sort((a, b) => compareText(a.key, b.key));
  }

  /** Rows whose time has come, the earliest first. */
  due(now: number): readonly Row[] {
    return [...this.#due.values()]
      .filter(({ dueAt }) => (dueAt ?? Infinity) <= now)
      .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0));
  }

  apply(changes: readonly Change[]): void {
    for (const change of changes) {
      const { kind, group, key } = change.op === 'put' ? change.row : change.address;
      const id = named(kind, group);
      const rows = this.#groups.get(id) ?? new Map<string, Row>();
      this.#groups.set(id, rows);
      this.#due.delete(`${id}\u0000${key}`);
      if (change.op === 'delete') rows.delete(key);
      else {
        rows.set(key, change.row);
        if (change.row.dueAt !== null) this.#due.set(`${id}\u0000${key}`, change.row);
      }
    }
  }
}

/** Notes what is read of rows: addresses, and groups of which all was read. */
export class WatchedRows implements RowSource {
  readonly addresses = new Map<string, RowAddress>();
  readonly groups = new Map<string, { readonly kind: string; readonly group: string }>();

  constructor(private readonly rows: RowSource) {}

  row(kind: string, group: string, key: string): Doc | undefined {
    this.addresses.set(`${named(kind, group)}\u0000${key}`, { kind, group, key });
    return this.rows.row(kind, group, key);
  }

  rowsOf(kind: string, group: string): readonly { readonly key: string; readonly doc: Doc }[] {
    this.groups.set(named(kind, group), { kind, group });
    return this.rows.rowsOf(kind, group);
  }
}

/** What a decision sees of views: entries, how far each partition was read, and where keys lie. */
export interface ViewSource {
  readonly entryOf: (view: string, key: string) => Doc | undefined;
  readonly positionOf: (view: string, partition: number) => number;
  readonly partitionOf: (view: string, key: string) => number;
}

/** Views that are read to their end. */
export function viewsOver({ entryOf, positionOf, partitionOf }: ViewSource): Views {
  return {
    view: (name) => ({
      get: (key) => entryOf(name, key),
      position: (partition) => positionOf(name, partition),
      partitionOf: (key) => partitionOf(name, key),
    }),
    readToEnd: () => undefined,
  };
}

export const named = (kind: string, group: string): string => `${kind}\u0000${group}`;
