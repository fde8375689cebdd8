// Listeners of the caller's own: one that throws takes nothing with it of what it is told of.

/** A listener whose errors, at once or later, go to `hear`; by default to nobody: there is nobody else to tell. */
export function quietly<Told extends readonly unknown[]>(
  listener: ((...told: Told) => unknown) | undefined,
  hear: (cause: unknown) => void = () => undefined,
): (...told: Told) => void {
  return (...told) => {
    void (async () => listener?.(...told))().catch(hear);
  };
}
