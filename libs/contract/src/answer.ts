// "Can this be undone, by when, by whom, verified how?" (A103), and at what cost with which residue, from the contract alone.
import { adapterOf, availableFor, hasSideEffects, isManual, reversalCallsOf, reversalCapabilityOf } from './class.js';
import type { Contract } from './shape.js';
import { VERIFY_DELAY_MS } from './terms.js';

/**
 * How far an effect can be undone. Nothing is ever un-happened: `restored` brings the prior state back, `compensated` an
 * equivalent one with residue, and both only once another capability has observed it (A19).
 */
export type Undoability =
  'nothing_to_undo' | 'restored' | 'compensated' | 'by_hand' | 'cancelled_before_commit' | 'not_undone';

export interface UndoAnswer {
  readonly capability: string;
  readonly version: number;
  readonly undoability: Undoability;
  /** One sentence per question; what has no answer says so. */
  readonly can_it_be_undone: string;
  readonly by_when: string;
  readonly by_whom: string;
  readonly verified_how: string;
  readonly at_what_cost: string;
  readonly with_which_residue: string;
  /** Milliseconds from the commit; null when nothing bounds it or nothing undoes it. */
  readonly window_ms: number | null;
}

/** Answers for a capability. */
export function answerFor(contract: Contract): UndoAnswer {
  const undoability = undoabilityOf(contract);
  const isBack = undoability === 'restored' || undoability === 'compensated';
  return {
    capability: contract.name,
    version: contract.version ?? 1,
    undoability,
    can_it_be_undone: canOf(contract, undoability),
    by_when: whenOf(contract, undoability),
    by_whom: whomOf(contract, undoability),
    verified_how: isBack
      ? verifiedOf(contract)
      : undoability === 'nothing_to_undo'
        ? 'nothing to verify'
        : 'not by machine: a person records the evidence',
    at_what_cost: costOf(contract, isBack),
    with_which_residue:
      contract.residue ??
      (undoability === 'restored' || undoability === 'nothing_to_undo'
        ? 'none is declared'
        : 'everything stays as it is'),
    window_ms: isBack ? availableFor(contract) : null,
  };
}

function undoabilityOf(contract: Contract): Undoability {
  if (!hasSideEffects(contract)) return 'nothing_to_undo';
  if (contract.compensation_mode?.mode === 'manual_runbook') return 'by_hand';
  if (reversalCapabilityOf(contract) !== null)
    return contract.reversal_class === 'reversible' ? 'restored' : 'compensated';
  return (contract.commit_hold_ms ?? 0) > 0 && contract.cancel_capability !== undefined
    ? 'cancelled_before_commit'
    : 'not_undone';
}

function canOf(contract: Contract, undoability: Undoability): string {
  const by = reversalCallsOf(contract)
    .map(({ capability }) => capability ?? '')
    .join(', then ');
  switch (undoability) {
    case 'nothing_to_undo':
      return 'it only reads: there is nothing to undo';
    case 'restored':
      return `yes: ${by} restores the prior state`;
    case 'compensated':
      return `to an equivalent state: ${by} compensates it, with the residue below`;
    case 'by_hand':
      return `by hand only: ${contract.compensation_mode?.runbook ?? contract.compensation_mode?.reason ?? 'no runbook is named'}`;
    case 'cancelled_before_commit':
      return `only before it is committed: ${contract.cancel_capability ?? ''} cancels it during the hold`;
    case 'not_undone':
      return `no${contract.compensation_mode === undefined ? '' : `: ${contract.compensation_mode.reason}`}`;
  }
}

function whenOf(contract: Contract, undoability: Undoability): string {
  const closed = contract.window_closed_by ?? [];
  const earlier = closed.length === 0 ? '' : `, or until ${closed.join(' or ')}`;
  const window = availableFor(contract);
  switch (undoability) {
    case 'restored':
    case 'compensated':
      return `within ${spanOf(window ?? 0)} of the commit${earlier}`;
    case 'cancelled_before_commit':
      return `within the hold of ${spanOf(contract.commit_hold_ms ?? 0)}`;
    case 'by_hand':
      return window === null ? 'no window is declared' : `within ${spanOf(window)} of the commit${earlier}`;
    case 'nothing_to_undo':
    case 'not_undone':
      return 'never';
  }
}

function whomOf(contract: Contract, undoability: Undoability): string {
  const approval = contract.recovery_approval_mode ?? 'human';
  const people = {
    auto: 'nobody is asked',
    human: 'after one person has approved, or two where nobody is known to answer for the agent',
    dual_control: 'after two different people have approved',
  }[approval];
  const policy = contract.recovery_policy_ref === undefined ? '' : `, under the policy ${contract.recovery_policy_ref}`;
  switch (undoability) {
    case 'nothing_to_undo':
      return 'nobody';
    case 'restored':
    case 'compensated':
      return `the worker of ${adapterOf(reversalCapabilityOf(contract) ?? contract.name)}, ${people}${policy}`;
    case 'cancelled_before_commit':
      return `the worker of ${adapterOf(contract.cancel_capability ?? contract.name)}`;
    case 'by_hand':
      return `people of ${contract.owner}`;
    case 'not_undone':
      return isManual(contract) && contract.compensation_mode?.accepted_by !== undefined
        ? `nobody; accepted by ${contract.compensation_mode.accepted_by}`
        : `nobody; ask ${contract.owner}`;
  }
}

function verifiedOf({ verification }: Contract): string {
  if (verification === undefined) return 'nothing observes it';
  const { verify_capability, success_condition, max_attempts, delay_ms = VERIFY_DELAY_MS } = verification;
  return `${verify_capability} observes that ${success_condition}; ${max_attempts} looks at the most, ${spanOf(delay_ms)} apart`;
}

function costOf({ recovery_cost }: Contract, isBack: boolean): string {
  if (recovery_cost === undefined) return isBack ? 'none is declared' : 'not bounded';
  const { time_ms, value } = recovery_cost;
  return `at most ${spanOf(time_ms)} and ${value.amount_minor} minor units of ${value.currency}`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

/** A span of milliseconds in its largest two units. */
export function spanOf(ms: number): string {
  let left = ms;
  const parts = UNITS.flatMap(([unit, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  return parts.length === 0 ? '0 ms' : parts.slice(0, 2).join(' ');
}

const QUESTIONS: readonly (readonly [keyof UndoAnswer, string])[] = [
  ['can_it_be_undone', 'Can it be undone?'],
  ['by_when', 'By when?'],
  ['by_whom', 'By whom?'],
  ['verified_how', 'Verified how?'],
  ['at_what_cost', 'At what cost?'],
  ['with_which_residue', 'With which residue?'],
];

/** Questions and answers on one screen; `more` is asked before the six. */
export function screen(
  heading: string,
  answers: Readonly<Record<string, unknown>>,
  more: readonly (readonly [string, string])[] = [],
): string {
  const asked = [...more, ...QUESTIONS];
  const width = Math.max(...asked.map(([, question]) => question.length));
  return [
    heading,
    '',
    ...asked.map(([field, question]) => `${question.padEnd(width)}  ${String(answers[field])}`),
  ].join('\n');
}

/** The answer on one screen. */
export function answerText(answer: UndoAnswer): string {
  return screen(`${answer.capability}, version ${answer.version}`, { ...answer });
}
