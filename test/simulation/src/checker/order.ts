// Order of an undo (B17): last effects first, what was made of an effect before it, and who goes without them says so. And what
// an undo reaches (B3, A53): every effect of the run that was on record, each once.
import { broken, eachMember, groupBy, list, nested, number, ofType, text } from './history.js';
import type { Fields, History, LogRecord } from './history.js';

const RECOVERIES = 'recourse.recoveries';
const MUTATIONS = 'recourse.mutations';
/** Decisions that leave nothing to do. */
const NOTHING: readonly string[] = ['NOTHING_TO_UNDO', 'ALREADY_UNDONE'];

export function checkOrder(history: History): void {
  for (const [, records] of groupBy(history.logs[RECOVERIES] ?? [], ({ partition }) => String(partition)))
    checkDispatches(history, records);
  checkLegs(history);
  checkUndos(history);
  checkFailures(history);
}

interface Known {
  readonly place: number;
  readonly parents: readonly string[];
  /** Made of a commit without effect of the run. */ readonly isOfCommit: boolean;
  readonly mutation: string;
  readonly isOpen: boolean;
  readonly awaitsResult: boolean;
  /** When its patience with others ends, epoch milliseconds; null while it waits for nobody. */
  readonly patientUntil: number | null;
  /** The leg it went out in last, and the steps that were ahead of it there. */
  readonly leg: { readonly id: string; readonly ahead: readonly string[] } | null;
}

/** Replays one chain: what was open when a step went for the first time. */
function checkDispatches(history: History, records: readonly LogRecord[]): void {
  const recoveries = new Map<string, Map<string, Known>>();
  const children = new Map<string, Set<string>>();
  for (const record of records.flatMap(eachMember)) {
    const { type, body } = record;
    const parent = `${text(body, 'tenant')} ${text(body, 'mutation_id')}`;
    if (type === 'DependentNoted')
      children.set(parent, (children.get(parent) ?? new Set<string>()).add(text(body, 'child_mutation_id')));
    if (type === 'DependentSettled') children.get(parent)?.delete(text(body, 'child_mutation_id'));
    if (type === 'LegDispatched' && number(body, 'attempt') === 1)
      checkChildren(history, record, children.get(parent) ?? new Set<string>());
    if (body['step_id'] === undefined || body['recovery_id'] === undefined) continue;
    const steps = recoveries.get(text(body, 'recovery_id')) ?? new Map<string, Known>();
    recoveries.set(text(body, 'recovery_id'), steps);
    if (type === 'LegDispatched') {
      if (number(body, 'attempt') === 1) checkDispatch(history, record, steps);
      else checkAgain(history, record, steps);
    }
    const next = knownAfter(steps.get(text(body, 'step_id')), record, steps);
    if (next !== undefined) steps.set(text(body, 'step_id'), next);
  }
}

/** What other runs made of an effect is undone first; who goes without them names them. */
function checkChildren(history: History, { body }: LogRecord, outstanding: ReadonlySet<string>): void {
  const named = new Set((body['outstanding'] as readonly string[] | undefined) ?? []); // a list of ids
  for (const child of outstanding)
    if (!named.has(child))
      broken(
        history,
        'B17',
        'children',
        `${text(body, 'mutation_id')} went before ${child} of another run, and does not say so`,
      );
}

function knownAfter(
  before: Known | undefined,
  { type, body }: LogRecord,
  steps: ReadonlyMap<string, Known>,
): Known | undefined {
  switch (type) {
    case 'LegDispatched':
      return before === undefined ? undefined : { ...before, leg: placeIn(text(body, 'leg_id'), steps) };
    case 'RecoveryPlanned':
    case 'MutationAdvanced':
      return decidedAs(before, type, body);
    case 'StepBound':
      return before === undefined ? undefined : { ...before, awaitsResult: false };
    case 'StepWaits':
      return before === undefined ? undefined : { ...before, patientUntil: number(body, 'deadline_at') };
    case 'LegSettled':
      return before === undefined ? undefined : settledAs(before, body);
    case 'StepReopened':
    case 'LookDispatched':
      return before === undefined ? undefined : { ...before, isOpen: true };
    case 'LookAnswered':
    case 'StepEscalated':
    case 'StepDenied':
    case 'StepResolved':
      return before === undefined ? undefined : { ...before, isOpen: false };
    default:
      return before;
  }
}

