// Work that many ask for, and none waits for longer than they would: one run at a time, which goes on without who lost patience.

const PATIENCE_MS = 1_000;

/** Asks for the work; returns when it is done or patience ends, milliseconds. Never fails. */
export function patiently(work: () => Promise<unknown>, patienceMs = PATIENCE_MS): () => Promise<void> {
  let asking: Promise<unknown> | null = null;
  return async () => {
    asking ??= work()
      .catch(() => undefined)
      .finally(() => {
        asking = null;
      });
    const { promise: patience, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => {
      resolve(undefined);
    }, patienceMs);
    await Promise.race([asking, patience]);
    clearTimeout(timer);
  };
}
