// Why a command about what should not stand is refused: the closed list of codes.

/** Why a command is refused, and the HTTP status of the answer. */
export interface Refusal {
  readonly httpStatus: number;
  readonly code: RefusalCode;
  readonly message: string;
}

export const REFUSAL_CODES = [
  'KEY_MISMATCH',
  'COMMAND_INVALID',
  'ROLE_REQUIRED',
  'ROLLBACK_UNKNOWN',
  'TRIGGER_JUDGED',
  'SELF_JUDGEMENT',
  'JUDGE_NOT_A_PERSON',
  'BREAKER_UNKNOWN',
  'BREAKER_CLOSED',
  'NO_TRIGGER',
  'NOT_BEYOND_BOUND',
  'OUT_OF_BAND_REVIEWED',
  'MUTATION_UNKNOWN',
  'SELF_APPROVAL',
  'NOTHING_TO_SETTLE',
  'ANSWER_UNFIT',
  'COMPENSATION_STANDS',
  'NOTHING_TO_RECONCILE',
  'RECONCILIATION_PENDING',
  'NO_RECONCILIATION',
  'NOT_DIVERGING',
] as const;
export type RefusalCode = (typeof REFUSAL_CODES)[number];
