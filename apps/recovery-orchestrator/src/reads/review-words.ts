// Why a person is asked, in words. A code without words is shown as it is.
import type { DecisionReason } from '../rules/decision/recovery.decisions.js';
import type { EscalationReason, StepDoc } from '../rules/step/step.messages.js';

export const WHY: Readonly<Record<string, string>> = {
  HIGH_IMPACT: 'The compensation moves money, destroys something or touches security: a person decides.',
  COMPENSATION_REQUIRES_HUMAN_APPROVAL: 'The contract asks for a person before compensating.',
  REVERSAL_EXPIRED:
    'The reversal window has closed, by the clock or by an event that the mutation names; automation is unsafe.',
  REVERSAL_WINDOW_MISSING: 'Nothing says until when the action can be undone; automation is unsafe.',
  APPROVAL_TIMEOUT: 'Nobody decided in time.',
  RESOURCE_CHANGED: 'Somebody changed the resource since the action; nothing was overwritten.',
  VERIFICATION_FAILED: 'The tool answered, but the world does not show the compensation.',
  HANDLE_CLAIMED:
    'Somebody else’s execution named the same handle first: undoing it might undo their effect. Find out whose it is.',
  HANDLE_ASKED:
    'It named its handle after it should not stand any more, and it is not known whether that is its own: until it is, nothing is called by it.',
  PAYLOADS_ERASED:
    'What the compensation would be called with was erased with the data of its subject: a person does it by hand. `recourse audit story` says who ordered it, and why.',
  VERIFICATION_MISSING: 'Nothing but the acting tool could tell whether the compensation worked.',
  COMPENSATION_FAILED: 'The tool could not compensate.',
  OUTCOME_UNKNOWN: 'Nobody knows whether the compensation took effect; find out before doing anything.',
  KEY_LIFETIME_OVER: 'The tool no longer recognises a repeated call; another one could act twice.',
  UNCONTRACTED: 'The action has no reversal contract.',
  CONTRACT_SUPERSEDED:
    'The action named a version of its contract that was retired, or looser than the one that bound: what it says of the way back was withdrawn, so a person decides what is done.',
  TOOL_HAS_NO_AUTOMATIC_COMPENSATION: 'The action cannot be undone; it needs a correction.',
  MISSING_COMPENSATION_IMPLEMENTATION: 'No tool compensates the action; a person does it by hand.',
  HANDLE_INCOMPLETE:
    'Facts needed for the compensation were not captured, or its tool does not take them as they were told: `lacking` names them.',
  STEP_RESULT_PENDING: 'The compensation takes an argument from another one that is not verified yet.',
  STEP_RESULT_MISSING: 'The compensation takes an argument from another one that did not give it.',
  CHILDREN: 'Effects of other runs that were made from this one are undone first.',
  BLOCKED_BY_STEP: "Another step of the run has to be settled first, and it is a person's.",
  UNSUPPORTED_RECOVERY_STATE: 'The mutation is in a state that no automatic recovery begins from.',
  EXECUTED_AFTER_CANCEL: 'The action took effect in spite of its cancel.',
  FORWARD_UNCERTAIN: 'It is not known whether the action itself happened.',
  FORWARD_IN_FLIGHT: 'The action itself is still under way.',
  FORWARD_UNRESOLVED: 'Nobody found out in time whether the action itself happened.',
  FORWARD_NOT_STARTED: 'The action has not begun; there is nothing to undo.',
  NOTHING_TO_UNDO: 'The action had no effect; there is nothing to undo.',
  ALREADY_UNDONE: 'The action was undone already.',
  RECOVERY_POLICY_UNDECIDED:
    'A recovery policy that the contract names is not registered, or one of its rules cannot be judged: register or mend it, or decide by hand.',
  RISK_ABOVE_LIMIT:
    'An unnecessary compensation could make it worse than anything that may go by itself: a person decides, and it is tried only when people agreed.',
  FACTS_NOT_OBSERVED:
    'Nobody could look at the resource again before the compensation was sent; what people agreed to may not be so any more.',
  FACT_CHANGED: 'A fact that somebody relied on has changed since they agreed: look again.',
  POLICY_CHANGED: 'The contract or its policy asks for more than when the step was decided.',
  HALTED_TOO_LONG: 'A kill switch stopped the step, and nobody lifted it in time.',
  KILL_SWITCH:
    'A kill switch stops the step until somebody lifts it: `recourse kill-switch list`, then `recourse kill-switch off`.',
  BREAKER_OPEN:
    'A breaker over its capability is open: a burst opened it, and a person closes it (`recourse breakers list`).',
  RATE_LIMITED: 'A rate limit lets it go later, or would have let it go only after its time.',
  POLICY_AUTO: 'The contract lets the compensation run without a person.',
  APPROVED: 'People agreed to the compensation.',
  DENIED: 'A person denied the compensation.',
  TRIED_AGAIN: 'A person had it tried again.',
  ABANDONED: 'A person gave the compensation up.',
  SUCCESS_CONDITION_HELD: 'The compensation was observed.',
} satisfies Readonly<
  Record<
    | DecisionReason
    | EscalationReason
    | 'DENIED'
    | 'TRIED_AGAIN'
    | 'KILL_SWITCH'
    | 'CHILDREN'
    | 'FACT_CHANGED'
    | 'BREAKER_OPEN'
    | 'SUCCESS_CONDITION_HELD',
    string
  >
>;

/** Why two people are asked, as a sentence; null where fewer are. Source: `requiredApprovals`. */
export function whyTwo({
  required_approvals: required,
  terms,
  in_force,
  answerable_to: answerable,
}: Pick<StepDoc, 'required_approvals' | 'terms' | 'in_force' | 'answerable_to'>): string | null {
  if (required < 2) return null;
  if (terms?.recovery_approval_mode === 'dual_control') return 'The contract asks two people before compensating.';
  if (in_force?.approval_mode === 'dual_control') return 'The policy in force asks two people before compensating.';
  return answerable === null
    ? 'Nobody is known to answer for the action: its execution names no person as initiator, and no charter names an owner of its agent. So two people agree.'
    : null;
}
