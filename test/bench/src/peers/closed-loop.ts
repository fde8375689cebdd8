// Closed-loop load: so many callers, each calls again when it was answered.

/** One cell's load. */
export interface Load {
  readonly callers: number;
  readonly ms: number;
  /** Begins the name of every run. */
  readonly prefix: string;
  /** So many runs were made ready; the window ends when they are used up. */
  readonly runsMax: number | null;
}

export interface Loaded {
  readonly started: number;
  /** Milliseconds from call to answer, of all calls, also of those answered after the window. */
  readonly times: readonly number[];
  readonly perS: number;
  readonly errors: number;
  readonly firstError: string | null;
  /** The runs made ready were used up before the window ended. */
  readonly isShort: boolean;
}

/** Name of a run of a cell. */
export function runName(prefix: string, index: number): string {
  return `${prefix}-${String(index)}`;
}

export async function closedLoop(load: Load, call: (run: string) => Promise<void>): Promise<Loaded> {
  const ends: number[] = [];
  const times: number[] = [];
  const errors: string[] = [];
  const startedAt = performance.now();
  const until = startedAt + load.ms;
  let started = 0;
  const isLeft = (): boolean => load.runsMax === null || started < load.runsMax;
  await Promise.all(
    Array.from({ length: load.callers }, async () => {
      while (performance.now() < until && isLeft()) {
        const [run, from] = [runName(load.prefix, started), performance.now()];
        started += 1;
        try {
          await call(run);
          ends.push(performance.now());
          times.push(performance.now() - from);
        } catch (cause) {
          errors.push(cause instanceof Error ? cause.message : String(cause));
        }
      }
    }),
  );
  return {
    started,
    times,
    perS: rateIn(ends, startedAt, isLeft() ? until : null),
    errors: errors.length,
    firstError: errors[0]?.slice(0, 500) ?? null,
    isShort: !isLeft(),
  };
}

/**
 * Ends a second: those inside the window by its length, or all by the whole time where that is more (a slow cell ends most of its
 * runs after the window). Without a window the whole time counts. Pure.
 */
export function rateIn(ends: readonly number[], startedAt: number, until: number | null): number {
  const whole = ends.length === 0 ? 0 : (ends.length / ((ends.at(-1) ?? 0) - startedAt)) * 1_000;
  if (until === null) return whole;
  return Math.max(whole, (ends.filter((at) => at <= until).length / (until - startedAt)) * 1_000);
}
