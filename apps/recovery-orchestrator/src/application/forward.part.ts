// Forward approvals as a part of the orchestrator's core: commands and timers in, records and rows out.
//
// Boundary: translates between the loop and the forward decider; rows are grouped by run, like everything of this log.
import { accepted, refused } from '@recourse/event-log';
import type { Change, Decision, KindSpec, Row, StateView } from '@recourse/event-log';
import type { Contract } from '@recourse/contract';
import type { DecideForwardApproval, RecordOf, RequestForwardApproval, UseForwardApproval } from '@recourse/messages';
import {
  decideForward,
  forwardDue,
  forwardIdOf,
  requestForward,
  useForward,
} from '../domain/forward/forward.decider.js';
import type { ForwardContext, ForwardOutcome } from '../domain/forward/forward.decider.js';
import { FORWARD_REFUSALS } from '../domain/forward/forward.messages.js';
import type { ForwardDoc, ForwardRecord, ForwardRefusalCode } from '../domain/forward/forward.messages.js';
import type { RecoveryRecord } from '../domain/record.messages.js';
import { forwardAfter, forwardDueAt } from '../domain/forward/forward.transitions.js';
import { roleRefusal } from '../domain/step/approval.decisions.js';

/** Kind of the rows: group is the run, key the question. */
export const FORWARD_KIND = 'forward';

export const FORWARD_COMMANDS = ['RequestForwardApproval', 'DecideForwardApproval', 'UseForwardApproval'] as const;
export type ForwardCommandType = (typeof FORWARD_COMMANDS)[number];

type Command = RecordOf<'recourse.recovery-commands'>;
export type ForwardCommand = Extract<Command, { readonly type: ForwardCommandType }>;

const text = (name: keyof ForwardDoc): KindSpec['columns'][number] => ({
  name,
  type: 'text',
  of: (row) => {
    const value = row.doc[name];
    return typeof value === 'string' ? value : null;
  },
});
const instant = (name: keyof ForwardDoc): KindSpec['columns'][number] => ({
  name,
  type: 'bigint',
  of: (row) => {
    const value = row.doc[name];
    return typeof value === 'number' ? value : null;
  },
});

export const forwardKind: KindSpec = {
  kind: FORWARD_KIND,
  table: 'forward_approvals',
  columns: [
    text('tenant'),
    text('run_id'),
    text('approval_id'),
    text('phase'),
    text('capability'),
    text('agent_id'),
    text('owner'),
    instant('deadline_at'),
    instant('expires_at'),
    instant('requested_at'),
    instant('updated_at'),
  ],
  indexes: [['tenant', 'phase', 'deadline_at'], ['approval_id']],
};

/** Is this command about forward approvals? */
export function isForwardCommand(command: Command): command is ForwardCommand {
  return FORWARD_COMMANDS.some((type) => type === command.type);
}

/** What the part needs of the world. */
export interface ForwardWorld extends ForwardContext {
  readonly state: StateView;
  /** The contract with a digest; null when nobody knows it. */
  readonly contractOf: (digest: Buffer) => Contract | null;
}

/** Answers a command that came under a record key. */
export function decideForwardCommand({ type, body }: ForwardCommand, key: string, world: ForwardWorld): Decision {
  if (key !== body.run_id) return refusal('KEY_MISMATCH', 'The record key must be the run the command is about.');
  switch (type) {
    case 'RequestForwardApproval':
      return onRequest(body, world);
    case 'DecideForwardApproval':
      return onVerdict(body, world);
    case 'UseForwardApproval':
      return onUse(body, world);
  }
}

/** What becomes of a question whose time has come. */
export function dueForward(state: StateView, runId: string, id: string, now: number): readonly RecoveryRecord[] {
  const standing = readForward(state, runId, id);
  const over = standing === undefined ? null : forwardDue(standing, now);
  return over === null ? [] : [over];
}

/** The row after a record about a forward approval. */
export function evolveForward(state: StateView, told: ForwardRecord, at: number): readonly Change[] {
  const standing = readForward(state, told.body.run_id, told.body.approval_id);
  return [{ op: 'put', row: forwardRow(forwardAfter(standing, told, at)) }];
}

/** What a caller is told of a question; never its arguments. */
export function forwardAnswer(doc: ForwardDoc): Readonly<Record<string, unknown>> {
  const {
    approval_id,
    run_id,
    round,
    phase,
    action_digest,
    reason,
    deadline_at,
    expires_at,
    attempt,
    approvals,
    required_approvals,
  } = doc;
  return {
    approval_id,
    run_id,
    round,
    status: phase === 'awaiting' ? 'pending' : phase,
    action_digest: action_digest.toString('hex'),
    reason,
    deadline_at,
    expires_at,
    attempt,
    approvals: approvals.length,
    required_approvals,
  };
}

function onRequest(command: RequestForwardApproval, world: ForwardWorld): Decision {
  const {
    envelope: { tenant },
    run_id: runId,
    effect_key: effectKey,
    action_digest,
  } = command;
  const standing = readForward(
    world.state,
    runId,
    forwardIdOf(tenant, runId, effectKey, action_digest.toString('hex')),
  );
  return answered(
    standing,
    requestForward(standing, command, world.contractOf(command.contract_digest), world),
    201,
    world.now,
  );
}

function onVerdict(command: DecideForwardApproval, world: ForwardWorld): Decision {
  const lacking = roleRefusal('DecideForwardApproval', command.envelope);
  if (lacking !== null) return refusal('ROLE_REQUIRED', lacking.message);
  const standing = ownOf(world, command);
  return standing === undefined
    ? unknown()
    : answered(standing, decideForward(standing, command, world), 200, world.now);
}

function onUse(command: UseForwardApproval, world: ForwardWorld): Decision {
  const standing = ownOf(world, command);
  return standing === undefined ? unknown() : answered(standing, useForward(standing, command, world), 200, world.now);
}

/** To a tenant, another's question does not exist. */
function ownOf(
  { state }: ForwardWorld,
  { envelope, run_id, approval_id }: DecideForwardApproval | UseForwardApproval,
): ForwardDoc | undefined {
  const found = readForward(state, run_id, approval_id);
  return found?.tenant === envelope.tenant ? found : undefined;
}

function answered(
  standing: ForwardDoc | undefined,
  outcome: ForwardOutcome,
  httpStatus: number,
  now: number,
): Decision {
  switch (outcome.kind) {
    case 'refused':
      return refusal(outcome.refusal.code, outcome.refusal.message);
    case 'unchanged':
      return accepted(200, standing === undefined ? {} : forwardAnswer(standing));
    case 'recorded':
      return accepted(httpStatus, forwardAnswer(forwardAfter(standing, outcome.record, now)), outcome.record);
  }
}

function unknown(): Decision {
  return refusal('APPROVAL_UNKNOWN', 'There is no such question in this run of this tenant.');
}

function refusal(code: ForwardRefusalCode, message: string): Decision {
  return refused(FORWARD_REFUSALS[code], code, message);
}

function readForward(state: StateView, runId: string, id: string): ForwardDoc | undefined {
  // Rows of this kind are written by forwardRow alone. Longer ids were never given.
  return id.length > ID_MAX ? undefined : (state.get(FORWARD_KIND, runId, id) as ForwardDoc | undefined);
}

const ID_MAX = 200;

function forwardRow(doc: ForwardDoc): Row {
  return { kind: FORWARD_KIND, group: doc.run_id, key: doc.approval_id, dueAt: forwardDueAt(doc), doc };
}
