export { parseContract, readContract, contractBody, contractDigest, sizeProblems } from './body.js';
export { checkArgs } from './args.js';
export type { ArgsProblem, ArgsProblemCode } from './args.js';
export { checkContract, CONTRACT_RULES, reviewContract } from './rules.js';
export type { KnownCapabilities } from './rules/rule.js';
export { capabilitiesNamed, provingNothing } from './rules/observation.rules.js';
export { CONTRACT_REMEDIES, problem } from './problems.js';
export type { ContractProblem } from './problems.js';
export { CAPABILITY_PATTERN, contractSchema } from './shape.js';
export type { Contract, ContractDraft } from './shape.js';
export {
  adapterOf,
  availableFor,
  CLASS_WEIGHTS,
  hasSideEffects,
  isAutomated,
  isManual,
  isGrave,
  isUndoable,
  reversalCallsOf,
  reversalCapabilityOf,
  windowOf,
} from './class.js';
export {
  EXPOSURE,
  MINOR_PER_ONE,
  REGULATORY,
  SENSITIVITIES,
  atLeast,
  consequenceOf,
  declaresMoney,
  debitsOf,
  exposureOf,
  isUnit,
  knownAfterwards,
  knownOfErased,
  reservationId,
  sensitivityOf,
  subjectOf,
  valueOf,
  weighted,
} from './consequence.js';
export type { Sensitivity } from './consequence.js';
export { COMPENSATION_ACTIONS, directiveFor, ERROR_KINDS, OUTCOME_OF_DIRECTIVE, PLAYBOOK } from './playbook.js';
export type { CompensationAction, Directive, ErrorKind, FailedCall, Playbook } from './playbook.js';
export {
  argsAt,
  bindReversal,
  callAt,
  callCountOf,
  callsBehind,
  capabilitiesOf,
  keyAt,
  stepAt,
  unfitArgs,
} from './binding.js';
export type { Binding, BindingFacts } from './binding.js';
export type { BriefTerms } from './terms.js';
export { briefOf, checksOf, classUnder, isRead, isUnsaid, termsOf } from './terms.js';
export { asksForArgs, boundFacts, conditionProblem, evaluateCondition, evaluateExpression } from './condition.js';
export { evaluateSuccess } from './condition-proof.js';
export {
  contractByDigest,
  contractByName,
  contractOfOpen,
  contractsOfCalled,
  contractView,
  editorsOf,
  handlePlaces,
  isCloser,
  isSuperseded,
  SUPERSEDED_GRACE_MS,
} from './view.js';
export type { ContractEntries, KnownContract } from './view.js';
export {
  isErased,
  jsonOfPayload,
  PayloadUnreadable,
  plainPayload,
  readPayload,
  subjectId,
  subjectOfAssumption,
  subjectOfRecord,
} from './payload.js';
export { pointerOf, readPointer } from './json-pointer.js';
export { ADVICE, adviceOn } from './advice.js';
export type { Advice } from './advice.js';
export { CONTRACT_FIELD_DOCS, contractJsonSchema } from './json-schema.js';
export { diffContracts, isWeakening } from './diff/contract-diff.js';
export { governing, looserThan } from './diff/governing.js';
export type { Difference } from './diff/comparers.js';
export { compatibilityReport } from './diff/compatibility.js';
export type { Compatibility } from './diff/compatibility.js';
export type { Draft } from './draft/draft.js';
export { DRAFT_SOURCES, draftsFrom, sourceOf } from './draft/sources.js';
export type { DraftSource } from './draft/sources.js';
export { toolFingerprint } from './fingerprint.js';
export { answerFor, answerText } from './answer.js';
export type { Undoability } from './answer.js';
export { boundNow, MODES_BY_STRICTNESS, stricter } from './bound-now.js';
export type { BoundNow } from './bound-now.js';
export { answerForMutation, isAnsweredFor, mutationAnswerText, peopleNeeded } from './answer-mutation.js';
export type { BindingBeside, MutationStanding } from './answer-mutation.js';
export { forwardApprovalId, forwardDigest } from './forward-digest.js';
export type { ForwardAction } from './forward-digest.js';
export { ENTRY_KINDS, ENTRY_REMEDIES, isScope, reviewEntry, routineProblem } from './entries/shapes.js';
export type { EntryBody, EntryProblem } from './entries/shapes.js';
export { autonomyPolicy, ceilingIn, grantAt, lowerRung, RUNGS, stricterGrant } from './entries/autonomy.js';
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
export type { Acting, Verdict } from './entries/verdicts.js';
export {
  answerableFor,
  bundleVersions,
  charterFor,
  charterVerdict,
  entryOf,
  entryView,
  ownersEver,
  ownersOfSource,
  routinesFor,
  standingEntry,
  subscriptionsOf,
} from './entries/view.js';
export type { StandingEntry, StandingRoutine, StandingSubscription } from './entries/view.js';
export { autonomiesFor, autonomyOf } from './entries/autonomy.view.js';
export type { StandingAutonomy } from './entries/autonomy.view.js';
export { entryPlace } from './entries/places.js';
export { tightened } from './entries/joins.js';
export { closingRef, isClosingRef } from './closing.js';
export { forwardFinding, happened, notHappened } from './finding.js';
export type { ForwardFinding } from './finding.js';
export { isSomeAgentStopped, killVerdict } from './entries/kills.js';
export { decisionsShape, pinShape } from './packet/packed-pins.js';
export type { PackedDecisions, PackedPin } from './packet/packed-pins.js';
