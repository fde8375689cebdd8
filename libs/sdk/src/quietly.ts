// A listener that takes nothing with it.

/**
 * Tells a listener, and goes on whatever becomes of it: a log that fails, at once or later, is no reason to lose what it was told about.
 *
 * Shape: a listener may be async where its type says it answers nothing.
 */
export function quietly<Heard>(listener: ((heard: Heard) => void) | undefined): (heard: Heard) => void {
  const tell: ((heard: Heard) => unknown) | undefined = listener;
  return (heard) => {
    try {
      const told = tell?.(heard);
      // There is nobody else to tell.
      if (told instanceof Promise) told.catch(() => null);
    } catch {
      // Nor here.
    }
  };
}
