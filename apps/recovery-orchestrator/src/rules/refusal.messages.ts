// Why a command of people is refused: the closed list of codes.

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
  'STEP_UNKNOWN',
  'SELF_APPROVAL',
  'APPROVER_NOT_A_PERSON',
  'EDITOR_APPROVAL',
  'DIGEST_MISMATCH',
  'APPROVAL_USED',
  'STEP_WRONG_PHASE',
  'FORWARD_UNCERTAIN',
  'ITEM_NOT_READY',
  'WINDOW_CLOSED',
  'SAME_APPROVER',
  'TASK_UNKNOWN',
  'TASK_CLOSED',
  'AUTHOR_NOT_A_PERSON',
  'INCIDENT_UNKNOWN',
  'INCIDENT_CLOSED',
] as const;
export type RefusalCode = (typeof REFUSAL_CODES)[number];
