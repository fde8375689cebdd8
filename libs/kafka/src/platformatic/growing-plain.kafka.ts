// What a decoder has made so far: it grows with what was made, whatever the bytes claim that they become.
//
// Invariants
//   G1. It never holds more than PLAIN_MAX octets, and never has room for more than that.
//   G2. A match copies only what was made behind `floor`; nothing of the memory that was there before is ever given away.

/** Octets of a batch at the most, decompressed; a topic takes 3 MiB of it compressed. */
export const PLAIN_MAX = 32 * 1_024 * 1_024;

const ROOM_MIN = 1_024;
/** Up to so many octets a loop is faster than a call. */
const SHORT = 24;

export function tooLarge(): Error {
  return new RangeError(`decompressed it has more than ${String(PLAIN_MAX)} bytes`);
}

export class GrowingPlain {
  #bytes: Buffer;
  #size = 0;

  /** `about`: octets there is room for at first; those of the input, which are there. */
  constructor(about: number) {
    this.#bytes = Buffer.allocUnsafeSlow(Math.min(PLAIN_MAX, Math.max(ROOM_MIN, about)));
  }

  get size(): number {
    return this.#size;
  }

  /** Appends octets of the input. Errors: RangeError where they are not there, or too many. */
  literal(source: Buffer, from: number, count: number): void {
    const end = from + count;
    if (end > source.length) throw new RangeError('it ends inside its octets');
    const to = this.#room(count);
    if (count > SHORT) source.copy(this.#bytes, to, from, end);
    else for (let n = 0; n < count; n += 1) this.#bytes[to + n] = source[from + n] ?? 0;
  }

  /** Appends what lies `offset` octets back, again and again where it is shorter. Errors: RangeError before `floor`, or too many. */
  match(offset: number, count: number, floor: number): void {
    const from = this.#size - offset;
    if (offset === 0 || from < floor) throw new RangeError('it repeats what is not there');
    const to = this.#room(count);
    const bytes = this.#bytes;
    // What does not overlap is one copy; what repeats soon begins in a loop, since each short copy is a call.
    let done = offset >= count && count > SHORT ? 0 : Math.min(count, SHORT);
    for (let n = 0; n < done; n += 1) bytes[to + n] = bytes[from + n] ?? 0;
    // What was copied is twice as much to copy from.
    while (done < count) {
      const again = from + (done % offset);
      const step = Math.min(to + done - again, count - done);
      bytes.copyWithin(to + done, again, again + step);
      done += step;
    }
  }

  /** What was made, in no more memory than it takes. */
  whole(): Buffer {
    const made = this.#bytes.subarray(0, this.#size);
    return this.#size > this.#bytes.length / 2 ? made : Buffer.from(made);
  }

  /** Takes room for so many octets more, and gives where they begin. */
  #room(count: number): number {
    const [start, end] = [this.#size, this.#size + count];
    if (end > PLAIN_MAX) throw tooLarge();
    if (end > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(PLAIN_MAX, Math.max(end, 2 * this.#bytes.length)));
      this.#bytes.copy(larger, 0, 0, start);
      this.#bytes = larger;
    }
    this.#size = end;
    return start;
  }
}
