// "Can this still be undone?" (A103, C79): the answer of the contract a mutation executed under, and what has become of it since. What the
// newest version asks beyond it, retired or not, counts as well, as at every dispatch; policies may ask more.
import { instantText, personBehind } from '@recourse/kernel';
import type { ExecutionState, RecoverabilityState, RecoveryApprovalMode } from '@recourse/messages';
import { answerFor, screen, spanOf } from './answer.js';
import type { UndoAnswer } from './answer.js';
import { boundNow } from './bound-now.js';
import { isGrave, isManual, isUndoable } from './class.js';
import type { Contract } from './shape.js';

/** What the ledger says of one mutation. Instants in epoch milliseconds. */
export interface MutationStanding {
  readonly mutation_id: string;
  readonly capability: string;
  readonly execution_state: ExecutionState;
  readonly recoverability: RecoverabilityState;
  /** Code of why it stands as it does; null where nothing is to be said. */
  readonly reason: string | null;
  readonly agent_id: string;
  readonly initiator: string | null;
  readonly committed_at: number | null;
  readonly reversal_expires_at: number | null;
}

export interface MutationAnswer extends Omit<UndoAnswer, 'version' | 'window_ms'> {
  readonly mutation_id: string;
  /** Version of the contract it executed under; null where it had none. */
  readonly version: number | null;
  readonly state: string;
  readonly is_undoable_now: boolean;
  readonly reversal_expires_at: number | null;
  /** Milliseconds until the window closes; null where none is open. */
  readonly closes_in_ms: number | null;
  /** Different people who have to agree; null where nothing can be agreed to. */
  readonly people_needed: 0 | 1 | 2 | null;
}

/** Who may approve a compensation. */
const APPROVER_ROLE = 'approver';

/**
 * Counts the different people a compensation needs.
 *
 * Shape:  none only in automatic mode without grave impact; two where nobody answers for the action.
 * Source: P5; docs/design/edge.md.
 */
export function peopleNeeded(mode: RecoveryApprovalMode, impact: string, isAnswerable: boolean): 0 | 1 | 2 {
  if (mode === 'auto' && !isGrave(impact)) return 0;
  return ['auto', 'human'].includes(mode) && isAnswerable ? 1 : 2;
}

/** Does a person answer for it, as far as its execution says? Whether its agent has an owner is not known here. */
export function isAnsweredFor({
  agent_id: agent,
  initiator,
}: Pick<MutationStanding, 'agent_id' | 'initiator'>): boolean {
  return personBehind({ initiator, acting: [agent] }) !== null;
}

/** What binds an effect beside the version it executed under. */
export interface BindingBeside {
  /** The newest version, retired or not; null where there is none. */
  readonly newest: Contract | null;
  /** Contracts of what its undo calls, as far as they are known. */
  readonly called: readonly Contract[];
}

/** A contract and a mutation under what is asked beyond it by now; a version that undoes nothing withholds the way back. */
function boundBy({ newest, called }: BindingBeside, contract: Contract | null, mutation: MutationStanding): Bound {
  if (contract === null) return { contract, mutation, withheldBy: null };
  const { recovery_approval_mode, impact } = contract;
  const now = boundNow({ ...mutation, recovery_approval_mode: recovery_approval_mode ?? null, impact }, newest, called);
  return {
    contract: { ...contract, recovery_approval_mode: now.recovery_approval_mode, impact: now.impact },
    mutation: { ...mutation, reversal_expires_at: now.reversal_expires_at },
    withheldBy: hasWayBack(contract) && now.withheld !== null ? (newest?.version ?? 1) : null,
  };
}

function hasWayBack(contract: Contract): boolean {
  return isUndoable(contract) && !isManual(contract);
}

interface Bound {
  readonly contract: Contract | null;
  readonly mutation: MutationStanding;
  /** Version that leaves it to people; null where none does. */
  readonly withheldBy: number | null;
}

/** Answers for one mutation; `executed` is the version it executed under, null where it had none. */
export function answerForMutation(
  executed: Contract | null,
  found: MutationStanding,
  now: number,
  beside: BindingBeside = { newest: executed, called: [] },
): MutationAnswer {
  return answerUnder(boundBy(beside, executed, found), now);
}

function answerUnder(bound: Bound, now: number): MutationAnswer {
  const { contract, mutation } = bound;
  const declared = contract === null ? UNCONTRACTED : answerFor(contract);
  const closesIn = closesInOf(bound, now);
  const isUndoableNow =
    contract !== null && closesIn !== null && ['restored', 'compensated'].includes(declared.undoability);
  const people = isUndoableNow
    ? peopleNeeded(contract.recovery_approval_mode ?? 'human', contract.impact, isAnsweredFor(mutation))
    : null;
  return {
    ...declared,
    capability: mutation.capability,
    version: contract === null ? null : (contract.version ?? 1),
    mutation_id: mutation.mutation_id,
    state: `execution ${mutation.execution_state}, recoverability ${mutation.recoverability}${mutation.reason === null ? '' : `: ${mutation.reason}`}`,
    is_undoable_now: isUndoableNow,
    can_it_be_undone: isUndoableNow ? `now, ${declared.can_it_be_undone}` : whyNot(bound, declared, now),
    by_when:
      closesIn === null
        ? closedWhen(mutation, now)
        : `by ${instantText(mutation.reversal_expires_at ?? now)}, ${spanOf(closesIn)} from now; a change declared to close the window ends it earlier`,
    by_whom:
      people === null
        ? handOf(declared, mutation)
        : `${declared.by_whom.split(',')[0] ?? ''}, ${askedOf(people, mutation)}`,
    reversal_expires_at: mutation.reversal_expires_at,
    closes_in_ms: isUndoableNow ? closesIn : null,
    people_needed: people,
  };
}

