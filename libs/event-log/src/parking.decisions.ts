// Which inputs are set aside, and what a person may do about them (L14, L15). Pure.
import { SIGNATURE, SIGNATURE_BYTES_MAX } from '@recourse/kafka';
import type { FetchedRecord } from '@recourse/kafka';
import {
  deriveId,
  excerpt,
  findStorageProblem,
  isSubject,
  isTenant,
  KEY_BYTES_MAX,
  sha256Hex,
  SPEAKER_ROLES,
  SUBJECT_FORM,
} from '@recourse/kernel';
import type { Speaker } from '@recourse/kernel';
import type { ParkedSpeaker } from '@recourse/messages';
import { mapPayloads } from './sealing/payload-walk.js';
import type { Doc } from './service-core.js';

/** Bytes of a parked record that the parking record keeps; larger ones keep their hash and size. */
export const PARKED_BYTES_MAX = 256 * 1024;
/** Characters that are kept of what is wrong with a record. */
const DETAIL_MAX = 1_000;
/** Reason of what came back to a partition that is not that of its key. */
export const FOREIGN_PARTITION = 'FOREIGN_PARTITION';
/** Header of what was sent to the partition of its key: there it is at home, or it is parked. */
export const REDIRECTED = 'recourse-redirected';
/** Reason of what nobody looked at yet, since an earlier record of its order is parked. */
export const BEHIND = 'BEHIND';
/** Reason of what was parked as a whole record batch. */
export const BATCH_UNREADABLE = 'BATCH_UNREADABLE';

/** Reasons that say nothing about later records of the key: they do not hold it up. */
const NOT_BLOCKING: ReadonlySet<string> = new Set([
  'COMMAND_NEWER',
  'COMMAND_SIGNATURE_INVALID',
  'COMMAND_UNSIGNED',
  'PAYLOAD_SEALED',
  'PRINCIPAL_INVALID',
  'TENANT_INVALID',
]);

export function blocksKey(reason: string): boolean {
  return !NOT_BLOCKING.has(reason);
}

/** Tenant that a record says it is of; null for one of all tenants, or of none. */
export function tenantOf({ tenant, checkpoint, envelope, execution }: Doc): string | null {
  const named = [tenant, ...[checkpoint, envelope, execution].map((part) => memberOf(part, 'tenant'))].find(
    (name) => typeof name === 'string',
  );
  return typeof named === 'string' && isTenant(named) ? named : null;
}

/**
 * Whose data a record holds that is kept as it came; null where it does not say.
 *
 * Shape:  the subject that it names, or what its assumption is about, or its run: as its core would seal it where no row tells more.
 */
export function subjectOf(body: Doc): string | null {
  const { execution, checkpoint, ref } = body;
  const parts = [execution, checkpoint, ref, body];
  const named = firstText(parts.map((part) => memberOf(part, 'subject_ref')));
  if (named !== null) return named;
  if (typeof ref === 'string') return ref.split('#', 1)[0] || ref;
  const run = firstText(parts.map((part) => memberOf(part, 'run_id')));
  return run === null ? null : `run/${run}`;
}

const firstText = (values: readonly unknown[]): string | null =>
  values.find((value): value is string => typeof value === 'string') ?? null;

/** Why a record cannot be taken, whatever it says; null when it can. */
export function findProblem(key: string, body: Doc): Problem | null {
  return findStorageProblem(key, body) ?? tenantProblem(body) ?? principalProblem(body) ?? sealedProblem(body);
}

/** Everything is somebody's: what names no tenant would be nobody's. A command for all tenants says so in its envelope. */
function tenantProblem({ tenant, checkpoint, envelope }: Doc): Problem | null {
  const asked = memberOf(envelope, 'tenant');
  const named = [tenant, memberOf(checkpoint, 'tenant'), asked === '*' ? undefined : asked];
  return named.every((name) => typeof name !== 'string' || isTenant(name) || (name === '*' && asked !== undefined))
    ? null
    : { reason: 'TENANT_INVALID', detail: 'it names no tenant: empty, *, control characters, or blanks around it' };
}

/** Members of a record, a checkpoint or an envelope that name who acts or asks. */
const NAMES = ['agent_id', 'initiator', 'principal'] as const;

/** Rules about two people rest on these names: one that could look like another's is nobody's. */
function principalProblem(body: Doc): Problem | null {
  for (const part of [body, body.checkpoint, body.envelope])
    for (const name of NAMES) {
      const value = memberOf(part, name);
      if (typeof value === 'string' && !isSubject(value))
        return { reason: 'PRINCIPAL_INVALID', detail: `${name}: ${SUBJECT_FORM}` };
    }
  return null;
}

/** What says that it is sealed names a key of anybody's, and would be opened to whoever sent it: wires carry payloads in the clear. */
function sealedProblem(body: Doc): Problem | null {
  let isSealed = false;
  mapPayloads(body, (payload) => {
    isSealed ||= payload.encoding !== 'plain';
    return payload;
  });
  return isSealed ? { reason: 'PAYLOAD_SEALED', detail: 'a payload of it is not in the clear' } : null;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Doc)[name] : undefined;
}

export interface ParkedOrigin {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: FetchedRecord['headers'];
  readonly voucher?: FetchedRecord['voucher'];
  /** Tenant that the record says it is of; null where it says none, or nobody can read it. */
  readonly tenant?: string | null;
  /** Whose data it holds, as far as it says. */
  readonly subject?: string | null;
}

