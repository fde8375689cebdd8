// A story told again from its records: in the words that it names, and where those are older, in the words of today. Pure.
//
// Invariants
//   R1. A story in older words is not called equal: whoever makes a packet chooses them, and the first did not say who acted.
import { canonicalJson } from '@recourse/kernel';
import type { Accepted } from '../audit/accepted.js';
import { WORDS } from './sentences.js';
import { storyOf } from './story.js';
import type { Story } from './story.js';

interface Problem {
  readonly code: string;
  readonly message: string;
}

export interface Retold {
  /** Whose story it is, by the records; null where they tell none. */
  readonly tenant: string | null;
  /** Version of the words that it is told in. */
  readonly words: number;
  /** In the words of today; null where it is told in those, and where the records tell none. */
  readonly today: Story | null;
  /** What the records do not tell. */
  readonly lines: readonly Problem[];
  /** That its words are older. */
  readonly old: readonly Problem[];
}

/** Of the tenant and in the words that it names; packets of older versions name neither, and hold the records of one tenant. */
export function retold(story: Story, records: readonly Accepted[]): Retold {
  const { about, words = 1 } = story;
  const tenant = about.tenant ?? null;
  const found = storyOf(records, about.id, new Map(), { tenant, words })?.story ?? null;
  const isOld = words !== WORDS;
  return {
    tenant: found?.about.tenant ?? null,
    words,
    today: isOld ? (storyOf(records, about.id, new Map(), { tenant })?.story ?? null) : null,
    lines: found !== null && canonicalJson(asNamed(found, about)) === canonicalJson(story) ? [] : [DIFFERENT],
    old: isOld ? [older(words)] : [],
  };
}

const DIFFERENT: Problem = { code: 'STORY_LINES_DIFFER', message: 'the records do not tell these lines' };

const older = (words: number): Problem => ({
  code: 'STORY_WORDS_OLD',
  message: `it is told in words ${String(words)}, which may leave out who acted; those of today are ${String(WORDS)}`,
});

function asNamed(story: Story, { tenant: named }: Story['about']): Story {
  const { tenant: _tenant, ...about } = story.about;
  return named === undefined ? { ...story, about } : story;
}
