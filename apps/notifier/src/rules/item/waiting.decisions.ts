// What else waits for people: rollbacks, breakers, tasks, incidents, questions before an effect, reservations.
import { deriveId } from '@recourse/kernel';
import type { BodyOf, RecordTypeOf } from '@recourse/messages';
import { agrees, bare, ends, forwardOf, opens, weakerIdOf } from './item.decisions.js';
import { capabilityOf, codeOf, keyOf, logOf, nameOf, runbookOf } from './item.messages.js';
import type { Known, OpenItem, Place, Thing, ThingChange } from './item.messages.js';
import { stepThing } from './step.decisions.js';

type Recoveries<Type extends RecordTypeOf<'recourse.recoveries'>> = BodyOf<'recourse.recoveries', Type>;
type Mutations<Type extends RecordTypeOf<'recourse.mutations'>> = BodyOf<'recourse.mutations', Type>;
type Heads<Type extends RecordTypeOf<'recourse.signed-heads'>> = BodyOf<'recourse.signed-heads', Type>;
type Budgets<Type extends RecordTypeOf<'recourse.budgets'>> = BodyOf<'recourse.budgets', Type>;

export function askForRollback(
  body: Mutations<'TriggerHeld'> | Mutations<'RollbackEscalated'>,
  _known: Known,
  place: Place,
): readonly ThingChange[] {
  return opens(bare('rollback', body.rollback_id, body), 'rollback', body, place);
}

/** A fall reaches it beyond its bound; or a later version of its bundle could not judge it. What is held goes on waiting for its own word first. */
export function beyondBound(body: Mutations<'RollbackOutOfBand'>, known: Known, place: Place): readonly ThingChange[] {
  if (known(keyOf({ thing: 'rollback', id: body.rollback_id })) !== undefined) return [];
  const reason = body.evidence.kind === 'policy_reevaluation' ? 'UNJUDGED' : 'BEYOND_BOUND';
  return opens(bare('rollback', body.rollback_id, body), 'rollback', { ...body, reason }, place);
}

export function openBreaker(body: Mutations<'BreakerOpened'>, _known: Known, place: Place): readonly ThingChange[] {
  return opens(bare('breaker', body.breaker_id, body), 'breaker', { ...body, reason: `BREAKER_${body.scope}` }, place);
}

/** Rollbacks come steadily faster. */
export function askForTrend(body: Mutations<'TrendRose'>, _known: Known, place: Place): readonly ThingChange[] {
  return opens(bare('trend', body.trend_id, body), 'trend', { ...body, reason: `TREND_${body.scope}` }, place);
}

/** The auditor found a log other than it should be. */
export function askForAlarm(body: Heads<'AlarmRaised'>, _known: Known, place: Place): readonly ThingChange[] {
  const alarm = { ...bare('alarm', body.alarm_id, body), log: logOf(body.topic, body.partition) };
  return opens(alarm, 'alarm', { ...body, reason: body.finding }, place);
}

/** A parked record has no deadline of its own: somebody has looked at it within four hours, since what comes behind it waits. */
const PARKED_SEEN_WITHIN_MS = 14_400_000;
/** Nobody looked at it yet: what is before it waits for a person. */
const BEHIND = 'BEHIND';

/** A record could not be taken. Only who acts for all tenants decides about it, so it is theirs, whosever it says that it is. */
export function askAboutParked(
  body: BodyOf<'recourse.mutations', 'RecordParked'>,
  _known: Known,
  place: Place,
): readonly ThingChange[] {
  if (body.reason === BEHIND) return [];
  const log = logOf(body.topic, body.partition, body.offset);
  const parked = { ...bare('parked', body.parked_id, { tenant: '*', run_id: '' }), log };
  const deadline_at = place.at + PARKED_SEEN_WITHIN_MS;
  return opens(parked, 'parked', { reason: body.reason, owner: 'role:administrator', deadline_at }, place);
}

/** Keys of the tasks that a record opens. */
export function tasksOf({ tasks }: Pick<Recoveries<'TasksOpened'>, 'tasks'>): readonly string[] {
  return tasks.map(({ task_id: id }) => keyOf({ thing: 'task', id }));
}

export function openTasks(body: Recoveries<'TasksOpened'>, known: Known, place: Place): readonly ThingChange[] {
  return body.tasks.flatMap(({ task_id: id, kind, owner, deadline_at }) => {
    const task: Thing = {
      ...bare('task', id, body),
      recoveryId: body.recovery_id,
      stepId: body.step_id,
      capability: capabilityOf(body.capability),
      runbook: stepThing(body, known).runbook,
    };
    return opens(task, 'task', { reason: kind, owner, deadline_at }, place);
  });
}

/** An incident goes by its severity and shows its own runbook, and the capability of its step where that is known. */
export function openIncident(body: Recoveries<'IncidentOpened'>, known: Known, place: Place): readonly ThingChange[] {
  const incident: Thing = {
    ...bare('incident', body.incident_id, body),
    recoveryId: body.recovery_id,
    stepId: body.step_id,
    capability: stepThing(body, known).capability,
    runbook: runbookOf(body.runbook),
  };
  return opens(incident, 'incident', { ...body, reason: body.severity }, place);
}

