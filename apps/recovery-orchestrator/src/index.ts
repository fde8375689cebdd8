export { recoveriesCore, RECOVERIES_LOG } from './core.js';
export type { RecoveriesConfig } from './core.js';
export { RECOVERY_KINDS } from './rows/kinds.js';
export { MARGIN_MS, OWNER_OF_APPROVALS, OWNER_OF_MANUAL, ownerOfLeg } from './rules/policy.messages.js';
export type { RecoveryPolicy, RetryBackoff } from './rules/policy.messages.js';
export {
  APPROVALS,
  DECISION_REASONS,
  DECISION_TABLE,
  decideRecovery,
  HANDLES,
  IMPACTS,
  requiredApprovals,
  WINDOWS,
} from './rules/decision/recovery.decisions.js';
export type {
  DecisionReason,
  DecisionRow,
  RecoveryDecision,
  RecoveryFacts,
} from './rules/decision/recovery.decisions.js';
export { REFUSALS } from './rules/refusal.messages.js';
export type { RefusalCode } from './rules/refusal.messages.js';
export { VERDICT_TABLE } from './rules/step/judgement.decisions.js';
export { actionDigest, recoveryIdOf, stepIdOf } from './rules/step/opening.decisions.js';
export type { Action } from './rules/step/opening.decisions.js';
export { REPORT_REFUSALS } from './rules/step/leg.messages.js';
export type { LegDoc, ReportRefusal } from './rules/step/leg.messages.js';
export { ESCALATION_REASONS, STEP_EVENTS, STEP_PHASES } from './rules/step/step.messages.js';
export type {
  ApprovalDoc,
  EscalationReason,
  RecoveryDoc,
  StepDoc,
  StepEvent,
  StepPhase,
} from './rules/step/step.messages.js';
export { PHASE_AFTER, PHASE_OPENED_BY, PHASES_AT_REST } from './rules/step/step.transitions.js';
export { reviewItem } from './reads/review-item.query.js';
export { FACTS_NEEDED } from './reads/review-item.messages.js';
export type { FactNeeded, Link, RecordLink, ReviewItem, Seen, ShownObservation } from './reads/review-item.messages.js';
export type { Shown } from './reads/shown-payload.js';
export type { Folded } from './reads/shown-text.js';
