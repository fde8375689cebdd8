// Whether a step goes on: the order of a run, the kill switches (A82, D64), breakers and rate limits hold it back, in a list,
// until they let it go.
//
// Invariants
//   K1. A switch stops effects alone: marks, notices, approvals and escalations go on.
//   K2. What a worker already has is not called back: the lease ends it.
//   K3. A halted step keeps its window and its deadline; neither waits for the switch.
//   K4. A rate is for what begins: an attempt after the first has its own pauses, and was counted.
import { capabilitiesOf } from '@recourse/contract';
import type { Acting, Verdict } from '@recourse/contract';
import type { LimitScope, RecoveryCall } from '@recourse/messages';
import { placeIn, schedulesOf } from '../admission/pace.decisions.js';
import type { Place, Rates } from '../admission/pace.decisions.js';
import { refInForce } from '../decision/in-force.decisions.js';
import { callsMs, dispatchableUntil } from '../decision/recovery.decisions.js';
import { OWNER_OF_HALTED, OWNER_OF_MANUAL, OWNER_OF_ORDER } from '../policy.messages.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import { dispatched, escalated, nextAttempt } from './dispatch.decisions.js';
import type { Ready } from './dispatch.decisions.js';
import { askedAnew, askFacts, relyOnFacts } from './facts.decisions.js';
import { dependentsOf } from '../lineage/dependents.decisions.js';
import { isStrict, NAMED_MAX, orderOf } from './order.decisions.js';
import type { Order } from './order.decisions.js';
import { LEG_BYTES_MAX, LEG_STEPS_MAX } from './leg.messages.js';
import { identityOf, replaced } from './step.messages.js';
import type { StepDoc } from './step.messages.js';
import type { DependentDoc } from '../lineage/dependents.messages.js';
import { record } from '../record.messages.js';
import type { RecoveryRecord } from '../record.messages.js';

/** What kill switches and breakers say of an action. */
export type Stopping = Verdict | { readonly admitted: false; readonly code: 'BREAKER_OPEN'; readonly reason: string };

/** What going on needs beside the step. */
export interface Going {
  readonly now: number;
  readonly policy: RecoveryPolicy;
  /** What the kill switches say of an action. */
  readonly killed: (acting: Acting) => Stopping;
  /** Rates that are set. */
  readonly rates: Rates;
  /** When the schedule of a rate is free again, by the rows. */
  readonly nextAt: (tenant: string, scope: LimitScope, name: string) => number;
  /** The facts were observed for this very decision. */
  readonly isObserved?: boolean;
  /** Commits of other runs that were derived from those of a run. */
  readonly dependentsIn: (runId: string) => readonly DependentDoc[];
  /** All steps of the run. */
  readonly steps: readonly StepDoc[];
}

/** The action of a step as kill switches name it: the capability that would be called, the agent whose action it undoes. */
export function actingOf(step: Pick<StepDoc, 'tenant' | 'execution' | 'call'>): Acting {
  return { tenant: step.tenant, agent: step.execution.agent_id, capability: step.call?.capability ?? '' };
}

/** Its actions, one for each call that would undo it. */
function actingsOf(step: StepDoc): readonly Acting[] {
  const acting = actingOf(step);
  return step.call === null ? [acting] : capabilitiesOf(step.call).map((capability) => ({ ...acting, capability }));
}

/** The first of its calls that something stops, and what does; null where all may be made. */
export function stoppedBy(step: StepDoc, killed: Going['killed']): Stopped | null {
  for (const acting of actingsOf(step)) {
    const verdict = killed(acting);
    if (!verdict.admitted) return { ...verdict, capability: acting.capability };
  }
  return null;
}

/** What stops a step, over which of its calls. */
type Stopped = Exclude<Stopping, { readonly admitted: true }> & { readonly capability: string };

/** Sends the step to a worker, with those behind it that may follow, to a person or, when a switch stops it, into the list of halted steps: exactly one record. */
export function goOn(step: StepDoc, going: Going): RecoveryRecord {
  const head = ready(step, going);
  return 'type' in head ? head : dispatched([head, ...following(head, going)], going.policy);
}

