export { recoveriesCore, RECOVERIES_LOG } from './application/recoveries.core.js';
export type { RecoveriesConfig } from './application/recoveries.core.js';
export { RECOVERY_KINDS } from './application/recoveries.kinds.js';
export { MARGIN_MS, OWNER_OF_APPROVALS, OWNER_OF_MANUAL, ownerOfLeg } from './domain/policy.messages.js';
export type { RecoveryPolicy, RetryBackoff } from './domain/policy.messages.js';
export {
  APPROVALS,
  DECISION_REASONS,
  DECISION_TABLE,
  decideRecovery,
  HANDLES,
  IMPACTS,
  requiredApprovals,
  WINDOWS,
} from './domain/decision/recovery.decisions.js';
export type {
  DecisionReason,
  DecisionRow,
  RecoveryDecision,
  RecoveryFacts,
} from './domain/decision/recovery.decisions.js';
export { backoffMs, grantLease, leaseIdOf } from './domain/lease/lease.decisions.js';
export type { Lease, LeaseBounds } from './domain/lease/lease.decisions.js';
export { REFUSAL_CODES } from './domain/refusal.messages.js';
export type { RefusalCode } from './domain/refusal.messages.js';
export { ROLES_OF } from './domain/step/approval.decisions.js';
export { VERDICT_TABLE } from './domain/step/judgement.decisions.js';
export { actionDigest, recoveryIdOf, stepIdOf } from './domain/step/opening.decisions.js';
export type { Action } from './domain/step/opening.decisions.js';
export { REPORT_REFUSALS } from './domain/step/leg.messages.js';
export type { LegDoc, ReportRefusal } from './domain/step/leg.messages.js';
export { ESCALATION_REASONS, STEP_EVENTS, STEP_PHASES } from './domain/step/step.messages.js';
export type {
  ApprovalDoc,
  EscalationReason,
  RecoveryDoc,
  StepDoc,
  StepEvent,
  StepPhase,
} from './domain/step/step.messages.js';
export { PHASE_AFTER, PHASE_OPENED_BY, PHASES_AT_REST } from './domain/step/step.transitions.js';
export { FACTS_NEEDED, reviewItem } from './application/review-item.query.js';
export type {
  FactNeeded,
  Link,
  RecordLink,
  ReviewItem,
  Seen,
  Shown,
  ShownObservation,
} from './application/review-item.query.js';
export type { Folded } from './application/shown-text.js';