/** The answer on one screen. */
export function mutationAnswerText(answer: MutationAnswer): string {
  const under = answer.version === null ? 'without a contract' : `under version ${answer.version} of its contract`;
  return screen(`${answer.mutation_id}: ${answer.capability}, ${under}`, { ...answer }, [
    ['state', 'How does it stand?'],
  ]);
}

/** What nobody described cannot be undone by machine (A22). */
const UNCONTRACTED: UndoAnswer = {
  capability: '',
  version: 0,
  undoability: 'not_undone',
  can_it_be_undone: 'no: it executed without a contract',
  by_when: 'never',
  by_whom: 'nobody; a person decides what to do',
  verified_how: 'not by machine: a person records the evidence',
  at_what_cost: 'not bounded',
  with_which_residue: 'everything stays as it is',
  window_ms: null,
};

function closesInOf({ mutation, withheldBy }: Bound, now: number): number | null {
  const { recoverability, reversal_expires_at: endsAt } = mutation;
  if (withheldBy !== null) return null;
  return recoverability === 'reversal_available' && endsAt !== null && endsAt > now ? endsAt - now : null;
}

/** Why it cannot be undone now. */
function whyNot({ mutation, withheldBy }: Bound, declared: UndoAnswer, now: number): string {
  return withheldBy !== null && mutation.recoverability === 'reversal_available'
    ? `by hand only: version ${withheldBy} of its contract leaves it to people`
    : notNow(mutation, declared, now);
}

/** The same, whatever stands by now. Total over the states of the ledger. */
function notNow(
  { recoverability, execution_state, reversal_expires_at: endsAt }: MutationStanding,
  declared: UndoAnswer,
  now: number,
): string {
  switch (recoverability) {
    case 'planned':
      return execution_state === 'failed'
        ? 'nothing to undo: it failed without effect'
        : 'not yet: nobody has recorded that it happened';
    case 'pending_commit':
      return 'not needed yet: it is held, and can be cancelled until the hold ends';
    case 'cancelled':
      return execution_state === 'failed'
        ? 'nothing to undo: it was cancelled before its effect'
        : 'not yet: it was cancelled, and may have taken effect all the same';
    case 'committed':
      return declared.undoability === 'not_undone' || declared.undoability === 'by_hand'
        ? declared.can_it_be_undone
        : 'no: it has no bound reversal';
    case 'reversal_available':
      return endsAt === null || endsAt <= now
        ? 'no: its window has closed; a person has to resolve it'
        : declared.can_it_be_undone;
    case 'reversal_expired':
      return 'no: its window has closed; a person has to resolve it';
    case 'compensating':
      return 'it is being undone';
    case 'compensated':
      return `${declared.undoability === 'restored' ? 'it is restored' : 'an equivalent state is restored, with the residue below'}: another capability has observed it`;
    case 'compensation_failed':
      return 'undoing it failed; a person has to resolve it';
    case 'manual_resolution_required':
      return 'by hand only: automation gave it to a person';
  }
}

function closedWhen({ reversal_expires_at: endsAt, recoverability }: MutationStanding, now: number): string {
  if (recoverability === 'compensated') return 'it is done';
  if (recoverability === 'compensating') return 'it has begun';
  if (endsAt === null) return 'never';
  return endsAt > now ? `its window ends at ${instantText(endsAt)}` : `its window ended at ${instantText(endsAt)}`;
}

function handOf(declared: UndoAnswer, { recoverability }: MutationStanding): string {
  switch (recoverability) {
    case 'compensating':
    case 'compensated':
      return declared.by_whom;
    case 'cancelled':
      return 'nobody';
    case 'reversal_expired':
    case 'compensation_failed':
    case 'manual_resolution_required':
      return 'a person with the role administrator';
    case 'planned':
    case 'pending_commit':
    case 'committed':
    case 'reversal_available':
      return declared.undoability === 'nothing_to_undo' ? 'nobody' : declared.by_whom;
  }
}

function askedOf(people: 0 | 1 | 2, { agent_id: agent, initiator }: MutationStanding): string {
  const excluded = [agent, ...(initiator === null ? [] : [initiator])].join(' nor ');
  switch (people) {
    case 0:
      return 'nobody is asked';
    case 1:
      return `after one person with the role ${APPROVER_ROLE}, neither ${excluded}, has approved`;
    case 2:
      return `after two different people with the role ${APPROVER_ROLE}, neither ${excluded}, have approved`;
  }
}