/** The step as it may go, or what becomes of it instead. */
function ready(step: StepDoc, going: Going): Ready | RecoveryRecord {
  const { now, policy, killed, steps, isObserved = false } = going;
  const next = nextAttempt(step, now, policy);
  if (next.kind === 'person') return escalated(step, next.reason, now, policy);
  const anew = askedAnew(step, now, policy);
  if (anew !== null) return anew;
  const dependents = step.attempt > 0 ? [] : going.dependentsIn(step.run_id);
  const order = orderOf(step, steps, dependents);
  // A look before the dispatch was asked for when it was this step's turn.
  if (order.kind === 'wait' && !isObserved && !isPatienceOver(step, order, now)) return waits(step, order, now, policy);
  if (order.kind === 'wait' && order.reason === 'BLOCKED_BY_STEP') return escalated(step, order.reason, now, policy);
  const stopped = stoppedBy(step, killed);
  if (stopped !== null) return halted(step, stopped, now, policy);
  const late = step.attempt > 0 ? null : placeOf(step, going);
  if (late !== null && late.goAt > now) return paced(step, late, now, policy);
  const ask = !isObserved && relyOnFacts(step) ? askFacts(step, 'dispatch', now, policy) : null;
  if (ask !== null) return ask;
  const outstanding = [...(order.kind === 'free' ? [] : order.steps), ...dependentsOf(step, dependents)];
  return { step, next, outstanding: [...new Set(outstanding)].slice(0, NAMED_MAX), paced: late?.paced ?? [] };
}

/**
 * Steps that may follow one in its leg: each would be free once those before it are undone.
 *
 * Shape:  of one adapter, attempt and recovery, behind it in order, last effect first. What may go by itself goes by itself; a
 *         tool without a key is asked alone, since nobody could tell later whether a copy of the leg had reached it.
 */
function following(head: Ready, going: Going): readonly Ready[] {
  const leg: Ready[] = [];
  let steps = withUndone(going.steps, head);
  let bytes = bytesOf(head.next.call);
  // Where each waits for all behind it, whoever does not follow has the rest stay, too.
  const endsAtFirst = isStrict(steps.filter((step) => step.recovery_id === head.step.recovery_id));
  for (const step of behind(head, going)) {
    const next = ready(step, { ...going, steps, isObserved: false });
    if ('type' in next || !mayFollow(head, next)) {
      if (endsAtFirst) break;
      continue;
    }
    bytes += bytesOf(next.next.call);
    if (leg.length + 1 >= LEG_STEPS_MAX || bytes > LEG_BYTES_MAX) break;
    leg.push(next);
    steps = withUndone(steps, next);
  }
  return leg;
}

function bytesOf({ args, then }: RecoveryCall): number {
  return [args, ...then.map((one) => one.args)].reduce((sum, { body }) => sum + body.length, 0);
}

/** Steps of the recovery that wait for others of it, last effect first; each is looked at when it is asked for. */
function* behind({ step: head, next }: Ready, { steps, dependentsIn }: Going): Generator<StepDoc> {
  if (next.terms.key_lifetime_ms === null) return;
  const others = steps
    .filter(
      (step) =>
        step.step_id !== head.step_id &&
        step.recovery_id === head.recovery_id &&
        (step.phase === 'approved' || step.phase === 'waiting'),
    )
    .sort((one, other) => other.executed_seq - one.executed_seq);
  for (const step of others) if (orderOf(step, steps, dependentsIn(step.run_id)).kind === 'wait') yield step;
}

function mayFollow({ next: head }: Ready, { next, outstanding }: Ready): boolean {
  return (
    outstanding.length === 0 &&
    next.attempt === head.attempt &&
    next.call.adapter_id === head.call.adapter_id &&
    next.terms.key_lifetime_ms !== null &&
    next.lease.notAfter >= head.lease.notAfter
  );
}

/** The steps as they would be with one of them undone. */
function withUndone(steps: readonly StepDoc[], { step, paced: places }: Ready): readonly StepDoc[] {
  const undone: StepDoc = { ...step, phase: 'compensated', paced: places };
  return replaced(steps, undone);
}

