// What a decision or a fold reads and does not find in memory: rows, keys of sealed payloads, the schema
// of a parked record or all of it, the newest of the views.
//
// Boundary: a reader throws Lacking and the loop catches it; nothing else does. A probe goes on instead of throwing, so that
// one look at the rest of a batch says all that has to be loaded.
import type { GroupAddress } from './store.port.js';

/** Where a record lies. */
export interface RecordPlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** What one read lacks. */
export interface Lack {
  readonly rows?: readonly GroupAddress[];
  readonly keys?: readonly string[];
  /** Ids of schemas that a parked record names. */
  readonly schemas?: readonly number[];
  /** Records that were parked in part, where they lie in their logs. */
  readonly originals?: readonly RecordPlace[];
  /** The views have to be read to the end seen now. */
  readonly views?: true;
}

/** Thrown by state, views and vault. */
export class Lacking extends Error {
  override readonly name = 'Lacking';
  constructor(readonly lack: Lack) {
    // It is thrown for every cold row, and caught by the loop: nobody reads where it came from.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super('not in memory');
    Error.stackTraceLimit = stackTraceLimit;
  }

  override toString(): string {
    return `${this.message}: ${describe(this.lack)}`;
  }
}

/** All that a batch, or a run of records, is known to lack; each thing once. */
export class Lacks {
  readonly #rows = new Map<string, GroupAddress>();
  readonly #keys = new Set<string>();
  readonly #schemas = new Set<number>();
  readonly #originals: RecordPlace[] = [];
  #views = false;

  add({ rows = [], keys = [], schemas = [], originals = [], views }: Lack): this {
    for (const { kind, group } of rows) this.addGroup(kind, group);
    for (const key of keys) this.#keys.add(key);
    for (const id of schemas) this.#schemas.add(id);
    this.#originals.push(...originals);
    if (views === true) this.#views = true;
    return this;
  }

  addGroup(kind: string, group: string): void {
    this.#rows.set(`${kind}\u0000${group}`, { kind, group });
  }

  get rows(): readonly GroupAddress[] {
    return [...this.#rows.values()];
  }
  get rowCount(): number {
    return this.#rows.size;
  }
  get keys(): readonly string[] {
    return [...this.#keys];
  }
  get schemas(): readonly number[] {
    return [...this.#schemas];
  }
  get originals(): readonly RecordPlace[] {
    return this.#originals;
  }
  get views(): boolean {
    return this.#views;
  }
}

/** False for text PostgreSQL refuses in a key: no row can have it. */
export function isStorableKey(key: string): boolean {
  return !key.includes('\u0000') && key.isWellFormed();
}

function describe({ rows = [], keys = [], schemas = [], originals = [], views }: Lack): string {
  const parts = [
    ...rows.map(({ kind, group }) => `${kind}/${group}`),
    ...keys.map((key) => `key ${key}`),
    ...schemas.map((id) => `schema ${String(id)}`),
    ...originals.map(({ topic, partition, offset }) => `${topic}/${String(partition)}@${String(offset)}`),
  ];
  return [...parts, ...(views === true ? ['the end of the views'] : [])].join(', ');
}
