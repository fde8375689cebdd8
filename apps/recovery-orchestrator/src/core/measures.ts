// What records of recoveries say, as series: how long a compensation took (C66), who ended it (C67), why attempts failed (C68),
// what somebody else had changed (C69), and how long people took to decide (C71).
//
// Boundary: pure; reads a record and the rows it changed. The loop tells it what it accepted, never what it reads anew, so
// nothing is counted twice. Series carry codes and contracted capabilities, never an id.
import type { AcceptedRecord, ChangedRow } from '@recourse/event-log';
import type { ForwardDoc } from '../rules/forward/forward.messages.js';
import { JUDGEMENT_REASONS } from '../rules/step/judgement.decisions.js';
import { recordIn } from '@recourse/messages';
import { RECOVERIES_LOG } from '../rules/record.messages.js';
import type { RecoveryRecord } from '../rules/record.messages.js';
import { failedAt, isUnattended } from '../rules/step/verdict.decisions.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import { FORWARD_KIND } from '../rows/forward.rows.js';

/** One value of one series. Times are seconds of database time. */
export type RecoveryMeasure =
  | { readonly series: 'recoverySeconds'; readonly tool: string; readonly seconds: number }
  | { readonly series: 'recoveriesAutomatic' | 'recoveriesManual' | 'staleConflicts'; readonly tool: string }
  | { readonly series: 'compensationFailures'; readonly tool: string; readonly reason: FailureReason }
  | {
      readonly series: 'approvalSeconds';
      readonly question: 'recovery' | 'forward';
      readonly outcome: 'approved' | 'denied';
      readonly seconds: number;
    };

/** Reasons an attempt did not compensate; `OTHER` for a word this version does not know. */
export const FAILURE_REASONS = [
  ...JUDGEMENT_REASONS.filter((reason) => reason !== 'SUCCESS_CONDITION_HELD'),
  'NO_ANSWER',
  'NOT_REACHED',
  'NOT_CONFIRMED',
  'OTHER',
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** A row before and after a record; `before` is undefined for one that is new. */
interface Moved<Doc> {
  readonly before: Doc | undefined;
  readonly after: Doc;
}

/** What a record adds to the series. Pure. */
export function recoveryMeasures(record: AcceptedRecord, rows: readonly ChangedRow[]): readonly RecoveryMeasure[] {
  const told = recordIn(RECOVERIES_LOG, record);
  const steps = movedIn<StepDoc>('step', rows);
  if (steps.length > 0)
    return steps.flatMap((step) => [
      ...ended(step, record.decidedAt),
      ...attempted(told, step.after),
      ...answeredStep(record, step),
    ]);
  return movedIn<ForwardDoc>(FORWARD_KIND, rows).flatMap((question) => answeredQuestion(record, question));
}

/** Who ended a step is told once, when it is compensated or first becomes a person's; how long it took, when it is compensated, whoever had it. */
function ended({ before, after }: Moved<StepDoc>, at: number): readonly RecoveryMeasure[] {
  const tool = toolOf(after);
  const isDone = after.phase === 'compensated' && before?.phase !== 'compensated';
  const isFirst = before?.was_given !== true && (isDone || after.was_given);
  const share = isUnattended(after) ? 'recoveriesAutomatic' : 'recoveriesManual';
  return [
    ...(isFirst ? [{ series: share, tool } as const] : []),
    ...(isDone ? [{ series: 'recoverySeconds', tool, seconds: secondsBetween(failedAt(after), at) } as const] : []),
  ];
}

function attempted({ type, body }: RecoveryRecord, step: StepDoc): readonly RecoveryMeasure[] {
  const tool = toolOf(step);
  // The resource is not as people saw it: nothing was sent, and they are asked again.
  if (type === 'FactChanged' && body.evidence === null) return [{ series: 'staleConflicts', tool }];
  const own = type === 'LegSettled' ? body.members.find(({ step_id }) => step_id === step.step_id) : undefined;
  if (own === undefined) return [];
  const { outcome, reason } = own;
  if (outcome === 'compensated' || outcome === 'not_begun') return [];
  const failure: RecoveryMeasure = { series: 'compensationFailures', tool, reason: failureReason(reason) };
  return outcome === 'stale' ? [failure, { series: 'staleConflicts', tool }] : [failure];
}

/** Everybody who decides was asked when the question came up; what is seen or said meanwhile is no new one, unless it voids approvals. */
function answeredStep({ type, decidedAt }: AcceptedRecord, { before }: Moved<StepDoc>): readonly RecoveryMeasure[] {
  const askedAt = before?.asked_at ?? null;
  if ((type !== 'StepApproved' && type !== 'StepDenied') || askedAt === null) return [];
  return [
    {
      series: 'approvalSeconds',
      question: 'recovery',
      outcome: type === 'StepApproved' ? 'approved' : 'denied',
      seconds: secondsBetween(askedAt, decidedAt),
    },
  ];
}

/** As with a step that waits for people; who takes an approval back answers no question. */
function answeredQuestion(
  { type, decidedAt }: AcceptedRecord,
  { before, after }: Moved<ForwardDoc>,
): readonly RecoveryMeasure[] {
  if (type !== 'ForwardApprovalDecided' || before?.phase !== 'awaiting' || after.routine !== null) return [];
  return [
    {
      series: 'approvalSeconds',
      question: 'forward',
      outcome: after.phase === 'denied' ? 'denied' : 'approved',
      seconds: secondsBetween(before.requested_at, decidedAt),
    },
  ];
}

/** Capabilities under contract are few; every other name is anybody's. */
function toolOf({ terms, execution }: StepDoc): string {
  return terms === null ? 'uncontracted' : execution.capability;
}

function failureReason(reason: string): FailureReason {
  return FAILURE_REASONS.find((known) => known === reason) ?? 'OTHER';
}

function secondsBetween(from: number, to: number): number {
  return Math.max(0, to - from) / 1_000;
}

function movedIn<Doc>(kind: string, rows: readonly ChangedRow[]): readonly Moved<Doc>[] {
  // Rows of a kind are written from its document alone.
  return rows
    .filter((row) => row.kind === kind && row.after !== undefined)
    .map((found) => ({ before: found.before as Doc | undefined, after: found.after as Doc }));
}
