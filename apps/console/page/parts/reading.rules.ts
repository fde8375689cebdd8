// How a reading stands: what was read before stays on the screen, and never as if it were read now. Pure.

export type Standing = 'waiting' | 'failed' | 'old' | 'fresh';

export function standingOf(data: unknown, error: unknown): Standing {
  if (error === null) return data === undefined ? 'waiting' : 'fresh';
  return data === undefined ? 'failed' : 'old';
}
