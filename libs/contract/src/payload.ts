// Payloads: in the clear, JSON into bytes and back (sealed ones are opened elsewhere, by who may), and whose data they hold.
import { sha256 } from '@recourse/chain';
import type { Json } from '@recourse/kernel';
import { canonicalJson, deriveId, readJson } from '@recourse/kernel';
import type { Payload } from '@recourse/messages';

export type PayloadProblemCode = 'PAYLOAD_SEALED' | 'PAYLOAD_NOT_JSON' | 'PAYLOAD_HASH_MISMATCH';

/** A payload that cannot be read here; coded, so that a record holding it is parked with the reason. */
export class PayloadUnreadable extends Error {
  override readonly name = 'PayloadUnreadable';
  constructor(
    readonly code: PayloadProblemCode,
    detail: string,
    options?: ErrorOptions,
  ) {
    super(`${code}: ${detail}`, options);
  }
}

/** Wraps JSON as a plain payload; the body is its canonical JSON. */
export function plainPayload(json: Json): Payload {
  const body = Buffer.from(canonicalJson(json), 'utf8');
  return { content_type: 'application/json', encoding: 'plain', key_id: null, body, sha256: sha256(body) };
}

/**
 * Reads a plain payload.
 *
 * Errors: PayloadUnreadable when it is sealed, when its hash is not that of its body, or when it is not JSON that anybody reads (readJson).
 */
export function readPayload(payload: Payload): Json {
  if (payload.encoding === 'sealed')
    throw new PayloadUnreadable('PAYLOAD_SEALED', `sealed under ${payload.key_id ?? 'an unnamed key'}`);
  if (!sha256(payload.body).equals(payload.sha256))
    throw new PayloadUnreadable('PAYLOAD_HASH_MISMATCH', 'sha256 is not that of the body');
  try {
    return readJson(payload.body.toString('utf8'));
  } catch (cause) {
    throw new PayloadUnreadable('PAYLOAD_NOT_JSON', payload.content_type, { cause });
  }
}

/**
 * Nobody opens it any more: its key was destroyed.
 *
 * Shape:  as deciders see it, for whom whatever has a key is open; or as a reader does, for whom the content, or who opens it, stands beside.
 */
export function isErased(payload: Payload & { readonly content?: unknown; readonly opens_with?: unknown }): boolean {
  return payload.encoding === 'sealed' && payload.content === undefined && payload.opens_with === undefined;
}

/** JSON of a payload; undefined where there is none, and for one that is sealed, damaged or no JSON: foreign bytes never stop a decision. */
export function jsonOfPayload(payload: Payload | undefined): Json | undefined {
  try {
    return payload === undefined ? undefined : readPayload(payload);
  } catch {
    return undefined;
  }
}

// Whose data a record of a mutation or a recovery holds: its subject, or where none is known the run.
//
// Source: docs/design/topics.md (a key per subject and retention window).

interface Scope {
  readonly tenant: string;
  readonly subject: string;
}

/**
 * Scope of a record's payloads.
 *
 * Shape:  the subject of the execution, of the mutation's pointer, of what a worker is asked, or the record's own; else what `known` says of the run,
 *         the tenant and the record; else `run/<run id>`.
 * Errors: those of `known`; what nobody says is empty.
 */
export function subjectOfRecord(
  body: Readonly<Record<string, unknown>>,
  known: (runId: string, tenant: string) => string | null,
): Scope {
  const execution = membersOf(body['execution']);
  const named = [execution, membersOf(body['ref']), membersOf(body['step']), body].map((one) =>
    textOf(one['subject_ref']),
  );
  const subject = named.find((one) => one !== null);
  const run = textOf(body['run_id']) ?? textOf(execution['run_id']) ?? '';
  const tenant = textOf(body['tenant']) ?? textOf(execution['tenant']) ?? '';
  return { tenant, subject: subject ?? known(run, tenant) ?? `run/${run}` };
}

/** Names a subject where it may not stand itself: whoever knows the subject finds it again, and nobody reads it from the id. */
export function subjectId(tenant: string, subject: string): string {
  return deriveId('sub', tenant, subject);
}

/** Subject of an assumption: its ref up to what is assumed, `order/4711` of `order/4711#not_shipped`. */
export function subjectOfAssumption(ref: string): string {
  const end = ref.indexOf('#');
  return end <= 0 ? ref : ref.slice(0, end);
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  // Any object can be read by name.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
