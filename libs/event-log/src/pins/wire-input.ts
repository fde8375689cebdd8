// A record of a wire as a packet holds it: its bytes without payloads, which are named by their places, and without the signature of an edge.
import { sha256Hex } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
import { mapPayloads } from '../sealing/payload-walk.js';
import type { Doc, RecordInput } from '../service-core.js';
import type { PinnedInput } from './pin.messages.js';

/** Key of a payload that is not told: no key of ours has this id. */
export const WITHHELD = 'withheld';

export type PinnedWire = Extract<PinnedInput, { readonly source: 'wire' }>;

/** Errors: those of the registry, for a wire nobody registered. */
export async function pinnedWire(input: RecordInput, bytes: Buffer, codecs: Codecs): Promise<PinnedWire> {
  await codecs.prepareWriter(input.topic);
  const { topic, partition, offset, key, speaker = null } = input;
  const held = withheld(input.body, `${topic}/${String(partition)}@${String(offset)}`);
  const value = codecs.encode(topic, input.type, held.body);
  return {
    source: 'wire',
    topic,
    partition,
    offset,
    key,
    value,
    sha256: sha256Hex(value),
    wireSha256: held.payloads > 0 ? null : sha256Hex(bytes),
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

/** The body without what is not to be shown; a payload is named by its place, since its hash would tell whoever guesses it. */
function withheld(body: Doc, place: string): { readonly body: Doc; readonly payloads: number } {
  const { envelope } = body;
  const bare =
    typeof envelope === 'object' && envelope !== null
      ? { ...body, envelope: { ...envelope, signature: Buffer.alloc(0) } }
      : body;
  let payloads = 0;
  const without = mapPayloads(bare, ({ content_type }) => {
    payloads += 1;
    const sha256 = Buffer.from(sha256Hex(`${place}#${String(payloads)}`), 'hex');
    return { content_type, encoding: 'sealed', key_id: WITHHELD, body: Buffer.alloc(0), sha256 };
  });
  return { body: without as Doc, payloads };
}
