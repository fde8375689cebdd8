// The life of an entry: a version stands until the next one replaces it, or it is retired; a retired one may be registered anew.
import { InvariantViolation } from '@recourse/kernel';
import type { EntryEventType } from './entry.messages.js';

export const ENTRY_PHASES = ['absent', 'standing', 'retired'] as const;
export type EntryPhase = (typeof ENTRY_PHASES)[number];

/** Phases in which an entry may rest. It is never over: a name can be used again, with the next version. */
export const ENTRY_RESTS: readonly EntryPhase[] = ['retired'];

/** Phase after each event; `null` is history that cannot exist. */
export const ENTRY_PHASE_AFTER = {
  absent: { EntryRegistered: 'standing', EntryRetired: null },
  standing: { EntryRegistered: 'standing', EntryRetired: 'retired' },
  retired: { EntryRegistered: 'standing', EntryRetired: null },
} as const satisfies Record<EntryPhase, Record<EntryEventType, EntryPhase | null>>;

/** Moves an entry on. Errors: InvariantViolation for history that cannot exist. */
export function entryPhaseAfter(phase: EntryPhase, event: EntryEventType): EntryPhase {
  const next = ENTRY_PHASE_AFTER[phase][event];
  if (next === null) throw new InvariantViolation('entry phases', `${event} in ${phase}`);
  return next;
}
