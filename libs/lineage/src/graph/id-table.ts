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
import { digitsOf, hashOf, PlainIds, TOP_BIT, WORDS } from './plain-ids.js';

const FIRST_CAPACITY = 1_024;
/** Slots per id at least: probes stay short. */
const SLOTS_PER_ID = 2;

/** What an id looks like: as a mutation's, as a commit's, or as somebody else's. */
const FORMS = { named: 0, mutation: 1, commit: 2 } as const;
type Form = (typeof FORMS)[keyof typeof FORMS];

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
  /** The one id that is asked for. */
  readonly #one = new PlainIds(1);

  get size(): number {
    return this.#size;
  }

  /** Bytes of its arrays. */
  get bytes(): number {
    return this.#slots.byteLength + this.#heads.byteLength + this.#tails.byteLength + this.#forms.byteLength;
  }

  /** The number of an id, a new one if need be. */
  intern(id: string): number {
    const bytes = Buffer.from(id, 'utf8');
    return this.internBytes(bytes, 0, bytes.length);
  }

  /** As `intern`, of a part of some UTF-8. */
  internBytes(bytes: Uint8Array, from: number, to: number): number {
    return this.#reads(bytes, from, to) ? this.#internPlain(this.#one, 0) : this.#internName(textOf(bytes, from, to));
  }

  /** Numbers those that wait, in their order. Most of the time goes by while memory is fetched: what they need is asked for at once, before any waits for it. */
  internAll(ids: PlainIds): void {
    const { hashes, numbers, size } = ids;
    const [slots, heads, mask] = [this.#slots, this.#heads, this.#mask];
    for (let at = 0; at < size; at += 1) numbers[at] = slots[(hashes[at] ?? 0) & mask] ?? 0;
    for (let at = 0; at < size; at += 1) {
      const taken = numbers[at] ?? 0;
      if (taken !== 0) numbers[at] = heads[((taken & mask) - 1) * WORDS] ?? 0;
    }
    for (let at = 0; at < size; at += 1) numbers[at] = this.#internPlain(ids, at);
  }

  /** The number of an id; -1 for one that never came. */
  find(id: string): number {
    const bytes = Buffer.from(id, 'utf8');
    if (!this.#reads(bytes, 0, bytes.length)) return this.#named.get(id) ?? -1;
    return ((this.#slots[this.#slotOf(this.#one, 0)] ?? 0) & this.#mask) - 1;
  }

  /** The id of a number. */
  idOf(index: number): string {
    const form = this.#forms[index];
    if (form === FORMS.mutation) return `mut_${digitsOf(this.#heads, index * WORDS)}`;
    return form === FORMS.commit
      ? `cp_${digitsOf(this.#heads, index * WORDS)}${digitsOf(this.#tails, index * WORDS)}`
      : (this.#names.get(index) ?? '');
  }

  #reads(bytes: Uint8Array, from: number, to: number): boolean {
    this.#one.cut(0);
    return this.#one.read(bytes, from, to);
  }

  #internPlain(ids: PlainIds, at: number): number {
    const slot = this.#slotOf(ids, at);
    const taken = this.#slots[slot] ?? 0;
    return taken === 0 ? this.#add(slot, ids, at) : (taken & this.#mask) - 1;
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

  #add(slot: number, ids: PlainIds, at: number): number {
    const hash = ids.hashes[at] ?? 0;
    const isCommit = (hash & TOP_BIT) !== 0;
    if (isCommit && this.#tails.length === 0) this.#tails = new Int32Array(this.#forms.length * WORDS);
    const index = this.#next(isCommit ? FORMS.commit : FORMS.mutation);
    for (let word = 0; word < WORDS; word += 1) {
      this.#heads[index * WORDS + word] = ids.words[2 * at * WORDS + word] ?? 0;
      if (isCommit) this.#tails[index * WORDS + word] = ids.words[(2 * at + 1) * WORDS + word] ?? 0;
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
      const hash = hashOf(this.#heads, index * WORDS, form === FORMS.commit);
      let slot = hash & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = (hash & ~mask) | (index + 1);
    }
    this.#slots = slots;
  }

  get #mask(): number {
    return this.#slots.length - 1;
  }

  /** Slot of an id: its own, or the free one where it belongs. */
  #slotOf(ids: PlainIds, at: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const hash = ids.hashes[at] ?? 0;
    let slot = hash & mask;
    for (let taken = slots[slot] ?? 0; taken !== 0; taken = slots[slot] ?? 0) {
      if (((taken ^ hash) & ~mask) === 0 && this.#isSame((taken & mask) - 1, ids, at)) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /** Of two whose high bits agree, the form among them. */
  #isSame(index: number, { words, hashes }: PlainIds, at: number): boolean {
    return (
      isEqual(this.#heads, index, words, 2 * at) &&
      (((hashes[at] ?? 0) & TOP_BIT) === 0 || isEqual(this.#tails, index, words, 2 * at + 1))
    );
  }
}

/** Whether two fours of words are the same; unrolled, since every edge asks twice. */
function isEqual(a: Int32Array, index: number, b: Int32Array, other: number): boolean {
  const [at, by] = [index * WORDS, other * WORDS];
  return a[at] === b[by] && a[at + 1] === b[by + 1] && a[at + 2] === b[by + 2] && a[at + 3] === b[by + 3];
}

function textOf(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8');
}

function grown<T extends Int32Array | Uint8Array>(before: T, after: T): T {
  after.set(before);
  return after;
}
