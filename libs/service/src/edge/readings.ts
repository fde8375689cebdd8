// Opened payloads: who may see what sealed bytes hold, and what is put on record about it (docs/guides/people.md#payloads).
//
// Boundary: pure; opening is the vault's, recording the log's.
import { mapPayloads } from '@recourse/event-log';
import type { Doc } from '@recourse/event-log';
import { sha256Hex } from '@recourse/kernel';
import type { Access } from './access.js';
import type { Principal } from './principal.js';
import type { Role } from './roles.js';

/** Whom a route opens payloads for. */
export interface Opening {
  /** Roles of the route that open whatever it shows. */
  readonly readers: readonly Role[];
  /** Roles of the route that open a thing which waits for them. */
  readonly asked: readonly Role[];
  readonly principal: Principal;
}

/** What a reading is about; see schemas/log/RecordReading.avsc. */
export interface Reading {
  readonly tenant: string;
  readonly things: readonly string[];
  readonly subjects: readonly string[];
  readonly payload_count: number;
}

/** As many as a page of a list has rows. */
const NAMES_MAX = 500;
/** Less than an identifier of a record may have (L7). */
const NAME_BYTES_MAX = 500;
/** Members that name a thing: the first that is there, and the mutation beside it. */
const IDS = [
  'compensation_id',
  'approval_id',
  'task_id',
  'incident_id',
  'step_id',
  'commit_id',
  'mutation_id',
  'rollback_id',
  'id',
  'ref',
  'run_id',
] as const;

export function openingOf(access: Access | undefined, principal: Principal): Opening {
  return { readers: access?.opens ?? [], asked: access?.asked ?? [], principal };
}

/** Roles that open a thing: those of readers, and where somebody is asked about it, theirs. */
export function openersOf({ readers, asked }: Opening, isAsked: boolean): readonly Role[] {
  return isAsked ? [...readers, ...asked] : readers;
}

/** What of the docs is sealed. */
export function sealedIn(docs: readonly Doc[]): readonly Doc[] {
  return docs.filter((doc) => payloadsIn(doc) > 0);
}

/** The docs with a word beside each sealed payload: who opens it. */
export function withheld<Of extends Doc>(docs: readonly Of[], openers: readonly Role[]): readonly Of[] {
  return docs.map(
    (doc) =>
      mapPayloads(doc, (payload) =>
        payload.encoding === 'sealed' ? { ...payload, opens_with: openers } : payload,
      ) as Of, // payloads keep their places
  );
}

/** Of a doc whose payloads were opened wherever there is a key. */
export function hasErased(doc: Doc): boolean {
  let isErased = false;
  mapPayloads(doc, (payload) => {
    if (payload.encoding === 'sealed' && !('content' in payload)) isErased = true;
    return payload;
  });
  return isErased;
}

/** What is put on record before docs with sealed payloads are shown to somebody. */
export function readingOf(sealed: readonly Doc[], tenantOfToken: string): Reading {
  const named = unique(sealed.flatMap((doc) => thingsIn(doc)));
  const runs = unique(sealed.flatMap((doc) => (typeof doc['run_id'] === 'string' ? [`run/${doc['run_id']}`] : [])));
  const tenants = unique(sealed.flatMap(({ tenant }) => (typeof tenant === 'string' ? [tenant] : [])));
  return {
    tenant: tenants.length === 1 && tenants[0] !== undefined ? tenants[0] : tenantOfToken,
    things: (named.length > NAMES_MAX ? runs : named).slice(0, NAMES_MAX),
    subjects: unique(sealed.flatMap((doc) => subjectsIn(doc))).slice(0, NAMES_MAX),
    payload_count: sealed.reduce((sum, doc) => sum + payloadsIn(doc), 0),
  };
}

function thingsIn(doc: Doc): readonly string[] {
  const member = IDS.find((name) => typeof doc[name] === 'string');
  const own = member === undefined ? [] : [nameOf(kindOf(member), String(doc[member]))];
  const mutation = typeof doc['mutation_id'] === 'string' ? [nameOf('mutation', doc['mutation_id'])] : [];
  return [...own, ...mutation];
}

function nameOf(kind: string, id: string): string {
  const name = `${kind}/${id}`;
  return isName(name) ? name : `${kind}/${hashed(id)}`;
}

/** Whether a record may hold it as a name (L7): what outsiders wrote may be longer, or be no text that PostgreSQL takes. */
function isName(text: string): boolean {
  return Buffer.byteLength(text) <= NAME_BYTES_MAX && text.isWellFormed() && !text.includes('\0');
}

const hashed = (text: string): string => `sha256:${sha256Hex(text)}`;

function kindOf(member: (typeof IDS)[number]): string {
  if (member === 'id') return 'effect'; // the view of agents' effects names them so
  return member === 'ref' ? 'assumption' : member.slice(0, -'_id'.length);
}

function subjectsIn({ subject_ref, ref }: Doc): readonly string[] {
  const pointer = typeof ref === 'object' && ref !== null && 'subject_ref' in ref ? ref.subject_ref : undefined;
  return [subject_ref, pointer]
    .filter((subject) => typeof subject === 'string')
    .map((subject) => (isName(subject) ? subject : hashed(subject)));
}

function payloadsIn(doc: Doc): number {
  let count = 0;
  mapPayloads(doc, (payload) => {
    if (payload.encoding === 'sealed') count += 1;
    return payload;
  });
  return count;
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
