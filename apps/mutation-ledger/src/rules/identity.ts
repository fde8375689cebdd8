// Identity of what producers state: the names of what it is about, and the content that makes a second arrival the same fact (L12).
import { sha256 } from '@recourse/chain';
import { partOf, sha256Hex } from '@recourse/kernel';
import type { OnFailure } from '@recourse/messages';

// Names of what a statement or a binding is about, as one text: no two scopes share a name, none is above 512 bytes.

/** Longest group or key of a row, bytes. */
const NAME_BYTES_MAX = 512;

/** A ref of a tenant. */
export function refScope(tenant: string, ref: string): string {
  return bounded(`${escaped(tenant)}|${ref}`);
}

/** An event id about a ref of a tenant, whoever used it. */
export function eventScope(tenant: string, ref: string, eventId: string): string {
  return bounded(`${escaped(tenant)}|${escaped(eventId)}|${ref}`);
}

/** Whose word it is there, and for which run: with it, the natural key of a statement (L12). */
export function wordScope(source: string, runId: string | null): string {
  return bounded(`${runId === null ? 'all' : 'run'}|${escaped(source)}|${runId ?? ''}`);
}

/** Commits under a policy bundle, or those of them in one block of places: whatever their tenant, since a bundle may be one of all. */
export function bundleScope(bundle: string, block: number | null = null): string {
  return bounded(`${escaped(bundle)}|${block === null ? '' : String(block)}`);
}

/** What a statement holds for: a ref in one run of a tenant, or (null) in all of them. */
export function verdictScope(tenant: string, ref: string, runId: string | null): string {
  return runId === null ? `all|${escaped(tenant)}|${ref}` : `run|${escaped(tenant)}|${escaped(runId)}|${ref}`;
}

/** The rollback of a commit within its run: by tenant, so that nobody takes another tenant's commit by naming it first. */
export function rollbackKey(tenant: string, mutationId: string): string {
  return bounded(`${partOf(tenant, '/')}/${mutationId}`);
}

function escaped(text: string): string {
  return partOf(text, '|');
}

/** A hashed name holds no separator, so it is nobody else's. */
function bounded(name: string): string {
  return Buffer.byteLength(name) <= NAME_BYTES_MAX ? name : `sha256:${sha256Hex(name)}`;
}

// Content of an event: what must be equal for a second arrival to be the same fact (L12).

/**
 * Hashes what an event states: everything but its id, since a producer that lost its answer may say the same under a new one,
 * and later, what its caller does about a failure, and which decision of its model it was, which say nothing of the effect.
 *
 * Shape:  SHA-256 of a JSON list: the type, then each field's name and value in order of names. Bytes count as hex, a
 *         payload by its own hash and what its bytes are, absent fields not at all. Fields that came later count only where
 *         they say something, so that what was told before is the same fact still.
 */
export function contentHash(type: string, event: object): Buffer {
  const fields = event as Readonly<Record<string, unknown>>; // any object can be read by name
  const content: unknown[] = [type];
  for (const { name, isLater } of fieldsOf(type, fields)) {
    const value = fields[name];
    if (value !== undefined && !(isLater && isSilent(value))) content.push(name, comparable(value));
  }
  return sha256(JSON.stringify(content));
}

/** Fields that records of a type did not have at first. */
const LATER_FIELDS: Readonly<Record<string, readonly string[]>> = {
  ToolPlanned: ['is_held', 'prior_value', 'rehearsal', 'staged_ref', 'derived_from', 'on_failure', 'release'],
  ToolExecuted: ['derived_from', 'on_failure', 'release'],
};
/** What such a field says when it says nothing. */
const SILENCE: readonly unknown[] = [null, false, 'keep' satisfies OnFailure];

function isSilent(value: unknown): boolean {
  return SILENCE.includes(value) || (Array.isArray(value) && value.length === 0);
}

/** Fields that are not part of the statement: who says again what it did says it at another time, and may have decided anew to try. */
const NO_CONTENT: readonly string[] = ['event_id', 'handled_as', 'applied_at', 'produced_by'];

interface Field {
  readonly name: string;
  readonly isLater: boolean;
}

/** Fields in order of names, as last seen of this type: events of one type nearly always have the same. */
const FIELDS = new Map<string, { readonly given: readonly string[]; readonly sorted: readonly Field[] }>();

function fieldsOf(type: string, event: Readonly<Record<string, unknown>>): readonly Field[] {
  const given = Object.keys(event);
  const known = FIELDS.get(type);
  if (known?.given.length === given.length && known.given.every((name, at) => name === given[at])) return known.sorted;
  const sorted = given
    .filter((name) => !NO_CONTENT.includes(name))
    .sort()
    .map((name) => ({ name, isLater: LATER_FIELDS[type]?.includes(name) === true }));
  FIELDS.set(type, { given, sorted });
  return sorted;
}

/** Fields of wire events are text, numbers, lists of text and names, bytes, payloads and a release. */
function comparable(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString('hex');
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  const { content_type, encoding, key_id, sha256 } = value as {
    readonly [Member in 'content_type' | 'encoding' | 'key_id' | 'sha256']?: unknown;
  };
  if (sha256 === undefined) return Object.entries(value);
  return [content_type, encoding, key_id, comparable(sha256)];
}
