// What cannot be undone is corrected by people (B10, C15, C16): a correction with a human author, support for whom it
// concerns, a note for the file. Nothing is sent by itself, and nothing is called compensated by it.
//
// Boundary: pure; (task, command) -> records or a coded refusal.
import { deriveId, isUsableId } from '@recourse/kernel';
import type { Asking } from '@recourse/kernel';
import { briefOf, PayloadUnreadable, readPayload } from '@recourse/contract';
import { TASK_OUTCOME_VALUES } from '@recourse/messages';
import type { CloseTask, Payload, TaskKind } from '@recourse/messages';
import type { DecisionReason } from '../decision/recovery.decisions.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import { escalated } from '../step/dispatch.decisions.js';
import { endingRefusal, selfRefusal } from '../step/approval.decisions.js';
import type { EndingContext } from '../step/approval.decisions.js';
import { identityOf } from '../step/step.messages.js';
import type { StepDoc } from '../step/step.messages.js';
import { isAtRest } from '../step/step.transitions.js';
import { record } from '../record.messages.js';
import type { RecoveryRecord } from '../record.messages.js';
import type { Refusal } from '../refusal.messages.js';
import type { TaskDoc } from './task.messages.js';

/** Why a step is a person's when no contract will ever undo its effect. */
const NEEDS_CORRECTION: readonly string[] = [
  'TOOL_HAS_NO_AUTOMATIC_COMPENSATION',
  'MISSING_COMPENSATION_IMPLEMENTATION',
  'UNCONTRACTED',
] satisfies readonly DecisionReason[];

/** Who does what. The owner is whom the list shows; each of the roles may end it. */
export const TASKS = {
  correction: { owner: 'role:approver', roles: ['approver', 'requester', 'administrator'] },
  support: { owner: 'role:requester', roles: ['requester', 'approver', 'administrator'] },
  audit_note: { owner: 'role:auditor', roles: ['auditor', 'administrator'] },
} as const satisfies Record<TaskKind, { readonly owner: string; readonly roles: readonly string[] }>;

/** What the author of a correction has to say beside the message: the state things are left in, and what whom it concerns sees (C16). */
const SAID_OF_CORRECTION = ['safe_state', 'user_visible_outcome'] as const;
const KINDS = Object.keys(TASKS) as readonly TaskKind[]; // keys of a literal typed by TaskKind

/** Who would end a task. */
export interface Author extends Asking {
  readonly roles: readonly string[];
}

export function taskIdOf(stepId: string, kind: TaskKind): string {
  return deriveId('task', stepId, kind);
}

/** No contract will ever undo what is a person's for this reason. */
export function needsCorrection(reason: string): boolean {
  return NEEDS_CORRECTION.includes(reason);
}

/** Why nothing undoes it after all, by what was told while somebody looked; null where something may, and where a person has it for that already. */
export function turnedOutMeanwhile({ told_meanwhile: told, reason }: StepDoc): string | null {
  return told !== undefined && needsCorrection(told) && !needsCorrection(reason) ? told : null;
}

/** Gives a step to a person, with the work that follows where nothing will undo its effect. */
export function givenFor(
  step: StepDoc,
  reason: string,
  now: number,
  policy: RecoveryPolicy,
): readonly RecoveryRecord[] {
  const given = escalated(step, reason, now, policy);
  const work = tasksFor(step, reason, now, policy);
  return work === null ? [given] : [given, work];
}

/** The work that follows an effect nothing will undo; null where something may. */
function tasksFor(step: StepDoc, reason: string, now: number, policy: RecoveryPolicy): RecoveryRecord | null {
  if (!needsCorrection(reason)) return null;
  const tasks = KINDS.map((kind) => ({
    task_id: taskIdOf(step.step_id, kind),
    kind,
    owner: TASKS[kind].owner,
    deadline_at: now + policy.reviewDeadlineMs,
  }));
  return record('TasksOpened', {
    ...identityOf(step),
    capability: step.execution.capability,
    effect: step.terms?.effect ?? '',
    brief: briefOf(step.execution.objective, step.terms),
    tasks,
  });
}

