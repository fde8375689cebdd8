// Commands of people: who may give them, which rule answers, and what the caller is told.
//
// Boundary: one line a command; key and roles are checked by the table before its rule is asked. What a command does stands in
// rules/step and rules/forward.
import { accepted, command } from '@recourse/event-log';
import type { Asked, CommandsTable, Decision, Doc } from '@recourse/event-log';
import { isUsableId } from '@recourse/kernel';
import type { ApproveStep, CloseIncident, CloseTask, CommandEnvelope, ResolveStep } from '@recourse/messages';
import type { RecoveryRecord } from '../rules/record.messages.js';
import type { Refusal } from '../rules/refusal.messages.js';
import { openIncident } from '../rules/step/command.decisions.js';
import {
  approve,
  breakOpen,
  check,
  deny,
  endIncident,
  endTask,
  giveUp,
  resolve,
  retry,
} from '../rules/step/step-commands.decider.js';
import type { StepContext } from '../rules/step/step-draft.decisions.js';
import { stepFollowing } from '../rules/step/step-row.transitions.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import { readRow } from '../rows/kinds.js';
import { readEditors, refuse, stepContext } from './context.js';
import type { CorePolicy } from './context.js';
import { onForwardAsked, onForwardDecided, onForwardUsed } from './forward.part.js';

export const COMMANDS_WIRE = 'recourse.recovery-commands';

type Answerer<Command, Told extends Doc> = (asked: Asked<Command>, policy: CorePolicy) => Decision<Told>;

/** A line for each command. Who may end a task depends on what it is: the rules say so. */
export function recoveryCommands(policy: CorePolicy): CommandsTable<typeof COMMANDS_WIRE>['commands'] {
  const by =
    <Command, Told extends Doc>(answer: Answerer<Command, Told>) =>
    (asked: Asked<Command>): Decision<Told> =>
      answer(asked, policy);
  return {
    ApproveStep: command(['approver'], by(onApprove)),
    DenyStep: command(['approver'], by(aboutStep(deny, nothingMore))),
    ResolveStep: command(['approver', 'administrator'], by(ending(aboutStep(resolve, resolutionOf)))),
    CloseTask: command('anyone', by(ending(onCloseTask))),
    BreakGlass: command(['operator', 'administrator'], by(ending(aboutStep(breakOpen, nothingMore)))),
    RetryStep: command(['approver', 'administrator'], by(aboutStep(retry, nothingMore))),
    CheckStep: command(['approver', 'administrator'], by(aboutStep(check, nothingMore))),
    AbandonStep: command(['approver', 'administrator'], by(ending(aboutStep(giveUp, nothingMore)))),
    EscalateStep: command(
      ['reporter', 'approver', 'operator', 'administrator'],
      by(aboutStep(openIncident, nothingMore)),
    ),
    CloseIncident: command(['approver', 'administrator'], by(ending(onCloseIncident))),
    RequestForwardApproval: command(['agent'], by(onForwardAsked)),
    DecideForwardApproval: command(['approver'], by(onForwardDecided)),
    UseForwardApproval: command(['agent'], by(onForwardUsed)),
  };
}

function onApprove({ body: given, context }: Asked<ApproveStep>, policy: CorePolicy) {
  const within = stepContext(context, given.run_id, policy);
  const step = stepOf(within, given);
  if (step === undefined) return refuse(STEP_UNKNOWN);
  const outcome = approve(step, given, within);
  if ('code' in outcome) return refuse(outcome);
  readEditors(context);
  const after = outcome.step;
  const body = {
    step_id: after.step_id,
    recovery_id: after.recovery_id,
    approval_id: outcome.approvalId,
    phase: after.phase,
    reason: after.reason,
    approvals: after.approvals.length,
    required_approvals: after.required_approvals,
  };
  return accepted(200, body, ...outcome.records);
}

interface AboutStep {
  readonly envelope: CommandEnvelope;
  readonly run_id: string;
  readonly step_id: string;
}

/** What is told of a step. */
type ToldOfStep = Pick<StepDoc, 'step_id' | 'recovery_id' | 'phase' | 'reason'> & {
  /** Of the incident that was made of it; absent where none was. */
  readonly incident_id?: string;
};

const nothingMore = (): object => ({});

/** A command about one step; the answer names its phase, and what else was made of it. */
function aboutStep<Command extends AboutStep, More extends object>(
  decide: (step: StepDoc, given: Command, within: StepContext) => readonly RecoveryRecord[] | Refusal,
  more: (given: Command) => More,
) {
  return ({ body: given, context }: Asked<Command>, policy: CorePolicy): Decision<ToldOfStep & More> => {
    const within = stepContext(context, given.run_id, policy);
    const step = stepOf(within, given);
    if (step === undefined) return refuse(STEP_UNKNOWN);
    const outcome = decide(step, given, within);
    if ('code' in outcome) return refuse(outcome);
    const { step_id, recovery_id, phase, reason } = outcome.reduce(
      (doc, next) => stepFollowing(doc, next, context.now),
      step,
    );
    const incident = outcome.find((next) => next.type === 'IncidentOpened')?.body.incident_id;
    const named = incident === undefined ? {} : { incident_id: incident };
    return accepted<ToldOfStep & More>(
      200,
      { step_id, recovery_id, phase, reason, ...named, ...more(given) },
      ...outcome,
    );
  };
}

function resolutionOf({ resolution }: ResolveStep): Pick<ResolveStep, 'resolution'> {
  return { resolution };
}

function onCloseIncident({ body: given, context }: Asked<CloseIncident>, policy: CorePolicy) {
  const { envelope, run_id, incident_id } = given;
  const incident = isUsableId(incident_id) ? readRow(context.state, 'incident', run_id, incident_id) : undefined;
  if (incident?.tenant !== envelope.tenant)
    return refuse({ code: 'INCIDENT_UNKNOWN', message: 'There is no such incident in this run of this tenant.' });
  const outcome = endIncident(incident, given, stepContext(context, run_id, policy));
  if ('code' in outcome) return refuse(outcome);
  return accepted(200, { incident_id, step_id: incident.step_id, phase: 'closed' }, ...outcome);
}

function onCloseTask({ body: given, context }: Asked<CloseTask>, policy: CorePolicy) {
  const { task_id, run_id, envelope, outcome: phase } = given;
  const task = isUsableId(task_id) ? readRow(context.state, 'task', run_id, task_id) : undefined;
  if (task?.tenant !== envelope.tenant)
    return refuse({ code: 'TASK_UNKNOWN', message: 'There is no such task in this run of this tenant.' });
  const outcome = endTask(task, given, stepContext(context, run_id, policy));
  if ('code' in outcome) return refuse(outcome);
  return accepted(200, { task_id: task.task_id, step_id: task.step_id, phase }, ...outcome);
}

/** Reads the contracts to their end before it counts: an editor ends nothing, and an edit of a moment ago counts too. */
function ending<Command, Told extends Doc>(answer: Answerer<Command, Told>): Answerer<Command, Told> {
  return (asked, policy) => {
    const decision = answer(asked, policy);
    if (decision.answer?.status === 'accepted') readEditors(asked.context);
    return decision;
  };
}

/** To a tenant, another's step does not exist. */
const STEP_UNKNOWN: Refusal = { code: 'STEP_UNKNOWN', message: 'There is no such step in this run of this tenant.' };

function stepOf(within: StepContext, { envelope, step_id }: AboutStep): StepDoc | undefined {
  return within.steps.find((step) => step.step_id === step_id && step.tenant === envelope.tenant);
}
