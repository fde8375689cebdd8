// What would fall, in words: with a commit, and by what a source might say. Pure.
import { listIn, moneyIn, numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { amountText } from '../parts/amount.js';
import { counted } from '../parts/counted.js';
import { inert } from '../parts/inert.js';
import { codeWords } from '../words/kinds.js';

export function fallWords(preview: Row): readonly string[] {
  const falling = (name: string, one: string, many: string): string =>
    counted(numberIn(preview, 'falls', name) ?? 0, one, many);
  const money = listIn(preview, 'money').flatMap((one) => {
    const value = moneyIn({ one }, 'one');
    return value === null ? [] : [amountText(value)];
  });
  const told = listIn(preview, 'consumers').map((one) =>
    typeof one === 'string' ? one : (textIn(one, 'consumer') ?? ''),
  );
  const beyond = numberIn(preview, 'beyond_bound', 'commits') ?? 0;
  return [
    `${falling('commits', 'commit', 'commits')} of ${falling('runs', 'run', 'runs')} ${commitsOf(preview) === 1 ? 'falls' : 'fall'}: ${falling('with_effect', 'has', 'have')} an effect outside, ${falling('without_effect', 'has', 'have')} none.`,
    ...(money.length === 0 ? [] : [`At stake: ${money.join(', ')}.`]),
    told.length === 0 ? 'Nobody is told: no consumer subscribed to any of it.' : `Told: ${told.join(', ')}.`,
    ...(beyond === 0
      ? []
      : [counted(beyond, 'is beyond the bound and goes to a person.', 'are beyond the bound and go to a person.')]),
  ];
}

/** Commits that would fall. */
export function commitsOf(preview: Row): number {
  return numberIn(preview, 'falls', 'commits') ?? 0;
}

const FALL = ['falls', 'fallen_already', 'money', 'subjects', 'consumers', 'beyond_bound', 'truncated'] as const;

/** Would it still fall as somebody read? The instant of the bound moves on as one reads. */
export function isSameFall(seen: Row, now: Row): boolean {
  const shown = (preview: Row): string => JSON.stringify(FALL.map((name) => preview[name] ?? null));
  return shown(seen) === shown(now);
}

/** What a drill of a source found: first whether anything would fall at all, and who is asked. */
export function drillWords(found: Row): readonly string[] {
  const relying = numberIn(found, 'relying') ?? 0;
  if (relying === 0) return ['Nothing would fall: no commit on record relies on this by its name.'];
  const reason = textIn(found, 'held', 'reason');
  return [
    counted(relying, 'commit relies on it.', 'commits rely on it.'),
    reason === null
      ? 'Said by this source it would count at once: nobody is asked before it falls.'
      : `Said by this source it would be held for a person: ${codeWords(reason)}, for ${inert(textIn(found, 'held', 'detail') ?? '')}. Once somebody confirms it:`,
    ...fallWords(found),
  ];
}
