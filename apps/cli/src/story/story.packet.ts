// A story to take away: its lines, and the raw records they are told from, with the schemas those are written in. It is told again from
// the records alone, where no service is.
//
// Grammar (JSON):
//   packet  = {"format": "recourse.story-packet/1", "story", "schemas": [schema], "records": [record], "decisions"}
//   schema  = {"id", "text"}                  ; Avro JSON
//   record  = {"log", "partition", "offset", "seq", "hash", "key", "value", "proof"}     ; key and value in base64, hash in hex
//   decisions = null / what decisions were made from (libs/contract/src/packet/packed-pins.ts)
//   proof   = null / a proof as libs/audit/src/proof.ts has it: what `audit check-proof` takes, also on its own
//
// test/interop/check_story.py checks the same, sharing no code.
//
// Invariants
//   K1. What a packet says of itself counts for nothing: hashes are computed from the bytes, lines are told from what they decode to.
//   K2. That a log holds the records where the packet says shows a log, or the proof of each by a head that the auditor signed: without
//       either the packet is not called proved.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { FRAME_SIZE, leafHash, schemaIdOf } from '@recourse/chain';
import type { Proof } from '@recourse/audit';
import { decisionsShape } from '@recourse/contract';
import type { PackedDecisions } from '@recourse/contract';
import { Failure } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { z } from 'zod';
import type { Accepted } from '../audit/accepted.js';
import { CliProblem } from '../problem.js';
import { placeName } from './place-name.js';
import { storyShape } from './story.js';
import type { Story } from './story.js';
import { proofsIn } from './story.proved.js';
import type { ProofKeys, StoryProblem } from './story.proved.js';
import { retold } from './story.retold.js';

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
      // Whatever stands here is judged as a proof; a packet without proofs is one all the same.
      proof: z.unknown().nullable().default(null),
    }),
  ),
  decisions: decisionsShape.nullable().default(null),
});
export type StoryPacket = Readonly<z.infer<typeof storyPacketShape>>;

/** What a packet holds more than a story: decisions, and records that they rest on or made beside those of the story. */
export interface Gathered {
  readonly decisions: PackedDecisions;
  readonly records: readonly Accepted[];
  /** Ids of the schemas that inputs are written in. */
  readonly schemaIds: readonly number[];
}

/** The packet as text, with the proofs there are by place. Errors: those of `textOf`, for a schema that nobody knows. */
export async function storyPacket(
  { story, records }: { readonly story: Story; readonly records: readonly Accepted[] },
  textOf: (id: number) => Promise<string>,
  proofs: ReadonlyMap<string, Proof> = new Map(),
  gathered: Gathered | null = null,
): Promise<string> {
  const all = [...records, ...(gathered?.records ?? [])];
  const used = [...all.flatMap(({ raw }) => schemaIdOf(raw.value) ?? []), ...(gathered?.schemaIds ?? [])];
  const ids = [...new Set(used)].sort((a, b) => a - b);
  const schemas = await Promise.all(ids.map(async (id) => ({ id, text: await textOf(id) })));
  const raw = all.map(({ log, partition, offset, seq, hash, raw: { key, value } }) => ({
    log,
    partition,
    offset,
    seq,
    hash,
    key: (key ?? Buffer.alloc(0)).toString('base64'),
    value: value.toString('base64'),
    proof: proofs.get(placeName({ log, partition, seq })) ?? null,
  }));
  const decisions = gathered === null ? {} : { decisions: gathered.decisions };
  return `${JSON.stringify({ format: FORMAT, story, schemas, records: raw, ...decisions }, null, 2)}\n`;
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
  /** `incomplete`: nothing differs; no log was at hand and not every record was proved, or it is told in older words. */
  readonly outcome: 'equal' | 'differs' | 'incomplete';
  readonly records: number;
  /** Records whose proofs hold by the key that was given. */
  readonly proved: number;
  /** Id of the logs that the records stand in, by their proofs or the log at hand; null where neither says. */
  readonly log_id: string | null;
  /** Whose story it is, by the records; null where they tell none. */
  readonly tenant: string | null;
  /** Version of the words that it is told in. */
  readonly words: number;
  /** The same records in the words of today; null where it is told in those. */
  readonly today: Story | null;
  readonly problems: readonly StoryProblem[];
}

/** Records of a packet, decoded; those whose bytes have another hash, or cannot be read, are left out and named. */
export async function recordsOf({
  schemas,
  records,
}: Pick<StoryPacket, 'schemas' | 'records'>): Promise<readonly Decoded[]> {
  const codecs = await codecsOf(schemas);
  const seen = new Set<string>();
  return records.map((record) => {
    const isRepeated = namesOf(record).some((name) => seen.has(name));
    for (const name of namesOf(record)) seen.add(name);
    return isRepeated ? { problem: repeated(record) } : decodedFrom(record, codecs);
  });
}

/** A record stands once in a packet, as in its log: by its place, its offset and its bytes. */
const namesOf = (record: StoryPacket['records'][number]): readonly string[] => [
  placeName(record),
  `${record.log}/${String(record.partition)} offset ${String(record.offset)}`,
  record.hash,
];
const repeated = (record: StoryPacket['records'][number]): StoryProblem => ({
  code: 'STORY_RECORD_REPEATED',
  message: `${placeName(record)} is in the packet twice`,
});

/** What a packet is held against. Without keys of the auditor proofs are not looked at. */
export interface StoryTrust extends Partial<ProofKeys> {
  /** Hash at a place of a log, null where it holds none; null: no log is at hand. */
  readonly logged: ReadonlyMap<string, string> | null;
  /** Id of the logs that all of it has to be of; null: of one, whichever that is. */
  readonly logId?: string | null;
}

/** Tells a packet again, and looks for its records where they are said to stand. */
export async function checkStory(
  packet: StoryPacket,
  { logged, logId = null, ...signers }: StoryTrust,
): Promise<StoryCheck> {
  const { story, records } = packet;
  const decoded = await recordsOf(packet);
  const { lines, old, ...told } = retold(
    story,
    decoded.flatMap(({ accepted }) => accepted ?? []),
  );
  const { proofs, ofLog } = await proofsIn(records, signers, logId);
  const found = [
    ...decoded.flatMap(({ problem }) => problem ?? []),
    ...lines,
    ...(logged === null ? [] : misplaced(records, logged)),
    ...proofs.flatMap(({ problem }) => problem ?? []),
  ];
  const proved = proofs.filter(({ outcome }) => outcome === 'holds').length;
  const isPlaced = logged !== null || proved === records.length;
  return {
    outcome: found.length > 0 ? 'differs' : isPlaced && old.length === 0 ? 'equal' : 'incomplete',
    records: records.length,
    proved,
    log_id: logged === null ? ofLog : logId,
    ...told,
    problems: [...found, ...old],
  };
}

function misplaced(records: StoryPacket['records'], logged: ReadonlyMap<string, string>): readonly StoryProblem[] {
  return records
    .filter((record) => logged.get(placeName(record)) !== record.hash)
    .map((record) => ({
      code: 'STORY_PLACE_DIFFERS',
      message: `${placeName(record)} holds another record, or none`,
    }));
}

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

export interface Decoded {
  readonly accepted?: Accepted;
  readonly problem?: StoryProblem;
}

function decodedFrom({ proof: _proof, ...record }: StoryPacket['records'][number], codecs: Codecs): Decoded {
  const { hash, key, value, ...place } = record;
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
