// Commands of people: who may give them, what they do, and what the caller is told.
//
// Boundary: checks key and role, asks the domain, answers. A new command is a line of COMMANDS and a function of the domain.
import { accepted, NOTHING } from '@recourse/event-log';
import { isUsableId } from '@recourse/kernel';
import type { Decision } from '@recourse/event-log';
import { recordIn } from '@recourse/messages';
import type {
  ApproveStep,
  BreakGlass,
  BodyOf,
  CloseIncident,
  CloseTask,
  DenyStep,
  EscalateStep,
  RecordTypeOf,
  ResolveStep,
  AbandonStep,
  CheckStep,
  RetryStep,
} from '@recourse/messages';
import { record } from '../rules/record.messages.js';
import type { RecoveryRecord } from '../rules/record.messages.js';
import type { Refusal } from '../rules/refusal.messages.js';
import { roleRefusal } from '../rules/step/approval.decisions.js';
import { escalateToIncident } from '../rules/step/command.decisions.js';
import {
  approve,
  breakOpen,
  check,
  deny,
  endTask,
  giveUp,
  resolve,
  retry,
} from '../rules/step/step-commands.decider.js';
import type { StepContext } from '../rules/step/step-draft.decisions.js';
import { stepFollowing } from '../rules/step/step-row.transitions.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import { decideForwardCommand, FORWARD_COMMANDS, isForwardCommand } from './forward.part.js';
import type { ForwardCommand, ForwardCommandType } from './forward.part.js';
import { readEditors, readUpToContract, refuse, stepContext } from './context.js';
import type { Asked } from './context.js';
import { readRow } from '../rows/kinds.js';

const WIRE = 'recourse.recovery-commands';

/** Commands about what is parked are the loop's. */
type LoopCommand = 'RedriveParked' | 'DiscardParked';
type Commands = {
  readonly [Type in Exclude<RecordTypeOf<typeof WIRE>, LoopCommand | ForwardCommandType>]: BodyOf<typeof WIRE, Type>;
};
type Command<Type extends keyof Commands> = {
  readonly [One in Type]: { readonly type: One; readonly body: Commands[One] };
}[Type];

/** What each command does. */
const COMMANDS: { readonly [Type in keyof Commands]: (command: Commands[Type], asked: Asked) => Decision } = {
  ApproveStep: onApprove,
  DenyStep: onDeny,
  ResolveStep: onResolve,
  CloseTask: onCloseTask,
  BreakGlass: onBreakGlass,
  RetryStep: (command, asked) => onStep(command, asked, retry),
  CheckStep: (command, asked) => onStep(command, asked, check),
  AbandonStep: (command, asked) => onStep(command, asked, giveUp),
  EscalateStep: (command, asked) => onStep(command, asked, openIncident),
  CloseIncident: onCloseIncident,
};

/** Types of the wire that the core is asked about. */
export const COMMAND_TYPES: readonly string[] = [...Object.keys(COMMANDS), ...FORWARD_COMMANDS];

/** Decides a command. */
export function onCommand(asked: Asked): Decision {
  const told = recordIn(WIRE, asked.input);
  if (told.type === 'RedriveParked' || told.type === 'DiscardParked') return NOTHING;
  return isForwardCommand(told) ? onForward(told, asked) : act(told, asked);
}

/** Acts on a command whose key and role allow it. */
function act<Type extends keyof Commands>({ type, body }: Command<Type>, asked: Asked): Decision {
  const refusal = gateRefusal(type, body, asked.input.key);
  return refusal === null ? COMMANDS[type](body, asked) : refuse(refusal);
}

/** Why a command is not looked at: its key or its role. Which role ends a task depends on its kind. */
function gateRefusal(
  type: keyof Commands,
  { run_id, envelope }: Pick<ApproveStep, 'run_id' | 'envelope'>,
  key: string,
): Refusal | null {
  if (key !== run_id)
    return { httpStatus: 422, code: 'KEY_MISMATCH', message: 'The record key must be the run the command is about.' };
  return type === 'CloseTask' ? null : roleRefusal(type, envelope);
}

