// Makes the decisions of a packet again, in the process of the service that made them. Reads nothing but the packet, and keys where it is let.
import { FRAME_SIZE, leafHash, schemaIdOf } from '@recourse/chain';
import { pinShape } from '@recourse/contract';
import { acceptedOf, checkDerived, checkPins, OpenKeys } from '@recourse/event-log';
import type { CheckedPin, Doc, HeldRecord, KeyStore, ServiceCore } from '@recourse/event-log';
import { Failure } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { z } from 'zod';
import { unpacked } from './pin-json.js';
import { otherShape } from './remaking.js';
import type { Remaking } from './remaking.js';

const base64 = z.base64().transform((text) => Buffer.from(text, 'base64'));
const hash = z.string().regex(/^[0-9a-f]{64}$/);

export const checkShape = z.strictObject({
  do: z.literal('check'),
  log: z.string(),
  settings: z.record(z.string(), z.string()),
  partitions: z.int().min(1),
  schemas: z.array(z.strictObject({ id: z.int().min(1), text: z.string() })),
  records: z.array(
    z.strictObject({
      log: z.string(),
      partition: z.int().min(0),
      seq: z.int().min(1),
      hash,
      key: base64,
      value: base64,
    }),
  ),
  pins: z.array(pinShape),
  view_partitions: z.record(z.string(), z.int().min(1)),
  /** Where the keys are that open payloads; null: decisions that look into one are not made. */
  key_store_url: z.string().nullable(),
  other: otherShape.nullable(),
});
export type CheckAsked = z.infer<typeof checkShape>;

/** Ids of our own schemas where a packet is checked: a hash holds no id. */
const OWN_IDS_FROM = 2_000_000_000;

/** One line for each decision, in their order, and for each record derived from one. Errors: Failure(CONFIG_INVALID) for settings that no process has; Failure(KEY_STORE_UNAVAILABLE). */
export async function checkLines(
  asked: CheckAsked,
  { coreUnder, keyed, whatIf }: Remaking,
  store: Pick<KeyStore, 'find'> | null,
): Promise<readonly object[]> {
  const { settings, partitions, other } = asked;
  const core = coreUnder(settings);
  const codecs = await codecsOf(asked, core);
  const records = asked.records.flatMap((record) => heldIn(record, codecs) ?? []);
  const pins = asked.pins.map(unpacked);
  const keys = store === null ? null : new OpenKeys(store);
  await keys?.loadFor([records.map(({ whole }) => whole), pins.map(({ groups }) => groups)]);
  const held = { core, codecs, keyed, partitions, viewPartitions: asked.view_partitions, records };
  const checked = checkPins({
    ...held,
    pins,
    ...(keys === null ? {} : { keys }),
    ...(other === null ? {} : { whatIf: whatIf(other) }),
  });
  return [...checked, ...checkDerived(held)].map((one) => ({ type: 'checked', ...shown(one) }));
}

async function codecsOf({ schemas }: CheckAsked, { log, derived }: ServiceCore): Promise<Codecs> {
  const texts = new Map(schemas.map(({ id, text }) => [id, text] as const));
  let own = OWN_IDS_FROM;
  const codecs = createCodecs({
    schemaById: (id) => {
      const text = texts.get(id);
      return text === undefined ? Promise.reject(new Failure('UNKNOWN_SCHEMA', String(id))) : Promise.resolve(text);
    },
    idOf: () => Promise.resolve((own += 1)),
  });
  await codecs.prepareWriter(log);
  if (derived !== undefined) await codecs.prepareWriter(derived.topic);
  // A schema that is none leaves its records unread, and what rests on them unchecked.
  await Promise.all([...texts.keys()].map((id) => codecs.load(id).catch(() => undefined)));
  return codecs;
}

/** Null for bytes that do not have their hash, or are no record of that place. */
function heldIn(
  { key, value, hash: said, ...place }: CheckAsked['records'][number],
  codecs: Codecs,
): HeldRecord | null {
  const fingerprint = codecs.fingerprintOf(schemaIdOf(value) ?? -1);
  if (fingerprint === null) return null;
  const found = leafHash(fingerprint, key, value.subarray(FRAME_SIZE));
  const decoded = codecs.decodeSync(value);
  if (found.toString('hex') !== said || decoded.kind !== 'decoded') return null;
  const whole = decoded.body as Doc; // records are objects
  if (whole['seq'] !== place.seq) return null;
  const record = acceptedOf(decoded.type, whole, { seq: place.seq, hash: found });
  return { place: { ...place, hash: said }, key: key.toString('utf8'), record, whole };
}

/** Bytes as hex, so that people can read what would have been decided. */
function shown({ otherwise, ...checked }: CheckedPin): object {
  if (otherwise === null) return { ...checked, otherwise };
  const { isConcerned: is_concerned, ...rest } = otherwise;
  return JSON.parse(
    JSON.stringify({ ...checked, otherwise: { ...rest, is_concerned } }, (_name, value: unknown) =>
      isJsonBuffer(value) ? Buffer.from(value.data).toString('hex') : value,
    ),
  ) as object; // what was just written
}

function isJsonBuffer(value: unknown): value is { readonly data: readonly number[] } {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer' && 'data' in value;
}
