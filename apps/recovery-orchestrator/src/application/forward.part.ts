// Forward approvals as a part of the orchestrator's core: commands and timers in, records and rows out.
//
// Boundary: translates between the loop and the forward decider; rows are grouped by run, like everything of this log.
import { accepted, append, NOTHING, refused } from '@recourse/event-log';
import type { AcceptedRecord, Change, Decision, Doc, KindSpec, RecordInput, Row, StateView } from '@recourse/event-log';
import type { Contract } from '@recourse/contract';
import type { DecideForwardApproval, RequestForwardApproval, UseForwardApproval } from '@recourse/messages';
import {
  decideForward,
  forwardDue,
  forwardIdOf,
  requestForward,
  useForward,
} from '../domain/forward/forward.decider.js';
import type { ForwardContext, ForwardOutcome } from '../domain/forward/forward.decider.js';
import { FORWARD_REFUSALS } from '../domain/forward/forward.messages.js';
import type { ForwardDoc, ForwardRecordType, ForwardRefusalCode } from '../domain/forward/forward.messages.js';
import { forwardAfter, forwardDueAt } from '../domain/forward/forward.transitions.js';
import { roleRefusal } from '../domain/step/approval.decisions.js';

/** Kind of the rows: group is the run, key the question. */
export const FORWARD_KIND = 'forward';

export const FORWARD_COMMANDS = ['RequestForwardApproval', 'DecideForwardApproval', 'UseForwardApproval'] as const;
export type ForwardCommandType = (typeof FORWARD_COMMANDS)[number];

const FORWARD_RECORDS: readonly ForwardRecordType[] = [
  'ForwardApprovalRequested',
  'ForwardApprovalDecided',
  'ForwardApprovalUsed',
  'ForwardApprovalExpired',
];

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

/** Is this input a command about forward approvals? */
export function isForwardCommand(type: string): type is ForwardCommandType {
  return FORWARD_COMMANDS.some((each) => each === type);
}

/** What the part needs of the world. */
export interface ForwardWorld extends ForwardContext {
  readonly state: StateView;
  /** The contract with a digest; null when nobody knows it. */
  readonly contractOf: (digest: Buffer) => Contract | null;
}

/** Answers a command. */
export function decideForwardCommand(input: RecordInput, type: ForwardCommandType, world: ForwardWorld): Decision {
  const runId = String(input.body['run_id']);
  if (input.key !== runId) return refusal('KEY_MISMATCH', 'The record key must be the run the command is about.');
  switch (type) {
    case 'RequestForwardApproval':
      return onRequest(bodyAs<RequestForwardApproval>(input.body), world);
    case 'DecideForwardApproval':
      return onVerdict(bodyAs<DecideForwardApproval>(input.body), world);
    case 'UseForwardApproval':
      return onUse(bodyAs<UseForwardApproval>(input.body), world);
  }
}

/** What becomes of a question whose time has come. */
export function dueForward(state: StateView, runId: string, id: string, now: number): Decision {
  const standing = readForward(state, runId, id);
  const over = standing === undefined ? null : forwardDue(standing, now);
  return over === null ? NOTHING : append(over);
}

/** Rows an accepted record of forward approvals changes; null for other records. */
export function evolveForward(state: StateView, record: AcceptedRecord): readonly Change[] | null {
  const type = FORWARD_RECORDS.find((each) => each === record.type);
  if (type === undefined) return null;
  const [runId, id] = [String(record.body['run_id']), String(record.body['approval_id'])];
  return [
    {
      op: 'put',
      row: forwardRow(forwardAfter(readForward(state, runId, id), { type, body: record.body }, record.decidedAt)),
    },
  ];
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

/** Another tenant's question is as unknown as none. */
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
      return accepted(httpStatus, forwardAnswer(forwardAfter(standing, outcome.fact, now)), outcome.fact);
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

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names the record type it looked at
function bodyAs<Body>(body: Doc): Body {
  // The loop decodes a record by its schema before it hands it over; the type name was looked at above.
  return body as unknown as Body;
}
