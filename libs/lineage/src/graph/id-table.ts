// Ids of commits as small numbers: an open-addressing table over the raw bytes of what is hex in them.
//
// A million ids as strings in a Map cost a string, an entry and a hash each; as bytes they cost 21 of them and a slot. Ids of
// another form, which a child may name, are kept as they are.
//
// Invariants
//   T1. Two ids share a number iff they are equal: all digits are compared, not only those the slot is found by.
//
// Slots:
//   slot = high bits of the hash | number + 1      0 is a free one
// A hash's low bits are its place, and a number fits in as many: what lies elsewhere is told apart without reading its digits. The top
// bit of a hash is the form of the id.
const WORDS = 4;
const FIRST_CAPACITY = 1_024;
/** Slots per id at least: probes stay short. */
const SLOTS_PER_ID = 2;
const OCTETS_PER_WORD = 4;
const DIGITS_PER_WORD = 2 * OCTETS_PER_WORD;
const SHORT_DIGITS = WORDS * DIGITS_PER_WORD;
const TOP_BIT = 0x8000_0000;

/** What an id looks like: as a mutation's, as a commit's, or as somebody else's. */
const FORMS = { named: 0, mutation: 1, commit: 2 } as const;
type Form = (typeof FORMS)[keyof typeof FORMS];

const MUTATION = Buffer.from('mut_', 'latin1');
const COMMIT = Buffer.from('cp_', 'latin1');
/** The octet of two digits, by both their bytes; -1 where one is no lower-case hex digit. */
const OCTETS = octetsOfDigits();

/** Bytes of an id that looks like a mutation's or a commit's, by its first byte; 0 for another. */
export function plainLengthOf(first: number): number {
  if (first === MUTATION[0]) return MUTATION.length + SHORT_DIGITS;
  return first === COMMIT[0] ? COMMIT.length + 2 * SHORT_DIGITS : 0;
}

/** Numbers ids from 0 in the order in which they come. */
export class IdTable {
  #size = 0;
  #slots = new Int32Array(FIRST_CAPACITY * SLOTS_PER_ID);
  #heads = new Int32Array(FIRST_CAPACITY * WORDS);
  /** Second half of the digits of commits; empty as long as there is none. */
  #tails = new Int32Array(0);
  #forms = new Uint8Array(FIRST_CAPACITY);
  readonly #named = new Map<string, number>();
  readonly #names = new Map<number, string>();
  /** Digits of the id that was read last. */
  readonly #words = new Int32Array(2 * WORDS);

