// What a service says of itself beside its loops. Pure.
import type { Status } from '../api/shapes.js';

export interface Trouble {
  readonly says: string;
  readonly code: string | null;
  readonly detail: string | null;
}

/** What is wrong with a service that answers; null where it says of nothing that it is. */
export function troubleOf({ ready, detail: { in_the_way: way } }: Status): Trouble | null {
  if (ready && !way) return null;
  return {
    says: ready ? 'is ready, and something is wrong' : 'is not ready',
    code: way?.code ?? null,
    detail: way?.detail ?? null,
  };
}
