// What a rebuilt state says about the projection beside it. Pure.
import type { StrayColumn } from './outbound/postgres-state.js';

/** A state: the record it stands behind and the hash of its rows. */
export interface StateAt {
  readonly seq: number;
  readonly hash: Buffer;
  readonly stateHash: string;
  /** Columns of a projection that do not hold what their rows say. */
  readonly strays?: readonly StrayColumn[];
}

/**
 * What the comparison found.
 *
 * Shape: `same`; `differs`: other rows behind the same record; `columns_differ`: the same rows, with a column that says another
 *        thing; `log_cut`: the log ends before the projected head;
 *        `rewritten`: another record stands at its seq.
 */
export type ReplayVerdict = 'same' | 'differs' | 'columns_differ' | 'log_cut' | 'rewritten';

/** Compares a rebuild up to the projected head with the projection. */
export function judgeReplay(rebuilt: StateAt, projected: StateAt): ReplayVerdict {
  if (rebuilt.seq < projected.seq) return 'log_cut';
  if (!rebuilt.hash.equals(projected.hash)) return 'rewritten';
  if (rebuilt.stateHash !== projected.stateHash) return 'differs';
  return (projected.strays ?? []).length === 0 ? 'same' : 'columns_differ';
}