/** The place of a step in the schedules: the one it took, or the next that is free, counting those of this decision (R1, R2). */
function placeOf(step: StepDoc, { now, rates, nextAt, steps }: Going): Place {
  if (step.go_at !== null) return { goAt: step.go_at, paced: [] };
  const { tenant } = step;
  const capabilities = actingsOf(step).map(({ capability }) => capability);
  const taken = steps.filter((one) => one.tenant === tenant).flatMap((one) => one.paced);
  const schedules = schedulesOf(rates, tenant, capabilities, (scope, name) =>
    taken
      .filter((one) => one.scope === scope && one.name === name)
      .reduce((latest, one) => Math.max(latest, one.next_at), nextAt(tenant, scope, name)),
  );
  return placeIn(schedules, now);
}

/** It waits for its place; where that comes too late a person is told at once (R3). */
function paced(step: StepDoc, { goAt, paced: places }: Place, now: number, policy: RecoveryPolicy): RecoveryRecord {
  const deadline = deadlineOf(step, now, policy);
  if (goAt >= deadline) return escalated(step, 'RATE_LIMITED', now, policy);
  return record('StepWaits', {
    ...identityOf(step),
    reason: 'RATE_LIMITED',
    outstanding: [],
    owner: OWNER_OF_ORDER,
    deadline_at: deadline,
    paced: places,
    go_at: goAt,
  });
}

/** A step that waited to its deadline goes without those outstanding (O4). Patience with other runs is no patience with its own. */
function isPatienceOver(
  { phase, deadline_at: until, reason }: StepDoc,
  order: Extract<Order, { kind: 'wait' }>,
  now: number,
): boolean {
  return (
    phase === 'waiting' && until !== null && now >= until && (reason !== 'CHILDREN' || order.reason === 'CHILDREN')
  );
}

function waits(
  step: StepDoc,
  { reason, steps: outstanding }: Extract<Order, { kind: 'wait' }>,
  now: number,
  policy: RecoveryPolicy,
): RecoveryRecord {
  const owner = reason === 'BLOCKED_BY_STEP' ? OWNER_OF_MANUAL : OWNER_OF_ORDER;
  const deadline = reason === 'CHILDREN' ? childDeadline(step, now, policy) : deadlineOf(step, now, policy);
  return record('StepWaits', {
    ...identityOf(step),
    reason,
    outstanding,
    owner,
    deadline_at: deadline,
    paced: [],
    go_at: null,
  });
}

/** Its own patience, which a child noted later does not renew, within what the window leaves. */
function childDeadline(step: StepDoc, now: number, policy: RecoveryPolicy): number {
  const isOwn = step.phase === 'waiting' && step.reason === 'CHILDREN' && step.deadline_at !== null;
  return withinWindow(step, isOwn ? step.deadline_at : now + policy.childrenFirstMs, now, policy, false);
}

function halted(
  step: StepDoc,
  { code, reason: detail, capability }: Stopped,
  now: number,
  policy: RecoveryPolicy,
): RecoveryRecord {
  const { agent } = actingOf(step);
  return record('StepHalted', {
    ...identityOf(step),
    reason: code === 'BREAKER_OPEN' ? 'BREAKER_OPEN' : 'KILL_SWITCH',
    detail,
    agent_id: agent,
    capability,
    owner: OWNER_OF_HALTED,
    deadline_at: deadlineOf(step, now, policy, true),
  });
}

/** A step that waits or is halted anew keeps the deadline it had; a closing window comes first, with time for a lease left. */
export function deadlineOf(step: StepDoc, now: number, policy: RecoveryPolicy, isHalted = false): number {
  const isKept =
    (step.phase === 'halted' || step.phase === 'waiting') && step.reason !== 'CHILDREN' && step.deadline_at !== null;
  return withinWindow(step, isKept ? step.deadline_at : now + policy.reviewDeadlineMs, now, policy, isHalted);
}

function withinWindow(step: StepDoc, patience: number, now: number, policy: RecoveryPolicy, isHalted: boolean): number {
  const { terms } = step;
  const { reversal_expires_at: endsAt } = refInForce(step, policy);
  return endsAt === null || terms === null
    ? patience
    : Math.max(
        now,
        Math.min(
          patience,
          dispatchableUntil(endsAt, callsMs(step.ref, terms), policy.marginMs) - (isHalted ? 0 : policy.leaseMs),
        ),
      );
}
