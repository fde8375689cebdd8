// What people have done about a step: approve it, break the glass, deny, resolve, try again, look, give up, end its task. Pure.
import { plainPayload } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import type { Asking } from '@recourse/kernel';
import type {
  AbandonStep,
  ApproveStep,
  BreakGlass,
  CheckStep,
  CloseIncident,
  CloseTask,
  DenyStep,
  ResolveStep,
  RetryStep,
} from '@recourse/messages';
import { record } from '../record.messages.js';
import type { RecoveryRecord } from '../record.messages.js';
import type { Refusal } from '../refusal.messages.js';
import { closeTask, taskRefusal } from '../task/task.decider.js';
import type { IncidentDoc, TaskDoc } from '../task/task.messages.js';
import { approvalRefusal, denialRefusal, endingRefusal, resolutionRefusal } from './approval.decisions.js';
import type { EndingContext } from './approval.decisions.js';
import { abandonRefusal, look, reopen } from './command.decisions.js';
import { escalated } from './dispatch.decisions.js';
import { breakGlass } from './glass.decisions.js';
import { append, boundSince, conclude, draft, goOnOnceApproved, wakeWaiting } from './step-draft.decisions.js';
import type { StepContext } from './step-draft.decisions.js';
import { identityOf } from './step.messages.js';
import type { StepDoc } from './step.messages.js';

export interface Approved {
  readonly records: readonly RecoveryRecord[];
  readonly step: StepDoc;
  readonly approvalId: string;
}

/** Takes an approval; the last one needed dispatches in the same decision. */
export function approve(step: StepDoc, command: ApproveStep, context: StepContext): Approved | Refusal {
  const refusal = approvalRefusal(step, command, context);
  if (refusal !== null) return refusal;
  const { command_id: commandId, principal } = command.envelope;
  const approvalId = deriveId('apr', commandId);
  const given = record('StepApproved', {
    ...identityOf(step),
    approval_id: approvalId,
    action_digest: command.action_digest,
    by: principal,
    reason: command.reason,
    command_id: commandId,
  });
  const done = goOnOnceApproved(draft(step, context.now, given), context);
  return { records: conclude(done, context), step: done.step, approvalId };
}

/** Takes it that somebody broke the glass; the second person's word dispatches in the same decision. */
export function breakOpen(
  step: StepDoc,
  command: BreakGlass,
  context: StepContext,
): readonly RecoveryRecord[] | Refusal {
  const broken = breakGlass(step, command, context);
  return 'code' in broken ? broken : conclude(goOnOnceApproved(draft(step, context.now, broken), context), context);
}

/** Takes a denial: the commit stays rolled back, nothing is called. */
export function deny(step: StepDoc, command: DenyStep, context: StepContext): readonly RecoveryRecord[] | Refusal {
  const refusal = denialRefusal(step, command);
  if (refusal !== null) return refusal;
  const { command_id: commandId, principal } = command.envelope;
  const denied = record('StepDenied', {
    ...identityOf(step),
    action_digest: command.action_digest,
    by: principal,
    reason: command.reason,
    command_id: commandId,
  });
  return conclude(draft(step, context.now, denied), context);
}

/** Takes a person's word that an item was closed by hand. Nothing becomes compensated by it: that needs an observation (A65). */
export function resolve(
  step: StepDoc,
  command: ResolveStep,
  context: StepContext,
): readonly RecoveryRecord[] | Refusal {
  const refusal = resolutionRefusal(step, command, context);
  if (refusal !== null) return refusal;
  const { resolution, evidence, reason, envelope } = command;
  const resolved = record('StepResolved', {
    ...identityOf(step),
    resolution,
    evidence,
    by: envelope.principal,
    reason,
    command_id: envelope.command_id,
    verified: false,
  });
  return wakeWaiting(draft(step, context.now, resolved), context);
}

/** Tries a step again that a person had; where nobody has to agree it is dispatched at once. */
export function retry(step: StepDoc, command: RetryStep, context: StepContext): readonly RecoveryRecord[] | Refusal {
  const begun = boundSince(step, context);
  const reopened = reopen(begun.step, command, context.now, context.policy);
  return 'code' in reopened
    ? reopened
    : conclude(goOnOnceApproved(append(begun, reopened, context.now), context), context);
}

/** Has a worker look. */
export function check(step: StepDoc, command: CheckStep, context: StepContext): readonly RecoveryRecord[] | Refusal {
  const sent = look(step, command, context.now, context.policy);
  return 'code' in sent ? sent : [sent];
}

/** Gives a step up: nothing is called any more, and it is accepted as it is. */
export function giveUp(step: StepDoc, command: AbandonStep, context: StepContext): readonly RecoveryRecord[] | Refusal {
  const { now, policy } = context;
  const refusal = abandonRefusal(step, command, context);
  if (refusal !== null) return refusal;
  const {
    envelope: { principal: by, command_id },
    reason,
  } = command;
  const given =
    step.phase === 'manual' ? draft(step, now) : draft(step, now, escalated(step, 'ABANDONED', now, policy));
  const resolved = record('StepResolved', {
    ...identityOf(step),
    resolution: 'accepted',
    evidence: plainPayload({ abandoned: reason }),
    by,
    reason,
    command_id,
    verified: false,
  });
  const over = append(given, resolved, now);
  return step.phase === 'manual' ? wakeWaiting(over, context) : conclude(over, context);
}

/** Says why somebody may not end an incident; null when they may. */
export function incidentRefusal(
  incident: IncidentDoc,
  step: StepDoc | undefined,
  asking: Asking,
  context: EndingContext,
): Refusal | null {
  const refusal = step === undefined ? null : endingRefusal(step, asking, context);
  if (refusal !== null || incident.phase === 'open') return refusal;
  return { code: 'INCIDENT_CLOSED', message: 'Somebody has ended this incident already.' };
}

/** Ends an incident of a step, or says why not. */
export function endIncident(
  incident: IncidentDoc,
  { envelope, summary, reason }: CloseIncident,
  context: StepContext,
): readonly RecoveryRecord[] | Refusal {
  const { step_id, recovery_id, tenant, run_id, mutation_id, incident_id } = incident;
  const step = context.steps.find((one) => one.step_id === step_id);
  const refusal = incidentRefusal(incident, step, envelope, context);
  if (refusal !== null) return refusal;
  const about = { step_id, recovery_id, tenant, run_id, mutation_id, incident_id };
  const { principal: by, command_id } = envelope;
  return [record('IncidentClosed', { ...about, summary, by, reason, command_id })];
}

/** Ends a task of people; steps that waited for its step go on. */
export function endTask(task: TaskDoc, command: CloseTask, context: StepContext): readonly RecoveryRecord[] | Refusal {
  const step = context.steps.find((one) => one.step_id === task.step_id);
  const refusal = taskRefusal(task, step, command, context);
  if (refusal !== null) return refusal;
  const records = closeTask(task, step, command);
  return step === undefined ? records : wakeWaiting(draft(step, context.now, ...records), context);
}
