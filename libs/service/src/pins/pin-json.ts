// Pins to and from the JSON of a packet.
import { decodeDoc, encodeDoc } from '@recourse/event-log';
import type { Doc } from '@recourse/event-log';
import type { Pin, PinnedInput } from '@recourse/event-log';
import type { PackedPin } from '@recourse/contract';

export function packed({ input, groups, entries, payloads, positions, ...pin }: Pin): PackedPin {
  return {
    ...pin,
    records: [...pin.records],
    input: packedInput(input),
    groups: groups.map(({ kind, group, isWhole, rows }) => ({
      kind,
      group,
      is_whole: isWhole,
      rows: rows.map(({ key, doc, isFolded }) => ({
        key,
        doc: doc === null ? null : jsonOf(doc),
        is_folded: isFolded,
      })),
    })),
    entries: entries.map((entry) => ({ ...entry, records: [...entry.records] })),
    payloads: [...payloads],
    positions: [...positions],
  };
}

export function unpacked({ input, groups, ...pin }: PackedPin): Pin {
  return {
    ...pin,
    input: unpackedInput(input),
    groups: groups.map(({ kind, group, is_whole, rows }) => ({
      kind,
      group,
      isWhole: is_whole,
      rows: rows.map(({ key, doc, is_folded }) => ({
        key,
        doc: doc === null ? null : decodeDoc(Buffer.from(JSON.stringify(doc))),
        isFolded: is_folded,
      })),
    })),
  };
}

function packedInput(input: PinnedInput): PackedPin['input'] {
  if (input.source === 'log') return input;
  if (input.source === 'timer') {
    const { dueAt: due_at, ...timer } = input;
    return { ...timer, due_at };
  }
  const { value, wireSha256: wire_sha256, speaker, ...wire } = input;
  return { ...wire, value: value.toString('base64'), wire_sha256, speaker: speaker as PackedSpeaker };
}

type PackedSpeaker = Extract<PackedPin['input'], { readonly source: 'wire' }>['speaker'];

function unpackedInput(input: PackedPin['input']): PinnedInput {
  if (input.source === 'log') return input;
  if (input.source === 'timer') {
    const { due_at: dueAt, ...timer } = input;
    return { ...timer, dueAt };
  }
  const { value, wire_sha256: wireSha256, speaker, ...wire } = input;
  // Roles that no key has speak for nobody.
  const told = speaker as Extract<PinnedInput, { readonly source: 'wire' }>['speaker'];
  return { ...wire, value: Buffer.from(value, 'base64'), wireSha256, speaker: told };
}

const jsonOf = (doc: Doc): Record<string, unknown> =>
  JSON.parse(encodeDoc(doc).toString('utf8')) as Record<string, unknown>; // what encodeDoc writes
