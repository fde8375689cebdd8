// What people say about a question of the accountant, and what each word would do to ceilings. Pure.
import { listIn, numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { amountText } from '../parts/amount.js';
import { inert } from '../parts/inert.js';

/** What is sent: the word, and the digest of the question as it was read. */
export function wordOf(digest: string, word: 'allow' | 'raise once' | 'refuse') {
  return { approved: word !== 'refuse', raise_once: word === 'raise once', action_digest: digest };
}

/** Ceilings that would be raised for the question alone, a sentence each; none where it exceeds none that can be. */
export function raisesOf(row: Row): readonly string[] {
  if (textIn(row, 'about') !== 'ceiling') return [];
  return listIn(row, 'exceeded').flatMap((one) => {
    const [scope, measure] = [textIn(one, 'scope') ?? '', textIn(one, 'measure') ?? ''];
    const [currency, asked] = [textIn(one, 'currency') ?? '', numberIn(one, 'asked_minor')];
    // A cap of a contract and what binds in law are no ceilings.
    if (scope === 'capability' || !['debt', 'value'].includes(measure) || asked === null) return [];
    const [by, ceiling] = [amountText({ amount_minor: asked, currency }), numberIn(one, 'ceiling_minor')];
    const from = ceiling === null ? '' : `, from ${amountText({ amount_minor: ceiling, currency })}`;
    const whose = `${scope} ${inert(textIn(one, 'scope_id') ?? '')}`;
    return [`The ceiling of ${measure} of the ${whose} rises by ${by}${from}, as long as this action counts.`];
  });
}
