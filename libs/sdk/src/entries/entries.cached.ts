// Entries that are asked for at most once per time to live: how soon a switch is obeyed, and how often the registry is asked.
import type { Clock } from '@recourse/kernel';
import type { EntryKind } from '@recourse/messages';
import type { Entries, EntriesAnswer } from './entries.port.js';

/** A second: what is switched off stops within one poll. Milliseconds. */
const TTL_MS = 1_000;

/**
 * Remembers what stands for `ttlMs`; callers that come meanwhile share one question.
 *
 * Shape: what could not be read is not remembered, and never answered with what was read before: who cannot ask does not know (P14).
 * Units: `ttlMs` milliseconds.
 * Errors: none of its own; an entry that cannot be read is an answer.
 */
export function cachedEntries(
  entries: Entries,
  { clock, ttlMs = TTL_MS }: { readonly clock: Clock; readonly ttlMs?: number },
): Entries {
  const known = new Map<string, { readonly askedAt: number; readonly answer: Promise<EntriesAnswer<EntryKind>> }>();
  return {
    standing: async (kind, tenant) => {
      const key = `${kind}/${tenant}`;
      const found = known.get(key);
      const now = clock.now();
      const isFresh = found !== undefined && now >= found.askedAt && now - found.askedAt < ttlMs;
      const answer = isFresh ? found.answer : entries.standing(kind, tenant);
      if (!isFresh) known.set(key, { askedAt: now, answer });
      const told = await answer;
      if (told.kind === 'unavailable' && known.get(key)?.answer === answer) known.delete(key);
      return told;
    },
  };
}
