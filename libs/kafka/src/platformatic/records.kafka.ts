// The records of one batch, read in one pass over its bytes.
//
// The client reads by way of growing buffers and makes big numbers for every record, which costs more than verifying a chain does.
// Codecs are the client's.
//
// Grammar (varint is zig-zag, 7 bits an octet, least significant first):
//   records = *record                                         ; as many as the batch says, compressed together or not
//   record  = size attributes time-delta offset-delta bytes(key) bytes(value) headers
//   headers = count *( bytes(name) bytes(value) )
//   bytes   = varint *OCTET                                   ; a length of -1: there are none
//
// Invariants
//   R1. A record stands where its batch does. A broker gives a batch its place and checks how far it goes; where in it each record stands
//       is the sender's word, which readers go by when they say how far they have read: it goes up, and never beyond the batch.
import type { FetchedRecord } from '../kafka.port.js';
import { decompressed } from './decompress.kafka.js';

const CODEC = 0b111;
/** The broker's time stands for that of all records, whatever their sender said. */
export const IS_APPEND_TIME = 1 << 3;
/** A number of 64 bits never takes more octets. */
const VARINT_SIZE_MAX = 10;
/** Records of a batch at the most: of empty ones a few octets would say that there are millions. */
export const BATCH_RECORDS_MAX = 100_000;
/** Headers of a record at the most; ours have up to ten, tracing adds three. */
export const RECORD_HEADERS_MAX = 128;
/** Headers of all records of a batch at the most: an empty one is two octets, and a hundred times that in memory. */
export const BATCH_HEADERS_MAX = 100_000;
/** What a record takes in memory beside its bytes, about. */
const RECORD_COST = 256;
/** The same of a header: its name, its value and its place. */
const HEADER_COST = 256;
/** No record takes fewer octets: seven numbers of one each. */
const RECORD_SIZE_MIN = 7;
/** The lengths of a name and of a value. */
const HEADER_SIZE_MIN = 2;
export const NO_HEADERS: FetchedRecord['headers'] = Object.freeze({});

/** What the head of a batch says of its records. */
export interface RecordsHead {
  readonly attributes: number;
  readonly firstOffset: number;
  /** Epoch milliseconds; the broker's where it is that of all records. */
  readonly firstTimestamp: number;
  readonly count: number;
  /** Place of its last record, counted from the first offset. */
  readonly lastOffsetDelta: number;
}

/** Records as they were read, and what they take in memory, about, octets. */
export interface ReadRecords {
  readonly records: FetchedRecord[];
  readonly cost: number;
}

/** Reads the records of a batch. Errors: whatever is wrong with the bytes, as an Error for people. */
export function readRecords(bytes: Buffer, head: RecordsHead): ReadRecords {
  if (head.count > BATCH_RECORDS_MAX)
    throw new RangeError(`it says that it has ${String(head.count)} records; ${String(BATCH_RECORDS_MAX)} are read`);
  const plain = decompressed(bytes, head.attributes & CODEC);
  if (head.count > plain.length / RECORD_SIZE_MIN)
    throw new RangeError(`it says that it has ${String(head.count)} records in ${String(plain.length)} bytes`);
  const cursor = new Cursor(plain);
  const headers = new HeaderReader(cursor);
  const records: FetchedRecord[] = [];
  let from = 0;
  for (let n = 0; n < head.count; n += 1) {
    const record = readRecord(cursor, headers, head, from);
    from = record.offset - head.firstOffset + 1;
    records.push(record);
  }
  return { records, cost: plain.length + records.length * RECORD_COST + headers.sum * HEADER_COST };
}

/** `from`: the first place that no record before it has. Errors: RangeError where it says that it stands elsewhere (R1). */
function readRecord(cursor: Cursor, headers: HeaderReader, head: RecordsHead, from: number): FetchedRecord {
  cursor.varint(); // its size
  cursor.skip(1); // attributes: none are in use
  const delta = cursor.varint();
  const timestamp = head.firstTimestamp + ((head.attributes & IS_APPEND_TIME) === 0 ? delta : 0);
  const place = cursor.varint();
  if (place < from || place > head.lastOffsetDelta)
    throw new RangeError(
      `a record says that it is number ${String(place)}, where ${String(from)} to ${String(head.lastOffsetDelta)} are left`,
    );
  const offset = head.firstOffset + place;
  const key = cursor.bytes();
  const value = cursor.bytes();
  return { offset, key, value, timestamp, headers: headers.read() };
}

/** Reads the headers of the records of one batch. */
class HeaderReader {
  /** Of all records so far. */
  sum = 0;

  constructor(private readonly cursor: Cursor) {}

  /** Shape: a header given several times keeps its last value. Errors: RangeError, at once, where it says that it has too many. */
  read(): FetchedRecord['headers'] {
    const { cursor } = this;
    const count = cursor.varint();
    if (count <= 0) return NO_HEADERS;
    this.#count(count);
    const headers: [string, Buffer][] = [];
    for (let n = 0; n < count; n += 1) headers.push([String(cursor.bytes()), cursor.bytes() ?? Buffer.alloc(0)]);
    return Object.fromEntries(headers);
  }

  #count(count: number): void {
    const says = `a record says that it has ${String(count)} headers`;
    if (count > RECORD_HEADERS_MAX) throw new RangeError(`${says}; ${String(RECORD_HEADERS_MAX)} are read`);
    if (count > this.cursor.left / HEADER_SIZE_MIN)
      throw new RangeError(`${says} in ${String(this.cursor.left)} bytes`);
    this.sum += count;
    if (this.sum > BATCH_HEADERS_MAX)
      throw new RangeError(
        `its records have ${String(this.sum)} headers or more; ${String(BATCH_HEADERS_MAX)} are read`,
      );
  }
}

/** Reads on from where it is. Errors: RangeError behind the end. */
class Cursor {
  #at = 0;

  constructor(private readonly all: Buffer) {}

  /** Octets that are left. */
  get left(): number {
    return this.all.length - this.#at;
  }

  skip(count: number): void {
    this.#at += count;
  }

  varint(): number {
    const first = this.all[this.#at];
    if (first === undefined || first >= 0x80) return this.#longVarint();
    this.#at += 1;
    return (first >>> 1) ^ -(first & 1);
  }

  bytes(): Buffer | null {
    const size = this.varint();
    if (size === -1) return null;
    const [start, end] = [this.#at, this.#at + size];
    if (size < 0 || end > this.all.length) throw new RangeError('a record says that it has bytes which are not there');
    this.#at = end;
    return this.all.subarray(start, end);
  }

  #longVarint(): number {
    let [value, scale] = [0, 1];
    for (let octets = 0; octets < VARINT_SIZE_MAX; octets += 1) {
      const octet = this.all[this.#at];
      if (octet === undefined) throw new RangeError('the records end inside a number');
      this.#at += 1;
      value += (octet & 0x7f) * scale;
      if (octet < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      scale *= 128;
    }
    throw new RangeError('a number of a record does not end');
  }
}
