// Ids of keys: they tell nothing of whose data they seal.
import { deriveId } from '@recourse/kernel';
import type { KeyScope } from './key-store.port.js';

/** Id of a scope; its keys are numbered from 1, since a destroyed one is followed by another. */
export function scopeId({ tenant, subject, windowStart, windowEnd }: KeyScope): string { return deriveId('key', tenant, subject, windowStart, windowEnd); }

/** Id of the nth key of a scope. */
export function keyIdOf(scope: string, generation: number): string { return `${scope}.${String(generation)}`; }
