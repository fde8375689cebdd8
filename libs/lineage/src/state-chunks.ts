// A state on its way: cut into chunks, each salted so that its hash tells nothing of what it holds.
//
// Grammar:
//   chunk = 16 octets of salt, then at most CHUNK_BYTES octets of the state
import { hash } from 'node:crypto';
import { canonicalJson } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { CheckpointState, Payload } from '@recourse/messages';

/** Salt of a chunk, bytes: nobody tries them all. */
export const SALT_BYTES = 16;
/** Most of a state in one chunk, bytes: a record on a wire holds 256 KB. */
export const CHUNK_BYTES = 192 * 1_024;
/** Most chunks of one state: 12 MB. A larger one belongs into a store, with its name in the state. */
export const CHUNKS_MAX = 64;
/** Media type of a chunk. */
export const CHUNK_TYPE = 'application/vnd.recourse.state-chunk';

/** A state ready to be told. */
export interface CutState {
  readonly state: CheckpointState;
  readonly chunks: readonly Payload[];
}

/**
 * Cuts a state, or a delta on that of `baseId`, into chunks.
 *
 * Shape:  one chunk rides in `state.body`; several are told apart, in `chunks`, and `state.body` is null.
 * Errors: RangeError for a state of more than CHUNKS_MAX chunks.
 */
export function cutState(content: Json, saltOf: () => Uint8Array, baseId: string | null = null): CutState {
  const bytes = Buffer.from(canonicalJson(content), 'utf8');
  const count = Math.max(1, Math.ceil(bytes.length / CHUNK_BYTES));
  if (count > CHUNKS_MAX)
    throw new RangeError(
      `a state holds ${String(CHUNKS_MAX * CHUNK_BYTES)} bytes at the most, this one ${String(bytes.length)}`,
    );
  const chunks = Array.from({ length: count }, (_, index) =>
    chunkOf(saltOf(), bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES)),
  );
  const [only] = chunks;
  return {
    state: {
      kind: baseId === null ? 'whole' : 'delta',
      base_id: baseId,
      content_type: 'application/json',
      size_bytes: bytes.length,
      chunk_sha256s: chunks.map(({ sha256 }) => sha256),
      body: count === 1 ? (only ?? null) : null,
    },
    chunks: count === 1 ? [] : chunks,
  };
}

/** Whether a plain chunk is the one that was told of. */
export function isChunk(chunk: Payload, sha256: Uint8Array | undefined): boolean {
  return (
    sha256 !== undefined &&
    chunk.encoding === 'plain' &&
    chunk.body.length >= SALT_BYTES &&
    sha256Of(chunk.body).equals(Buffer.from(sha256)) &&
    chunk.sha256.equals(Buffer.from(sha256))
  );
}

/** The state that plain chunks make up, in their order. Errors: SyntaxError where they are no JSON. */
export function joinState(chunks: readonly Uint8Array[]): Json {
  return JSON.parse(Buffer.concat(chunks.map((chunk) => chunk.subarray(SALT_BYTES))).toString('utf8')) as Json;
}

function chunkOf(salt: Uint8Array, part: Uint8Array): Payload {
  const body = Buffer.concat([salt.subarray(0, SALT_BYTES), part]);
  return { content_type: CHUNK_TYPE, encoding: 'plain', key_id: null, body, sha256: sha256Of(body) };
}

function sha256Of(bytes: Uint8Array): Buffer {
  return Buffer.from(hash('sha256', bytes, 'binary'), 'latin1');
}
