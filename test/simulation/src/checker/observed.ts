// What another worker observes (docs/design/recovery.md, the leg): nothing counts as undone that it did not see, what the worker that
// acted said stays on record, and whoever is asked to look is waited for three times at the most.
import { isObserverKey } from '../speakers.js';
import { broken, groupBy, list, ofType, text, wireOf } from './history.js';
import type { Fields, History, LogRecord, WireRecord } from './history.js';

const RECOVERIES = 'recourse.recoveries';
/** How often an observer is asked that does not say what it sees. */
const ASKS_MAX = 3;

export function checkObserved(history: History): void {
  const { observed } = history.world.options.profile;
  if (observed.length === 0) return;
  const told = ofType(
    history,
    RECOVERIES,
    ...['LookDispatched', 'LookAnswered', 'LegSettled', 'StepEscalated', 'StepResolved'],
  );
  const reports = groupBy(wireOf(history, 'recourse.tool-results', 'LegReported'), ({ body }) => text(body, 'leg_id'));
  for (const [step, records] of groupBy(told, ({ body }) => text(body, 'step_id'))) {
    checkAsked(history, step, records);
    checkKept(history, step, records);
    if (observed.includes(text(records[0]?.body ?? {}, 'tenant'))) checkConfirmed(history, records, reports);
  }
}

/** Undone, or repaired by hand and seen to be: another worker than the one that says so saw it. */
function checkConfirmed(
  history: History,
  records: readonly LogRecord[],
  reports: ReadonlyMap<string, readonly WireRecord[]>,
): void {
  for (const { type, body, seq, order } of records) {
    if (
      type === 'LegSettled' ? body['outcome'] !== 'compensated' : type !== 'StepResolved' || body['verified'] !== true
    )
      continue;
    const step = text(body, 'step_id');
    const look = records.findLast((one) => one.type === 'LookAnswered' && one.seq < seq)?.body ?? {};
    const isSeen = (reports.get(text(look, 'leg_id')) ?? []).some(
      (report) => isObserverKey(report.by) && report.order < order && outcomeOn(report, step) === 'verified',
    );
    if (look['verdict'] !== 'met' || !isSeen)
      broken(history, 'P1', 'confirmed', `${step} counts as undone, and no other worker says that it saw it`);
    if (type === 'LegSettled' && !isObserverKey(text(body, 'observed_by')))
      broken(history, 'P1', 'confirmed', `${step} is said to be observed by ${text(body, 'observed_by')}`);
  }
}

function outcomeOn({ body }: WireRecord, step: string): unknown {
  return list(body, 'steps').find((one) => one['step_id'] === step)?.['outcome'];
}

/** Every look ends; who does not say what it sees is asked three times, and then a person has the step. */
function checkAsked(history: History, step: string, records: readonly LogRecord[]): void {
  let out: Fields | null = null;
  let asks = 0;
  for (const { type, body, seq } of records) {
    if (type === 'LookDispatched') {
      asks = out === null ? 1 : asks + 1;
      out = body;
      if (asks > ASKS_MAX) broken(history, 'P12', 'asked again', `${step} is looked at ${String(asks)} times in a row`);
    }
    if (type !== 'LookAnswered') continue;
    if (out === null || out['leg_id'] !== body['leg_id'])
      broken(history, 'P12', 'looked', `${step}: ${text(body, 'leg_id')} is answered, and is not the look that is out`);
    else checkAnswered(history, { out, asks, answer: body, isGiven: isGivenAfter(records, seq) });
    out = null;
  }
  if (out !== null) broken(history, 'P12', 'looked', `${step} is looked at, and nobody ends that`);
}

/** The answer to a look, and how often it had been asked for by then. */
interface Answered {
  readonly out: Fields;
  readonly asks: number;
  readonly answer: Fields;
  /** A person has the step after it. */
  readonly isGiven: boolean;
}

function checkAnswered(history: History, { out, asks, answer, isGiven }: Answered): void {
  const step = text(answer, 'step_id');
  if (out['not_by'] !== null && answer['verdict'] === 'unknown' && asks < ASKS_MAX)
    broken(history, 'P12', 'asked again', `${step} was looked at ${String(asks)} times, and nobody saw anything`);
  if (out['purpose'] === 'observe' && answer['verdict'] !== 'met' && !isGiven)
    broken(history, 'P12', 'looked', `${step} is ${text(answer, 'verdict')} to another worker, and no person has it`);
}

function isGivenAfter(records: readonly LogRecord[], seq: number): boolean {
  return records.some((one) => one.type === 'StepEscalated' && one.seq > seq);
}

/** What a worker said it did has a verdict under its own leg, with all that it observed. */
function checkKept(history: History, step: string, records: readonly LogRecord[]): void {
  for (const { type, body, seq } of records) {
    if (type !== 'LookDispatched' || body['acted_leg_id'] === null) continue;
    const leg = text(body, 'acted_leg_id');
    const verdict = records.find(
      (one) => one.type === 'LegSettled' && one.seq > seq && text(one.body, 'leg_id') === leg,
    );
    const answers = (of: Fields, name: string): number =>
      list(of, name).filter(({ phase }) => phase === 'execute').length;
    if (verdict === undefined)
      broken(history, 'P2', 'acted', `${leg} says that it undid ${step}, and no verdict says what came of it`);
    else if (answers(verdict.body, 'observations') < answers(body, 'acted'))
      broken(history, 'P2', 'acted', `${leg} says what its tool answered about ${step}, and its verdict does not`);
    else if (body['purpose'] === 'observe' && verdict.body['acted_by'] !== body['not_by'])
      broken(history, 'P2', 'acted', `${leg} was acted by ${text(body, 'not_by')}, and its verdict says otherwise`);
  }
}
