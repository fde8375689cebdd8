// What would fall, in words: with a commit, and by what a source might say. Pure.
import { listIn, moneyIn, numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { amountText } from '../parts/amount.js';
import { inert } from '../parts/inert.js';
import { codeWords } from '../words/kinds.js';

export function fallWords(preview: Row): readonly string[] {
  const count = (name: string): number => numberIn(preview, 'falls', name) ?? 0;
  const money = listIn(preview, 'money').flatMap((one) => {
    const value = moneyIn({ one }, 'one');
    return value === null ? [] : [amountText(value)];
  });
  const told = listIn(preview, 'consumers').map((one) =>
    typeof one === 'string' ? one : (textIn(one, 'consumer') ?? ''),
  );
  const beyond = numberIn(preview, 'beyond_bound', 'commits') ?? 0;
  return [
    `${count('commits')} commits of ${count('runs')} runs fall: ${count('with_effect')} have an effect outside, ${count('without_effect')} have none.`,
    ...(money.length === 0 ? [] : [`At stake: ${money.join(', ')}.`]),
    told.length === 0 ? 'Nobody is told: no consumer subscribed to any of it.' : `Told: ${told.join(', ')}.`,
    ...(beyond === 0 ? [] : [`${beyond} are beyond the bound and go to a person.`]),
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
    `${relying.toLocaleString('en')} ${relying === 1 ? 'commit relies' : 'commits rely'} on it.`,
    reason === null
      ? 'Said by this source it would count at once: nobody is asked before it falls.'
      : `Said by this source it would be held for a person: ${codeWords(reason)}, for ${inert(textIn(found, 'held', 'detail') ?? '')}. Once somebody confirms it:`,
    ...fallWords(found),
  ];
}
