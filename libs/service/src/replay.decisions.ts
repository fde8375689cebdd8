// What a rebuilt state says about the projection beside it. Pure.

/** A state: the record it stands behind and the hash of its rows. */
export interface StateAt {
  readonly seq: number;
  readonly hash: Buffer;
  readonly stateHash: string;
}

/**
 * What the comparison found.
 *
 * Shape: `same`; `differs`: other rows behind the same record; `log_cut`: the log ends before the projected head;
 *        `rewritten`: another record stands at its seq.
 */
export type ReplayVerdict = 'same' | 'differs' | 'log_cut' | 'rewritten';

/** Compares a rebuild up to the projected head with the projection. */
export function judgeReplay(rebuilt: StateAt, projected: StateAt): ReplayVerdict {
  if (rebuilt.seq < projected.seq) return 'log_cut';
  if (!rebuilt.hash.equals(projected.hash)) return 'rewritten';
  return rebuilt.stateHash === projected.stateHash ? 'same' : 'differs';
}
