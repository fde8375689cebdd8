// What waits for people about one effect, and how a person ends it (A47, P12).
//
// Invariants
//   Q0. A call that its agent gives to a person is a person's at once (D18).
//   Q1. An effect that took hold and that nothing automatic can take back is a person's, unless its contract said so before.
//   Q2. One question at a time: how it ended where nobody knows, else what becomes of it. Each is answered once.
//   Q3. A person's word about how it ended is an execution like any other: recorded, bound, and open to proof of the contrary.
import { isErased } from '@recourse/contract';
import { isPerson } from '@recourse/kernel';
import type {
  FoundOut,
  ReconcileMutation,
  RecoverabilityState,
  SettleMutation,
  ToolExecuted,
} from '@recourse/messages';
import { record } from '../record.messages.js';
import type { MutationRecord } from '../record.messages.js';
import type { Refusal } from '../refusal.messages.js';
import type { Mutation } from './mutation.messages.js';

/** What a person may say, by the question. */
const ANSWERS = {
  outcome: ['took_effect', 'not_done'],
  exposure: ['accepted', 'repaired'],
  escalation: ['accepted', 'repaired'],
} as const;
type Question = keyof typeof ANSWERS;
const OUTCOME_OF = { took_effect: 'succeeded', not_done: 'failed' } as const;

/** By when a person must have looked at an accepted execution, epoch milliseconds; null where nobody need (Q0, Q1). */
export function reviewBy(
  recoverability: RecoverabilityState,
  isEscalated: boolean,
  now: number,
  { reviewDeadlineMs }: { readonly reviewDeadlineMs: number },
): number | null {
  return isEscalated || recoverability === 'manual_resolution_required' ? now + reviewDeadlineMs : null;
}

/** What people are asked about it; null while they are not. */
export function questionOf({
  awaited,
  execution_state,
}: Pick<Mutation, 'awaited' | 'execution_state'>): Question | null {
  if (awaited === null || !awaited.is_overdue) return null;
  if (execution_state === 'succeeded') return 'exposure';
  return execution_state === 'failed' ? 'escalation' : 'outcome';
}

/** Why somebody may not end it so; null when they may. */
export function settlingRefusal(
  mutation: Mutation | undefined,
  { envelope, settled_as, reason }: SettleMutation,
): Refusal | null {
  if (mutation?.tenant !== envelope.tenant)
    return refusal('MUTATION_UNKNOWN', 'There is no such mutation in this run of this tenant.');
  if (reason.trim() === '') return refusal('COMMAND_INVALID', 'Say why, and on what evidence: give a reason.');
  if (!isPerson(envelope.principal))
    return refusal('JUDGE_NOT_A_PERSON', 'Only a person ends this: no agent, no service account, no role.');
  const question = questionOf(mutation);
  if (question === null) return refusal('NOTHING_TO_SETTLE', nothingToSettle(mutation));
  const answers: readonly string[] = ANSWERS[question];
  return answers.includes(settled_as)
    ? null
    : refusal('ANSWER_UNFIT', `People are asked about its ${question}: settle it as ${answers.join(' or ')}.`);
}

/** Why nobody can be sent to look how it ended; null when a worker can. A look changes nothing, so anybody with a role may ask for it. */
export function lookRefusal(
  mutation: Mutation | undefined,
  { envelope: { tenant }, reason }: ReconcileMutation,
  { leaseKey }: { readonly leaseKey: Buffer | null },
): Refusal | null {
  if (mutation?.tenant !== tenant)
    return refusal('MUTATION_UNKNOWN', 'There is no such mutation in this run of this tenant.');
  if (reason.trim() === '') return refusal('COMMAND_INVALID', 'Say why: give a reason.');
  if (mutation.forward?.asks.some(({ answered }) => answered === null) === true)
    return refusal('RECONCILIATION_PENDING', 'A worker is looking already: wait for its answer.');
  if (questionOf(mutation) !== 'outcome') return refusal('NOTHING_TO_RECONCILE', nothingToSettle(mutation));
  if (isErased(mutation.execution.args))
    return refusal('NO_RECONCILIATION', 'What a worker would look with was erased: find out, then settle it.');
  return leaseKey === null || (mutation.terms?.reconcile_capability ?? null) === null
    ? refusal('NO_RECONCILIATION', 'Its contract names nothing that tells how it ended: find out, then settle it.')
    : null;
}

/** What a person said. */
export function settledFact(
  { mutation_id, tenant, run_id }: Mutation,
  { envelope, settled_as, reason }: SettleMutation,
): MutationRecord<'MutationSettled'> {
  const { principal: by, command_id } = envelope;
  return record('MutationSettled', { mutation_id, tenant, run_id, settled_as, by, reason, command_id });
}

/** The execution as a person tells it; null where they said nothing of that. */
export function toldByPerson(
  { execution, terms, ref, forward, created_at }: Mutation,
  { envelope: { command_id }, settled_as }: SettleMutation,
): ToolExecuted | null {
  if (settled_as !== 'took_effect' && settled_as !== 'not_done') return null;
  const { value: _value, rehearsal: _rehearsal, staged_ref: _staged, ...told } = execution;
  return {
    ...told,
    event_id: `${command_id}.${settled_as}`,
    contract_digest: terms?.contract_digest ?? null,
    assumption_refs: ref?.assumption_refs ?? forward?.refs ?? [],
    outcome: OUTCOME_OF[settled_as],
    error_kind: null,
    handled_as: null,
    committed_at: ref?.committed_at ?? forward?.since ?? created_at,
  };
}

/** How a person ended the question how it ended. */
export function foundByPerson(
  { envelope: { principal: by }, settled_as, reason }: SettleMutation,
  now: number,
): FoundOut {
  const verdict = settled_as === 'took_effect' ? 'met' : 'not_met';
  return { how: 'person', by, leg_id: null, attempt: 0, verdict, reason, observations: [], found_at: now };
}

function nothingToSettle({ settled, execution_state, recoverability }: Mutation): string {
  if (settled !== null) return `${settled.by} has settled it already: ${settled.settled_as}.`;
  return `Nobody is asked about it: its execution is ${execution_state}, its recoverability ${recoverability}.`;
}

function refusal(code: Refusal['code'], message: string): Refusal {
  return { code, message };
}
