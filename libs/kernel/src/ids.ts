// Ids: those derived from their cause, never random (L1), those of traces, and those that others name in commands.
import { hash } from 'node:crypto';

/**
 * Derives a stable id from named parts.
 *
 * Shape:  `<prefix>_<32 hex digits>`; parts are length-prefixed so that no two lists collide.
 * Source: L1.
 */
export function deriveId(prefix: string, ...parts: readonly (string | number)[]): string {
  return `${prefix}_${sha256Hex(joined(parts)).slice(0, 32)}`;
}

/** Ids of one prefix that are remembered at the most. */
const KEPT_MAX = 1_000;
/** Longest cause that is remembered, UTF-16 units: parts may be texts of any length, and memory may not grow with them. */
const KEPT_LENGTH_MAX = 1_000;

/** `deriveId` for ids that are asked for again and again: the latest are remembered. Ids asked for once want `deriveId`. */
export function keptIds(prefix: string): (...parts: readonly (string | number)[]) => string {
  const kept = new Map<string, string>();
  return (...parts) => {
    const cause = joined(parts);
    const known = kept.get(cause);
    if (known !== undefined) return known;
    const id = deriveId(prefix, ...parts);
    if (cause.length > KEPT_LENGTH_MAX) return id;
    if (kept.size >= KEPT_MAX) kept.clear();
    kept.set(cause, id);
    return id;
  };
}

/** SHA-256 of text or bytes, as 64 hex digits. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

function joined(parts: readonly (string | number)[]): string {
  let all = '';
  for (const part of parts) {
    const text = String(part);
    all += `${text.length}:${text}`;
  }
  return all;
}

/**
 * Writes a part of a name that a separator ends: no two lists of parts make one name, whatever their parts say. The last needs none.
 *
 * Shape:  what holds neither the separator nor a percent sign stays as it is.
 */
export function partOf(text: string, separator: '/' | '|'): string {
  return text.replaceAll('%', '%25').replaceAll(separator, separator === '/' ? '%2F' : '%7C');
}

// Ids of traces and spans follow from names (ADR-0016): every process that knows what a trace is about finds it.

/** A span within the trace about something: its kind of work, and what tells it from others of that kind. */
export interface SpanName {
  readonly name: string;
  readonly which: string;
}

/** The place in a trace that work belongs to: 32 and 16 hex digits. */
export interface TracePlace {
  readonly traceId: string;
  readonly spanId: string;
}

/** Header that carries a place in a trace. */
export const TRACEPARENT = 'traceparent';

/** Id of the trace about something: the first 16 bytes of the SHA-256 of its name, as hex. */
export function traceIdOf(about: string): string {
  return sha256Hex(about).slice(0, 32);
}

/** Id of a span within the trace about something: 8 bytes, as hex. */
export function spanIdOf(about: string, { name, which }: SpanName): string {
  return sha256Hex(JSON.stringify([about, name, which])).slice(0, 16);
}

/** A span as the parent of work elsewhere. Shape: `00-<trace id>-<span id>-01`. Source: W3C Trace Context, level 1. */
export function traceparentOf(about: string, span: SpanName): string {
  return `00-${traceIdOf(about)}-${spanIdOf(about, span)}-01`;
}

/** The place that a header names; null when it is none. Whoever wrote it may be anybody: nothing but telling goes by it. */
export function placeInTrace(header: string | undefined): TracePlace | null {
  const [, traceId, spanId] = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}/.exec(header ?? '') ?? [];
  const isOne =
    traceId !== undefined &&
    spanId !== undefined &&
    /[1-9a-f]/.test(traceId) &&
    /[1-9a-f]/.test(spanId) &&
    header?.startsWith('ff') === false;
  return isOne ? { traceId, spanId } : null;
}

// Ids that others name in commands, and that rows of the database can hold (L7).

/** Longest tenant or mutation id a command may name, bytes: keys of rows stay below 512. */
export const ID_BYTES_MAX = 200;
/** Longest id of a run, bytes: as long as a record on a wire may have it. */
export const RUN_BYTES_MAX = 512;

/** Who speaks for all tenants; the name of none. */
const ALL_TENANTS = '*';
// eslint-disable-next-line no-control-regex -- refusing control characters is what this is for
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Names one tenant: text without blanks around it that a person can tell from another. */
export function isTenant(text: string): boolean {
  return isUsableId(text) && text === text.trim() && text !== ALL_TENANTS && !CONTROL.test(text);
}

/**
 * Ids of runs, as agents choose them: whatever a wire takes of an effect, people can name who ask for its undo. Otherwise an agent would put
 * its effects out of their reach by the name of its run.
 */
export function isRunId(id: string): boolean {
  return id !== '' && !id.includes('\0') && id.isWellFormed() && Buffer.byteLength(id) <= RUN_BYTES_MAX;
}

/** Ids a row can hold. */
export function isUsableId(id: string): boolean {
  return id !== '' && !id.includes('\0') && Buffer.byteLength(id) <= ID_BYTES_MAX;
}
