export { recoveriesCore } from './core.js';
export { DECISION_REASONS } from './rules/decision/recovery.decisions.js';
export { REFUSALS } from './rules/refusal.messages.js';
export { REPORT_REFUSALS } from './rules/step/leg.messages.js';
export { ESCALATION_REASONS } from './rules/step/step.messages.js';
export { PHASE_AFTER, PHASE_OPENED_BY, PHASES_AT_REST } from './rules/step/step.transitions.js';
