// What a window holds its person to: the thing as it was when they opened it.
import { useState } from 'react';

export interface Held<Shown> {
  /** The window that is open; null while none is. */
  readonly name: string | null;
  /** What its person read; what is so now, while none is open. */
  readonly seen: Shown;
  /** Is it another than they read? */
  readonly isChanged: boolean;
  readonly open: (name: string | null) => void;
}

/** Whoever wants to go on after a change closes the window, reads, and opens it again. */
export function useHeld<Shown>(now: Shown, isSame: (seen: Shown, now: Shown) => boolean): Held<Shown> {
  const [held, setHeld] = useState<{ readonly name: string; readonly seen: Shown } | null>(null);
  const seen = held === null ? now : held.seen;
  return {
    name: held?.name ?? null,
    seen,
    isChanged: !isSame(seen, now),
    open: (name) => {
      setHeld(name === null ? null : { name, seen: now });
    },
  };
}
