// What becomes of mutations that are open under older versions when a newer one registers.
//
// A mutation is recovered under the version it executed under, and bound by what a newer one asks beyond that: what is stricter
// holds for it as well, what is looser does not. People and workers must keep what the older version names for as long as its
// windows are open. The registry knows no mutations: the counts come from the ledger.
import { adapterOf, availableFor, reversalCallsOf, reversalCapabilityOf } from '../class.js';
import type { Contract } from '../shape.js';

/** A version with mutations that can still be undone under it. */
export interface OpenVersion {
  readonly contract: Contract;
  /** Mutations whose recoverability is open. */
  readonly open: number;
}

export const COMPATIBILITY_NOTES = {
  ADAPTER_KEPT: 'Keep the worker of the older adapter until the last window closes.',
  REVERSAL_KEPT: 'Keep the older reversal working, and its contract standing, until the last window closes.',
  OBSERVER_KEPT: 'Keep the older observer answering: its conditions judge what is open.',
  APPROVAL_RAISED: 'What is open is bound by it as well: what fewer people agreed to before does not suffice any more.',
  APPROVAL_NOT_LOWERED: 'What is open still asks the people the older version names.',
  WINDOW_NOT_LENGTHENED: 'What is open still closes when the older version says.',
  WINDOW_SHORTENED: 'What is open is bound by it as well: beyond the shorter window a person has to undo it.',
  NOT_UNDONE_ANY_MORE: 'The newer version undoes nothing, and what is open is bound by it as well: a person has it.',
} as const;

export type CompatibilityCode = keyof typeof COMPATIBILITY_NOTES;

/** What one older version means for the newer one. */
export interface Compatibility {
  readonly version: number;
  readonly open: number;
  /** Milliseconds after which nothing under this version can be undone by machines; null when it has no window. */
  readonly closes_within_ms: number | null;
  /** Empty when the newer version serves what is open just as well. */
  readonly notes: readonly { readonly code: CompatibilityCode; readonly message: string }[];
}

/** Reports on every older version with something open, oldest first. */
export function compatibilityReport(versions: readonly OpenVersion[], newer: Contract): readonly Compatibility[] {
  return versions
    .filter(({ open }) => open > 0)
    .map(({ contract, open }) => ({
      version: contract.version ?? 1,
      open,
      closes_within_ms: sooner(availableFor(contract), availableFor(newer)),
      notes: notesOf(contract, newer),
    }))
    .sort((a, b) => a.version - b.version);
}

/** The window that closes first; a newer version without one shortens nothing. */
function sooner(older: number | null, newer: number | null): number | null {
  return older === null || newer === null ? older : Math.min(older, newer);
}

function notesOf(older: Contract, newer: Contract): Compatibility['notes'] {
  return remarksOn(older, newer)
    .filter(([applies]) => applies)
    .map(([, code, what]) => ({ code, message: `${what}. ${COMPATIBILITY_NOTES[code]}` }));
}

/** Everything there is to say, and whether it holds. */
function remarksOn(older: Contract, newer: Contract): readonly (readonly [boolean, CompatibilityCode, string])[] {
  const [before, after] = [reversalCapabilityOf(older), reversalCapabilityOf(newer)];
  const raise = approvalRank(newer) - approvalRank(older);
  const longer = (availableFor(newer) ?? 0) - (availableFor(older) ?? 0);
  return [
    [before !== null && after === null, 'NOT_UNDONE_ANY_MORE', `the older version is undone by ${before ?? ''}`],
    [
      before !== null && after !== null && adapterOf(before) !== adapterOf(after),
      'ADAPTER_KEPT',
      `${before ?? ''} moves to ${after ?? ''}`,
    ],
    [isReplaced(older, newer), 'REVERSAL_KEPT', `what is open is undone by ${actorsOf(older)}`],
    [
      before !== null && observersOf(older).some((name) => !observersOf(newer).includes(name)),
      'OBSERVER_KEPT',
      `what is open is observed by ${observersOf(older).join(', ')}`,
    ],
    [before !== null && raise > 0, 'APPROVAL_RAISED', `approval rises to ${newer.recovery_approval_mode ?? 'human'}`],
    [
      before !== null && raise < 0,
      'APPROVAL_NOT_LOWERED',
      `approval falls to ${newer.recovery_approval_mode ?? 'human'} for new executions alone`,
    ],
    [
      before !== null && after !== null && longer > 0,
      'WINDOW_NOT_LENGTHENED',
      `the window grows by ${longer} ms for new executions alone`,
    ],
    [before !== null && after !== null && longer < 0, 'WINDOW_SHORTENED', `the window shrinks by ${-longer} ms`],
  ];
}

function approvalRank({ recovery_approval_mode: mode }: Contract): number {
  return ['auto', 'human', 'dual_control'].indexOf(mode ?? 'human');
}

/** Other calls undo what executes under the newer version. */
function isReplaced(older: Contract, newer: Contract): boolean {
  return reversalCapabilityOf(older) !== null && actorsOf(older) !== actorsOf(newer);
}

function actorsOf(contract: Contract): string {
  return reversalCallsOf(contract)
    .map(({ capability }) => capability)
    .join(', ');
}

function observersOf(contract: Contract): readonly string[] {
  const { stale_check, reconcile_capability } = contract;
  const verifying = reversalCallsOf(contract).map(({ verification }) => verification?.verify_capability);
  return [stale_check?.observe_capability, ...verifying, reconcile_capability].filter((name) => name !== undefined);
}
