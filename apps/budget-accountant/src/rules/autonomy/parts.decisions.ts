// At how many standings a leg that is taken back, or what is known of an effect, counts in one decision: a batch holds it (L4). Pure.
import type { Key } from './autonomy.messages.js';

/** Most standings of a part: each is told with all that is kept of it, some 11 KB, and 22 KB where every name in it is as long as one may be. */
const PART_MAX = 32;

/** Where it counts next. */
interface Part<At> {
  readonly these: readonly At[];
  readonly isLast: boolean;
}

/**
 * The next part of these standings: those whose ids come behind `after`, in their order, so that whatever is registered or retired
 * meanwhile no standing counts twice. Null where all of them fit one decision, and are no part.
 */
export function partOf<At extends { readonly key: Key }>(all: readonly At[], after: string | null): Part<At> | null {
  if (after === null && all.length <= PART_MAX) return null;
  const behind = all
    .filter(({ key }) => after === null || key.autonomy_id > after)
    .sort(({ key: one }, { key: other }) => (one.autonomy_id < other.autonomy_id ? -1 : 1));
  return { these: behind.slice(0, PART_MAX), isLast: behind.length <= PART_MAX };
}