  get size(): number { return this.#size; }

  /** Bytes of its arrays. */
  get bytes(): number { return this.#slots.byteLength + this.#heads.byteLength + this.#tails.byteLength + this.#forms.byteLength; }

  /** The number of an id, a new one if need be. */
  intern(id: string): number {
    const bytes = Buffer.from(id, 'utf8');
    return this.internBytes(bytes, 0, bytes.length);
  }

  /** As `intern`, of a part of some UTF-8. */
  internBytes(bytes: Uint8Array, from: number, to: number): number {
    const index = this.internPlain(bytes, from, to);
    return index >= 0 ? index : this.#internName(textOf(bytes, from, to));
  }

  /** As `internBytes`, of an id that looks like a mutation's or a commit's; -1 for another. */
  internPlain(bytes: Uint8Array, from: number, to: number): number {
    const form = this.#read(bytes, from, to);
    if (form === FORMS.named) return -1;
    const hash = hashOf(this.#words, 0, form);
    const slot = this.#slotOf(hash);
    const taken = this.#slots[slot] ?? 0;
    return taken === 0 ? this.#add(slot, hash, form) : (taken & this.#mask) - 1;
  }

  /** The number of an id; -1 for one that never came. */
  find(id: string): number {
    const bytes = Buffer.from(id, 'utf8');
    const form = this.#read(bytes, 0, bytes.length);
    if (form === FORMS.named) return this.#named.get(id) ?? -1;
    return ((this.#slots[this.#slotOf(hashOf(this.#words, 0, form))] ?? 0) & this.#mask) - 1;
  }

  /** The id of a number. */
  idOf(index: number): string {
    const form = this.#forms[index];
    if (form === FORMS.mutation) return `mut_${digitsOf(this.#heads, index)}`;
    return form === FORMS.commit ? `cp_${digitsOf(this.#heads, index)}${digitsOf(this.#tails, index)}` : this.#names.get(index) ?? '';
  }

  #internName(name: string): number {
    const standing = this.#named.get(name);
    if (standing !== undefined) return standing;
    const index = this.#next(FORMS.named);
    this.#named.set(name, index);
    this.#names.set(index, name);
    this.#reserve();
    return index;
  }

  #add(slot: number, hash: number, form: Form): number {
    if (form === FORMS.commit && this.#tails.length === 0) this.#tails = new Int32Array(this.#forms.length * WORDS);
    const index = this.#next(form);
    for (let word = 0; word < WORDS; word += 1) {
      this.#heads[index * WORDS + word] = this.#words[word] ?? 0;
      if (form === FORMS.commit) this.#tails[index * WORDS + word] = this.#words[WORDS + word] ?? 0;
    }
    this.#slots[slot] = (hash & ~this.#mask) | (index + 1);
    this.#reserve();
    return index;
  }

  #next(form: Form): number {
    const index = this.#size;
    if (index === this.#forms.length) this.#grow();
    this.#forms[index] = form;
    this.#size += 1;
    return index;
  }

  #grow(): void {
    const capacity = this.#forms.length * 2;
    this.#forms = grown(this.#forms, new Uint8Array(capacity));
    this.#heads = grown(this.#heads, new Int32Array(capacity * WORDS));
    if (this.#tails.length > 0) this.#tails = grown(this.#tails, new Int32Array(capacity * WORDS));
  }

  /** Slots for one id more, and room for its number in a slot: those without a slot of their own count too. */
  #reserve(): void {
    if (this.#size * SLOTS_PER_ID <= this.#slots.length) return;
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let index = 0; index < this.#size; index += 1) {
      const form = this.#forms[index];
      if (form === FORMS.named) continue;
      const hash = hashOf(this.#heads, index * WORDS, form === FORMS.commit ? FORMS.commit : FORMS.mutation);
      let slot = hash & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = (hash & ~mask) | (index + 1);
    }
    this.#slots = slots;
  }

  get #mask(): number { return this.#slots.length - 1; }

  /** Slot of what was read last: its own, or the free one where it belongs. */
  #slotOf(hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (let taken = slots[slot] ?? 0; taken !== 0; taken = slots[slot] ?? 0) {
      if (((taken ^ hash) & ~mask) === 0 && this.#isSame((taken & mask) - 1, hash)) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /** Of two whose high bits agree, the form among them. */
  #isSame(index: number, hash: number): boolean {
    return isEqual(this.#heads, index, this.#words, 0) && ((hash & TOP_BIT) === 0 || isEqual(this.#tails, index, this.#words, 1));
  }

  #read(bytes: Uint8Array, from: number, to: number): Form {
    const length = to - from;
    if (length === MUTATION.length + SHORT_DIGITS && startsWith(bytes, from, MUTATION)) return this.#readDigits(bytes, from + MUTATION.length, WORDS) ? FORMS.mutation : FORMS.named;
    if (length === COMMIT.length + 2 * SHORT_DIGITS && startsWith(bytes, from, COMMIT)) return this.#readDigits(bytes, from + COMMIT.length, 2 * WORDS) ? FORMS.commit : FORMS.named;
    return FORMS.named;
  }

  /** False where something is no lower-case hex digit. */
  #readDigits(bytes: Uint8Array, from: number, words: number): boolean {
    let wrong = 0;
    for (let word = 0, at = from; word < words; word += 1, at += DIGITS_PER_WORD) {
      const [first, second, third, fourth] = [octetAt(bytes, at), octetAt(bytes, at + 2), octetAt(bytes, at + 4), octetAt(bytes, at + 6)];
      wrong |= first | second | third | fourth;
      this.#words[word] = (first << 24) | (second << 16) | (third << 8) | fourth;
    }
    return wrong >= 0;
  }
}

function octetAt(bytes: Uint8Array, at: number): number { return OCTETS[((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)] ?? -1; }

/** Whether two fours of words are the same; unrolled, since every edge asks twice. */
function isEqual(a: Int32Array, index: number, b: Int32Array, other: number): boolean {
  const [at, by] = [index * WORDS, other * WORDS];
  return a[at] === b[by] && a[at + 1] === b[by + 1] && a[at + 2] === b[by + 2] && a[at + 3] === b[by + 3];
}

/** Ids are hashes, but what a child names need not be: all four words count. */
function hashOf(words: Int32Array, at: number, form: Form): number {
  const mix = (words[at] ?? 0) ^ Math.imul(words[at + 1] ?? 0, 0x9e3779b1) ^ Math.imul(words[at + 2] ?? 0, 0x85ebca6b) ^ Math.imul(words[at + 3] ?? 0, 0xc2b2ae35);
  const spread = mix ^ (mix >>> 15);
  return form === FORMS.commit ? spread | TOP_BIT : spread & ~TOP_BIT;
}

function digitsOf(words: Int32Array, index: number): string {
  const octets = Buffer.allocUnsafe(WORDS * OCTETS_PER_WORD);
  for (let word = 0; word < WORDS; word += 1) octets.writeInt32BE(words[index * WORDS + word] ?? 0, word * OCTETS_PER_WORD);
  return octets.toString('hex');
}

function octetsOfDigits(): Int16Array {
  const digits = Buffer.from('0123456789abcdef', 'latin1');
  const octets = new Int16Array(1 << 16).fill(-1);
  for (const [high, first] of digits.entries()) for (const [low, second] of digits.entries()) octets[(first << 8) | second] = (high << 4) | low;
  return octets;
}

function startsWith(bytes: Uint8Array, from: number, prefix: Uint8Array): boolean {
  for (let at = 0; at < prefix.length; at += 1) if (bytes[from + at] !== prefix[at]) return false;
  return true;
}

function textOf(bytes: Uint8Array, from: number, to: number): string { return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8'); }

function grown<T extends Int32Array | Uint8Array>(before: T, after: T): T {
  after.set(before);
  return after;
}
