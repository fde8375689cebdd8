// A view as it stood behind any of its records: entries by version, each with the records it follows from.
import { compareText } from '../row-codec.js';
import type { AcceptedRecord, Doc, ViewSpec } from '../service-core.js';
import type { PinnedRecord } from './pin.messages.js';

/** A record of the log of a view. */
export interface ViewRecord {
  readonly place: PinnedRecord;
  readonly record: AcceptedRecord;
  /** When it came, where the record does not say: of one that follows from another, when that was decided. */
  readonly at?: number;
}

interface Version {
  /** Records folded with it, it included. */
  readonly behind: number;
  readonly doc: Doc | undefined;
  readonly by: readonly number[];
}

/** In the order of their times, those of one partition as they stand. */
export function inTime(records: readonly ViewRecord[]): readonly ViewRecord[] {
  return records.toSorted((one, other) => {
    const [a, b] = [one.place, other.place];
    return timeOf(one) - timeOf(other) || a.partition - b.partition || a.seq - b.seq || compareText(a.log, b.log);
  });
}

const timeOf = ({ record, at }: ViewRecord): number => at ?? record.decidedAt;

export class ViewHistory {
  readonly #versions = new Map<string, Version[]>();
  readonly #records: readonly ViewRecord[];

  constructor(spec: ViewSpec, records: readonly ViewRecord[]) {
    this.#records = inTime(records);
    for (const [at, { record }] of this.#records.entries()) this.#fold(spec, record, at);
  }

  /** How many records were there at an instant. */
  countAt(now: number): number {
    const first = this.#records.findIndex((one) => timeOf(one) > now);
    return first < 0 ? this.#records.length : first;
  }

  /** The entry as it stood behind the first `count` records; undefined where nothing ever was. */
  entry(
    key: string,
    count: number,
  ): { readonly doc: Doc | undefined; readonly by: readonly PinnedRecord[] } | undefined {
    const version = this.#versions.get(key)?.findLast(({ behind }) => behind <= count);
    if (version === undefined) return undefined;
    return { doc: version.doc, by: version.by.flatMap((at) => this.#records[at]?.place ?? []) };
  }

  /** Seq up to which a partition was read behind the first `count` records. */
  position(partition: number, count: number): number {
    const before = this.#records.slice(0, Math.max(0, count));
    return before.findLast(({ place }) => place.partition === partition)?.place.seq ?? 0;
  }

  #fold(spec: ViewSpec, record: AcceptedRecord, at: number): void {
    const by = new Set([at]);
    const changes = spec.fold(record, (key) => {
      const standing = this.#versions.get(key)?.at(-1);
      for (const earlier of standing?.by ?? []) by.add(earlier);
      return standing?.doc;
    });
    for (const [key, doc] of changes) {
      const versions = this.#versions.get(key) ?? [];
      this.#versions.set(key, versions);
      versions.push({ behind: at + 1, doc: doc ?? undefined, by: [...by].sort((a, b) => a - b) });
    }
  }
}
