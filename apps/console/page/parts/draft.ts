// What somebody types, kept until it was taken.
import { useState } from 'react';
import { usePerson } from '../app/session.js';
import { draftKey } from './draft.rules.js';

/** What is typed about a thing: it survives a refusal, a reload and a lost session. */
export function useDraft(
  about: string,
): readonly [Readonly<Record<string, string>>, (name: string, text: string) => void, () => void] {
  const at = draftKey(usePerson(), about);
  const [draft, setDraft] = useState<Readonly<Record<string, string>>>(() => keptIn(at));
  return [
    draft,
    (name, text) => {
      const next = { ...draft, [name]: text };
      sessionStorage.setItem(at, JSON.stringify(next));
      setDraft(next);
    },
    () => {
      sessionStorage.removeItem(at);
    },
  ];
}

function keptIn(at: string): Readonly<Record<string, string>> {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(at) ?? '{}');
    if (typeof kept !== 'object' || kept === null) return {};
    return Object.fromEntries(
      Object.entries(kept).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  } catch {
    return {};
  }
}