/** What a routine rule decides in the same turn waits for nobody. */
export function askBeforeEffect(
  body: Recoveries<'ForwardApprovalRequested'>,
  _known: Known,
  place: Place,
): readonly ThingChange[] {
  if (body.decided_by !== null) return [];
  const question: Thing = { ...bare('forward', body.approval_id, body), capability: capabilityOf(body.capability) };
  return opens(question, 'forward_approval', { ...body, reason: `FORWARD_${body.mode}` }, place);
}

export function decideForward(body: Recoveries<'ForwardApprovalDecided'>, known: Known): readonly ThingChange[] {
  return body.verdict === 'approve' ? agrees(known, forwardOf(body)) : ends(known, forwardOf(body));
}

export function askForCeiling(body: Budgets<'BudgetEscalated'>, _known: Known, place: Place): readonly ThingChange[] {
  const reservation: Thing = {
    ...bare('escalation', body.reservation_id, body),
    capability: capabilityOf(body.capability),
  };
  return opens(reservation, 'budget', { ...body, reason: 'CEILING_EXCEEDED' }, place);
}

/** A ceiling would be raised: the second of two people is asked. */
export function askToRaise(body: Budgets<'CeilingProposed'>, _known: Known, place: Place): readonly ThingChange[] {
  return opens(bare('escalation', body.proposal_id, body), 'budget', { ...body, reason: 'CEILING_RAISED' }, place);
}

/** Whose contracts are all tenants'. */
const PLATFORM = '*';

/** A version that is weaker, or the end of one that kept a looser one out: a second person is asked, until it lapses. */
export function askToWeaken(
  body: BodyOf<'recourse.contracts', 'RegistrationProposed'>,
  _known: Known,
  place: Place,
): readonly ThingChange[] {
  const { tenant, name, retires, expires_at: deadline_at } = body;
  const proposal: Thing = {
    ...bare('proposal', weakerIdOf(body), { tenant, run_id: '' }),
    capability: capabilityOf(name),
  };
  const reason = retires ? 'CONTRACT_RETIRING' : 'CONTRACT_WEAKER';
  const owner = tenant === PLATFORM ? 'role:platform_editor' : 'role:contract_editor';
  return opens(proposal, 'proposal', { reason, owner, deadline_at }, place);
}

/** A freeze has no deadline of its own: a person has looked at it within a day. */
const FREEZE_SEEN_WITHIN_MS = 86_400_000;

/** An agent rises no further until a person lets it. */
export function askForFreeze(body: Budgets<'AutonomyChanged'>, known: Known, place: Place): readonly ThingChange[] {
  const { autonomy_id: id, tenant, run_id, standing } = body;
  const key = keyOf({ thing: 'autonomy', id });
  if (standing.frozen_by === null) return ends(known, [key]);
  const thing = known(key) ?? bare('autonomy', id, { tenant, run_id: run_id ?? '' });
  const deadline_at = (standing.frozen_at ?? place.at) + FREEZE_SEEN_WITHIN_MS;
  return opens(thing, 'freeze', { reason: `FROZEN_${standing.frozen_by}`, owner: 'role:approver', deadline_at }, place);
}

/** A ceiling is another one: nobody has to decide, whoever answers for it is told. */
export function tellOfCeiling(body: Budgets<'CeilingMoved'>, _known: Known, place: Place): readonly ThingChange[] {
  const { tenant, scope, scope_id, cause, until } = body;
  const moved = bare('ceiling', deriveId('bud', tenant, scope, scope_id), {
    tenant,
    run_id: scope === 'run' ? scope_id : '',
  });
  const item: OpenItem = {
    kind: 'ceiling',
    opening: nameOf(place),
    openedAt: place.at,
    deadlineAt: until ?? place.at,
    reason: codeOf(`CEILING_${cause}`),
    owner: 'role:budget_owner',
    requiredApprovals: 0,
    approvals: 0,
  };
  return [{ op: 'tell', thing: { ...moved, item } }];
}

export function askForOverrun(body: Budgets<'BudgetOverrun'>, known: Known, place: Place): readonly ThingChange[] {
  return opens(reservationThing(body, known), 'budget', { ...body, reason: 'OVERRUN' }, place);
}

/** What a question about a reservation that passed its deadline was about; the others are about a ceiling. */
const QUESTION_ABOUT: Readonly<Record<string, string>> = { unsettled: 'UNSETTLED', overrun: 'OVERRUN' };

export function askForOverdue(body: Budgets<'BudgetOverdue'>, known: Known, place: Place): readonly ThingChange[] {
  const reason = QUESTION_ABOUT[body.about] ?? 'CEILING_EXCEEDED';
  return opens(reservationThing(body, known), 'budget', { ...body, reason }, place);
}

function reservationThing(body: Budgets<'BudgetOverrun'> | Budgets<'BudgetOverdue'>, known: Known): Thing {
  const id = body.reservation_id;
  return known(keyOf({ thing: 'escalation', id })) ?? bare('escalation', id, body);
}
