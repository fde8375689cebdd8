// What a decision rests on: a report that says so (L11), news of the ledger (docs/design/recovery.md), the result of another compensation (B6).
import { readPayload } from '@recourse/contract';
import type { Payload } from '@recourse/messages';
import { mutationId } from '@recourse/sdk';
import { LEAD, UNLINK } from '../contracts.js';
import { broken, bytes, groupBy, list, nested, number, ofType, parkedKeys, text, wireOf } from './history.js';
import type { Fields, History, WireRecord } from './history.js';

const RECOVERIES = 'recourse.recoveries';

export function checkEvidence(history: History): void {
  checkReported(history);
  checkHeardOut(history);
  checkNews(history);
  checkResults(history);
}

/** An attempt ends as a worker said that it ended; a copy that came too late says nothing of another. */
function checkReported(history: History): void {
  const reports = reportsByLeg(history);
  for (const { body } of ofType(history, RECOVERIES, 'LegSettled')) {
    const [leg, step] = [text(body, 'leg_id'), text(body, 'step_id')];
    const told = reports.get(leg) ?? [];
    if (body['outcome'] === 'not_begun') checkNotBegun(history, leg, step, told);
    // Nothing was said of it: nobody answered, or its leg ended before it.
    if (body['reported'] === null) continue;
    const said = told.map((report) => outcomeIn(report, step));
    if (!said.includes(text(body, 'reported')))
      broken(
        history,
        'P1',
        'proof',
        `${leg} ended as ${text(body, 'reported')}, and workers said ${said.join() || 'nothing'}`,
      );
  }
}

/** What a leg did not come to is known from a report of its end, and from none on its way. */
function checkNotBegun(history: History, leg: string, step: string, reports: readonly WireRecord[]): void {
  const isProven = reports.some((report) => report.body['complete'] === true && reportOn(report, step) === undefined);
  if (!isProven) broken(history, 'P1', 'not begun', `${leg} is said not to have come to ${step}, and nobody said so`);
}

/** Each step that the report of a leg's end names has its verdict, unless the report changes nothing. */
function checkHeardOut(history: History): void {
  const settled = new Set(
    ofType(history, RECOVERIES, 'LegSettled').map(({ body }) => `${text(body, 'leg_id')} ${text(body, 'step_id')}`),
  );
  const refused = new Set(ofType(history, RECOVERIES, 'ReportRefused').map(({ body }) => text(body, 'leg_id')));
  const sent = new Set(ofType(history, RECOVERIES, 'LegDispatched').map(({ body }) => text(body, 'leg_id')));
  const parked = parkedKeys(history);
  for (const { key, body } of wireOf(history, 'recourse.tool-results', 'LegReported')) {
    const leg = text(body, 'leg_id');
    if (!sent.has(leg) || refused.has(leg) || parked.has(key) || body['complete'] !== true) continue;
    for (const step of list(body, 'steps'))
      if (step['outcome'] !== 'refused_late' && !settled.has(`${leg} ${text(step, 'step_id')}`))
        broken(
          history,
          'P2',
          'heard out',
          `${leg} tells of ${text(step, 'step_id')}, and no verdict says what came of it`,
        );
  }
}

function reportsByLeg(history: History): ReadonlyMap<string, readonly WireRecord[]> {
  return groupBy(wireOf(history, 'recourse.tool-results', 'LegReported'), ({ body }) => text(body, 'leg_id'));
}

function reportOn({ body }: WireRecord, stepId: string): Fields | undefined {
  return list(body, 'steps').find((one) => one['step_id'] === stepId);
}

/** A leg that stopped before a step says nothing of it: that is not known. */
function outcomeIn(report: WireRecord, stepId: string): string {
  return text(reportOn(report, stepId) ?? { outcome: 'unknown' }, 'outcome');
}

/** What the ledger learnt of a commit after it was marked was decided on, unless a person had closed the step. */
function checkNews(history: History): void {
  const known = ofType(history, RECOVERIES, 'RecoveryPlanned', 'MutationAdvanced');
  const decided = new Set(
    known.filter(({ type }) => type === 'RecoveryPlanned').map(({ body }) => text(body, 'mutation_id')),
  );
  const heard = new Set(known.map(({ body }) => bytes(body, 'reverses_record_hash')));
  const closed = new Set(ofType(history, RECOVERIES, 'StepResolved').map(({ body }) => text(body, 'mutation_id')));
  for (const { body, hash } of ofType(history, 'recourse.mutations', 'MutationRecorded')) {
    const id = text(body, 'mutation_id');
    if ((body['rollback_id'] ?? null) === null || !decided.has(id) || closed.has(id) || heard.has(hash.toString('hex')))
      continue;
    broken(
      history,
      'P2',
      'life goes on',
      `${id} is ${text(body, 'execution_state')} since it was marked, and its step was not decided anew`,
    );
  }
}

/** An argument that comes from another compensation is what that one returned, and was asked for after that one was verified. */
function checkResults(history: History): void {
  const reports = reportsByLeg(history);
  const settled = groupBy(ofType(history, RECOVERIES, 'LegSettled'), ({ body }) => text(body, 'mutation_id'));
  for (const { body, order } of wireOf(history, 'recourse.tool-requests.payments', 'LegRequested')) {
    for (const step of list(body, 'steps')) {
      if (body['kind'] !== 'compensate' || nested(step, 'call')['capability'] !== UNLINK) continue;
      const lead = mutationId(text(body, 'tenant'), text(body, 'run_id'), LEAD);
      const told = (settled.get(lead) ?? []).filter((record) => record.order < order);
      const verified = told.findIndex((record) => record.body['outcome'] === 'compensated');
      // An attempt that finds what one before it made has no answer of its own: they carry one key.
      const given =
        told
          .slice(0, verified + 1)
          .map(({ body: own }) => (reports.get(text(own, 'leg_id')) ?? []).flatMap((report) => receiptsIn(report, own)))
          .findLast((receipts) => receipts.length > 0) ?? [];
      const argument = receiptOf(nested(step, 'call')['args'] as Payload);
      if (argument === null || !given.includes(argument))
        broken(
          history,
          'B6',
          'verified result',
          `${text(body, 'leg_id')}/${String(number(body, 'attempt'))} carries ${String(argument)}, and ${lead} was verified with ${given.join() || 'nothing'}`,
        );
    }
  }
}

/** Receipts the acting capability returned in a report that says of a step what was taken of it. */
function receiptsIn(report: WireRecord, { step_id: id, reported }: Fields): readonly string[] {
  const step = list(report.body, 'steps').find((one) => one['step_id'] === id && one['outcome'] === reported);
  const executed = step === undefined ? [] : list(step, 'observations').filter(({ phase }) => phase === 'execute');
  return executed.flatMap(({ observed }) => receiptOf(observed as Payload) ?? []); // an observation is a payload
}

function receiptOf(payload: Payload): string | null {
  const { receipt } = readPayload(payload) as { readonly receipt?: string }; // arguments are an object
  return receipt ?? null;
}