/** Says why somebody may not end a task at all; null when they may. The author is a person: an agent admits nothing for people. */
export function authorRefusal(
  task: TaskDoc,
  step: StepDoc | undefined,
  author: Author,
  context: EndingContext,
): Refusal | null {
  const lacking = roleLacking(task.task_kind, author);
  if (lacking !== null) return lacking;
  if (selfRefusal([], author) !== null) return { code: 'AUTHOR_NOT_A_PERSON', message: 'Only a person ends a task.' };
  const own = step === undefined ? null : endingRefusal(step, author, context);
  if (own !== null) return own;
  return task.phase === 'open' ? null : { code: 'TASK_CLOSED', message: 'Somebody has ended this task already.' };
}

/** Says why a person may not end a task like that; null when they may. */
export function taskRefusal(
  task: TaskDoc,
  step: StepDoc | undefined,
  { envelope, outcome, content, correction_ref: correction }: CloseTask,
  context: EndingContext,
): Refusal | null {
  const refusal = authorRefusal(task, step, envelope, context);
  if (refusal !== null) return refusal;
  if (!TASK_OUTCOME_VALUES.some((known) => known === outcome)) return invalid('A task is done or dropped.');
  if (correction !== null && !isUsableId(correction)) return invalid('correction_ref must be the id of a mutation.');
  const other = task.task_kind === 'correction' && outcome === 'done' ? triedOtherwise(step) : null;
  if (other !== null) return other;
  return contentRefusal(
    content,
    task.task_kind === 'correction' && outcome === 'done' ? ['message', ...SAID_OF_CORRECTION] : ['message'],
  );
}

/** Nothing is corrected by hand while it may be undone: it would be remedied twice. */
function triedOtherwise(step: StepDoc | undefined): Refusal | null {
  if (step === undefined || isAtRest(step.phase)) return null;
  const message = `The step is ${step.phase}: it may be undone yet. Deny it, or wait until a person has it again; say then that it is corrected.`;
  return { code: 'STEP_WRONG_PHASE', message };
}

/** Ends a task; a correction that is done closes its step as corrected where a person still has it. */
export function closeTask(task: TaskDoc, step: StepDoc | undefined, command: CloseTask): readonly RecoveryRecord[] {
  const { step_id, recovery_id, tenant, run_id, mutation_id, task_id, task_kind: kind } = task;
  const {
    envelope: { principal: by, command_id },
    outcome,
    content,
    correction_ref,
    reason,
  } = command;
  const about = { step_id, recovery_id, tenant, run_id, mutation_id };
  const closed = record('TaskClosed', {
    ...about,
    task_id,
    kind,
    outcome,
    content,
    correction_ref,
    by,
    reason,
    command_id,
  });
  const isCorrected =
    kind === 'correction' && outcome === 'done' && (step?.phase === 'manual' || step?.phase === 'denied');
  return isCorrected
    ? [
        closed,
        record('StepResolved', {
          ...about,
          resolution: 'corrected',
          evidence: content,
          by,
          reason,
          command_id,
          verified: false,
        }),
      ]
    : [closed];
}

function roleLacking(kind: TaskKind, { roles }: Author): Refusal | null {
  const wanted: readonly string[] = TASKS[kind].roles;
  if (roles.some((role) => wanted.includes(role))) return null;
  return {
    code: 'ROLE_REQUIRED',
    message: `Ending a task of kind ${kind} needs one of the roles ${wanted.join(', ')}.`,
  };
}

function contentRefusal(content: Payload, fields: readonly string[]): Refusal | null {
  const said = readable(content);
  const lacking = fields.filter((name) => {
    const value: unknown = said?.[name];
    return typeof value !== 'string' || value.trim() === '';
  });
  return lacking.length === 0
    ? null
    : invalid(
        `The content lacks ${lacking.join(', ')}: say in words what was sent or done, in which state things are left, and what whom it concerns sees.`,
      );
}

function readable(content: Payload): Readonly<Record<string, unknown>> | null {
  try {
    const json: unknown = readPayload(content);
    return typeof json === 'object' && json !== null && !Array.isArray(json)
      ? (json as Readonly<Record<string, unknown>>)
      : null;
  } catch (cause) {
    if (cause instanceof PayloadUnreadable) return null;
    throw cause;
  }
}

function invalid(message: string): Refusal {
  return { code: 'COMMAND_INVALID', message };
}
