// A record of a wire as a packet holds it: its bytes without payloads, which are named by their hashes, and without the signature of an edge.
import { sha256Hex } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
import { mapPayloads } from '../sealing/payload-walk.js';
import type { Doc, RecordInput } from '../service-core.js';
import type { PinnedInput } from './pin.messages.js';

export type PinnedWire = Extract<PinnedInput, { readonly source: 'wire' }>;

/** Errors: those of the registry, for a wire nobody registered. */
export async function pinnedWire(input: RecordInput, bytes: Buffer, codecs: Codecs): Promise<PinnedWire> {
  await codecs.prepareWriter(input.topic);
  const value = codecs.encode(input.topic, input.type, withheld(input.body));
  const { topic, partition, offset, key, speaker = null } = input;
  return {
    source: 'wire',
    topic,
    partition,
    offset,
    key,
    value,
    sha256: sha256Hex(value),
    wireSha256: sha256Hex(bytes),
    speaker,
  };
}

/** The input again; null where its bytes cannot be read, or are others. */
export function wireInput(
  { topic, partition, offset, key, value, sha256, speaker }: PinnedWire,
  codecs: Codecs,
): RecordInput | null {
  const decoded = codecs.decodeSync(value);
  if (decoded.kind !== 'decoded' || sha256Hex(value) !== sha256) return null;
  const { type, body } = decoded;
  const place = { source: 'wire', topic, partition, offset, key, seq: 0, hash: Buffer.alloc(32) } as const;
  const input: RecordInput = { ...place, type, body: body as Doc }; // records are objects
  return speaker === null ? input : { ...input, speaker };
}

function withheld(body: Doc): Doc {
  const { envelope } = body;
  const bare =
    typeof envelope === 'object' && envelope !== null
      ? { ...body, envelope: { ...envelope, signature: Buffer.alloc(0) } }
      : body;
  return mapPayloads(bare, ({ content_type, sha256 }) => ({
    content_type,
    encoding: 'unrecognized',
    key_id: null,
    body: Buffer.alloc(0),
    sha256,
  })) as Doc;
}
