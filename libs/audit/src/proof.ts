// A proof that a record stands in a log, as a file that says everything: whoever has it and the auditor's public key needs nothing else.
//
// Grammar (JSON; test/interop/check_proof.py checks the same, sharing no code):
//   proof       = {"format": "recourse.proof.v1", "log", "record", "inclusion", "head", "consistency"}
//   log         = {"log_id", "topic", "partition"}
//   record      = {"seq", "offset", "key", "value", "schema", "fingerprint", "leaf"}     ; key and value base64, hashes hex, schema Avro JSON
//   inclusion   = {"index", "size", "path"}                                            ; path: hex, from the leaf up
//   head        = text of a signed note
//   consistency = null / {"from": text of an older signed note, "path": hex}
//
// Source: RFC 6962 section 2.1; docs/guides/verify-without-us.md.
import { FRAME_SIZE, isConsistent, isIncluded, leafHash, readHead, schemaIdOf } from '@recourse/chain';
import { z } from 'zod';
import type { NoteKey } from './note.js';
import { isCosigned, originOf, readSignedHead } from './tree-head.js';
import type { SignedHead } from './tree-head.js';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
// Its padding apart: an expression of groups has no stack for tens of megabytes.
const base64 = z
  .string()
  .regex(/^[A-Za-z0-9+/]*={0,2}$/)
  .refine((text) => text.length % 4 === 0);
const path = z.array(hash).max(64);
const place = z.int().min(0);

const proofFile = z.strictObject({
  format: z.literal('recourse.proof.v1'),
  log: z.strictObject({ log_id: z.string(), topic: z.string(), partition: place }),
  record: z.strictObject({
    seq: z.int().min(1),
    offset: place,
    key: base64,
    value: base64,
    schema: z.string(),
    fingerprint: hash,
    leaf: hash,
  }),
  inclusion: z.strictObject({ index: place, size: z.int().min(1), path }),
  head: z.string(),
  consistency: z.strictObject({ from: z.string(), path }).nullable(),
});
export type Proof = z.infer<typeof proofFile>;

/** Why a proof proves nothing. */
export const PROOF_PROBLEMS = {
  NOT_A_PROOF: 'it is no proof, or of another format',
  HEAD_UNSIGNED: 'the head bears no signature of the auditor whose key was given',
  HEAD_UNWITNESSED: 'the head bears no signature of a witness whose key was given',
  OTHER_LOG: 'the head is of another log',
  OTHER_DEPLOYMENT: 'it is of the logs of another deployment than the one that was named',
  RECORD_ALTERED: 'the record is not the one whose hash the proof is about',
  SCHEMA_ALTERED: 'the schema is not the one the record was written with',
  NOT_INCLUDED: 'the record is not in the tree of the head',
  NOT_CONSISTENT: 'the tree of the head does not extend that of the older head',
} as const;
export type ProofProblem = keyof typeof PROOF_PROBLEMS;

/** Reads a proof; null for what is none. */
export function parseProof(value: unknown): Proof | null {
  const read = proofFile.safeParse(value);
  return read.success ? read.data : null;
}

/** Who must have signed, and what says the fingerprint of a schema. */
export interface ProofTrust {
  readonly keys: readonly NoteKey[];
  /** Each of them must have signed the heads, too. */
  readonly witnesses?: readonly NoteKey[];
  /** Fingerprint of a schema as text; null for what is none. */
  readonly fingerprintOf: (schema: string) => Buffer | null;
  /** Id of the logs that it has to be of; null: of any that the auditor signed. */
  readonly logId?: string | null;
}

/** What is wrong with a proof; null when it holds. */
export function checkProof(value: unknown, trust: ProofTrust): ProofProblem | null {
  const { keys, witnesses = [], fingerprintOf, logId = null } = trust;
  const proof = parseProof(value);
  if (proof === null) return 'NOT_A_PROOF';
  const head = readSignedHead(proof.head, keys);
  if (head === null) return 'HEAD_UNSIGNED';
  if (!isCosigned(head, witnesses)) return 'HEAD_UNWITNESSED';
  if (!isOf(proof, head)) return 'OTHER_LOG';
  if (logId !== null && proof.log.log_id !== logId) return 'OTHER_DEPLOYMENT';
  if (fingerprintOf(proof.record.schema)?.toString('hex') !== proof.record.fingerprint) return 'SCHEMA_ALTERED';
  if (!isRecordWhole(proof)) return 'RECORD_ALTERED';
  if (!isInHead(proof, head)) return 'NOT_INCLUDED';
  return consistencyProblem(proof, head, { keys, witnesses });
}

function isOf({ log: { log_id: logId, topic, partition } }: Proof, head: SignedHead): boolean {
  return originOf({ logId, topic, partition, generation: head.generation }) === originOf(head) && head.head !== null;
}

/** The hash is that of the bytes, and they say the place that the proof says. */
function isRecordWhole({ record: { seq, key, value, fingerprint, leaf } }: Proof): boolean {
  const bytes = Buffer.from(value, 'base64');
  if (schemaIdOf(bytes) === null || readHead(bytes)?.seq !== seq) return false;
  const own = leafHash(Buffer.from(fingerprint, 'hex'), Buffer.from(key, 'base64'), bytes.subarray(FRAME_SIZE));
  return own.toString('hex') === leaf;
}

function isInHead({ record, inclusion }: Proof, { size, root }: SignedHead): boolean {
  if (inclusion.size !== size || inclusion.index !== record.seq - 1) return false;
  const leaf = Buffer.from(record.leaf, 'hex');
  return isIncluded({ leaf, index: inclusion.index, size, root }, bytesOf(inclusion.path));
}

function consistencyProblem(
  { consistency }: Proof,
  head: SignedHead,
  { keys, witnesses }: Required<Pick<ProofTrust, 'keys' | 'witnesses'>>,
): ProofProblem | null {
  if (consistency === null) return null;
  const older = readSignedHead(consistency.from, keys);
  if (older === null) return 'HEAD_UNSIGNED';
  if (!isCosigned(older, witnesses)) return 'HEAD_UNWITNESSED';
  if (originOf(older) !== originOf(head)) return 'OTHER_LOG';
  return extendsHead(older, head, bytesOf(consistency.path)) ? null : 'NOT_CONSISTENT';
}

/** Does the tree of a head only append to that of an older one? */
export function extendsHead(
  older: Pick<SignedHead, 'size' | 'root'>,
  newer: Pick<SignedHead, 'size' | 'root'>,
  proof: readonly Buffer[],
): boolean {
  if (older.size === 0) return proof.length === 0;
  return isConsistent(
    { firstSize: older.size, firstRoot: older.root, secondSize: newer.size, secondRoot: newer.root },
    proof,
  );
}

const bytesOf = (hashes: readonly string[]): readonly Buffer[] => hashes.map((one) => Buffer.from(one, 'hex'));
