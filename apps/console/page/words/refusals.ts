// Codes of refusals as sentences: what is so, and what to do. A code that is not here is shown with what the service says of it.

const SENTENCES: Readonly<Record<string, string>> = {
  // the console
  SESSION_MISSING: 'You are not signed in any more. Sign in again; what you typed here stays.',
  CSRF_REFUSED: 'This page is older than your session. Reload it, then try again.',
  SERVICE_AWAY:
    'The service does not answer. If you sent a command, nobody knows whether it arrived: look before you repeat it.',
  CONSOLE_AWAY: 'The console does not answer. Check the connection, then look before you repeat a command.',
  SIGN_OUT_UNKNOWN: 'The console does not answer, so you may still be signed in here. Try again.',
  ANSWER_UNEXPECTED: 'The service answered something this console does not understand: they are of different versions.',
  CHANGED_MEANWHILE:
    'This changed while you were reading. Nothing was sent. Look at what is on the screen now, then decide again.',
  PAGE_FAULT: 'Something in this page went wrong. Reload it; nothing was sent.',
  TEXT_NO_JSON: 'The text is not JSON. What you typed is still here.',
  ADDRESS_INVALID: 'The address of this page holds something that the console does not know.',
  // every service
  INPUT_INVALID: 'Something in the form is not as it must be. What you typed is still here.',
  TOKEN_REFUSED: 'Your session has ended. Sign in again; what you typed here stays.',
  ROLE_REQUIRED: 'None of your roles may do this.',
  ROLES_CONFLICT: 'Your account carries two roles that nobody may hold at once. Ask whoever gives out roles.',
  TENANT_FOREIGN: 'This belongs to another tenant than yours.',
  NOT_FOUND: 'There is nothing under this name, or it belongs to another tenant.',
  RUN_UNKNOWN: 'Nothing of this run is on record.',
  TOO_MANY_REQUESTS: 'You asked too often. Wait a moment, then try again.',
  PROJECTION_BEHIND: 'The service is still reading its log. Try again in a moment.',
  DATABASE_UNAVAILABLE: 'The database of the service does not answer. Nothing was decided.',
  TABLES_REPLACED: 'The service is being upgraded: this instance of it has ended its work. Try again in a moment.',
  READ_TOO_LONG: 'There is too much on record to read at once. Narrow it with the filters. Nothing else is wrong.',
  READS_BUSY: 'Others read very much just now. Try again in a moment. Nothing else is wrong.',
  BROKER_UNAVAILABLE: 'Kafka does not answer. Nothing was decided.',
  KEY_STORE_UNAVAILABLE: 'The key store does not answer, so nothing sealed can be shown or recorded.',
  NOT_READY: 'The service has just started and is still reading. Try again in a moment.',
  IDEMPOTENCY_KEY_REUSED: 'This form was already sent with other contents. Close it and open it again.',
  INTERNAL: 'The service made a mistake of its own; its log has the details.',
  // budgets
  NOTHING_TO_RAISE: 'It exceeds no ceiling that could be raised: allow it or refuse it.',
  ESCALATION_DECIDED: 'Somebody has answered this already.',
  DEADLINE_PASSED:
    'Its time to be allowed is over. An effect stays refused: its agent may ask for another, in a step or run of its own. A raise is proposed anew.',
  CEILING_MOVED:
    'The ceiling was moved since this was proposed, so a yes would raise it by more. Refuse it, and propose anew.',
  // what fell, and on whose word
  TRIGGER_JUDGED: 'Somebody has said already whether this was right.',
  SELF_JUDGEMENT: 'You said or own what is judged here, so somebody else has to.',
  JUDGE_NOT_A_PERSON: 'Only a person judges this, and this account is none.',
  BREAKER_CLOSED: 'The breaker is closed already.',
  NO_TRIGGER: 'Nobody triggered this, so there is nothing to judge; it can be reviewed.',
  OUT_OF_BAND_REVIEWED: 'Somebody has reviewed this already.',
  NOT_BEYOND_BOUND: 'This lies within the bound, so nobody has to review it.',
  NOTHING_TO_SETTLE: 'People are asked nothing about this effect any more.',
  NOTHING_TO_RECONCILE: 'It is known how this effect ended.',
  RECONCILIATION_PENDING: 'A worker is looking already. Wait for its answer.',
  NO_RECONCILIATION: 'Its contract names nothing that tells how it ended. Find out yourself, then say it here.',
  ANSWER_UNFIT: 'That is no answer to what is asked of this effect.',
  // recoveries
  SELF_APPROVAL: 'You may not decide this: you acted, or it was done on your behalf, or the agent is yours.',
  APPROVER_NOT_A_PERSON: 'Only a person approves, and this account is none.',
  EDITOR_APPROVAL: 'You registered or confirmed the contract that binds this, so somebody else has to decide.',
  SAME_APPROVER: 'You have agreed already. A second person has to.',
  DIGEST_MISMATCH: 'The action is another one than you were looking at. Nothing was approved; look at it as it is now.',
  STEP_WRONG_PHASE: 'This is past the point where that can be done. Somebody or something was faster.',
  STEP_UNKNOWN: 'There is no such step.',
  ITEM_NOT_READY: 'Facts are missing that a decision needs, so nobody can agree to it yet.',
  OBJECTIVE_MISSING: 'Nobody said what the action was for, so nobody can agree to it.',
  WINDOW_CLOSED: 'The time in which it can be undone is over. It is a case for a person now.',
  FORWARD_UNCERTAIN: 'It is not known yet whether the action itself happened.',
  APPROVAL_EXPIRED: 'The question has expired; the agent has to ask again.',
  APPROVAL_WRONG_PHASE: 'The question is answered already.',
  TASK_CLOSED: 'The task is closed already.',
  INCIDENT_CLOSED: 'The incident is closed already.',
  AUTHOR_NOT_A_PERSON: 'Only a person closes this, and this account is none.',
  CONTRACT_OF_PLATFORM: 'This belongs to the platform; only its editors change it.',
};

/** Codes whose sentence says it all: the server's own words would only repeat it. */
export const SAID_IN_FULL: readonly string[] = ['SERVICE_AWAY', 'CONSOLE_AWAY', 'SESSION_MISSING', 'CSRF_REFUSED'];

export function sentenceOf(code: string): string | null {
  return SENTENCES[code] ?? null;
}
