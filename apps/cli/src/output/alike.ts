// Names that a reader could take for one another, as the services mark them where people decide.
import { cellText } from './table.js';

/** What is told of `lookalikes`; null where no two names read alike. */
export function alike(groups: unknown): string | null {
  const told = Array.isArray(groups) ? groups.map((names: unknown) => cellText(names)) : [];
  return told.length === 0 ? null : `different people, whose names read alike: ${told.join('; ')}`;
}
