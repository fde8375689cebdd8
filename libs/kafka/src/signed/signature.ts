// What is signed, and how a signature travels: one header of the record (docs/design/edge.md).
//
// Grammar
//   header     = "v1" SP key-id SP signed-at SP count SP base64     ; signed-at in epoch milliseconds; of a wire, count is 1
//   wire-text  = "recourse-wire-v1" LF topic LF signed-at LF digest
//   log-text   = "recourse-log-v1" LF topic LF partition LF count LF signed-at LF digest
//   digest     = hex of SHA-256 over (length key length value) of each record, lengths as 4 octets, big-endian
//
// A log is signed a batch at a time, on its first record, so that who reads knows before it reads on, and without any schema.
import { createHash } from 'node:crypto';

/** Header that carries a signature. */
export const SIGNATURE = 'recourse-signature';

/** Records of one signed batch at the most; a log's batches are smaller (L4). */
export const SIGNED_RECORDS_MAX = 2_000;

/** A signature as a header says it. */
export interface SignatureHeader {
  readonly keyId: string;
  /** Epoch milliseconds, by the signer's clock. */
  readonly signedAt: number;
  /** Records it covers, from the one that carries it. */
  readonly count: number;
  readonly signature: Buffer;
}

interface Bytes {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

export function headerText({ keyId, signedAt, count, signature }: SignatureHeader): string {
  return `v1 ${keyId} ${String(signedAt)} ${String(count)} ${signature.toString('base64')}`;
}

/** Reads a header; null when there is none, or it is no signature of ours. */
export function readHeader(header: Buffer | undefined): SignatureHeader | null {
  if (header === undefined) return null;
  const [version, keyId, signedAt, count, signature, ...more] = header.toString('utf8').split(' ');
  if (version !== 'v1' || keyId === undefined || signature === undefined || more.length > 0) return null;
  const numbers = { signedAt: Number(signedAt), count: Number(count) };
  const isSound =
    Number.isSafeInteger(numbers.signedAt) &&
    Number.isSafeInteger(numbers.count) &&
    numbers.count >= 1 &&
    numbers.count <= SIGNED_RECORDS_MAX;
  return isSound ? { keyId, ...numbers, signature: Buffer.from(signature, 'base64') } : null;
}

export function wireText(topic: string, signedAt: number, record: Bytes): string {
  return `recourse-wire-v1\n${topic}\n${String(signedAt)}\n${digestOf([record])}`;
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
