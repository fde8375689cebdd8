// The end of a program that is told to stop, at any time of its life.
//
// Process 1, as in a container, does not die of a signal that nobody hears: so signals are heard before anything is waited for.

/** What of a process is needed. */
export interface Signalled {
  once(signal: 'SIGTERM' | 'SIGINT', heard: () => void): unknown;
  exit(code: number): unknown;
}

/** Ends the program with 0 when it is told to: at once while it starts, and after `stop` once somebody has said what that is. */
export function stopOnSignal(program: Signalled = process): (stop: () => Promise<void>) => void {
  let end = (): Promise<void> => Promise.resolve();
  let stopping: Promise<void> | null = null;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    program.once(signal, () => {
      stopping ??= end()
        .catch(() => undefined)
        .finally(() => program.exit(0));
    });
  return (stop) => {
    end = stop;
  };
}
