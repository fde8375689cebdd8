export { parseContract, readContract, contractBody, contractDigest } from './body.js';
export type { ParsedContract, ReadContract } from './body.js';
export { checkArgs, schemaProblem } from './args.js';
export type { ArgsProblem, ArgsProblemCode } from './args.js';
export { checkContract, CONTRACT_RULES, reviewContract } from './rules.js';
export type { Finding, KnownCapabilities, Rule } from './rules/rule.js';
export { capabilitiesNamed } from './rules/observation.rules.js';
export { CONTRACT_REMEDIES, problem } from './problems.js';
export type { ContractProblem, ContractProblemCode } from './problems.js';
export { BODY_BYTES_MAX, CAPABILITY_PATTERN, contractSchema } from './shape.js';
export type { Contract, ContractDraft, ReversalArg } from './shape.js';
export {
  adapterOf,
  availableFor,
  CLASS_WEIGHTS,
  hasSideEffects,
  isAutomated,
  isManual,
  isUndoable,
  reversalCallsOf,
  reversalCapabilityOf,
  weightOf,
  windowOf,
} from './class.js';
export {
  COUNTED_UNITS,
  EXPOSURE,
  MINOR_PER_ONE,
  REGULATORY,
  SENSITIVITIES,
  atLeast,
  consequenceOf,
  debitsOf,
  exposureOf,
  isUnit,
  knownAfterwards,
  reservationId,
  sensitivityOf,
  subjectOf,
  valueOf,
  weighted,
} from './consequence.js';
export type { CallFacts, Consequence, Sensitivity } from './consequence.js';
export { COMPENSATION_ACTIONS, directiveFor, ERROR_KINDS, OUTCOME_OF_DIRECTIVE, PLAYBOOK } from './playbook.js';
export type { CompensationAction, Directive, ErrorKind, FailedCall, Playbook } from './playbook.js';
export { argsAt, bindReversal, callAt, callCountOf, callsBehind, capabilitiesOf, keyAt, stepAt } from './binding.js';
export type { Binding, BindingFacts } from './binding.js';
export type { BriefTerms } from './terms.js';
export { briefOf, checksOf, classUnder, isRead, isUnsaid, termsOf } from './terms.js';
export { boundFacts, conditionProblem, evaluateCondition, evaluateExpression } from './condition.js';
export type { ConditionFacts, ConditionVerdict } from './condition.js';
export { contractByDigest, contractByName, contractView, editorsOf, isCloser } from './view.js';
export type { ContractEntries, KnownContract } from './view.js';
export {
  PayloadUnreadable,
  plainPayload,
  readPayload,
  subjectId,
  subjectOfAssumption,
  subjectOfRecord,
} from './payload.js';
export type { PayloadProblemCode } from './payload.js';
export { pointerOf, readPointer } from './json-pointer.js';
export { ADVICE, adviceOn } from './advice.js';
export type { Advice, AdviceCode, LadderTechnique } from './advice.js';
export { CONTRACT_FIELD_DOCS, contractJsonSchema } from './json-schema.js';
export { diffContracts, isWeakening } from './diff/contract-diff.js';
export { governing, looserThan } from './diff/governing.js';
export type { Difference, DifferenceKind } from './diff/comparers.js';
export { compatibilityReport } from './diff/compatibility.js';
export type { Compatibility, CompatibilityCode, OpenVersion } from './diff/compatibility.js';
export { capabilityOf, draftOf } from './draft/draft.js';
export type { Draft, SafetyClass, ToolFacts } from './draft/draft.js';
export { DRAFT_SOURCES, draftsFrom, sourceOf } from './draft/sources.js';
export type { DraftOptions, DraftSource } from './draft/sources.js';
export { toolFingerprint } from './fingerprint.js';
export { answerFor, answerText } from './answer.js';
export type { Undoability, UndoAnswer } from './answer.js';
export { answerForMutation, mutationAnswerText, peopleNeeded } from './answer-mutation.js';
export type { MutationAnswer, MutationStanding } from './answer-mutation.js';
export { forwardDigest } from './forward-digest.js';
export type { ForwardAction } from './forward-digest.js';
export { ENTRY_KINDS, ENTRY_REMEDIES, PROPAGATION_P99_MS, reviewEntry, routineProblem } from './entries/shapes.js';
export type { EntryBody, EntryProblem, EntryProblemCode, ReviewedEntry } from './entries/shapes.js';
export {
  autonomyPolicy,
  ceilingIn,
  grantAt,
  GRANTED_APPROVALS,
  lowerRung,
  RUNGS,
  stricterGrant,
} from './entries/autonomy.js';
export type { AutonomyPolicy, Grant, GrantedApproval } from './entries/autonomy.js';
export { isWithinRule, ROUTINE_COUNT_MAX, ROUTINE_WINDOW_MAX_MS, unroutine } from './entries/routine.js';
export type { RoutineFacts, RoutineRule } from './entries/routine.js';
export {
  admissionVerdict,
  chartersVerdict,
  evidenceVerdict,
  intentVerdict,
  isInScope,
  recoveryVerdict,
  switchVerdict,
} from './entries/verdicts.js';
export type { Acting, RecoveryVerdict, StandingSwitch, Verdict, VerdictCode } from './entries/verdicts.js';
export {
  bundleDigests,
  charterFor,
  charterVerdict,
  entryOf,
  entryView,
  killVerdict,
  ownersOfSource,
  routinesFor,
  standingEntry,
  subscriptionsOf,
} from './entries/view.js';
export type { StandingEntry, StandingRoutine, StandingSubscription } from './entries/view.js';
export { autonomiesFor, autonomyOf } from './entries/autonomy.view.js';
export type { StandingAutonomy } from './entries/autonomy.view.js';
export { tightened } from './entries/joins.js';
export { closingRef, isClosingRef } from './closing.js';
export { forwardFinding, happened, notHappened } from './finding.js';
export type { ForwardFinding } from './finding.js';
