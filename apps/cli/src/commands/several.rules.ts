// A decision about several steps: which go with it, which are to be read alone, and the digest of exactly that set. Pure.
import { createHash } from 'node:crypto';
import { docOf } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import { cellText, docsOf, minorUnits, span } from '../output/table.js';
import type { Column } from '../output/table.js';

/** What can be said of many steps with one reason, and the phase they have then. */
export const PHASE_FOR = { approve: 'awaiting_approval', deny: 'awaiting_approval', retry: 'manual' } as const;
export type SeveralVerb = keyof typeof PHASE_FOR;

/** What narrows them down; undefined does not. */
export interface Narrowing {
  /** Ref of the fact that turned out false. */
  readonly fact?: string;
  /** What it all began with: a mutation, its run, or its rollback; with it falls what was made from it, in other runs too. */
  readonly root?: string;
  readonly capability?: string;
  /** Code that says why a person has it. */
  readonly why?: string;
}

/** A step that the decision leaves as it is. */
export interface LeftOut {
  readonly step_id: string;
  readonly code: string;
  readonly detail: string;
}

export interface Chosen {
  readonly going: readonly Doc[];
  readonly left_out: readonly LeftOut[];
}

/** Whether a row of the list of reviews is meant. */
export function isMeant({ fact, root, capability, why }: Narrowing): (row: Doc) => boolean {
  const fits = (wanted: string | undefined, ...values: readonly unknown[]): boolean =>
    wanted === undefined || values.includes(wanted);
  return (row) =>
    fits(fact, docOf(row['evidence'])['ref']) &&
    fits(root, ...[row, docOf(docOf(row['evidence'])['root'])].flatMap(namesOf)) &&
    fits(capability, docOf(row['execution'])['capability']) &&
    fits(why, row['reason']);
}

function namesOf({ rollback_id, run_id, mutation_id }: Doc): readonly unknown[] {
  return [rollback_id, run_id, mutation_id];
}

/** What goes with it, of review items. */
export function choose(verb: SeveralVerb, items: readonly Doc[]): Chosen {
  const judged = items.map((item) => ({ item, left: whyAlone(verb, item) }));
  return {
    going: judged.flatMap(({ item, left }) => (left === null ? [item] : [])),
    left_out: judged.flatMap(({ item, left }) => (left === null ? [] : [{ step_id: idOf(item), ...left }])),
  };
}

/** Nobody agrees in passing to what has changed since somebody agreed to it. */
function whyAlone(verb: SeveralVerb, item: Doc): Omit<LeftOut, 'step_id'> | null {
  const { phase, may, missing, time_left_ms: left, action_digest: digest } = item;
  const facts = docOf(item['facts']);
  if (phase !== PHASE_FOR[verb]) return { code: 'STEP_WRONG_PHASE', detail: `it is ${cellText(phase)} by now` };
  if (!Array.isArray(may) || !may.includes(verb) || (verb !== 'retry' && typeof digest !== 'string')) {
    if (left === 0 && verb !== 'deny') return { code: 'WINDOW_CLOSED', detail: 'no compensation can begin any more' };
    const lacks =
      Array.isArray(missing) && missing.length > 0 ? `missing: ${cellText(missing)}` : 'you do not see all of it';
    return { code: 'ITEM_NOT_READY', detail: lacks };
  }
  if (verb !== 'approve') return null;
  if (Array.isArray(facts['changed']) && facts['changed'].length > 0)
    return { code: 'FACT_CHANGED', detail: `since somebody agreed: ${cellText(facts['changed'])}` };
  return docOf(facts['reaffirmed'])['source'] === undefined
    ? null
    : { code: 'FACT_CHANGED', detail: `${cellText(docOf(facts['reaffirmed'])['source'])} says that it holds again` };
}

/** SHA-256 of the verb and of each step with its action, in the order of their ids: hex. */
export function setDigest(verb: SeveralVerb, going: readonly Doc[]): string {
  const lines = going.map((item) => `${idOf(item)} ${cellText(item['action_digest'])}`).toSorted();
  return createHash('sha256')
    .update([verb, ...lines].join('\n'))
    .digest('hex');
}

/** What is moved in all, by unit; steps without a value count nowhere. */
export function totals(going: readonly Doc[]): readonly string[] {
  const sums = new Map<string, number>();
  for (const item of going) {
    const { amount_minor: amount, currency } = docOf(docOf(item['action'])['value']);
    if (typeof amount === 'number' && typeof currency === 'string')
      sums.set(currency, (sums.get(currency) ?? 0) + amount);
  }
  return [...sums].map(([currency, amount]) => cellText(minorUnits(amount, currency)));
}

/** Key of one command of several, so that the same call sent again is the same commands. */
export function keyOfOne(base: string, verb: SeveralVerb, step: string): string {
  return createHash('sha256')
    .update(JSON.stringify([base, verb, step]))
    .digest('hex');
}

export const CHOSEN_COLUMNS: readonly Column<Doc>[] = [
  { title: 'STEP', of: idOf },
  { title: 'RUN', of: (item) => item['run_id'] },
  { title: 'WHAT WAS DONE', of: (item) => docOf(item['action'])['capability'] },
  { title: 'SUBJECT', of: (item) => docOf(item['resource'])['subject_ref'] },
  { title: 'VALUE', of: (item) => valueOf(item), align: 'right' },
  { title: 'UNDONE BY', of: (item) => docOf(item['compensation'])['capability'] },
  { title: 'FACT', of: (item) => docOf(docOf(item['facts'])['now'])['ref'] },
  { title: 'WHY', of: (item) => item['reason'] },
  { title: 'AGREED', of: agreedOf },
  {
    title: 'TIME LEFT',
    of: ({ time_left_ms: left }) => (typeof left === 'number' ? span(left) : null),
    align: 'right',
  },
];

export const LEFT_OUT_COLUMNS: readonly Column<LeftOut>[] = [
  { title: 'LEFT OUT', of: ({ step_id }) => step_id },
  { title: 'CODE', of: ({ code }) => code },
  { title: 'DETAIL', of: ({ detail }) => detail },
];

function valueOf(item: Doc): unknown {
  const { amount_minor: amount, currency } = docOf(docOf(item['action'])['value']);
  return minorUnits(amount, currency);
}

function agreedOf(item: Doc): string {
  const { given, required } = docOf(item['approvals']);
  return `${String(docsOf(given).length)} of ${cellText(required)}`;
}

export function idOf(item: Doc): string {
  return cellText(item['step_id']);
}
