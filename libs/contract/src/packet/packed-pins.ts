// Pins of decisions as a packet holds them: JSON, read within bounds, since a packet comes from anywhere.
//
// Grammar (JSON)
//   pin    = {"log", "partition", "records": [place], "progress": place, "input", "groups": [group], "entries": [entry],
//             "payloads": [{"sha256", "wire"}], "positions": [{"view", "partition", "seq"}]}   ; sha256 of sealed bytes; wire: its name in value, null
//   place  = {"log", "partition", "seq", "hash"}                               ; hash in hex
//   input  = {"source": "log", …place} / {"source": "timer", "kind", "group", "key", "due_at"}
//          / {"source": "wire", "topic", "partition", "offset", "key", "value", "sha256", "wire_sha256", "speaker"}   ; value in base64
//   group  = {"kind", "group", "is_whole", "rows": [{"key", "doc", "is_folded"}]}   ; bytes in a doc are {"$b": base64}
//   entry  = {"view", "key", "records": [place]}
import { z } from 'zod';

/** Pins of one packet, and what one of them may hold: a decision makes at most a batch of records (L4). */
const PINS_MAX = 20_000;
const RECORDS_MAX = 1_000;
const READS_MAX = 5_000;
const TEXT_MAX = 4_096;
/** Base64 of a wire record of at most 1 MB. */
const VALUE_MAX = 1_400_000;
/** Levels of a row: rows of ours have fewer than ten. */
const DEPTH_MAX = 64;

const text = z.string().max(TEXT_MAX);
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const whole = z.int().min(0);
const place = { log: text, partition: whole, seq: whole, hash };
const placed = z.strictObject(place);
const said = { names: z.array(text).max(READS_MAX), tenants: z.array(text).max(READS_MAX) };
const speaker = z.strictObject({
  keyId: text,
  roles: z.array(text).max(READS_MAX),
  ...said,
  observers: z.array(z.strictObject(said)).max(READS_MAX).optional(),
});

const input = z.discriminatedUnion('source', [
  z.strictObject({ source: z.literal('log'), ...place }),
  z.strictObject({
    source: z.literal('wire'),
    topic: text,
    partition: whole,
    offset: whole,
    key: text,
    value: z.base64().max(VALUE_MAX),
    sha256: hash,
    wire_sha256: hash.nullable(),
    speaker: speaker.nullable(),
  }),
  z.strictObject({ source: z.literal('timer'), kind: text, group: text, key: text, due_at: z.int() }),
]);

const doc = z.record(z.string(), z.unknown()).refine((value) => isWithin(value, DEPTH_MAX), 'it is nested too deep');

export const pinShape = z.strictObject({
  log: text,
  partition: whole,
  records: z.array(placed).min(1).max(RECORDS_MAX),
  progress: placed,
  input,
  groups: z
    .array(
      z.strictObject({
        kind: text,
        group: text,
        is_whole: z.boolean(),
        rows: z.array(z.strictObject({ key: text, doc: doc.nullable(), is_folded: z.boolean() })).max(READS_MAX),
      }),
    )
    .max(READS_MAX),
  entries: z.array(z.strictObject({ view: text, key: text, records: z.array(placed).max(READS_MAX) })).max(READS_MAX),
  payloads: z
    .array(z.strictObject({ sha256: hash, wire: hash.nullable() }))
    .max(READS_MAX)
    .default([]),
  positions: z
    .array(z.strictObject({ view: text, partition: whole, seq: whole }))
    .max(READS_MAX)
    .default([]),
});
export type PackedPin = z.infer<typeof pinShape>;

/** What a packet holds beside its records, so that decisions can be made again. */
export const decisionsShape = z.strictObject({
  /** Settings of the process that the core uses, by their variables. */
  settings: z.record(text, z.record(text, text)),
  /** Partitions of each log. */
  partitions: z.record(text, z.int().min(1).max(10_000)),
  pins: z.array(pinShape).max(PINS_MAX),
  unpinned: z.array(z.strictObject({ record: placed, why: text })).max(PINS_MAX),
});
export type PackedDecisions = z.infer<typeof decisionsShape>;

function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => isWithin(member, depth - 1));
}
