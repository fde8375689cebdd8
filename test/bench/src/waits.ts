// Waiting, for benches: pauses, deadlines, and idling between samples.

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Idles long enough that the consumers wait at the broker again, and never in step with them. */
export function idle(index: number): Promise<void> {
  return sleep(120 + ((Math.abs(index) * 37) % 100));
}

/** Asks every `pollMs` until it is so. Errors: Error when that takes too long. */
export async function until(
  what: string,
  isSo: () => Promise<boolean>,
  { withinMs, pollMs }: { readonly withinMs: number; readonly pollMs: number },
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`${what} did not come within ${String(withinMs)} ms`);
    await sleep(pollMs);
  }
}

/** A promise that may not take too long. Errors: its own; Error with what was seen when it does. */
export async function within<T>(
  promise: Promise<T>,
  what: string,
  { withinMs, seen = () => undefined }: { readonly withinMs: number; readonly seen?: () => unknown },
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const found = seen();
    const detail = found === undefined ? '' : `: ${JSON.stringify(found)}`;
    late.reject(new Error(`${what} did not come within ${String(withinMs)} ms${detail}`));
  }, withinMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
