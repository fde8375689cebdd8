// The acceptance rule: which records of a log partition count.
//
// Grammar:
//   log       = genesis *record              ; in offset order
//   record    = accepted / void
//   accepted  = seq = head.seq + 1 and prev-hash = head.hash     ; becomes the head
//   void      = every other record           ; skipped by every reader in every language
//
// Invariants
//   I1. The rule reads the first two fields only, so it needs no schema; the hash of an accepted record needs the
//       writer schema's fingerprint, and without it the reader stops before the record and can be asked again.
//   I2. A record without a readable head, or without a key, is void.
import { plainlyFollows, readHead, schemaIdOf } from './framing.js';
import type { RecordHead } from './framing.js';
import { genesisHash, recordHash } from './leaf.js';
import type { GenesisOf } from './leaf.js';

/** The last accepted record of a partition: its `seq` and its leaf hash. Before the first, 0 and the genesis hash. */
export interface Head {
  readonly seq: number;
  readonly hash: Buffer;
}

/** A record as it lies in the log. */
export interface RawRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

export type Acceptance = 'accepted' | 'void';

/** What a reader made of one record. */
export type Verdict =
  | { readonly kind: 'accepted'; readonly head: Head }
  | { readonly kind: 'void' }
  | { readonly kind: 'unknown_schema'; readonly id: number };

/** Hash of a record; whoever has it already need not make it again. */
export type HashOf<Record> = (fingerprint: Buffer, key: Buffer, value: Buffer, record: Record) => Buffer;

/** Fingerprint of a writer schema, or null while it is not known. */
export type FingerprintOf = (schemaId: number) => Buffer | null;

const VOID: Verdict = { kind: 'void' };

/** Head of a partition nothing was accepted in. */
export function genesisHead(of: GenesisOf): Head {
  return { seq: 0, hash: genesisHash(of) };
}

/**
 * Applies the acceptance rule.
 *
 * Source: docs/design/loop.md.
 */
export function judge(head: Head, record: RecordHead): Acceptance {
  return record.seq === head.seq + 1 && record.prevHash.equals(head.hash) ? 'accepted' : 'void';
}

/**
 * Judges one raw record at a head and hashes it when it is accepted. Pure.
 *
 * Shape: void needs no schema, so a void record of an unknown schema stops nobody.
 */
export function readRecord<Record extends RawRecord>(
  head: Head,
  record: Record,
  fingerprintOf: FingerprintOf,
  hashOf: HashOf<Record> = recordHash,
): Verdict {
  const { key, value } = record;
  if (key === null || value === null || !follows(head, value)) return VOID;
  const id = schemaIdOf(value);
  if (id === null) return VOID;
  const fingerprint = fingerprintOf(id);
  if (fingerprint === null) return { kind: 'unknown_schema', id };
  return { kind: 'accepted', head: { seq: head.seq + 1, hash: hashOf(fingerprint, key, value, record) } };
}

function follows(head: Head, value: Buffer): boolean {
  if (plainlyFollows(value, head.seq + 1, head.hash)) return true;
  const recordHead = readHead(value);
  return recordHead !== null && judge(head, recordHead) === 'accepted';
}

/** Folds the acceptance rule over the records of one partition, in offset order. */
export class ChainReader {
  #head: Head;
  readonly #fingerprintOf: FingerprintOf;

  constructor(start: Head, fingerprintOf: FingerprintOf) {
    this.#head = start;
    this.#fingerprintOf = fingerprintOf;
  }

  get head(): Head {
    return this.#head;
  }

  /** Judges the next record; the head moves when it is accepted and stays otherwise. */
  read(record: RawRecord): Verdict {
    const verdict = readRecord(this.#head, record, this.#fingerprintOf);
    if (verdict.kind === 'accepted') this.#head = verdict.head;
    return verdict;
  }
}
