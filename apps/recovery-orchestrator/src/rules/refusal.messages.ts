// Why a command of people or of a guard is refused: the closed list of codes, with the HTTP status of each.
export const REFUSALS = {
  KEY_MISMATCH: 422,
  COMMAND_INVALID: 422,
  ROLE_REQUIRED: 403,
  STEP_UNKNOWN: 404,
  SELF_APPROVAL: 403,
  APPROVER_NOT_A_PERSON: 403,
  EDITOR_APPROVAL: 403,
  DIGEST_MISMATCH: 409,
  APPROVAL_OF_ANOTHER: 403,
  APPROVAL_USED: 409,
  STEP_WRONG_PHASE: 409,
  FORWARD_UNCERTAIN: 409,
  ITEM_NOT_READY: 409,
  OBJECTIVE_MISSING: 422,
  WINDOW_CLOSED: 409,
  SAME_APPROVER: 409,
  TASK_UNKNOWN: 404,
  TASK_CLOSED: 409,
  AUTHOR_NOT_A_PERSON: 403,
  INCIDENT_UNKNOWN: 404,
  INCIDENT_CLOSED: 409,
  APPROVAL_UNKNOWN: 404,
  APPROVAL_EXPIRED: 409,
  APPROVAL_WRONG_PHASE: 409,
  ROUTINE_STOPPED: 409,
  ARGS_UNREADABLE: 422,
  CONTRACT_UNKNOWN: 422,
  CONTRACT_MISMATCH: 422,
  MODE_UNKNOWN: 422,
  VERDICT_UNKNOWN: 422,
} as const;
export type RefusalCode = keyof typeof REFUSALS;

/** Why a command is refused. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
  /** Names of the facts that are missing, where that is why. */
  readonly missing?: readonly string[];
}
