// A record of a wire as a packet holds it: its bytes without payloads, which are named by their places, and without the signature of an edge.
import { sha256Hex } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
import { mapPayloads } from '../sealing/payload-walk.js';
import type { PayloadDoc } from '../sealing/sealing.js';
import type { Decided, Doc, RecordInput } from '../service-core.js';
import { nameOf } from './payload-keys.js';
import type { PinnedInput } from './pin.messages.js';

/** Key of a payload that is not told: no key of ours has this id. */
export const WITHHELD = 'withheld';

export type PinnedWire = Extract<PinnedInput, { readonly source: 'wire' }>;

/** The record without its payloads, and each of those by its name. Errors: those of the registry, for a wire nobody registered. */
export async function pinnedWire(
  input: RecordInput,
  bytes: Buffer,
  codecs: Codecs,
): Promise<{ readonly pinned: PinnedWire; readonly payloads: ReadonlyMap<string, PayloadDoc> }> {
  await codecs.prepareWriter(input.topic);
  const { topic, partition, offset, key, speaker = null } = input;
  const held = withheld(input.body, `${topic}/${String(partition)}@${String(offset)}`);
  const value = codecs.encode(topic, input.type, held.body);
  const pinned: PinnedWire = {
    source: 'wire',
    topic,
    partition,
    offset,
    key,
    value,
    sha256: sha256Hex(value),
    wireSha256: held.payloads.size > 0 ? null : sha256Hex(bytes),
    speaker,
  };
  return { pinned, payloads: held.payloads };
}

/** The input again, with payloads where a record holds them sealed, by their names; null where its bytes cannot be read, or are others. */
export function wireInput(
  { topic, partition, offset, key, value, sha256, speaker }: PinnedWire,
  codecs: Codecs,
  sealed: ReadonlyMap<string, PayloadDoc> = new Map(),
): RecordInput | null {
  const decoded = codecs.decodeSync(value);
  if (decoded.kind !== 'decoded' || sha256Hex(value) !== sha256) return null;
  const { type, body } = decoded;
  const place = { source: 'wire', topic, partition, offset, key, seq: 0, hash: Buffer.alloc(32) } as const;
  const told = mapPayloads(body, (payload) =>
    payload.key_id === WITHHELD ? (sealed.get(nameOf(payload)) ?? payload) : payload,
  );
  const input: RecordInput = { ...place, type, body: told as Doc }; // records are objects
  return speaker === null ? input : { ...input, speaker };
}

/** The body without what is not to be shown; a payload is named by its place, since its hash would tell whoever guesses it. */
function withheld(
  body: Doc,
  place: string,
): { readonly body: Doc; readonly payloads: ReadonlyMap<string, PayloadDoc> } {
  const { envelope } = body;
  const bare =
    typeof envelope === 'object' && envelope !== null
      ? { ...body, envelope: { ...envelope, signature: Buffer.alloc(0) } }
      : body;
  const payloads = new Map<string, PayloadDoc>();
  const without = mapPayloads(bare, (payload) => {
    const { content_type } = payload;
    const name = sha256Hex(`${place}#${String(payloads.size + 1)}`);
    payloads.set(name, payload);
    const sha256 = Buffer.from(name, 'hex');
    return { content_type, encoding: 'sealed', key_id: WITHHELD, body: Buffer.alloc(0), sha256 };
  });
  return { body: without as Doc, payloads };
}

/** What would have been decided is told without what is in it. */
export function withoutContents({ type, body }: Decided): Decided {
  const bare = mapPayloads(body, (payload) =>
    payload.encoding === 'plain'
      ? { ...payload, encoding: 'sealed', key_id: WITHHELD, body: Buffer.alloc(0), sha256: Buffer.alloc(32) }
      : payload,
  );
  return { type, body: bare as Doc };
}
