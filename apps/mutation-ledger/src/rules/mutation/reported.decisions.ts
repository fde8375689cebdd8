// How a report about a call relates to what is on record of it. Pure.
import { personKey } from '@recourse/kernel';
import type { ToolExecuted, ToolPlanned } from '@recourse/messages';
import { contentHash } from '../identity.js';
import type { Mutation } from './mutation.messages.js';
import { EXECUTION_AFTER } from './mutation.transitions.js';

/** How a report relates to what is recorded. */
export type Standing = 'new' | 'known' | 'conflict';

/** Says whether an execution is new, was recorded already, or contradicts what was. */
export function standingOfExecution(event: ToolExecuted, mutation: Mutation | undefined): Standing {
  if (mutation === undefined) return 'new';
  const content = contentHash('ToolExecuted', event);
  if (
    mutation.executed_sha256?.equals(content) === true ||
    mutation.earlier_sha256.some((earlier) => earlier.equals(content))
  )
    return 'known';
  if (EXECUTION_AFTER[mutation.execution_state][event.outcome] !== null || hasFailedAgain(event, mutation))
    return isOfAgent(event, mutation) ? 'new' : 'conflict';
  // Who reads again may see something else: that is no second report of one effect.
  if (mutation.reason === 'READ_ONLY') return 'known';
  return agreesWithWorker(event, mutation) ? 'known' : 'conflict';
}

/** Does the agent whose effect it is say so? (M3) */
function isOfAgent({ agent_id }: Pick<ToolExecuted, 'agent_id'>, { execution }: Mutation): boolean {
  return personKey(agent_id) === personKey(execution.agent_id);
}

/** Ends of one call that are recorded at the most: an agent may try without end, and a row has an end. */
const ENDS_MAX = 32;

/**
 * Ends of a call that are on record, those that others found out among them: the next attempt is the one after.
 *
 * Shape:  at least the calls that were told of; 0 while none was.
 */
export function endsOf({
  executed_sha256,
  earlier_sha256,
}: Pick<Mutation, 'executed_sha256' | 'earlier_sha256'>): number {
  return executed_sha256 === null ? 0 : earlier_sha256.length + 1;
}

/** It was made again and failed again, and no person has it yet; that it is given up is taken however often it failed. */
function hasFailedAgain({ outcome, handled_as }: ToolExecuted, mutation: Mutation): boolean {
  const { execution_state, awaited } = mutation;
  return (
    outcome === 'failed' &&
    execution_state === 'failed' &&
    awaited === null &&
    (!isTriedAgain({ handled_as }) || endsOf(mutation) < ENDS_MAX)
  );
}

/** A worker told the same before its producer did. */
function agreesWithWorker(event: ToolExecuted, { execution_state, execution, forward }: Mutation): boolean {
  const wasTold =
    forward?.asks.some(
      ({ kind, answered }) =>
        (kind === 'reconcile' || kind === 'release') &&
        answered === (event.outcome === 'succeeded' ? 'met' : 'not_met'),
    ) === true;
  return (
    wasTold &&
    execution_state === event.outcome &&
    event.external_transaction_ref === execution.external_transaction_ref
  );
}

/** Says the same of an intent; one that comes after its execution tells nothing new, unless the call is made once more. */
export function standingOfIntent(event: ToolPlanned, mutation: Mutation | undefined): Standing {
  if (mutation === undefined) return 'new';
  const { planned_sha256: before } = mutation;
  if (before?.equals(contentHash('ToolPlanned', event)) === true) return 'known';
  if (isNextAttempt(event, mutation)) return 'new';
  if (isOfBefore(event, mutation)) return 'known';
  return before === null ? 'known' : 'conflict';
}

/** An attempt that has ended was planned before the one that is on record: its intent may be delivered once more. */
function isOfBefore(event: ToolPlanned, mutation: Mutation): boolean {
  const since = mutation.forward?.since ?? null;
  return endsOf(mutation) > 0 && since !== null && event.planned_at < since && isOfAgent(event, mutation);
}

/** The call failed without effect, nobody else has it, and its agent means to make it again, after that failure by its own clock. */
function isNextAttempt(event: ToolPlanned, mutation: Mutation): boolean {
  const { execution_state, recoverability, awaited, rollback_id, ref, planned_sha256 } = mutation;
  return (
    EXECUTION_AFTER[execution_state].planned !== null &&
    recoverability === 'planned' &&
    awaited === null &&
    rollback_id === null &&
    endsOf(mutation) < ENDS_MAX &&
    isOfAgent(event, mutation) &&
    isAfter(event.planned_at, { failedAt: ref?.committed_at ?? null, isPlanned: planned_sha256 !== null })
  );
}

/** The failure of an intent may be of the very millisecond of the next one; of a failure that nobody announced, that is its own. */
function isAfter(plannedAt: number, { failedAt, isPlanned }: Failure): boolean {
  return failedAt !== null && (plannedAt > failedAt || (isPlanned && plannedAt === failedAt));
}

interface Failure {
  readonly failedAt: number | null;
  readonly isPlanned: boolean;
}

/** Whoever called is about to make the same call once more: it did not fail for good. */
export function isTriedAgain({ handled_as }: Pick<ToolExecuted, 'handled_as'>): boolean {
  return handled_as === 'retry_scheduled' || handled_as === 'evidence_refreshed';
}
