// Records about a plan or a leg hold its steps as members: what each of them says of one step.
import { plannedIn } from '@recourse/messages';
import type { LegMember, LegVerdict, Observation, Planned, StepOutcome } from '@recourse/messages';
import type { Body, RecoveryRecord } from '../record.messages.js';

/** Most steps of one leg. */
export const LEG_STEPS_MAX = 64;
/** Most bytes of arguments in one leg: a look of another worker holds them twice, and all looks of a leg are one decision (L4). */
export const LEG_BYTES_MAX = 128 * 1024;

/** What a tool answered, and in which attempt. */
export type HeardAnswer = {
  readonly attempt: number;
  readonly answer: Observation;
};

/** Records about several steps. */
export const MEMBER_RECORDS = ['RecoveryPlanned', 'LegDispatched', 'LegSettled'] as const;
export type MemberRecordType = (typeof MEMBER_RECORDS)[number];
export type MemberRecord = RecoveryRecord<MemberRecordType>;

/** A dispatch as one of its steps sees it; `position` is its place in the leg. */
export type StepDispatched = Omit<Body<'LegDispatched'>, 'members'> & LegMember & { readonly position: number };

/** A verdict as its step sees it. */
export type StepSettled = Omit<Body<'LegSettled'>, 'members'> & LegVerdict;

/** What a record about several steps says of one; `index` is that of the member in the record. */
export type StepTold = { readonly index: number; readonly stepId: string } & (
  | { readonly type: 'RecoveryPlanned'; readonly body: Planned }
  | { readonly type: 'LegDispatched'; readonly body: StepDispatched }
  | { readonly type: 'LegSettled'; readonly body: StepSettled }
);

export function isMemberRecord(told: RecoveryRecord): told is MemberRecord {
  return MEMBER_RECORDS.some((type) => type === told.type);
}

/** What a record says of each of its steps, in their order. */
export function stepsTold(told: MemberRecord): readonly StepTold[] {
  switch (told.type) {
    case 'RecoveryPlanned':
      return plannedIn(told.body).map((body, index) => ({ type: told.type, index, stepId: body.step_id, body }));
    case 'LegDispatched': {
      const { members, ...leg } = told.body;
      return members.map((member, index) => {
        const body = { ...leg, ...member, position: index };
        return { type: told.type, index, stepId: member.step.step_id, body };
      });
    }
    case 'LegSettled': {
      const { members, ...leg } = told.body;
      return members.map((member, index) => {
        return { type: told.type, index, stepId: member.step_id, body: { ...leg, ...member } };
      });
    }
  }
}

/** Why a worker's report changes nothing. */
export const REPORT_REFUSALS = [
  'KEY_MISMATCH',
  'LEASE_UNKNOWN',
  'WORKER_MISMATCH',
  'ATTEMPT_STALE',
  'ALREADY_ANSWERED',
  'REFUSED_LATE',
  'NOTHING_SEEN',
  'MEMBER_UNKNOWN',
  'MEMBER_REPEATED',
  'MEMBER_ORDER',
] as const;
export type ReportRefusal = (typeof REPORT_REFUSALS)[number];

/** A dispatch that was made. */
export type LegDoc = {
  readonly leg_id: string;
  /** Adapter whose workers were asked. */
  readonly adapter: string;
  readonly attempt: number;
  readonly lease_id: string;
  readonly not_after: number;
  readonly answer_by: number;
  /** Place of the step in the leg, from 0: those before it are carried out first. */
  readonly position: number;
  /** What its worker reported; null while no answer was taken. */
  readonly answered: StepOutcome | null;
};

/** A leg whose worker says that it undid the step, and what it observed. */
export type ActedLeg = { readonly leg_id: string; readonly observations: readonly Observation[] };