function settledAs(before: Known, body: Fields): Known {
  if (body['outcome'] === 'not_begun') return { ...before, patientUntil: number(body, 'retry_at') };
  return body['outcome'] === 'compensated' ? { ...before, isOpen: false } : before;
}

function placeIn(id: string, steps: ReadonlyMap<string, Known>): Known['leg'] {
  return { id, ahead: [...steps].filter(([, known]) => known.leg?.id === id).map(([step]) => step) };
}

function decidedAs(before: Known | undefined, type: string, body: Fields): Known {
  const { run_id } = body;
  const execution = nested(body, 'execution');
  const named = list(execution, 'derived_from')
    .filter((parent) => parent['run_id'] === run_id)
    .map((parent) => text(parent, 'commit_id'));
  const parents = named.filter((id) => !id.startsWith('cp_'));
  const isPersons = type === 'MutationAdvanced' && before?.isOpen === false && body['decision'] === 'manual_review';
  return {
    place: number(body, 'executed_seq'),
    parents,
    isOfCommit: parents.length < named.length,
    mutation: text(body, 'mutation_id'),
    isOpen: !isPersons && !NOTHING.includes(text(body, 'reason')),
    awaitsResult: body['reason'] === 'STEP_RESULT_PENDING',
    patientUntil: before?.patientUntil ?? null,
    leg: before?.leg ?? null,
  };
}

function checkDispatch(history: History, { body }: LogRecord, steps: ReadonlyMap<string, Known>): void {
  const id = text(body, 'step_id');
  const own = steps.get(id);
  if (own === undefined) return;
  const isDeclared = [...steps.values()].some(({ parents }) => parents.length > 0);
  const named = new Set((body['outstanding'] as readonly string[] | undefined) ?? []); // a list of ids
  for (const [other, known] of steps) {
    // Those ahead of it in its leg are carried out before it.
    if (other === id || !known.isOpen || known.awaitsResult || known.leg?.id === text(body, 'leg_id')) continue;
    const isLater = known.place > own.place;
    const isFirst = isDeclared ? known.parents.includes(own.mutation) || (known.isOfCommit && isLater) : isLater;
    if (isFirst && !named.has(other))
      broken(
        history,
        'B17',
        'order',
        `${id} (place ${String(own.place)}) went before ${other} (place ${String(known.place)}), and does not say so`,
      );
  }
}

/** What went out in a leg goes again behind those that were ahead of it there, or with them; once its patience is over without them, and says so. */
function checkAgain(history: History, { body, decidedAt }: LogRecord, steps: ReadonlyMap<string, Known>): void {
  const id = text(body, 'step_id');
  const own = steps.get(id);
  const isPatienceOver = own !== undefined && own.patientUntil !== null && own.patientUntil <= decidedAt;
  const named = new Set(isPatienceOver ? ((body['outstanding'] as readonly string[] | undefined) ?? []) : []); // a list of ids
  for (const ahead of own?.leg?.ahead ?? []) {
    const known = steps.get(ahead);
    if (known?.isOpen === true && known.leg?.id !== text(body, 'leg_id') && !named.has(ahead))
      broken(history, 'B17', 'leg', `${id} went again before ${ahead}, which was ahead of it in its leg`);
  }
}

