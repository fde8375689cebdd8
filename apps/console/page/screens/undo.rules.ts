// What an undo of a run would do, as a person reads it before they ask for it. Pure.
import { fieldIn, listIn, numberIn, ofTenant, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { counted } from '../parts/counted.js';
import { isPlace } from '../parts/names.js';

/** By its name: what is said of one, and of many. */
const COUNTS = [
  ['can_be_undone', 'can be undone', 'can be undone'],
  ['leaves_residue', 'can be undone and leaves something different', 'can be undone and leave something different'],
  ['cannot_be_undone', 'cannot be undone', 'cannot be undone'],
  ['nothing_to_undo', 'has nothing to undo', 'have nothing to undo'],
  ['not_known_yet', 'is not known yet', 'are not known yet'],
  ['under_way', 'is under way already', 'are under way already'],
] as const;

/** How many effects there are of each kind that there is, and what is so of them. */
export function undoCounts(preview: Row): readonly (readonly [name: string, count: number, words: string])[] {
  return COUNTS.flatMap(([name, one, many]) => {
    const count = numberIn(preview, 'counts', name) ?? 0;
    return count === 0 ? [] : [[name, count, count === 1 ? one : many] as const];
  });
}

/** Effects that an undo would compensate. */
export function undoable(preview: Row): number {
  return (numberIn(preview, 'counts', 'can_be_undone') ?? 0) + (numberIn(preview, 'counts', 'leaves_residue') ?? 0);
}

const ASKABLE = ['can_be_undone', 'leaves_residue', 'cannot_be_undone', 'not_known_yet'] as const;

/** Why nothing would come of an undo; null where something would: what no tool undoes goes to a person, and what nobody knows waits. */
export function whyNoUndo(preview: Row): string | null {
  return ASKABLE.every((name) => (numberIn(preview, 'counts', name) ?? 0) === 0)
    ? 'There is nothing that an undo could do now.'
    : null;
}

export function undoHappens(preview: Row): readonly string[] {
  const [can, asked] = [undoable(preview), numberIn(preview, 'approvals_needed') ?? 0];
  return [
    `${counted(can, 'effect is', 'effects are')} compensated, last first, each as its contract says.`,
    asked > 0
      ? `By their contracts somebody has to agree to ${asked} of them first; policies, and what is too risky, may ask for more.`
      : 'By their contracts nobody has to agree first; policies, and what is too risky, may ask all the same.',
    'What cannot be undone becomes a task for a person. A report says what truly was undone.',
  ];
}

const ITEM_SHOWN = ['mutation_id', 'capability', 'outcome', 'residue'] as const;

/** Would it still do what somebody read? How long there is time for it passes as one reads. */
export function isSameUndo(seen: Row, now: Row): boolean {
  return shownOf(seen) === shownOf(now);
}

function shownOf(preview: Row): string {
  const items = listIn(preview, 'items').map((item) => ITEM_SHOWN.map((name) => fieldIn(item, name) ?? null));
  return JSON.stringify([undoHappens(preview), items]);
}

/** What is undone: a run, or one effect of it. */
export interface Undoing {
  readonly runId: string;
  /** Whose run of this name; null where nobody is known to have one. */
  readonly tenant: string | null;
  /** Of one effect alone. */
  readonly mutationId?: string | undefined;
}

/** What is in the path and the query: no path can hold a run that is called by dots alone. Of a tenant, where one is named. */
export function previewOf({ runId, tenant, mutationId }: Undoing) {
  const query = { ...ofTenant(tenant), ...(mutationId === undefined ? {} : { mutation_id: mutationId }) };
  return isPlace(runId)
    ? { path: { run_id: 'in-query' }, query: { ...query, run_id: runId } }
    : { path: { run_id: runId }, query };
}

/** What is sent. */
export function undoOf({ runId, tenant, mutationId }: Undoing, reason: string) {
  const only = mutationId === undefined ? {} : { mutation_ids: [mutationId] };
  return { run_id: runId, ...ofTenant(tenant), ...only, reason };
}

/** Whose the rows of a run are, by name: tenants know nothing of each other, and may call their runs alike. */
export function tenantsIn(rows: readonly Row[]): readonly string[] {
  return [...new Set(rows.flatMap((row) => textIn(row, 'tenant') ?? []))].sort();
}

/**
 * Whose run is previewed and undone: that of the tenant that was chosen, or of the only one there is; null where nothing is on record.
 * Undefined while nobody knows, and where somebody has to choose.
 */
export function whoseOf(
  tenants: readonly string[],
  chosen: string | undefined,
  isRead: boolean,
): string | null | undefined {
  if (chosen !== undefined || tenants.length > 0) return chosen ?? (tenants.length === 1 ? tenants[0] : undefined);
  return isRead ? null : undefined;
}
