// Kinds of items, and what stands behind their codes, in words.

import { inert } from '../parts/inert.js';

export interface KindWords {
  readonly name: string;
  readonly asks: string;
}

export const KINDS = {
  approval: { name: 'Approval', asks: 'A compensation waits for people to agree.' },
  manual: { name: 'Manual', asks: 'Nothing undoes this by itself any more; a person has it.' },
  halted: { name: 'Halted', asks: 'A kill switch stops the step.' },
  rollback: { name: 'Held trigger', asks: 'Somebody says that a commit should not stand; confirm or reject it.' },
  task: { name: 'Task', asks: 'Something is to be done by hand.' },
  incident: { name: 'Incident', asks: 'Somebody escalated this.' },
  forward_approval: { name: 'Question before an effect', asks: 'An agent asks before it acts.' },
  budget: { name: 'Budget', asks: 'An action would exceed a ceiling.' },
  breaker: { name: 'Breaker', asks: 'A burst of triggers opened a breaker; what it holds waits.' },
  execution: { name: 'Uncertain action', asks: 'Nobody knows how the action ended.' },
  exposure: { name: 'Exposure', asks: 'An effect stands that nothing undoes.' },
  escalated: { name: 'Escalated effect', asks: 'Nothing found out how the action ended; a person settles it.' },
  window: { name: 'Window closes', asks: 'Soon this can no longer be undone.' },
  delivery: { name: 'Silent consumer', asks: 'A consumer has not said what it did about a rollback.' },
  divergence: { name: 'Divergence', asks: 'A runtime keeps what fell.' },
  trend: { name: 'Trend', asks: 'Rollbacks rise steadily.' },
  alarm: { name: 'Alarm', asks: 'The auditor found a log other than it should be.' },
  parked: { name: 'Parked record', asks: 'A record could not be taken; what comes behind it waits.' },
  ceiling: { name: 'Ceiling', asks: 'A ceiling is another one.' },
  proposal: { name: 'Weaker contract', asks: 'A version that weakens a contract waits for a second person.' },
  freeze: { name: 'Frozen agent', asks: 'An agent rises no further until a person lets it.' },
} as const satisfies Readonly<Record<string, KindWords>>;

export type Kind = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as readonly Kind[]; // the keys of a literal

export function kindWords(kind: string): KindWords {
  return Object.hasOwn(KINDS, kind) ? KINDS[kind as Kind] : { name: kind, asks: 'Something waits for a person.' };
}

/** A code as plain words: `HIGH_IMPACT` reads "high impact". */
export function codeWords(code: string): string {
  return inert(code.toLowerCase().replaceAll('_', ' '));
}

/** Why a review is not ready, by fact. */
export const MISSING: Readonly<Record<string, string>> = {
  objective: 'nobody said what the action was for',
  'action.args': 'the arguments of the action cannot be read',
  resource: 'nothing names the thing it was done to',
  'facts.then': 'nothing says what the action relied on',
  'facts.now': 'nothing says what turned out false',
  reconciliation: 'nobody knows how the last attempt ended',
  'compensation.args': 'the arguments of the compensation cannot be read',
};

/** Item kinds whose thing is a step of a recovery. */
export const STEP_KINDS: readonly string[] = ['approval', 'manual', 'halted'];
