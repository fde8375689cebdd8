// P3, P4, P5: nothing is undone without contract, window and approvals recorded before; an approval covers one action, once; nobody
// approves their own.
import { broken, bytes, groupBy, nested, number, ofType, text, wireOf } from './history.js';
import type { Fields, History, LogRecord } from './history.js';

const RECOVERIES = 'recourse.recoveries';

export function checkPermission(history: History): void {
  const decided = groupBy(ofType(history, RECOVERIES, 'StepDecided', 'StepBound', 'MutationAdvanced'), ({ body }) => text(body, 'step_id'));
  const approved = groupBy(ofType(history, RECOVERIES, 'StepApproved'), ({ body }) => text(body, 'step_id'));
  for (const leg of ofType(history, RECOVERIES, 'LegDispatched')) checkLeg(history, leg, actionAt(leg, decided), approved.get(text(leg.body, 'step_id')) ?? []);
  checkRequests(history);
  checkEffects(history);
  checkApprovals(history, decided);
}

/** What is proposed for a step at a record: as it was decided, bound from other steps, or decided anew by the ledger's news before it. */
function actionAt({ body, partition, seq }: LogRecord, decided: ReadonlyMap<string, readonly LogRecord[]>): Fields | undefined {
  const before = (decided.get(text(body, 'step_id')) ?? []).filter((record) => record.partition === partition && record.seq < seq);
  return before.length === 0 ? undefined : Object.assign({}, ...before.map((record) => record.body)) as Fields; // later fields stand
}

function checkLeg(history: History, leg: LogRecord, decided: Fields | undefined, approvals: readonly LogRecord[]): void {
  const id = text(leg.body, 'leg_id');
  if (decided === undefined) { broken(history, 'P3', 'decided', `${id} belongs to no step`); return; }
  if (decided['terms'] === null) broken(history, 'P3', 'contract', `${id} has no contract`);
  if (number(nested(leg.body, 'ref'), 'reversal_expires_at') <= leg.decidedAt) broken(history, 'P3', 'window', `${id} was dispatched after its window`);
  const before = approvals.filter(({ seq, partition }) => partition === leg.partition && seq < leg.seq);
  const people = new Set(before.map(({ body }) => text(body, 'by').toLowerCase()));
  if (people.size < number(decided, 'required_approvals')) broken(history, 'P3', 'approvals', `${id} has ${String(people.size)} of ${text(decided, 'required_approvals')} approvals`);
}

/** A request to a worker follows from a dispatch that was accepted before it. */
function checkRequests(history: History): void {
  const dispatched = new Map([
    ...ofType(history, RECOVERIES, 'LegDispatched', 'LookDispatched').map((record) => [leaseOf(record.body), record] as const),
    ...ofType(history, 'recourse.mutations', 'WorkerAsked').map((record) => [leaseOf(nested(record.body, 'request')), record] as const),
  ]);
  for (const { body, order } of wireOf(history, 'recourse.tool-requests.payments', 'LegRequested')) {
    const leg = dispatched.get(leaseOf(body));
    if (leg === undefined) broken(history, 'P3', 'request', `${text(body, 'leg_id')} was asked of a worker and never dispatched`);
    else if (leg.order >= order) broken(history, 'P3', 'request', `${text(body, 'leg_id')} was asked of a worker before it was dispatched`);
  }
}

function leaseOf(body: Fields): string { return `${text(body, 'leg_id')} ${String(number({ attempt: 1, ...body }, 'attempt'))} ${text(body, 'lease_id')} ${text(body, 'not_after')}`; }

/** What a worker did was dispatched before, and not given to a person yet. */
function checkEffects(history: History): void {
  const legs = ofType(history, RECOVERIES, 'LegDispatched');
  for (const { by, callId, attempt, order, transactionId } of history.world.provider.effects) {
    if (by === 'person') continue;
    const leg = legs.find(({ body }) => text(nested(body, 'call'), 'call_id') === callId && number(body, 'attempt') === attempt);
    if (leg === undefined || leg.order > order) broken(history, 'P3', 'effect', `${transactionId} was undone by ${callId}/${String(attempt)}, which was not dispatched before`);
  }
}

function checkApprovals(history: History, decided: ReadonlyMap<string, readonly LogRecord[]>): void {
  const commands = new Map(wireOf(history, 'recourse.recovery-commands', 'ApproveStep').map((wire) => [text(nested(wire.body, 'envelope'), 'command_id'), wire]));
  const used = new Map<string, string>();
  for (const approval of ofType(history, RECOVERIES, 'StepApproved')) {
    const { body } = approval;
    const step = text(body, 'step_id');
    const command = commands.get(text(body, 'command_id'));
    const action = actionAt(approval, decided);
    if (command === undefined || text(command.body, 'step_id') !== step) broken(history, 'P4', 'one action', `an approval of ${step} rests on a command about ${command === undefined ? 'nothing' : text(command.body, 'step_id')}`);
    else if (bytes(command.body, 'action_digest') !== bytes(action ?? {}, 'action_digest')) broken(history, 'P4', 'digest', `${step} was approved under another digest than its action has`);
    for (const id of new Set([text(body, 'approval_id'), text(body, 'command_id')])) {
      if (used.has(id)) broken(history, 'P4', 'used once', `${id} approves ${step} and ${String(used.get(id))}`);
      used.set(id, step);
    }
    if (action !== undefined) checkPerson(history, body, action);
    if (command !== undefined && text(nested(command.body, 'envelope'), 'tenant') !== text(body, 'tenant')) broken(history, 'P4', 'tenant', `${step} was approved by another tenant`);
  }
}

function checkPerson(history: History, approval: Fields, decided: Fields): void {
  const execution = nested(decided, 'execution');
  const concerned = [execution['agent_id'], execution['initiator'], decided['answerable_to']].flatMap((one) => (typeof one === 'string' ? [one.toLowerCase()] : []));
  if (concerned.includes(text(approval, 'by').toLowerCase())) broken(history, 'P5', 'self-approval', `${text(approval, 'by')} approved their own ${text(approval, 'step_id')}`);
}
