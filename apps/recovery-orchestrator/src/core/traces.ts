// One trace from trigger to verification (C50): spans that records of recoveries end.
//
// Boundary: pure; reads a record and the rows it changed. Every span is about a rollback, so who knows its id finds the trace.
//
//   trigger (the ledger's) ── decision ── approval
//                       ├─ leg ── verification, and what its worker called (libs/sdk)
//                       └─ handover
import type { AcceptedRecord, ChangedRow } from '@recourse/event-log';
import { recordIn } from '@recourse/messages';
import { RECOVERIES_LOG } from '../rules/record.messages.js';
import type { StepSettled } from '../rules/step/leg.messages.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import { DECISION, legSpan, TRIGGER } from './spans.js';
import type { SpanName, SpanPlace } from './spans.js';

/** A span that has ended; times are epoch milliseconds. */
export interface RecoverySpan {
  /** Id of the rollback. */
  readonly about: string;
  readonly name: SpanName;
  /** Tells spans of one name apart. */
  readonly which: string;
  readonly parent: SpanPlace | null;
  readonly startAt: number;
  readonly endAt: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** Code of what went wrong; null when nothing did. */
  readonly problem: string | null;
}

/** Spans that a record ends. Pure. */
export function recoverySpans(accepted: AcceptedRecord, rows: readonly ChangedRow[]): readonly RecoverySpan[] {
  // Rows of this kind are written from steps alone.
  return rows
    .filter(({ kind, after }) => kind === 'step' && after !== undefined)
    .flatMap((row) => stepSpans(accepted, row.before as StepDoc | undefined, row.after as StepDoc));
}

/** What is particular to a span of a step; the rest is told by its row and its record. */
type StepSpan = Pick<RecoverySpan, 'name' | 'which' | 'parent' | 'startAt'> & Partial<RecoverySpan>;

function stepSpans(accepted: AcceptedRecord, before: StepDoc | undefined, after: StepDoc): readonly RecoverySpan[] {
  return endedSpans(accepted, before, after).map((span) => ({
    about: after.rollback_id,
    endAt: accepted.decidedAt,
    problem: null,
    ...span,
    attributes: { ...placeOf(accepted), ...stepAttributes(after), ...span.attributes },
  }));
}

function endedSpans(accepted: AcceptedRecord, before: StepDoc | undefined, after: StepDoc): readonly StepSpan[] {
  const told = recordIn(RECOVERIES_LOG, accepted);
  const { decidedAt } = accepted;
  switch (told.type) {
    case 'RecoveryPlanned':
      return [{ ...DECISION, parent: TRIGGER, startAt: after.triggered_at }];
    case 'StepApproved':
    case 'StepDenied': {
      const which = String(after.approvals.length);
      const problem = told.type === 'StepDenied' ? 'DENIED' : null;
      return [{ name: 'approval', which, parent: DECISION, startAt: before?.updated_at ?? decidedAt, problem }];
    }
    case 'LegSettled': {
      const own = told.body.members.find(({ step_id }) => step_id === after.step_id);
      return own === undefined ? [] : outcomeSpans({ ...told.body, ...own }, before, after, decidedAt);
    }
    case 'StepEscalated':
      return [{ name: 'handover', which: '', parent: DECISION, startAt: decidedAt, problem: told.body.reason }];
    default:
      return [];
  }
}

function outcomeSpans(
  { attempt, reported, outcome, reason, observations }: StepSettled,
  before: StepDoc | undefined,
  after: StepDoc,
  decidedAt: number,
): readonly StepSpan[] {
  const problem = outcome === 'compensated' ? null : reason;
  const leg = legSpan(attempt, reported === null ? 'unanswered' : 'answered');
  const looks = observations.filter(({ phase }) => phase === 'verify').map(({ observed_at: at }) => at);
  const startAt = sentAt(before, after, attempt);
  const endAt = enclosing(observations, decidedAt);
  const answered: StepSpan = { ...leg, parent: DECISION, startAt, endAt, problem, attributes: { attempt, outcome } };
  if (looks.length === 0) return [answered];
  const verification: StepSpan = {
    name: 'verification',
    which: String(attempt),
    parent: leg,
    startAt: Math.min(...looks, decidedAt),
    endAt,
    problem,
    attributes: { attempt, outcome, looks: looks.length },
  };
  return [answered, verification];
}

/** How far the clock of a worker may be ahead of that of a decision, which is a second old at most (L1). Milliseconds. */
const AHEAD_MAX_MS = 1_000;

/** When an attempt ended: not before what its worker told of it, which goes by another clock. */
function enclosing(observations: StepSettled['observations'], decidedAt: number): number {
  const told = Math.max(decidedAt, ...observations.map(({ observed_at: at }) => at));
  return Math.min(told, decidedAt + AHEAD_MAX_MS);
}

/** A dispatched step changes by nothing but the end of its attempt; of an answer that comes later only the first dispatch is known. */
function sentAt(before: StepDoc | undefined, after: StepDoc, attempt: number): number {
  if (before?.phase === 'dispatched' && before.attempt === attempt) return before.updated_at;
  return after.first_dispatched_at ?? after.decided_at;
}

function stepAttributes({
  tenant,
  run_id,
  mutation_id,
  step_id,
  recovery_id,
  execution,
  decision,
  reason,
  phase,
}: StepDoc): RecoverySpan['attributes'] {
  return {
    tenant,
    run_id,
    mutation_id,
    step_id,
    recovery_id,
    capability: execution.capability,
    decision,
    reason,
    phase,
  };
}

/** Where the record stands that the span was told from. */
function placeOf({ type, seq, hash }: AcceptedRecord): RecoverySpan['attributes'] {
  return { 'record.log': RECOVERIES_LOG, 'record.type': type, 'record.seq': seq, 'record.hash': hash.toString('hex') };
}
