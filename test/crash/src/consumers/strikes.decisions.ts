// Which process is struck next, how, and for how long. Pure.

export const STRIKE_KINDS = ['kill -9', 'pause'] as const;
export type StrikeKind = (typeof STRIKE_KINDS)[number];
export interface Strike {
  readonly target: string;
  readonly kind: StrikeKind;
  readonly absentMs: number;
}

/** A dead process is missing for up to this long before it is started again. */
const DEAD_MS = 800;
/** Paused for less and for more than the session of a group lasts: with the second, others take its partitions over. */
const PAUSED_MS = [1_500, 6_000] as const;

/** The pair of process and kind that was struck least; dice choose among equals. */
export function nextStrike(targets: readonly string[], done: readonly Strike[], dice: () => number): Strike {
  const times = (target: string, kind: StrikeKind): number =>
    done.filter((strike) => strike.target === target && strike.kind === kind).length;
  const pairs = targets.flatMap((target) =>
    STRIKE_KINDS.map((kind) => ({ target, kind, times: times(target, kind), place: dice() })),
  );
  const [chosen] = pairs.sort((a, b) => a.times - b.times || a.place - b.place);
  if (chosen === undefined) throw new Error('there is nobody to strike');
  const { target, kind } = chosen;
  const long = PAUSED_MS[done.filter((strike) => strike.kind === 'pause').length % PAUSED_MS.length] ?? PAUSED_MS[0];
  return { target, kind, absentMs: kind === 'kill -9' ? Math.round(dice() * DEAD_MS) : long };
}

/** Whether each of them was struck in each way. */
export function isEachStruck(targets: readonly string[], done: readonly Strike[]): boolean {
  return targets.every((target) =>
    STRIKE_KINDS.every((kind) => done.some((strike) => strike.target === target && strike.kind === kind)),
  );
}
