// Records about a leg hold its steps as members: what each of them says of one step.
import type { LegMember, LegVerdict, StepOutcome } from '@recourse/messages';
import type { Body, RecoveryRecord } from '../record.messages.js';

/** Most steps of one leg. */
export const LEG_STEPS_MAX = 64;
/** Most bytes of arguments in one leg, so that request and record stay far below what the log takes (L4). */
export const LEG_BYTES_MAX = 256 * 1024;

/** Records about a leg. */
export const LEG_RECORDS = ['LegDispatched', 'LegSettled'] as const;
export type LegRecordType = (typeof LEG_RECORDS)[number];
export type LegRecord = RecoveryRecord<LegRecordType>;

/** A dispatch as one of its steps sees it; `position` is its place in the leg. */
export type StepDispatched = Omit<Body<'LegDispatched'>, 'members'> & LegMember & { readonly position: number };

/** A verdict as its step sees it. */
export type StepSettled = Omit<Body<'LegSettled'>, 'members'> & LegVerdict;

/** What a record about a leg says of one step; `index` is that of the member in the record. */
export type StepOfLeg =
  | { readonly type: 'LegDispatched'; readonly index: number; readonly stepId: string; readonly body: StepDispatched }
  | { readonly type: 'LegSettled'; readonly index: number; readonly stepId: string; readonly body: StepSettled };

export function isLegRecord(told: RecoveryRecord): told is LegRecord {
  return LEG_RECORDS.some((type) => type === told.type);
}

/** What a record says of each of its steps, in their order. */
export function stepsOfLeg(told: LegRecord): readonly StepOfLeg[] {
  if (told.type === 'LegDispatched') {
    const { members, ...leg } = told.body;
    return members.map((member, index) => ({
      type: told.type,
      index,
      stepId: member.step.step_id,
      body: { ...leg, ...member, position: index },
    }));
  }
  const { members, ...leg } = told.body;
  return members.map((member, index) => ({
    type: told.type,
    index,
    stepId: member.step_id,
    body: { ...leg, ...member },
  }));
}

/** Why a worker's report changes nothing. */
export const REPORT_REFUSALS = [
  'KEY_MISMATCH',
  'LEASE_UNKNOWN',
  'ATTEMPT_STALE',
  'ALREADY_ANSWERED',
  'REFUSED_LATE',
  'MEMBER_UNKNOWN',
  'MEMBER_REPEATED',
  'MEMBER_ORDER',
] as const;
export type ReportRefusal = (typeof REPORT_REFUSALS)[number];

/** A dispatch that was made. */
export type LegDoc = {
  readonly leg_id: string;
  readonly attempt: number;
  readonly lease_id: string;
  readonly not_after: number;
  readonly answer_by: number;
  /** Place of the step in the leg, from 0: those before it are carried out first. */
  readonly position: number;
  /** What its worker reported; null while no answer was taken. */
  readonly answered: StepOutcome | null;
};