/** What a leg undoes, it undoes when all that is ahead of it there is undone, or its worker says so: in its order, and nothing behind what failed. */
function checkLegs(history: History): void {
  const { provider, eyes } = history.world;
  const { effects } = provider;
  const said = eyes.untruths.filter(({ role }) => role === 'worker');
  const lastFirst = [...said, ...effects].sort((one, other) => other.order - one.order);
  const undoneAt = new Map(lastFirst.map(({ transactionId, order }) => [transactionId, order]));
  for (const { type, body } of history.logs[RECOVERIES] ?? []) {
    if (type !== 'LegDispatched') continue;
    const attempt = number(body, 'attempt');
    const steps = list(body, 'members').map((member) => nested(member, 'step'));
    for (const [index, step] of steps.entries()) {
      const callId = text(nested(step, 'call'), 'call_id');
      const own = effects.find((one) => one.callId === callId && one.attempt === attempt);
      const ahead = steps
        .slice(0, index)
        .find((other) => (undoneAt.get(text(other, 'external_transaction_ref')) ?? Infinity) > (own?.order ?? 0));
      if (own !== undefined && ahead !== undefined)
        broken(
          history,
          'B17',
          'within a leg',
          `${callId} was carried out while ${text(nested(ahead, 'call'), 'call_id')}, ahead of it in its leg, was not done`,
        );
    }
  }
}

/** Every effect the ledger had on record when it named those of a whole run is named, in order, and rolled back. */
function checkUndos(history: History): void {
  const marked = new Set(ofType(history, MUTATIONS, 'MutationsFell').map(({ body }) => text(body, 'mutation_id')));
  const recorded = ofType(history, MUTATIONS, 'MutationRecorded');
  // What follows a failed step is checked by what it reaches.
  const asked = ofType(history, MUTATIONS, 'UndoListed').filter(({ body }) => body['command_id'] !== null);
  const listed = groupBy(asked, ({ body }) => text(body, 'undo_id'));
  for (const [id, parts] of listed) {
    const [first] = parts;
    if (first === undefined) continue;
    const { body } = first;
    if (parts.at(-1)?.body['is_last'] !== true)
      broken(history, 'B3', 'named', `the effects of ${id} were never named to the last`);
    const names = parts.flatMap((part) => part.body['mutation_ids'] as readonly string[]); // a list of ids
    const wanted = body['asked_ids'] as readonly string[];
    const own = recorded
      .filter((record) => record.partition === first.partition && record.seq < first.seq && isOf(record.body, body))
      .map((record) => text(record.body, 'mutation_id'));
    for (const mutation of new Set(own)) {
      if (wanted.length > 0 && !wanted.includes(mutation)) continue;
      if (!names.includes(mutation))
        broken(history, 'B3', 'named', `${mutation} was on record and ${id} does not name it`);
      else if (!marked.has(mutation))
        broken(history, 'B3', 'reached', `${mutation} is named by ${id} and was never rolled back`);
    }
    if (new Set(names).size !== names.length) broken(history, 'B3', 'once', `${id} names an effect twice`);
  }
}

function isOf(recorded: Fields, undo: Fields): boolean {
  const execution = nested(recorded, 'execution');
  return execution['tenant'] === undo['tenant'] && execution['run_id'] === undo['run_id'];
}

/** In a run that says so, what was done before a step that failed for good is rolled back; what was cancelled never began (A53). */
function checkFailures(history: History): void {
  const marked = new Set(ofType(history, MUTATIONS, 'MutationsFell').map(({ body }) => text(body, 'mutation_id')));
  for (const [, records] of groupBy(
    ofType(history, MUTATIONS, 'MutationRecorded'),
    ({ body }) => `${text(nested(body, 'execution'), 'tenant')} ${text(nested(body, 'execution'), 'run_id')}`,
  )) {
    for (const failed of records.filter(
      ({ body }) =>
        body['execution_state'] === 'failed' &&
        body['recoverability'] !== 'cancelled' &&
        nested(body, 'execution')['on_failure'] === 'compensate',
    )) {
      const before = records.filter(
        ({ seq, body }) => seq < failed.seq && body['mutation_id'] !== failed.body['mutation_id'],
      );
      const left = before.find(({ body }) => !marked.has(text(body, 'mutation_id')));
      if (left !== undefined)
        broken(
          history,
          'A53',
          'reached',
          `${text(left.body, 'mutation_id')} stands although ${text(failed.body, 'mutation_id')} failed after it`,
        );
    }
  }
}
