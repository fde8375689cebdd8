// What accepted records make of the forward part of a mutation: its hold, and what workers were asked (L2).
import type { FoundOut, MutationPlanned, MutationRef, WorkerAnswered, WorkerAsked } from '@recourse/messages';
import { ownerOfAsk } from '../owners.js';
import type { Ask, AskKind, Forward, Mutation } from './mutation.messages.js';
import type { Body, MutationRecord } from '../record.messages.js';

/** A record that moves the forward part of a mutation, or its warning, and nothing else of it. */
export type ForwardRecord = MutationRecord<'HoldElapsed' | 'WorkerAsked' | 'WorkerAnswered' | 'WindowClosing'>;

type Moved = Partial<Pick<Mutation, 'found_out' | 'forward' | 'awaited' | 'execution_state' | 'warn_at' | 'warned_at'>>;

/** The forward part of an intent. What was asked of attempts before stays: no request is sent twice under one id. */
export function forwardOfIntent(
  { assumption_refs, hold_until, planned_at }: Body<MutationPlanned>,
  decidedAt: number,
  before: Forward | null,
): Forward {
  return {
    refs: assumption_refs,
    since: Math.min(planned_at, decidedAt),
    hold: hold_until === null ? null : { until: hold_until, is_over: false },
    asks: (before?.asks ?? []).map((ask) => ({ ...overtaken(ask), is_past: true })),
    reconcile_at: null,
  };
}

/** The forward part once an execution is recorded; null where nobody was or will be asked. */
export function forwardOfRecord(
  before: Forward | null,
  { assumption_refs, committed_at }: MutationRef,
  reconcileAt: number | null,
): Forward | null {
  if (before === null)
    return reconcileAt === null
      ? null
      : { refs: assumption_refs, since: committed_at, hold: null, asks: [], reconcile_at: reconcileAt };
  return { ...before, hold: over(before.hold), asks: before.asks.map(overtaken), reconcile_at: reconcileAt };
}

/** A person was asked: nothing happens until they act. */
export function givenToPerson(forward: Forward): Forward {
  return {
    ...forward,
    hold: over(forward.hold),
    asks: forward.asks.map((ask) => ({ ...ask, retry_at: null })),
    reconcile_at: null,
  };
}

/** What such a record changes. */
export function forwardAfter(mutation: Mutation, { type, body }: ForwardRecord, decidedAt: number): Moved {
  const forward = mutation.forward ?? {
    refs: mutation.ref?.assumption_refs ?? [],
    since: mutation.created_at,
    hold: null,
    asks: [],
    reconcile_at: null,
  };
  switch (type) {
    case 'HoldElapsed':
      return { forward: { ...forward, hold: { until: body.hold_until, is_over: true } } };
    case 'WorkerAsked':
      return asked(mutation, forward, body);
    case 'WorkerAnswered':
      return answered(mutation, forward, body, decidedAt);
    case 'WindowClosing':
      return {
        warn_at: null,
        warned_at: body.closes_at === mutation.expires_at ? decidedAt : mutation.warned_at,
      };
  }
}

function asked(
  mutation: Mutation,
  forward: Forward,
  { adapter, answer_by, first_asked_at, request, confirms }: Body<WorkerAsked>,
): Moved {
  const { leg_id, attempt, lease_id } = request;
  const kind = request.kind as AskKind; // the ledger asks for nothing else
  const ask: Ask = {
    leg_id,
    adapter,
    kind,
    attempt,
    lease_id,
    answer_by,
    first_asked_at,
    answered: null,
    retry_at: null,
    ...(confirms === null ? {} : { confirms }),
  };
  return {
    forward: {
      ...forward,
      asks: [...forward.asks.map((one) => ({ ...one, retry_at: null })), ask],
      reconcile_at: null,
    },
    awaited: { owner: ownerOfAsk(adapter), deadline_at: answer_by, is_overdue: false },
    execution_state: kind === 'release' ? 'executing' : mutation.execution_state,
  };
}

function answered(mutation: Mutation, forward: Forward, body: Body<WorkerAnswered>, at: number): Moved {
  const { leg_id, kind, verdict, retry_at } = body;
  const ask = forward.asks.find((one) => one.leg_id === leg_id);
  const asks = forward.asks.map((ask) => (ask.leg_id === leg_id ? { ...ask, answered: verdict, retry_at } : ask));
  return {
    forward: { ...forward, asks },
    ...(kind === 'reconcile' || kind === 'release' ? { found_out: foundByWorker(body, at) } : {}),
    ...(retry_at === null && endsWaiting(mutation, ask) ? { awaited: null } : {}),
  };
}

/** Does the answer to an ask end what is waited for? A late one does not: what was told since waits for somebody else, unless it said that nothing took hold. */
function endsWaiting({ execution_state: state }: Mutation, ask: Ask | undefined): boolean {
  const isLate = (ask?.answered ?? null) !== null;
  if (ask?.confirms?.kind === 'cancel') return state === 'failed';
  return !isLate || (ask?.kind === 'cancel' && state === 'failed');
}

/** What a worker found out about how an execution ended. */
export function foundByWorker(
  {
    kind: how,
    leg_id,
    attempt,
    verdict,
    reason,
    observations,
  }: Pick<WorkerAnswered, 'kind' | 'leg_id' | 'attempt' | 'verdict' | 'reason' | 'observations'>,
  at: number,
): FoundOut {
  return { how, by: null, leg_id, attempt, verdict, reason, observations, found_at: at };
}

function overtaken(ask: Ask): Ask {
  return { ...ask, answered: ask.answered ?? 'overtaken', retry_at: null };
}

function over(hold: Forward['hold']): Forward['hold'] {
  return hold === null ? null : { ...hold, is_over: true };
}
