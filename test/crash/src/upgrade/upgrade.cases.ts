// Where stories stand when an earlier version ends, and what was seen of each. Pure.

/** How far a story has come. */
export const STANDS = ['over', 'done', 'asked', 'unheard', 'struck'] as const;
export type Stand = (typeof STANDS)[number];

export const MEANING: Readonly<Record<Stand, string>> = {
  over: 'taken back by the earlier version',
  done: 'refunded; its fact turns false afterwards',
  asked: 'waits for its approval',
  unheard: 'approved, and its worker is gone',
  struck: 'approved as everything is killed',
};

/** Stories of one stand, and whether all of them ended as they must. */
export interface UpgradeResult {
  readonly stand: Stand;
  readonly stories: number;
  readonly isSound: boolean;
}

export function upgradeTable(results: readonly UpgradeResult[]): string {
  return results
    .map(
      ({ stand, stories, isSound }) =>
        `${isSound ? 'sound ' : 'BROKEN'}  ${String(stories).padStart(3)}  ${stand.padEnd(10)}  ${MEANING[stand]}`,
    )
    .join('\n');
}
