// What can be wrong with a contract: one code each, with where it is and what to do about it.
import type { Rejection } from '@recourse/kernel';

/**
 * Every refusal of a contract.
 *
 * Shape: code to remedy; the remedy ends the sentence people read. Requirement ids stand beside their codes.
 */
export const CONTRACT_REMEDIES = {
  CONTRACT_NOT_JSON: 'Send the contract as one JSON object.',
  CONTRACT_TOO_LARGE: 'Keep the contract within 65,536 bytes; move long texts to the runbook it names.',
  CONTRACT_TEXT_NOT_STORABLE: 'Remove NUL characters and lone surrogates from its texts.',
  CONTRACT_FIELD_UNKNOWN: 'Remove the field, or spell it as the reference of contract fields does.',
  CONTRACT_FIELD_MISSING: 'Add the field.',
  CONTRACT_LOOSER_THAN_PLATFORM:
    'Be at least as strict as the platform is about this capability: a tenant tightens and never loosens.',
  CONTRACT_FIELD_INVALID: 'Give the field a value of the kind and range named.',
  CAPABILITY_NAME_INVALID: 'Name capabilities adapter.verb_noun in lower case, such as payments.issue_refund.',
  // D6
  CONTRACT_IS_DRAFT: 'Decide what the draft proposes, then take the field draft out: a draft never binds.',
  // C17
  ACTION_NOT_PRECISE: 'Name the action itself, such as tickets.close_ticket or config.restore_config.',
  // A21
  SCHEMA_MISSING: 'Declare the JSON Schema of arguments and result beside the capability.',
  SCHEMA_INVALID:
    'Let args_schema describe an object; every $ref is a plain #/… that leads to a schema within it, every required field is declared.',
  // A7
  APPROVAL_MODE_CONTRADICTORY:
    'Let read_only go with impact read, and local_write, destructive with what changes something.',
  READ_WITH_REVERSAL: 'Remove what only side effects need, or declare the impact.',
  // A22
  REVERSAL_CLASS_MISSING: 'Declare reversal_class: reversible, compensable or irreversible.',
  REVERSAL_CAPABILITY_MISSING: 'Name inverse_capability for reversible, compensation_capability for compensable.',
  REVERSAL_CAPABILITY_CONTRADICTORY:
    'Keep only the capability that belongs to the class: an irreversible effect has none.',
  REVERSAL_ARGS_MISSING: 'Map every argument of the reversal in reversal_args.',
  REVERSAL_ARG_UNREADABLE:
    'Read a field its schema declares; prior_value and external_ref need their capture required, and call names an earlier one.',
  REVERSAL_ARG_LACKING: 'Map every argument that the reversal requires.',
  REVERSAL_ARG_UNWANTED: 'Map only arguments that the reversal declares.',
  REVERSAL_READS_ONLY: 'Name a capability that changes something: reading undoes nothing.',
  REVERSAL_ADAPTER_FOREIGN: 'Call one adapter alone: one worker makes all the calls of a reversal.',
  REVERSAL_WINDOW_MISSING:
    'Declare reversal_window_ms or expires_after_commit_ms: a reversal without an end is not bounded.',
  WINDOW_TOO_SHORT: 'Leave room for its calls and the safety margin of 2 s, or declare the capability irreversible.',
  // A9
  OVERWRITE_UNDECLARED: 'Say overwrites: true, or false where nothing that was there is written over.',
  OVERWRITE_WITHOUT_PRIOR_VALUE:
    'Set requires_prior_value_capture to true, or declare the overwrite compensable or irreversible.',
  // A54, A92
  DESTRUCTIVE_WITHOUT_COPY:
    'Keep a tombstone (techniques.tombstone_ttl_ms) or capture the prior value, or declare the deletion irreversible.',
  // A11
  FINANCIAL_WITHOUT_EXTERNAL_HANDLE:
    'Set requires_external_handle to true: a payment is reversed by its handle at the provider.',
  // A5
  RECOVERY_COST_MISSING: 'Bound recovery_cost in time and value.',
  // A12
  RESIDUE_MISSING: 'State in residue what stays different after the compensation.',
  // A27
  VERIFICATION_MISSING: 'Declare verification: verify_capability, success_condition and max_attempts.',
  VERIFICATION_INVALID: 'Give verification a verify_capability, a success_condition and max_attempts of at least 1.',
  VERIFICATION_BY_ACTOR: 'Let another capability observe the result: neither the acting one nor its reversal.',
  VERIFICATION_PROVES_NOTHING:
    'Let success_condition read from observed what only the reversal brings about: neither what always holds nor what held before it.',
  // P7
  STALE_CHECK_MISSING:
    'Declare stale_check: what somebody else has changed since is not undone blindly. Or say in unchecked_because why nobody else can change it.',
  STALE_CHECK_CONTRADICTORY:
    'Leave unchecked_because out: what is checked, or written over, needs no reason not to be.',
  STALE_CHECK_COMPARES_NOTHING:
    'Let the condition read what compares names from observed, and compare a version, an ETag, a time or an id with what is bound.',
  CHECK_ACT_GAP_MISSING:
    'State in check_act_gap what can happen between check and act, or compare by version, etag or compare_and_swap.',
  OBSERVER_ACTS: 'Let another capability observe, one whose contract says that it only reads.',
  // A100, A10
  IRREVERSIBLE_UNGATED: 'Declare commit_hold_ms with cancel_capability, or forward_approval human or dual_control.',
  HOLD_TOO_SHORT:
    'Hold the effect for 5,000 ms at least, leave commit_hold_ms out, or set forward_approval to human or dual_control instead.',
  HOLD_WITHOUT_CANCEL: 'Name the cancel_capability that stops the effect during the hold.',
  // A24
  CANCEL_WITHOUT_HOLD:
    'Declare commit_hold_ms, or remove the capability: what is committed is compensated, not cancelled.',
  // A82
  REGULATORY_UNGATED: 'Set forward_approval to human or dual_control: what binds in law is decided by people.',
  AUTO_RECOVERY_FORBIDDEN:
    'Set recovery_approval_mode to human or dual_control for this impact, or for what its undo calls.',
  COMPENSATION_MODE_MISSING:
    'State in compensation_mode a mode and its reason: automatic, approval_required, manual_runbook with the runbook, or not_supported with accepted_by.',
  COMPENSATION_MODE_CONTRADICTORY:
    'Make mode, approval and class agree: automatic goes with auto, approval_required with human or dual_control, not_supported with irreversible.',
  NOT_SUPPORTED_UNACCEPTED: 'Name in accepted_by who accepted that nothing undoes this.',
  RUNBOOK_MISSING: 'Name in runbook what a person works from.',
  // C3, B4
  IDEMPOTENCY_MISSING: 'State in idempotency how the provider deduplicates, and for how long.',
  CEL_INVALID:
    'Write a CEL expression that compiles: conditions read observed and bound, consequences args and result.',
  CEL_TOO_COSTLY: 'Nest at most two loops over lists of the facts: what takes too many steps is judged by a person.',
  CEL_UNREADABLE: 'Read only what a schema or reversal_args declares: what is not there never holds.',
  VALUE_UNREADABLE: 'Point at fields that args_schema declares; amounts are integers in minor units.',
  // A28
  CAP_UNMEASURABLE: 'Declare what the cap counts: value for money, subject for subjects.',
  CURRENCY_CONTRADICTORY: 'Use one currency for the value and its caps.',
  CAPABILITY_UNKNOWN: 'Register the contract of that capability first.',
  DEBT_WEIGHT_CONTRADICTORY: 'Use debt_weight only for compensable, and only to raise 0.1.',
  TOMBSTONE_SHORTER_THAN_WINDOW: 'Keep the tombstone at least as long as the reversal window.',
  // A50, A51, A55
  TECHNIQUE_CONTRADICTORY: 'Declare the fields the technique rests on, or do not claim it.',
} as const;

export type ContractProblemCode = keyof typeof CONTRACT_REMEDIES;

/** A refusal of a contract; `facts.remedy` repeats the remedy for programs. */
export type ContractProblem = Rejection<ContractProblemCode>;

/**
 * Builds a problem.
 *
 * Shape: `path` is a JSON pointer into the contract; `what` says what is wrong, without a full stop.
 */
export function problem(code: ContractProblemCode, path: string, what: string): ContractProblem {
  const remedy = CONTRACT_REMEDIES[code];
  return { code, path, message: `${what}. ${remedy}`, facts: { remedy } };
}
