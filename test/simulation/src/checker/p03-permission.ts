// P3, P4, P5: nothing is undone without contract, window and approvals recorded before; an approval covers one action, once; nobody
// approves their own.
import { broken, bytes, groupBy, list, nested, number, ofType, text, wireOf } from './history.js';
import type { Fields, History, LogRecord, WireRecord } from './history.js';

const RECOVERIES = 'recourse.recoveries';

export function checkPermission(history: History): void {
  const decided = groupBy(
    ofType(history, RECOVERIES, 'RecoveryPlanned', 'StepBound', 'MutationAdvanced', 'FactChanged').filter(isAsked),
    ({ body }) => text(body, 'step_id'),
  );
  const approved = groupBy(ofType(history, RECOVERIES, 'StepApproved'), ({ body }) => text(body, 'step_id'));
  const changed = groupBy(ofType(history, RECOVERIES, 'FactChanged').filter(isAsked), ({ body }) =>
    text(body, 'step_id'),
  );
  for (const leg of ofType(history, RECOVERIES, 'LegDispatched')) {
    const id = text(leg.body, 'step_id');
    checkLeg(history, leg, actionAt(leg, decided), standingAt(leg, approved.get(id) ?? [], changed.get(id) ?? []));
  }
  checkFacts(history, decided);
  checkRequests(history);
  checkEffects(history);
  checkApprovals(history, decided);
}

/** A change that is noted while an attempt is out voids nothing yet. */
function isAsked({ type, body }: LogRecord): boolean {
  return type !== 'FactChanged' || typeof body['attempt'] !== 'number';
}

/** Approvals that no changed fact has voided by then. */
function standingAt(
  { partition, seq }: LogRecord,
  approvals: readonly LogRecord[],
  changes: readonly LogRecord[],
): readonly LogRecord[] {
  const last = changes.filter((change) => change.partition === partition && change.seq < seq).at(-1)?.seq ?? 0;
  return approvals.filter((approval) => approval.seq > last);
}

/** What is proposed for a step at a record: as it was decided, bound from other steps, or decided anew by the ledger's news before it. */
function actionAt(
  { body, partition, seq }: LogRecord,
  decided: ReadonlyMap<string, readonly LogRecord[]>,
): Fields | undefined {
  const before = (decided.get(text(body, 'step_id')) ?? []).filter(
    (record) => record.partition === partition && record.seq < seq,
  );
  return before.length === 0 ? undefined : (Object.assign({}, ...before.map((record) => record.body)) as Fields); // later fields stand
}

function checkLeg(
  history: History,
  leg: LogRecord,
  decided: Fields | undefined,
  approvals: readonly LogRecord[],
): void {
  const id = text(leg.body, 'leg_id');
  if (decided === undefined) {
    broken(history, 'P3', 'decided', `${id} belongs to no step`);
    return;
  }
  if (decided['terms'] === null) broken(history, 'P3', 'contract', `${id} has no contract`);
  if (number(nested(decided, 'ref'), 'reversal_expires_at') <= leg.decidedAt)
    broken(history, 'P3', 'window', `${id} was dispatched after its window`);
  const before = approvals.filter(({ seq, partition }) => partition === leg.partition && seq < leg.seq);
  const people = new Set(before.map(({ body }) => text(body, 'by').toLowerCase()));
  if (people.size < number(decided, 'required_approvals'))
    broken(
      history,
      'P3',
      'approvals',
      `${id} has ${String(people.size)} of ${text(decided, 'required_approvals')} approvals`,
    );
}

/**
 * Where people agreed and the contract says how to look, the resource was looked at after the last of them, and was as it was when
 * it was looked at for them; else what they agreed to is void.
 */
function checkFacts(history: History, decided: ReadonlyMap<string, readonly LogRecord[]>): void {
  const looks = groupBy(wireOf(history, 'recourse.tool-results', 'LegReported'), ({ body }) => text(body, 'leg_id'));
  const records = groupBy(
    ofType(
      history,
      RECOVERIES,
      'StepApproved',
      'GlassBroken',
      'StepReopened',
      'FactsObserved',
      'FactChanged',
      'LegDispatched',
    ).filter(isAsked),
    ({ body }) => text(body, 'step_id'),
  );
  for (const [step, found] of records) {
    let relied: Relied = { shown: null, seen: null, isFirst: true };
    for (const record of found) {
      if (record.type === 'LegDispatched') {
        const problem = relied.isFirst && reliesOnFacts(actionAt(record, decided)) ? factProblem(relied) : null;
        if (problem !== null) broken(history, 'P4', 'facts', `${step} was sent, and ${problem}`);
      }
      relied = reliedAfter(relied, record, looks);
    }
  }
}

/** What a look may have shown: its copies need not have seen the same. Null while nobody looked. */
type Showing = ReadonlySet<string> | null;
interface Relied {
  readonly shown: Showing;
  readonly seen: Showing;
  readonly isFirst: boolean;
}

function reliedAfter(
  relied: Relied,
  { type, body }: LogRecord,
  looks: ReadonlyMap<string, readonly WireRecord[]>,
): Relied {
  switch (type) {
    case 'FactsObserved': {
      const seen = showing(body, looks);
      return seen === null ? relied : { ...relied, seen, shown: relied.shown ?? seen };
    }
    case 'FactChanged':
      return { ...relied, shown: body['evidence'] === null ? relied.seen : relied.shown, seen: null };
    case 'StepReopened':
      return { shown: null, seen: null, isFirst: true };
    case 'LegDispatched':
      return { ...relied, isFirst: false };
    default:
      return { ...relied, seen: null };
  }
}