function onApprove(command: ApproveStep, { context, policy }: Asked): Decision {
  const within = stepContext(context, command.run_id, policy);
  const step = stepOf(within, command);
  if (step === undefined) return refuse(STEP_UNKNOWN);
  const outcome = approve(step, command, within);
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

function onDeny(command: DenyStep, { context, policy }: Asked): Decision {
  const within = stepContext(context, command.run_id, policy);
  const step = stepOf(within, command);
  if (step === undefined) return refuse(STEP_UNKNOWN);
  const outcome = deny(step, command, within);
  if ('code' in outcome) return refuse(outcome);
  return accepted(200, { step_id: step.step_id, recovery_id: step.recovery_id, phase: 'denied' }, ...outcome);
}

function onResolve(command: ResolveStep, { context, policy }: Asked): Decision {
  const within = stepContext(context, command.run_id, policy);
  const step = stepOf(within, command);
  if (step === undefined) return refuse(STEP_UNKNOWN);
  const outcome = resolve(step, command, within);
  if ('code' in outcome) return refuse(outcome);
  return accepted(
    200,
    { step_id: step.step_id, recovery_id: step.recovery_id, phase: 'resolved', resolution: command.resolution },
    ...outcome,
  );
}

/** A command about one step; the answer names its phase and what else was made of it. */
function onStep<StepCommand extends BreakGlass | RetryStep | CheckStep | AbandonStep | EscalateStep>(
  command: StepCommand,
  { context, policy }: Asked,
  decide: (step: StepDoc, command: StepCommand, within: StepContext) => readonly RecoveryRecord[] | Refusal,
): Decision {
  const within = stepContext(context, command.run_id, policy);
  const step = stepOf(within, command);
  if (step === undefined) return refuse(STEP_UNKNOWN);
  const outcome = decide(step, command, within);
  if ('code' in outcome) return refuse(outcome);
  const after = outcome.reduce((doc, next) => stepFollowing(doc, next, context.now), step);
  const incident = outcome.find((next) => next.type === 'IncidentOpened')?.body.incident_id;
  return accepted(
    200,
    {
      step_id: step.step_id,
      recovery_id: step.recovery_id,
      phase: after.phase,
      reason: after.reason,
      ...(incident === undefined ? {} : { incident_id: incident }),
    },
    ...outcome,
  );
}

/** An incident is a record of its own. */
function openIncident(
  step: StepDoc,
  command: EscalateStep,
  { now, policy }: StepContext,
): readonly RecoveryRecord[] | Refusal {
  const opened = escalateToIncident(step, command, now, policy);
  return 'code' in opened ? opened : [opened];
}

function onCloseIncident(
  { envelope, run_id, incident_id, summary, reason }: CloseIncident,
  { context }: Asked,
): Decision {
  const incident = isUsableId(incident_id) ? readRow(context.state, 'incident', run_id, incident_id) : undefined;
  if (incident?.tenant !== envelope.tenant)
    return refuse({
      httpStatus: 404,
      code: 'INCIDENT_UNKNOWN',
      message: 'There is no such incident in this run of this tenant.',
    });
  if (incident.phase === 'closed')
    return refuse({
      httpStatus: 409,
      code: 'INCIDENT_CLOSED',
      message: 'Somebody has ended this incident already.',
    });
  const { step_id, recovery_id, tenant, mutation_id } = incident;
  return accepted(
    200,
    { incident_id, step_id, phase: 'closed' },
    record('IncidentClosed', {
      step_id,
      recovery_id,
      tenant,
      run_id,
      mutation_id,
      incident_id,
      summary,
      by: envelope.principal,
      reason,
      command_id: envelope.command_id,
    }),
  );
}

function onCloseTask(command: CloseTask, { context, policy }: Asked): Decision {
  const task = isUsableId(command.task_id)
    ? readRow(context.state, 'task', command.run_id, command.task_id)
    : undefined;
  if (task?.tenant !== command.envelope.tenant)
    return refuse({
      httpStatus: 404,
      code: 'TASK_UNKNOWN',
      message: 'There is no such task in this run of this tenant.',
    });
  const outcome = endTask(task, command, stepContext(context, command.run_id, policy));
  if ('code' in outcome) return refuse(outcome);
  return accepted(200, { task_id: task.task_id, step_id: task.step_id, phase: command.outcome }, ...outcome);
}

/** Reads the contracts first here too: editors may not break the glass. */
function onBreakGlass(command: BreakGlass, asked: Asked): Decision {
  const decision = onStep(command, asked, breakOpen);
  if (decision.answer?.status === 'accepted') readEditors(asked.context);
  return decision;
}

function onForward(told: ForwardCommand, { context, input, policy }: Asked): Decision {
  if (told.type === 'RequestForwardApproval') readUpToContract(context, told.body.contract_digest);
  const { now, policy: within, contractOf, editorsOf } = stepContext(context, told.body.run_id, policy, []);
  const world = { now, policy: within, contractOf, editorsOf, state: context.state };
  const decision = decideForwardCommand(told, input.key, world);
  const isApproved =
    told.type === 'DecideForwardApproval' && told.body.verdict === 'approve' && decision.records.length > 0;
  if (isApproved) readEditors(context);
  return decision;
}

/** To a tenant, another's step does not exist. */
const STEP_UNKNOWN: Refusal = {
  httpStatus: 404,
  code: 'STEP_UNKNOWN',
  message: 'There is no such step in this run of this tenant.',
};

function stepOf(within: StepContext, command: Pick<ApproveStep, 'envelope' | 'step_id'>): StepDoc | undefined {
  return within.steps.find((step) => step.step_id === command.step_id && step.tenant === command.envelope.tenant);
}
