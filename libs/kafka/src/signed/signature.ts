// What is signed, and how a signature travels: one header of the record (docs/design/edge.md).
//
// Grammar
//   header     = "v1" SP key-id SP signed-at SP count SP base64 [ SP index SP base64 ]   ; signed-at in epoch milliseconds
//   wire-text  = "recourse-wire-v1" LF topic LF signed-at LF digest                      ; count is 1
//   wires-text = "recourse-wires-v1" LF topic LF count LF signed-at LF root              ; with index and path
//   log-text   = "recourse-log-v1" LF topic LF partition LF count LF signed-at LF digest
//   digest     = hex of SHA-256 over (length key length value) of each record, lengths as 4 octets, big-endian
//   root       = hex of the RFC 6962 root over the leaves SHA-256( %x00 length key length value )
//   path       = the audit path of the record's leaf, hashes of 32 octets one behind the other, in the last base64
//
// A log is signed a batch at a time, on its first record, so that who reads knows before it reads on, and without any schema.
// Records that go to a wire together may share a signature; each carries its own path to it, so that each stands alone: they go to
// different partitions, and one may be parked, handed on or left out.
import { createHash } from 'node:crypto';
import { HASH_SIZE, inclusionProofs, sha256 } from '@recourse/chain';
import { isKeyId } from '@recourse/kernel';
import { MetTrees } from './met-trees.js';

/** Header that carries a signature. */
export const SIGNATURE = 'recourse-signature';

/** Records of one signed batch at the most; a log's batches are smaller (L4). */
export const SIGNED_RECORDS_MAX = 2_000;
/** Records of a wire that share a signature at the most: more of them make it cheaper, and every path longer. */
export const SHARED_MAX = 128;
/** Octets of a header at the most: the longest path, a signature, a key id and three numbers take less. */
export const SIGNATURE_BYTES_MAX = 1_024;
const PATH_MAX = Math.ceil(Math.log2(SIGNED_RECORDS_MAX)) * HASH_SIZE;
const LEAF_PREFIX = 0x00;
const SPACE = 0x20;

/** A signature as a header says it. */
export interface SignatureHeader {
  readonly keyId: string;
  /** Epoch milliseconds, by the signer's clock. */
  readonly signedAt: number;
  /** Records it covers: of a log from the one that carries it, of a wire those it was sent with. */
  readonly count: number;
  readonly signature: Buffer;
  /** Where a record of a wire stands among those that share the signature; null where it is alone, and in a log. */
  readonly place: PlaceAmong | null;
}

/** A record's place among those that share a signature, from 0, and its audit path. */
export interface PlaceAmong {
  readonly index: number;
  readonly path: Buffer;
}

interface Bytes {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

export function headerText({ keyId, signedAt, count, signature, place }: SignatureHeader): string {
  const shared = place === null ? '' : ` ${String(place.index)} ${place.path.toString('base64')}`;
  return `v1 ${keyId} ${String(signedAt)} ${String(count)} ${signature.toString('base64')}${shared}`;
}

/** What is the same in the headers of records that share a signature, with the bytes that say it. */
interface SharedPart {
  readonly bytes: Buffer;
  readonly header: Omit<SignatureHeader, 'place'>;
}

/** Reads headers one after the other: of those that begin alike, the beginning once. */
export class HeaderReader {
  #shared: SharedPart | null = null;

