// What sentences of a story are made of: who has it until when, on whose word, what was seen. Pure.
import { docOf } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import { debitsIn } from '../output/debits.js';
import { cellText, instant } from '../output/table.js';
import { hashIn } from './selection.js';

/** Opens a payload that is shown; what stayed sealed says so. */
export type Open = (payload: unknown) => string;

export interface Sentence {
  /** Who or what acted. */
  readonly who: string;
  readonly what: string;
}

export type Teller = (says: Doc, open: Open) => Sentence;

export const LEDGER = 'the ledger';
export const ORCHESTRATOR = 'the orchestrator';
export const ACCOUNTANT = 'the accountant';

/** Somebody did it, and said why. */
export const by =
  (verb: string | ((says: Doc, open: Open) => string)): Teller =>
  (says, open) => ({
    who: cellText(says['by']),
    what: `${typeof verb === 'string' ? verb : verb(says, open)}${because(says['reason'])}`,
  });
export const tells =
  (who: string, what: (says: Doc, open: Open) => string): Teller =>
  (says, open) => ({ who, what: what(says, open) });

export const because = (reason: unknown): string => (typeof reason === 'string' && reason !== '' ? `: ${reason}` : '');
export const until = (ms: unknown): string => instant(ms) ?? 'no set time';
export const owed = ({ owner, deadline_at }: Doc): string => `${cellText(owner)} has it until ${until(deadline_at)}`;
export const evidenceOf = ({ evidence }: Doc, open: Open): string => {
  const { source, ref, statement } = docOf(evidence);
  return `${cellText(source)} says of ${cellText(ref)}: ${open(statement)}`;
};
export const digest = (value: unknown): string => (hashIn(value) ?? '-').slice(0, 12);
/** What a worker said of it, where it said something. */
export const saying = ({ error_kind: kind, said }: Doc, open: Open): string =>
  `${typeof kind === 'string' ? `; the worker says ${kind}` : ''}${isGiven(said) ? `; in its words: ${open(said)}` : ''}`;
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
export const observed = ({ observations }: Doc, open: Open): string =>
  (Array.isArray(observations) ? observations.map(docOf) : [])
    .map((one) => `${cellText(one['capability'])} saw ${open(one['observed'])}`)
    .join('; ') || 'nothing was seen';
export const looked =
  (who: string, why: string): Teller =>
  (says, open) => ({ who, what: `looked ${why}: ${observed(says, open)}${saying(says, open)}` });
/** Whether it is a look that the orchestrator has another worker take, since the word of the first alone does not count. */
export const isByAnother = ({ not_by: first }: Doc): boolean => isGiven(first);
export const amount = (says: Doc): string => cellText(debitsIn(says['debits']) ?? 'nothing');
export const isNobody = (list: unknown): boolean => !isGiven(list) || (Array.isArray(list) && list.length === 0);
