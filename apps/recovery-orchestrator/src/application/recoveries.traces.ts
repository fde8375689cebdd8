// One trace from trigger to verification (C50): spans that records of recoveries end.
//
// Boundary: pure; reads a record and the rows it changed. Every span is about a rollback, so who knows its id finds the trace.
//
//   trigger ── decision ── approval
//                       ├─ leg ── verification, and what its worker called (libs/sdk)
//                       └─ handover
import type { AcceptedRecord, ChangedRow } from '@recourse/event-log';
import { bodyOf } from '../domain/step/step-row.transitions.js';
import type { StepDoc } from '../domain/step/step.messages.js';
import { RECOVERIES_LOG } from './recoveries.core.js';
import { DECISION, legSpan, TRIGGER } from './recoveries.spans.js';
import type { SpanName, SpanPlace } from './recoveries.spans.js';

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
export function recoverySpans(record: AcceptedRecord, rows: readonly ChangedRow[]): readonly RecoverySpan[] {
  if (record.type === 'RollbackOpened') return [triggerOf(record)];
  const row = rows.find(({ kind, after }) => kind === 'step' && after !== undefined);
  // Rows of this kind are written from steps alone.
  return row === undefined ? [] : stepSpans(record, row.before as StepDoc | undefined, row.after as StepDoc);
}

function triggerOf(record: AcceptedRecord): RecoverySpan {
  const { rollback_id, tenant, run_id, mutation_id, evidence } = bodyOf('RollbackOpened', record.body);
  return {
    about: rollback_id,
    ...TRIGGER,
    parent: null,
    startAt: record.decidedAt,
    endAt: record.decidedAt,
    problem: null,
    attributes: {
      ...placeOf(record),
      tenant,
      run_id,
      mutation_id,
      'evidence.kind': evidence.kind,
      'evidence.event_id': evidence.event_id,
      'evidence.stated_at': evidence.stated_at,
    },
  };
}

function stepSpans(record: AcceptedRecord, before: StepDoc | undefined, after: StepDoc): readonly RecoverySpan[] {
  const { decidedAt } = record;
  const told = (
    span: Pick<RecoverySpan, 'name' | 'which' | 'parent' | 'startAt'> & Partial<RecoverySpan>,
  ): RecoverySpan => ({
    about: after.rollback_id,
    endAt: decidedAt,
    problem: null,
    ...span,
    attributes: { ...placeOf(record), ...stepAttributes(after), ...span.attributes },
  });
  switch (record.type) {
    case 'StepDecided':
      return [told({ ...DECISION, parent: TRIGGER, startAt: after.triggered_at ?? decidedAt })];
    case 'StepApproved':
    case 'StepDenied':
      return [
        told({
          name: 'approval',
          which: String(after.approvals.length),
          parent: DECISION,
          startAt: before?.updated_at ?? decidedAt,
          problem: record.type === 'StepDenied' ? 'DENIED' : null,
        }),
      ];
    case 'StepUncertain':
      return [
        told({
          ...legSpan(after.attempt, 'unanswered'),
          parent: DECISION,
          startAt: sentAt(before, after, after.attempt),
          problem: bodyOf(record.type, record.body).reason,
        }),
      ];
    case 'StepOutcomeRecorded':
      return outcomeSpans(record, before, after, told);
    case 'StepEscalated':
      return [
        told({
          name: 'handover',
          which: '',
          parent: DECISION,
          startAt: decidedAt,
          problem: bodyOf(record.type, record.body).reason,
        }),
      ];
    default:
      return [];
  }
}

type Told = (span: Pick<RecoverySpan, 'name' | 'which' | 'parent' | 'startAt'> & Partial<RecoverySpan>) => RecoverySpan;

function outcomeSpans(
  record: AcceptedRecord,
  before: StepDoc | undefined,
  after: StepDoc,
  told: Told,
): readonly RecoverySpan[] {
  const { attempt, outcome, reason, observations } = bodyOf('StepOutcomeRecorded', record.body);
  const problem = outcome === 'compensated' ? null : reason;
  const leg = legSpan(attempt, 'answered');
  const looks = observations.filter(({ phase }) => phase === 'verify').map(({ observed_at: at }) => at);
  const answered = told({
    ...leg,
    parent: DECISION,
    startAt: sentAt(before, after, attempt),
    problem,
    attributes: { attempt, outcome },
  });
  if (looks.length === 0) return [answered];
  return [
    answered,
    told({
      name: 'verification',
      which: String(attempt),
      parent: leg,
      startAt: Math.min(...looks, record.decidedAt),
      problem,
      attributes: { attempt, outcome, looks: looks.length },
    }),
  ];
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
