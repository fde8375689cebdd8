// Records of other logs that were too long to be parked whole: they are read again from where they lie (L15).
//
// Boundary: reads what lies there now; whether that is what was parked the hash says, and who asks compares it.
import { handsOutNothing } from '@recourse/kafka';
import type { RawReader } from '@recourse/kafka';
import { Lacking } from './lacks.js';
import type { RecordPlace } from './lacks.js';

export class Originals {
  readonly #found = new Map<string, Buffer | null>();

  constructor(private readonly reader: () => Promise<Pick<RawReader, 'read' | 'range'>>) {}

  /** Bytes of the record at a place; null where there is none any more. Errors: Lacking until it was loaded. */
  of(place: RecordPlace): Buffer | null {
    const found = this.#found.get(idOf(place));
    if (found === undefined) throw new Lacking({ originals: [place] });
    return found;
  }

  /** Errors: those of the broker, also while a new leader hands out less than it holds. */
  async load(place: RecordPlace): Promise<void> {
    this.#found.set(idOf(place), await this.#read(place));
  }

  forget(): void {
    this.#found.clear();
  }

  async #read({ topic, partition, offset }: RecordPlace): Promise<Buffer | null> {
    const reader = await this.reader();
    const { low, high } = await reader.range(topic, partition);
    if (offset < low || offset >= high) return null;
    const { records, nextOffset } = await reader.read(topic, partition, offset, 1);
    if (nextOffset <= offset) throw handsOutNothing({ topic, partition }, offset);
    return records.find((record) => record.offset === offset)?.value ?? null;
  }
}

function idOf({ topic, partition, offset }: RecordPlace): string {
  return `${topic}/${partition}@${offset}`;
}
