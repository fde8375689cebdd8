// What records of a recovery mean for the step they are about.
import type { BodyOf, Planned, RecordTypeOf } from '@recourse/messages';
import { agrees, asks, bare, moves, opens, puts, stepOf } from './item.decisions.js';
import { capabilityOf, keyOf, runbookOf } from './item.messages.js';
import type { Known, Place, Thing, ThingChange } from './item.messages.js';

type Recoveries<Type extends RecordTypeOf<'recourse.recoveries'>> = BodyOf<'recourse.recoveries', Type>;

interface OfStep {
  readonly tenant: string;
  readonly run_id: string;
  readonly step_id: string;
  readonly recovery_id: string;
}

/** The step as it is known, or as the record names it. */
export function stepThing(body: OfStep, known: Known): Thing {
  return known(keyOf({ thing: 'step', id: body.step_id })) ?? newStep(body);
}

function newStep(body: OfStep): Thing {
  return { ...bare('step', body.step_id, body), recoveryId: body.recovery_id, stepId: body.step_id };
}

function underContract({
  execution,
  terms,
}: Pick<Planned, 'execution' | 'terms'>): Pick<Thing, 'capability' | 'runbook'> {
  return { capability: capabilityOf(execution.capability), runbook: runbookOf(terms?.compensation?.runbook) };
}

/** An approval is asked for, or the machine goes on; what is a person's from the start is escalated by the next record. */
export function decide(body: Planned, _known: Known, place: Place): readonly ThingChange[] {
  const step: Thing = { ...newStep(body), ...underContract(body) };
  return body.decision === 'request_approval' ? opens(step, 'approval', body, place) : puts(step);
}

/** What the ledger learnt decides a step anew, unless a person has it: they keep it. */
export function advance(body: Recoveries<'MutationAdvanced'>, known: Known, place: Place): readonly ThingChange[] {
  const step = stepThing(body, known);
  if (step.item?.kind === 'manual') return [];
  const again = { ...step, ...underContract(body) };
  return body.decision === 'request_approval' ? opens(again, 'approval', body, place) : puts({ ...again, item: null });
}

export function approveStep(body: Recoveries<'StepApproved'>, known: Known): readonly ThingChange[] {
  return agrees(known, stepOf(body));
}

/** Nothing is undone now, and the effect stands: a person says what becomes of it, by the time that there was to decide. */
export function denyStep(body: Recoveries<'StepDenied'>, known: Known, place: Place): readonly ThingChange[] {
  const step = stepThing(body, known);
  const { item } = step;
  return item === null
    ? puts(step)
    : opens(step, 'manual', { reason: 'DENIED', owner: item.owner, deadline_at: item.deadlineAt }, place);
}

export function escalateStep(body: Recoveries<'StepEscalated'>, known: Known, place: Place): readonly ThingChange[] {
  return opens(stepThing(body, known), 'manual', body, place);
}

export function haltStep(body: Recoveries<'StepHalted'>, known: Known, place: Place): readonly ThingChange[] {
  return opens(stepThing(body, known), 'halted', body, place);
}

export function askAfterBinding(body: Recoveries<'StepBound'>, known: Known, place: Place): readonly ThingChange[] {
  return asks(stepThing(body, known), body, place);
}

export function askAfterReopening(
  body: Recoveries<'StepReopened'>,
  known: Known,
  place: Place,
): readonly ThingChange[] {
  return asks(stepThing(body, known), { ...body, reason: 'TRIED_AGAIN' }, place);
}

/** What people agreed to is void, and they are asked again; what a person was given stays theirs. */
export function askAgain(body: Recoveries<'FactChanged'>, known: Known, place: Place): readonly ThingChange[] {
  // While an attempt is out it is only noted.
  if (typeof body.attempt === 'number') return [];
  const step = stepThing(body, known);
  return step.item?.kind === 'manual'
    ? moves(known, stepOf(body), body.deadline_at)
    : asks(unanswered(step, body.required_approvals), { ...body, reason: 'FACT_CHANGED' }, place);
}

/** A fact may change a second time while people are asked about the first: they go on being asked, and who had agreed has not. */
function unanswered({ item, ...step }: Thing, requiredApprovals: number): Thing {
  return { ...step, item: item === null ? null : { ...item, requiredApprovals, approvals: 0 } };
}

/** Somebody has a look taken: the item stays theirs, with another deadline. */
export function moveDeadline(
  body: Recoveries<'LookDispatched'> | Recoveries<'LookAnswered'>,
  known: Known,
): readonly ThingChange[] {
  return moves(known, stepOf(body), body.deadline_at);
}
