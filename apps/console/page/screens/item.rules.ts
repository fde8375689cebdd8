// When an item is another one than somebody read, and where each kind of item leads. Pure.
import { listIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { codeWords, STEP_KINDS } from '../words/kinds.js';

/** Is the item as somebody read it? Who agreed, and how many have to, is part of it: it says whose click is the last. */
export function isSameItem(seen: Row, now: Row): boolean {
  return JSON.stringify(heldTo(seen)) === JSON.stringify(heldTo(now));
}

function heldTo(row: Row): unknown {
  const agreed = listIn(row, 'approvals').map((one) => textIn(one, 'by'));
  return [row['phase'] ?? null, row['action_digest'] ?? null, row['required_approvals'] ?? null, agreed.sort()];
}

/** What is known of an item, beside what whoever reads may do about it: that the buttons say. */
export function factsOf(row: Row): Row {
  const { may: _may, may_not: _withheld, ...facts } = row;
  return facts;
}

/** What an item is that nothing can be done about. */
export function phaseWords(row: Row): string {
  const phase = textIn(row, 'phase');
  return phase === null ? ': people are asked nothing about it any more' : `: it is ${codeWords(phase)}`;
}

/** Screens that items lead to. */
export type Screen = 'review' | 'autonomy' | 'audit' | 'exposure' | 'contracts' | 'item';

const SCREENS: Readonly<Record<string, Screen>> = {
  freeze: 'autonomy',
  parked: 'audit',
  ceiling: 'exposure',
  proposal: 'contracts',
};

/** The screen where people do something about an item of this kind. */
export function screenOf(kind: string): Screen {
  return STEP_KINDS.includes(kind) ? 'review' : (SCREENS[kind] ?? 'item');
}
