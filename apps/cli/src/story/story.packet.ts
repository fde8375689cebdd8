// A story to take away: its lines, and the raw records they are told from, with the schemas those are written in. It is told again from
// the records alone, where no service is.
//
// Grammar (JSON):
//   packet  = {"format": "recourse.story-packet/1", "story", "schemas": [schema], "records": [record]}
//   schema  = {"id", "text"}                  ; Avro JSON
//   record  = {"log", "partition", "offset", "seq", "hash", "key", "value"}     ; key and value in base64, hash in hex
//
// Invariants
//   K1. What a packet says of itself counts for nothing: hashes are computed from the bytes, lines are told from what they decode to.
//   K2. That a log holds the records where the packet says shows only a log: without one the packet is not called proved.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { FRAME_SIZE, leafHash, schemaIdOf } from '@recourse/chain';
import { canonicalJson, Failure } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { z } from 'zod';
import type { Accepted } from '../audit/accepted.js';
import { CliProblem } from '../problem.js';
import { storyOf, storyShape } from './story.js';
import type { Story } from './story.js';

const FORMAT = 'recourse.story-packet/1';
const base64 = z.base64().transform((text) => Buffer.from(text, 'base64'));
export const storyPacketShape = z.strictObject({
  format: z.literal(FORMAT),
  story: storyShape,
  schemas: z.array(z.strictObject({ id: z.int().min(1), text: z.string() })),
  records: z.array(
    z.strictObject({
      log: z.string(),
      partition: z.int().min(0),
      offset: z.int().min(0),
      seq: z.int().min(1),
      hash: z.string().regex(/^[0-9a-f]{64}$/),
      key: base64,
      value: base64,
    }),
  ),
});
export type StoryPacket = Readonly<z.infer<typeof storyPacketShape>>;

/** The packet as text. Errors: those of `textOf`, for a schema that nobody knows. */
export async function storyPacket(
  story: Story,
  records: readonly Accepted[],
  textOf: (id: number) => Promise<string>,
): Promise<string> {
  const ids = [...new Set(records.flatMap(({ raw }) => schemaIdOf(raw.value) ?? []))].sort((a, b) => a - b);
  const schemas = await Promise.all(ids.map(async (id) => ({ id, text: await textOf(id) })));
  const raw = records.map(({ log, partition, offset, seq, hash, raw: { key, value } }) => ({
    log,
    partition,
    offset,
    seq,
    hash,
    key: (key ?? Buffer.alloc(0)).toString('base64'),
    value: value.toString('base64'),
  }));
  return `${JSON.stringify({ format: FORMAT, story, schemas, records: raw }, null, 2)}\n`;
}

/** Errors: CliProblem(PACKET_INVALID, FILE_UNREADABLE). */
export function readStoryPacket(file: string, folder: string): StoryPacket {
  let text: string;
  try {
    text = readFileSync(resolve(folder, file), 'utf8');
  } catch (cause) {
    throw new CliProblem('FILE_UNREADABLE', `${file} cannot be read`, 'usage', { cause, remedy: 'Name a packet.' });
  }
  try {
    return storyPacketShape.parse(JSON.parse(text));
  } catch (cause) {
    throw new CliProblem('PACKET_INVALID', `${file} is no packet of a story`, 'usage', {
      cause,
      remedy: 'Name what `recourse audit story --packet` wrote.',
      problems:
        cause instanceof z.ZodError
          ? cause.issues
              .slice(0, 20)
              .map(({ path, message }) => ({ code: 'FIELD_INVALID', message, path: `/${path.join('/')}` }))
          : [],
    });
  }
}

export interface StoryCheck {
  /** `incomplete`: nothing differs, and no log was at hand. */
  readonly outcome: 'equal' | 'differs' | 'incomplete';
  readonly records: number;
  readonly problems: readonly { readonly code: string; readonly message: string }[];
}

/** Tells a packet again. `logged` is the hash at a place of a log, null where it holds none; null without a log. */
export async function checkStory(
  { story, schemas, records }: StoryPacket,
  logged: ReadonlyMap<string, string> | null,
): Promise<StoryCheck> {
  const codecs = await codecsOf(schemas);
  const decoded = records.map((record) => decodedFrom(record, codecs));
  const told = storyOf(
    decoded.flatMap(({ accepted }) => accepted ?? []),
    story.about.id,
  );
  const problems = [
    ...decoded.flatMap(({ problem }) => problem ?? []),
    ...(told !== null && canonicalJson(told.story) === canonicalJson(story)
      ? []
      : [{ code: 'STORY_LINES_DIFFER', message: 'the records do not tell these lines' }]),
    ...(logged === null
      ? []
      : records
          .filter(({ hash, ...place }) => logged.get(placeName(place)) !== hash)
          .map((record) => ({
            code: 'STORY_PLACE_DIFFERS',
            message: `${placeName(record)} holds another record, or none`,
          }))),
  ];
  const outcome = problems.length > 0 ? 'differs' : logged === null ? 'incomplete' : 'equal';
  return { outcome, records: records.length, problems };
}

export const placeName = ({
  log,
  partition,
  seq,
}: {
  readonly log: string;
  readonly partition: number;
  readonly seq: number;
}): string => `${log}/${String(partition)} seq ${String(seq)}`;

async function codecsOf(schemas: StoryPacket['schemas']): Promise<Codecs> {
  const texts = new Map(schemas.map(({ id, text }) => [id, text] as const));
  const unknown = (what: string): Promise<never> =>
    Promise.reject(new Failure('UNKNOWN_SCHEMA', `${what} is not in the packet`));
  const codecs = createCodecs({
    schemaById: (id) => {
      const text = texts.get(id);
      return text === undefined ? unknown(`schema ${String(id)}`) : Promise.resolve(text);
    },
    idOf: (subject) => unknown(subject),
  });
  // A schema that is none leaves its records unreadable, each of which is said.
  await Promise.all([...texts.keys()].map((id) => codecs.load(id).catch(() => undefined)));
  return codecs;
}

interface Decoded {
  readonly accepted?: Accepted;
  readonly problem?: { readonly code: string; readonly message: string };
}

function decodedFrom({ hash, key, value, ...place }: StoryPacket['records'][number], codecs: Codecs): Decoded {
  const id = schemaIdOf(value);
  const fingerprint = id === null ? null : codecs.fingerprintOf(id);
  const unreadable = { code: 'STORY_RECORD_UNREADABLE', message: `${placeName(place)} cannot be read` };
  if (fingerprint === null) return { problem: unreadable };
  const found = leafHash(fingerprint, key, value.subarray(FRAME_SIZE)).toString('hex');
  if (found !== hash)
    return { problem: { code: 'STORY_HASH_DIFFERS', message: `${placeName(place)} hashes to ${found}` } };
  const decoded = codecs.decodeSync(value);
  return decoded.kind === 'decoded'
    ? { accepted: { ...place, hash, type: decoded.type, body: decoded.body, raw: { key, value } } }
    : { problem: unreadable };
}
