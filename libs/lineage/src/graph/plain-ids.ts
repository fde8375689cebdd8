// Ids that look like a mutation's or a commit's, read from UTF-8 into words; a few hundred wait together until they get their numbers.
//
// Grammar:
//   mutation = "mut_" 32 digits      commit = "cp_" 64 digits      digits are lower-case hex
export const WORDS = 4;
const OCTETS_PER_WORD = 4;
const DIGITS_PER_WORD = 2 * OCTETS_PER_WORD;
const SHORT_DIGITS = WORDS * DIGITS_PER_WORD;
/** What tells the hash of a commit's id from that of a mutation's. */
export const TOP_BIT = 0x8000_0000;

const MUTATION = Buffer.from('mut_', 'latin1');
const COMMIT = Buffer.from('cp_', 'latin1');
const [MUTATION_LENGTH, COMMIT_LENGTH] = [MUTATION.length + SHORT_DIGITS, COMMIT.length + 2 * SHORT_DIGITS];
/** The octet of two digits, by both their bytes; -1 where one is no lower-case hex digit. */
const OCTETS = octetsOfDigits();

/** Bytes of an id that looks like a mutation's or a commit's, by its first byte; 0 for another. */
export function plainLengthOf(first: number): number {
  if (first === MUTATION[0]) return MUTATION_LENGTH;
  return first === COMMIT[0] ? COMMIT_LENGTH : 0;
}

/** As many as its capacity, in the order in which they were read. */
export class PlainIds {
  #size = 0;
  /** Per id two fours of words; a mutation's has but the first. */
  readonly words: Int32Array;
  /** Per id its hash; the top bit is set for a commit's. */
  readonly hashes: Int32Array;
  /** Per id its number, once a table gave it. */
  readonly numbers: Int32Array;

  constructor(readonly capacity: number) {
    [this.words, this.hashes, this.numbers] = [
      new Int32Array(capacity * 2 * WORDS),
      new Int32Array(capacity),
      new Int32Array(capacity),
    ];
  }

  get size(): number {
    return this.#size;
  }

  /** Drops those behind the first few. */
  cut(size: number): void {
    this.#size = size;
  }

  /** Reads one more where there is room; false for an id of another form. */
  read(bytes: Uint8Array, from: number, to: number): boolean {
    const length = to - from;
    const isCommit = length === COMMIT_LENGTH;
    if (isCommit ? !startsWith(bytes, from, COMMIT) : length !== MUTATION_LENGTH || !startsWith(bytes, from, MUTATION))
      return false;
    const at = this.#size * 2 * WORDS;
    if (!readDigits(bytes, to - (isCommit ? 2 : 1) * SHORT_DIGITS, this.words, at, isCommit ? 2 * WORDS : WORDS))
      return false;
    this.hashes[this.#size] = hashOf(this.words, at, isCommit);
    this.#size += 1;
    return true;
  }
}

/** Ids are hashes, but what a child names need not be: all four words count. */
export function hashOf(words: Int32Array, at: number, isCommit: boolean): number {
  const mix =
    (words[at] ?? 0) ^
    Math.imul(words[at + 1] ?? 0, 0x9e3779b1) ^
    Math.imul(words[at + 2] ?? 0, 0x85ebca6b) ^
    Math.imul(words[at + 3] ?? 0, 0xc2b2ae35);
  const spread = mix ^ (mix >>> 15);
  return isCommit ? spread | TOP_BIT : spread & ~TOP_BIT;
}

/** The digits of four words. */
export function digitsOf(words: Int32Array, at: number): string {
  const octets = Buffer.allocUnsafe(WORDS * OCTETS_PER_WORD);
  for (let word = 0; word < WORDS; word += 1) octets.writeInt32BE(words[at + word] ?? 0, word * OCTETS_PER_WORD);
  return octets.toString('hex');
}

/** False where something is no digit. */
function readDigits(bytes: Uint8Array, from: number, words: Int32Array, at: number, count: number): boolean {
  let wrong = 0;
  for (let word = 0, digit = from; word < count; word += 1, digit += DIGITS_PER_WORD) {
    const [first, second, third, fourth] = [
      octetAt(bytes, digit),
      octetAt(bytes, digit + 2),
      octetAt(bytes, digit + 4),
      octetAt(bytes, digit + 6),
    ];
    wrong |= first | second | third | fourth;
    words[at + word] = (first << 24) | (second << 16) | (third << 8) | fourth;
  }
  return wrong >= 0;
}

function octetAt(bytes: Uint8Array, at: number): number {
  return OCTETS[((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)] ?? -1;
}

function octetsOfDigits(): Int16Array {
  const digits = Buffer.from('0123456789abcdef', 'latin1');
  const octets = new Int16Array(1 << 16).fill(-1);
  for (const [high, first] of digits.entries())
    for (const [low, second] of digits.entries()) octets[(first << 8) | second] = (high << 4) | low;
  return octets;
}

function startsWith(bytes: Uint8Array, from: number, prefix: Uint8Array): boolean {
  for (let at = 0; at < prefix.length; at += 1) if (bytes[from + at] !== prefix[at]) return false;
  return true;
}