  read(header: Buffer | undefined): SignatureHeader | null {
    const begins = this.#shared;
    const size = begins?.bytes.length ?? 0;
    if (
      begins !== null &&
      header !== undefined &&
      begins.bytes.compare(header, 0, Math.min(size, header.length)) === 0
    ) {
      const [index, path, ...more] = header.toString('latin1', size).split(' ');
      const place = more.length > 0 ? undefined : placeAmong(index ?? '', path);
      return place === undefined ? null : { ...begins.header, place };
    }
    const found = readHeader(header);
    if (header !== undefined && found !== null && found.place !== null) this.#shared = sharedPart(header, found);
    return found;
  }
}

/** All up to the index, the space before it included. */
function sharedPart(header: Buffer, { place: _place, ...shared }: SignatureHeader): SharedPart {
  const space = header.lastIndexOf(SPACE, header.lastIndexOf(SPACE) - 1);
  return { bytes: header.subarray(0, space + 1), header: shared };
}

/** Reads a header; null when there is none, or it is no signature of ours. */
export function readHeader(header: Buffer | undefined): SignatureHeader | null {
  if (header === undefined || header.length > SIGNATURE_BYTES_MAX) return null;
  const [version, keyId, signedAt, count, signature, index, path, ...more] = header.toString('latin1').split(' ');
  if (version !== 'v1' || keyId === undefined || signature === undefined || more.length > 0 || !isKeyId(keyId))
    return null;
  const numbers = { signedAt: Number(signedAt), count: Number(count) };
  const isSound =
    Number.isSafeInteger(numbers.signedAt) &&
    Number.isSafeInteger(numbers.count) &&
    numbers.count >= 1 &&
    numbers.count <= SIGNED_RECORDS_MAX;
  const place = index === undefined ? null : placeAmong(index, path);
  if (!isSound || place === undefined) return null;
  return { keyId, ...numbers, signature: Buffer.from(signature, 'base64'), place };
}

/** Reads the header of a batch of a log; null where none begins. */
export function readBatchHeader(header: Buffer | undefined): SignatureHeader | null {
  const found = readHeader(header);
  return found?.place === null ? found : null;
}

function placeAmong(index: string, path: string | undefined): PlaceAmong | undefined {
  const bytes = Buffer.from(path ?? '', 'base64');
  const isSound = path !== undefined && bytes.length % HASH_SIZE === 0 && bytes.length <= PATH_MAX;
  return isSound && /^\d+$/.test(index) ? { index: Number(index), path: bytes } : undefined;
}

/** Tells what signatures of records of wires are over, one record after the other: what several share, once. */
export class WireTexts {
  readonly #trees = new MetTrees();
  #last = { topic: '', signedAt: 0, count: 0, root: Buffer.alloc(0) as Buffer, text: '' };

  /** Null when the header cannot be about a record of a wire. */
  textOf(
    topic: string,
    { signedAt, count, signature, place }: Omit<SignatureHeader, 'keyId'>,
    record: Bytes,
  ): string | null {
    if (place === null) return count === 1 ? aloneText(topic, signedAt, record) : null;
    const root = this.#trees.rootOf(signature, { leaf: leafOf(record), size: count, ...place });
    if (root === null) return null;
    const last = this.#last;
    const isSame = last.root === root && last.topic === topic && last.signedAt === signedAt && last.count === count;
    if (!isSame) this.#last = { topic, signedAt, count, root, text: wiresText(topic, signedAt, count, root) };
    return this.#last.text;
  }
}

/** What the signature of a record that is sent alone is over. */
export function aloneText(topic: string, signedAt: number, record: Bytes): string {
  return `recourse-wire-v1\n${topic}\n${String(signedAt)}\n${digestOf([record])}`;
}

/** What one signature over several records of a wire is over, and where each of them stands. */
export function sharedWire(
  topic: string,
  signedAt: number,
  records: readonly Bytes[],
): { readonly text: string; readonly places: readonly PlaceAmong[] } {
  const { root, paths } = inclusionProofs(records.map(leafOf));
  return {
    text: wiresText(topic, signedAt, records.length, root),
    places: paths.map((path, index) => ({ index, path: Buffer.concat(path) })),
  };
}

function wiresText(topic: string, signedAt: number, count: number, root: Buffer): string {
  return `recourse-wires-v1\n${topic}\n${String(count)}\n${String(signedAt)}\n${root.toString('hex')}`;
}

function leafOf({ key, value }: Bytes): Buffer {
  const [keySize, valueSize] = [key?.length ?? 0, value?.length ?? 0];
  const bytes = Buffer.allocUnsafe(9 + keySize + valueSize);
  bytes[0] = LEAF_PREFIX;
  bytes.writeUInt32BE(keySize, 1);
  key?.copy(bytes, 5);
  bytes.writeUInt32BE(valueSize, 5 + keySize);
  value?.copy(bytes, 9 + keySize);
  return sha256(bytes);
}

/** Where a batch of a log lies, and when it was signed. */
export interface LogBatchPlace {
  readonly topic: string;
  readonly partition: number;
  readonly signedAt: number;
}

export function logText({ topic, partition, signedAt }: LogBatchPlace, records: readonly Bytes[]): string {
  const count = String(records.length);
  return `recourse-log-v1\n${topic}\n${String(partition)}\n${count}\n${String(signedAt)}\n${digestOf(records)}`;
}

function digestOf(records: readonly Bytes[]): string {
  const hash = createHash('sha256');
  const length = Buffer.alloc(4);
  for (const { key, value } of records)
    for (const part of [key, value]) {
      length.writeUInt32BE(part?.length ?? 0);
      hash.update(length);
      if (part !== null) hash.update(part);
    }
  return hash.digest('hex');
}
