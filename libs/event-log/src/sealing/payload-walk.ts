// Walks over documents that hold payloads: what nothing changes in stays the very object it was.
//
// Boundary: knows where payloads stand and which of them belong to an element of `members`; seals and opens nothing itself.
import type { Doc } from '../service-core.js';
import { isPayload } from './sealing.js';
import type { PayloadDoc } from './sealing.js';

/** Top-level list whose elements are about subjects of their own. */
const MEMBERS = 'members';

/** The elements of a record's `members`, null for one that can hold no payload; none where it has none. */
export function membersOf(body: Doc): readonly (Doc | null)[] {
  const members = body[MEMBERS];
  return Array.isArray(members) ? members.map((one: unknown) => (isObject(one) ? one : null)) : [];
}

/** The value with each payload in it replaced. */
export function mapPayloads(value: unknown, map: (payload: PayloadDoc) => PayloadDoc): unknown {
  return isObject(value) ? mapObject(value, map) : value;
}

/** Without a function for each level: every record and every row that is read passes here. */
function mapObject(value: Doc, map: (payload: PayloadDoc) => PayloadDoc): unknown {
  if (value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return mapList(value, map);
  if (isPayload(value)) return map(value);
  let changed: Record<string, unknown> | null = null;
  for (const name in value) {
    const member = value[name];
    if (!isObject(member)) continue;
    const next = mapObject(member, map);
    if (next === member) continue;
    changed ??= { ...value };
    changed[name] = next;
  }
  return changed ?? value;
}

function mapList(list: readonly unknown[], map: (payload: PayloadDoc) => PayloadDoc): readonly unknown[] {
  let changed: unknown[] | null = null;
  for (let index = 0; index < list.length; index += 1) {
    const member = list[index];
    if (!isObject(member)) continue;
    const next = mapObject(member, map);
    if (next === member) continue;
    changed ??= [...list];
    changed[index] = next;
  }
  return changed ?? list;
}

/** The document with each member of it that is an object replaced; the document itself where it is a payload. */
export function mapMembers(doc: Doc, map: (member: object) => unknown): Doc {
  return isPayload(doc) ? (map(doc) as Doc) : mappedMembers(doc, (member) => (isObject(member) ? map(member) : member));
}

/** The document with each of its parts replaced: each element of `members`, told as `was` has it, and what is outside of them (null). */
export function mapParts(body: Doc, was: Doc, map: (part: unknown, member: Doc | null) => unknown): Doc {
  const members = membersOf(was);
  return mappedMembers(body, (value, name) =>
    name === MEMBERS && Array.isArray(value)
      ? mapped(value, (one, index) => map(one, members[index] ?? null))
      : map(value, null),
  );
}

/** Replaces each 32-byte field outside of payloads that is the hash of a payload before it was sealed. */
export function withHashes(value: unknown, hashOf: (hash: string) => Buffer | undefined): unknown {
  if (value instanceof Uint8Array)
    return value.byteLength === 32
      ? (hashOf(Buffer.from(value.buffer, value.byteOffset, 32).toString('latin1')) ?? value)
      : value;
  if (!isObject(value)) return value;
  if (Array.isArray(value)) return mapped(value, (one) => withHashes(one, hashOf));
  return isPayload(value) ? value : mappedMembers(value, (member) => withHashes(member, hashOf));
}

function isObject(value: unknown): value is Doc {
  return typeof value === 'object' && value !== null;
}

/** The list itself when nothing in it changed. */
function mapped(list: readonly unknown[], map: (value: unknown, index: number) => unknown): readonly unknown[] {
  let changed: unknown[] | null = null;
  for (const [index, value] of list.entries()) {
    const next = map(value, index);
    if (next === value) continue;
    changed ??= [...list];
    changed[index] = next;
  }
  return changed ?? list;
}

/** The object itself when none of its members changed. */
function mappedMembers(members: Doc, map: (value: unknown, name: string) => unknown): Doc {
  let changed: Record<string, unknown> | null = null;
  for (const name in members) {
    const value = members[name];
    const next = map(value, name);
    if (next === value) continue;
    changed ??= { ...members };
    changed[name] = next;
  }
  return changed ?? members;
}
