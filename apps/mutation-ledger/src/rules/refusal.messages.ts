// Why a command is refused: the closed list of codes, with the HTTP status of each.
export const REFUSALS = {
  KEY_MISMATCH: 422,
  COMMAND_INVALID: 422,
  ROLE_REQUIRED: 403,
  ROLLBACK_UNKNOWN: 404,
  TRIGGER_JUDGED: 409,
  SELF_JUDGEMENT: 403,
  JUDGE_NOT_A_PERSON: 403,
  BREAKER_UNKNOWN: 404,
  BREAKER_CLOSED: 409,
  NOT_RISING: 404,
  NOT_SILENT: 404,
  NO_TRIGGER: 409,
  NOT_BEYOND_BOUND: 409,
  OUT_OF_BAND_REVIEWED: 409,
  MUTATION_UNKNOWN: 404,
  SELF_APPROVAL: 403,
  NOTHING_TO_SETTLE: 409,
  ANSWER_UNFIT: 409,
  COMPENSATION_STANDS: 422,
  NOTHING_TO_RECONCILE: 409,
  RECONCILIATION_PENDING: 409,
  NO_RECONCILIATION: 409,
  NOT_DIVERGING: 404,
  NOT_HELD: 409,
  RECONCILIATION_TOO_LARGE: 422,
} as const;
export type RefusalCode = keyof typeof REFUSALS;

/** Why a command is refused. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
}