function reliesOnFacts(action: Fields | undefined): boolean {
  if (action === undefined || action['terms'] === null) return false;
  const { stale_capability: capability, reversal_capability: acting } = nested(action, 'terms');
  return number(action, 'required_approvals') > 0 && capability !== null && capability !== acting;
}

function factProblem({ shown, seen }: Relied): string | null {
  if (seen === null) return 'nobody looked again after people had agreed';
  return shown === null || [...seen].some((one) => shown.has(one))
    ? null
    : 'the resource had changed since people agreed';
}

function showing(observed: Fields, looks: ReadonlyMap<string, readonly WireRecord[]>): Showing {
  if ((observed['observations'] as readonly Fields[]).length === 0) return null; // a list of observations
  const reported = (looks.get(text(observed, 'leg_id')) ?? [])
    .flatMap(({ body }) => list(body, 'steps'))
    .flatMap((report) => list(report, 'observations'));
  return new Set(reported.map((one) => bytes(nested(one, 'observed'), 'sha256')));
}

/** A request to a worker follows from a dispatch that was accepted before it. */
function checkRequests(history: History): void {
  const dispatched = new Map([
    ...ofType(history, RECOVERIES, 'LegDispatched', 'LookDispatched', 'FactsAsked').map(
      (record) => [leaseOf(record.body), record] as const,
    ),
    ...ofType(history, 'recourse.mutations', 'WorkerAsked').map(
      (record) => [leaseOf(nested(record.body, 'request')), record] as const,
    ),
  ]);
  for (const { body, order } of wireOf(history, 'recourse.tool-requests.payments', 'LegRequested')) {
    const leg = dispatched.get(leaseOf(body));
    if (leg === undefined)
      broken(history, 'P3', 'request', `${text(body, 'leg_id')} was asked of a worker and never dispatched`);
    else if (leg.order >= order)
      broken(history, 'P3', 'request', `${text(body, 'leg_id')} was asked of a worker before it was dispatched`);
  }
}

/** A look is asked for once. */
function attemptOf(body: Fields): string {
  if (body['round'] !== undefined) return text(body, 'round');
  return body['attempt'] === undefined ? '1' : text(body, 'attempt');
}

function leaseOf(body: Fields): string {
  return `${text(body, 'leg_id')} ${attemptOf(body)} ${text(body, 'lease_id')} ${text(body, 'not_after')}`;
}

/** What a worker did was dispatched before, and not given to a person yet. */
function checkEffects(history: History): void {
  const legs = ofType(history, RECOVERIES, 'LegDispatched');
  for (const { by, callId, attempt, order, transactionId } of history.world.provider.effects) {
    if (by === 'person') continue;
    const leg = legs.find(
      ({ body }) => text(nested(body, 'call'), 'call_id') === callId && number(body, 'attempt') === attempt,
    );
    if (leg === undefined || leg.order > order)
      broken(
        history,
        'P3',
        'effect',
        `${transactionId} was undone by ${callId}/${String(attempt)}, which was not dispatched before`,
      );
  }
}

function checkApprovals(history: History, decided: ReadonlyMap<string, readonly LogRecord[]>): void {
  const commands = new Map(
    wireOf(history, 'recourse.recovery-commands', 'ApproveStep').map((wire) => [
      text(nested(wire.body, 'envelope'), 'command_id'),
      wire,
    ]),
  );
  const used = new Map<string, string>();
  for (const approval of ofType(history, RECOVERIES, 'StepApproved')) {
    const { body } = approval;
    const step = text(body, 'step_id');
    const command = commands.get(text(body, 'command_id'));
    const action = actionAt(approval, decided);
    if (command === undefined || text(command.body, 'step_id') !== step)
      broken(
        history,
        'P4',
        'one action',
        `an approval of ${step} rests on a command about ${command === undefined ? 'nothing' : text(command.body, 'step_id')}`,
      );
    else if (bytes(command.body, 'action_digest') !== bytes(action ?? {}, 'action_digest'))
      broken(history, 'P4', 'digest', `${step} was approved under another digest than its action has`);
    for (const id of new Set([text(body, 'approval_id'), text(body, 'command_id')])) {
      if (used.has(id)) broken(history, 'P4', 'used once', `${id} approves ${step} and ${String(used.get(id))}`);
      used.set(id, step);
    }
    if (action !== undefined) checkPerson(history, body, action);
    if (command !== undefined && text(nested(command.body, 'envelope'), 'tenant') !== text(body, 'tenant'))
      broken(history, 'P4', 'tenant', `${step} was approved by another tenant`);
  }
}

function checkPerson(history: History, approval: Fields, decided: Fields): void {
  const execution = nested(decided, 'execution');
  const concerned = [execution['agent_id'], execution['initiator'], decided['answerable_to']].flatMap((one) =>
    typeof one === 'string' ? [one.toLowerCase()] : [],
  );
  if (concerned.includes(text(approval, 'by').toLowerCase()))
    broken(history, 'P5', 'self-approval', `${text(approval, 'by')} approved their own ${text(approval, 'step_id')}`);
}
