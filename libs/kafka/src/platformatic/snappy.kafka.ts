// Decodes snappy, as it is and as Java's client frames it. Ours, since the client's decoder never gives back the memory of what is broken.
//
// Grammar
//   snappy  = raw | 1*( "\x82SNAPPY\0" version:4 compatible:4 *( size:4 raw ) )      ; size is big-endian
//   raw     = length:varint *element                       ; 7 bits an octet, least significant first
//   element = tag [length] octets | tag offset             ; the lowest two bits of a tag: literal, or octets of its offset
import { GrowingPlain, PLAIN_MAX, tooLarge } from './growing-plain.kafka.js';

const XERIAL = Buffer.from('82534e4150505900', 'hex');
const XERIAL_HEADER = 16;
const LENGTH_OCTETS_MAX = 5;
/** Lengths of literals from here on stand in octets of their own: one, two, three or four. */
const LONG_LITERAL = 60;

/** What some snappy becomes. Errors: Error for people, for what is none, or more than PLAIN_MAX octets. */
export function snappyDecoded(bytes: Buffer): Buffer {
  const plain = new GrowingPlain(bytes.length);
  if (isXerial(bytes, 0)) addFramed(bytes, plain);
  else addRaw(bytes, plain);
  return plain.whole();
}

function isXerial(bytes: Buffer, at: number): boolean {
  return bytes.subarray(at, at + XERIAL.length).equals(XERIAL);
}

function addFramed(bytes: Buffer, plain: GrowingPlain): void {
  for (let at = 0; at < bytes.length;) {
    if (isXerial(bytes, at)) {
      at += XERIAL_HEADER;
      if (at > bytes.length) throw new RangeError('it ends inside its head');
      continue;
    }
    if (at + 4 > bytes.length) throw new RangeError('it ends inside a number');
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) throw new RangeError('it ends inside a block');
    addRaw(bytes.subarray(at + 4, end), plain);
    at = end;
  }
}

function addRaw(raw: Buffer, plain: GrowingPlain): void {
  const floor = plain.size;
  const { length, behind } = lengthOf(raw);
  const end = floor + length;
  if (end > PLAIN_MAX) throw tooLarge();
  let at = behind;
  while (at < raw.length) {
    const tag = raw[at] ?? 0;
    at += 1;
    const kind = tag & 3;
    const octets = kind === 0 ? Math.max(0, (tag >> 2) - LONG_LITERAL + 1) : kind === 3 ? 4 : kind;
    const number = octets === 0 ? tag >> 2 : numberAt(raw, at, octets);
    at += octets;
    const count = kind === 0 ? number + 1 : kind === 1 ? 4 + ((tag >> 2) & 7) : 1 + (tag >> 2);
    if (plain.size + count > end) throw new RangeError('it has more than it says');
    if (kind === 0) {
      plain.literal(raw, at, count);
      at += count;
    } else plain.match(kind === 1 ? (tag >> 5) * 0x100 + number : number, count, floor);
  }
  if (plain.size !== end) throw new RangeError('it has less than it says');
}

function lengthOf(raw: Buffer): { readonly length: number; readonly behind: number } {
  for (let [at, value, scale] = [0, 0, 1]; at < LENGTH_OCTETS_MAX; at += 1, scale *= 128) {
    const octet = numberAt(raw, at, 1);
    value += (octet & 0x7f) * scale;
    if (octet < 0x80) return { length: value, behind: at + 1 };
  }
  throw new RangeError('its length does not end');
}

/** A number, least significant octet first. */
function numberAt(raw: Buffer, at: number, octets: number): number {
  if (at + octets > raw.length) throw new RangeError('it ends inside a number');
  let value = 0;
  for (let n = octets - 1; n >= 0; n -= 1) value = value * 0x100 + (raw[at + n] ?? 0);
  return value;
}