/** Key under which a record parks: its own, cut to what an index takes; records without one park alone. */
export function parkingKey(origin: Pick<ParkedOrigin, 'topic' | 'partition' | 'offset' | 'key'>): string {
  const text = origin.key?.toString('utf8') ?? '';
  if (text.length === 0) return `${origin.topic}/${origin.partition}/${origin.offset}`;
  if (text.includes('\u0000') || Buffer.byteLength(text) > KEY_BYTES_MAX) return `sha256:${sha256Hex(text)}`;
  return text;
}

/** Header that the sender of a record signed it with. */
export function signatureOf({ headers }: Pick<ParkedOrigin, 'headers'>): string | null {
  const header = headers?.[SIGNATURE];
  return header === undefined || header.length > SIGNATURE_BYTES_MAX
    ? null
    : header.toString('latin1').replaceAll('\0', '');
}

/** Whose key vouched for a record; undefined where records of its wire are not signed. */
export function speakerIn({ voucher }: Pick<ParkedOrigin, 'voucher'>): Speaker | undefined {
  return voucher?.kind === 'vouched' ? voucher.speaker : undefined;
}

/** The same, as its parking says. */
function spoken(origin: ParkedOrigin): Doc | null {
  const speaker = speakerIn(origin);
  if (speaker === undefined) return null;
  const { keyId: key_id, roles, names, tenants, observers = [] } = speaker;
  return { key_id, roles, names, tenants, observers };
}

/** What was parked before observers were kept has none. */
type Spoken = Omit<ParkedSpeaker, 'observers'> & Partial<Pick<ParkedSpeaker, 'observers'>>;

/** Whose key vouched for a parked record, and who observed then; undefined where records of its wire are not signed. */
export function speakerOfParked({ speaker }: Doc): Speaker | undefined {
  if (typeof speaker !== 'object' || speaker === null) return undefined;
  const { key_id: keyId, roles, names, tenants, observers = [] } = speaker as Spoken; // written by `spoken` alone
  const known = { keyId, roles: SPEAKER_ROLES.filter((role) => roles.includes(role)), names, tenants };
  return observers.length === 0 ? known : { ...known, observers };
}

/** Why a record is set aside. */
export interface Problem {
  readonly reason: string;
  readonly detail: string;
}

/** What a record leads to fits no batch (L4). */
export const TOO_LARGE: Problem = {
  reason: 'DECISION_TOO_LARGE',
  detail: 'what this record leads to does not fit one batch',
};

/** A record to be appended under a key of its own. */
export interface PlacedDecided<Body extends Doc = Doc> {
  readonly decided: { readonly type: string; readonly body: Body };
  readonly key: string;
}

/** Where a record lay, where it belongs, and its bytes as the log keeps them. */
export interface Redirected {
  readonly origin: Pick<ParkedOrigin, 'topic' | 'partition' | 'offset'>;
  readonly key: string;
  readonly to: number;
  readonly producer: string | null;
  readonly value: Buffer;
  readonly valueSha256: Buffer;
  readonly keyId: string | null;
  /** Header its sender signed it with: it goes along, so that whoever takes it hears the sender and not us. */
  readonly signature: string | null;
}

/** The RecordRedirected that sends a record to the partition of its key (L14). */
export function redirectedRecord({ origin, key, to, producer, ...sent }: Redirected): PlacedDecided {
  const { topic, partition, offset } = origin;
  const { value, valueSha256, keyId, signature } = sent;
  const body = { topic, partition, offset, record_key: key, to_partition: to, producer };
  const bytes = { value, value_sha256: valueSha256, key_id: keyId, signature };
  return { decided: { type: 'RecordRedirected', body: { ...body, ...bytes } }, key };
}

/** Who sent a record, by its own word. */
export function senderOf(body: Doc): string | null {
  const { principal } = (body.envelope ?? {}) as Doc;
  return [body.agent_id, body.source, principal].find((name) => typeof name === 'string') ?? null;
}

/** The RecordParked that sets a record aside. */
export function parkedRecord(
  origin: ParkedOrigin,
  { reason, detail }: Problem,
): PlacedDecided<Doc & { readonly value: Buffer }> {
  const value = origin.value ?? Buffer.alloc(0);
  const { topic, partition, offset } = origin;
  const key = parkingKey(origin);
  const body = {
    parked_id: deriveId('parked', topic, partition, offset),
    topic,
    partition,
    offset,
    record_key: key,
    reason,
    detail: excerpt(detail, DETAIL_MAX),
    value: value.subarray(0, PARKED_BYTES_MAX),
    value_sha256: Buffer.from(sha256Hex(value), 'hex'),
    value_bytes: value.length,
    key_id: null,
    signature: signatureOf(origin),
    speaker: spoken(origin),
    tenant: origin.tenant ?? null,
  };
  return { decided: { type: 'RecordParked', body }, key };
}

/** The RecordParked of one that was behind another and stays, with what is wrong with it; its row as the fold keeps it. */
export function parkedAgain(doc: Doc, { reason, detail }: Problem): PlacedDecided {
  const { parked_id, topic, partition, offset, record_key, value, value_sha256, value_bytes } = doc;
  const { key_id = null, signature = null, speaker = null, tenant = null } = doc;
  const bytes = { value, value_sha256: Buffer.from(String(value_sha256), 'hex'), value_bytes, key_id };
  const said = { reason, detail: excerpt(detail, DETAIL_MAX) };
  const body = { parked_id, topic, partition, offset, record_key, ...said, ...bytes, signature, speaker, tenant };
  return { decided: { type: 'RecordParked', body }, key: String(record_key) };
}
