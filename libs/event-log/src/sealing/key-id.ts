// Ids of keys: they tell nothing of whose data they seal.
import { deriveId, sha256Hex } from '@recourse/kernel';
import type { KeyScope } from './key-store.port.js';

/** Longest name that is kept as it is, bytes. */
const NAME_BYTES_MAX = 512;

/** Id of a scope; its keys are numbered from 1, since a destroyed one is followed by another. */
export function scopeId({ tenant, subject, windowStart, windowEnd, unit }: KeyScope): string {
  return deriveId('key', tenant, subject, windowStart, windowEnd, ...(unit === undefined ? [] : [unit]));
}

/**
 * Name of a tenant or subject as a store can keep and index it.
 *
 * Shape:  what holds NUL, is not well-formed or has more than 512 bytes is kept by its hash; the same text has the same name.
 */
export function storableName(text: string): string {
  return text.includes('\u0000') || !text.isWellFormed() || Buffer.byteLength(text) > NAME_BYTES_MAX
    ? `sha256:${sha256Hex(text)}`
    : text;
}

/** Id of the nth key of a scope. */
export function keyIdOf(scope: string, generation: number): string {
  return `${scope}.${String(generation)}`;
}
