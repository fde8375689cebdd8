import './node-version.js';
export { ManualClock, systemClock } from '@recourse/kernel';
export type { Clock, Json } from '@recourse/kernel';
export { effectKey, mutationId } from './effect-key.js';
export type { EffectIdentity } from './effect-key.js';
export {
  ASSUMPTIONS_TOPIC,
  chunkBody,
  checkpointBody,
  createProducer,
  executedBody,
  EXECUTIONS_TOPIC,
  plannedBody,
} from './producer/producer.js';
export type {
  Action,
  ActionOutcome,
  Preparation,
  Producer,
  ProducerOptions,
  Statement,
  ToldChunk,
  ToldCheckpoint,
} from './producer/producer.js';
export { createSignals, SIGNALS_TOPIC } from './signals/signals.js';
export type {
  Incident,
  SaidIncident,
  SaidOutcome,
  SaidScore,
  Score,
  Signals,
  SignalsOptions,
} from './signals/signals.js';
export { MemoryProducer } from './producer/producer.memory.js';
export type { Told } from './producer/producer.memory.js';
export { RELEASE_PARTS, releaseDiff, releaseDigest, releaseRef, releaseStatement } from './release.js';
export type { ReleaseDifference, ReleasePart, ReleaseTuple } from './release.js';
export { connect } from './connect/connect.js';
export type {
  ConnectedConsumerOptions,
  ConnectedGuardOptions,
  ConnectedParts,
  ConnectedPlace,
  ConnectedTool,
  Travels,
  ConnectedWorkerOptions,
  ConnectOptions,
  Recourse,
  TypedTool,
} from './connect/connect.messages.js';
export { CONNECT_REMEDIES, ConnectProblem } from './connect/connect.problem.js';
export { endPlainly, noteLine, plainly } from './connect/plainly.js';
export type { ConnectCode } from './connect/connect.problem.js';
export { kafkaAccessIn } from './connect/kafka-access.js';
export { registeredContract } from './connect/registered.js';
export type { RegisteredContract } from './connect/registered.js';
export { findStack } from './connect/stack-file.js';
export type { StackFile } from './connect/stack-file.js';
export { CONNECT_VARIABLES } from './connect/whereabouts.js';
export type { Addresses, Environment } from './connect/whereabouts.js';
export { guard } from './guard/guard.js';
export { actionDigestOf, actionOf } from './guard/action.js';
export type {
  ForwardContext,
  ForwardTool,
  GuardedCall,
  GuardedResult,
  GuardedTool,
  GuardMode,
  GuardOptions,
  GuardTrouble,
  GuardTroubleCode,
  RecoveryIds,
  RunContext,
  StandardSchema,
} from './guard/guard.messages.js';
export type { ToolFailure } from './guard/failure.decisions.js';
export { guardCompensation } from './guard/compensation.js';
export type { CompensationOptions } from './guard/compensation.js';
export { ERROR_KINDS, verdictFor } from './guard/verdict.decisions.js';
export type { ErrorKind, ToolError, ToolVerdict } from './guard/verdict.decisions.js';
export { COMPENSATION_ACTIONS, directiveFor, OUTCOME_OF_DIRECTIVE, PLAYBOOK } from '@recourse/contract';
export type { CompensationAction, Directive, FailedCall, Playbook } from '@recourse/contract';
export type { ApprovalAnswer, ApprovalRequest, Approvals } from './guard/approval.port.js';
export { HttpApprovals } from './guard/approval.http.js';
export { MemoryApprovals } from './guard/approval.memory.js';
export type { Standing, StandingAnswer } from './guard/standing.port.js';
export { HttpStanding } from './guard/standing.http.js';
export { MemoryStanding } from './guard/standing.memory.js';
export { bodyOf, docOf, EDGE_REMEDIES, edgeClient, EdgeProblem } from './edge/edge.js';
export type {
  Doc,
  EdgeAnswer,
  EdgeClient,
  EdgeOptions,
  EdgeRequest,
  EdgeResponse,
  Listed,
  Query,
} from './edge/edge.js';
export { askOfRun, isWayUp } from './edge/run-place.js';
export type { Entries, EntriesAnswer, RegisteredEntry } from './entries/entries.port.js';
export { HttpEntries } from './entries/entries.http.js';
export { MemoryEntries } from './entries/entries.memory.js';
export { cachedEntries } from './entries/entries.cached.js';
export { checkArgs } from '@recourse/contract';
export type { ArgsProblem, ArgsProblemCode } from '@recourse/contract';
export type { Budget, ReservationAnswer, ReservationRequest } from './guard/budget.port.js';
export { HttpBudget } from './guard/budget.http.js';
export { MemoryBudget } from './guard/budget.memory.js';
export { undos, untilEnded } from './undo/undo.js';
export type {
  PreviewItem,
  ReportItem,
  UndoOptions,
  UndoPreview,
  UndoReport,
  UndoRequest,
  Undos,
  WaitOptions,
} from './undo/undo.js';
export { createWorker, RESULTS_TOPIC } from './worker/worker.js';
export type { AnsweredStep, Worker, WorkerNote, WorkerOptions } from './worker/worker.messages.js';
export { closingRef, forwardFinding, happened, notHappened } from '@recourse/contract';
export type { ForwardFinding } from '@recourse/contract';
export { runLeg } from './worker/leg-runner.js';
export type { LegParts } from './worker/leg-runner.js';
export type { CalledTool } from './worker/tool-call.js';
export type { MayGoOn } from './worker/may-go-on.js';
export { spanFile } from './worker/spans.js';
export type { OnSpan, SpanFileOptions, WorkerSpan } from './worker/spans.js';
export { advance, decideStep, isLeaseOver, NOT_BEGUN } from './worker/leg.decisions.js';
export type {
  CallFailure,
  StepAction,
  StepEnd,
  StepErrorKind,
  StepEvent,
  StepProgress,
  StepSituation,
} from './worker/leg.messages.js';
export { MEMORY_CONTRACTS, MemoryTools } from './worker/tool.memory.js';
export { runDrill } from './drill/drill.js';
export type { Canary, DrillFinding, DrillKit, DrillOptions, DrillReport } from './drill/drill.messages.js';
export { DRILL_PATHS } from './drill/drill.decisions.js';
export type { DriftKind, DrillPath, DrillVerdict } from './drill/drill.decisions.js';
export { ToolConflict, ToolRejected } from './tool/tool.js';
export type { Tool, ToolContext } from './tool/tool.js';
export type { Claim, ClaimStore } from './stores/claim-store.port.js';
export { FileClaimStore } from './stores/claim-store.file.js';
export { MemoryClaimStore } from './stores/claim-store.memory.js';
export type { Position, PositionStore } from './stores/position-store.port.js';
export { FilePositionStore } from './stores/position-store.file.js';
export { MemoryPositionStore } from './stores/position-store.memory.js';
export { announcedIn, settledIn } from '@recourse/messages';
export type { Announced, Settled } from '@recourse/messages';
export { createNotificationConsumer, NOTIFICATIONS_TOPIC } from './consumer/notification-consumer.js';
export type {
  Notification,
  NotificationConsumer,
  NotificationConsumerOptions,
} from './consumer/notification-consumer.js';
export { createCheckpoints } from './checkpoint/checkpoints.js';
export type { Checkpoints, CheckpointsOptions } from './checkpoint/checkpoints.js';
export { CHECKPOINT_REMEDIES } from './checkpoint/checkpoint.messages.js';
export type {
  CheckpointAnswer,
  CheckpointRefusalCode,
  CheckpointRefused,
  CheckpointStep,
} from './checkpoint/checkpoint.messages.js';
export { FRESH_START, resume, ResumeUnavailable } from './checkpoint/resume.js';
export type { FallenCommit, FallEvidence, ResumeAnswer, Resumed, ResumeSource } from './checkpoint/resume.port.js';
export { HttpResume } from './checkpoint/resume.http.js';
export { MemoryResume } from './checkpoint/resume.memory.js';
export { createDetector, DetectorRuleInvalid, triggerTeller } from './detector/detector.js';
export type { Detector, DetectorOptions, TellerOptions } from './detector/detector.js';
export { detect } from './detector/detector.decisions.js';
export { DETECTION_REMEDIES, SIGHTING_KINDS } from './detector/detector.messages.js';
export type {
  Detection,
  DetectionRefusal,
  DetectionRefusalCode,
  DetectorRule,
  Offender,
  OffenderRule,
  Sighting,
  SightingKind,
  Trigger,
} from './detector/detector.messages.js';
export { toolReturn } from './detector/sightings.js';
export type { ToolReturn } from './detector/sightings.js';
export { observationBody, serveDetector } from './detector/detector.server.js';
export type { DetectorServer, DetectorServerOptions } from './detector/detector.server.js';
export { createDetectorConsumer } from './detector/detector.consumer.js';
export type { DetectorConsumer, DetectorConsumerOptions } from './detector/detector.consumer.js';
export type { RollbackTriggers, TriggerAnswer, TriggerRequest } from './detector/rollback-triggers.port.js';
export { HttpRollbackTriggers } from './detector/rollback-triggers.http.js';
export { MemoryRollbackTriggers } from './detector/rollback-triggers.memory.js';
export { createRollbackConsumer } from './consumer/rollback-consumer.js';
export type { RollbackConsumer, RollbackConsumerOptions, Subscription } from './consumer/rollback-consumer.js';
export { createRollbackPoll } from './consumer/rollback-poll.js';
export type { RollbackPoll, RollbackPollOptions } from './consumer/rollback-poll.js';
export { RollbackHandlerFailed } from './consumer/own-record.js';
export type { HeardCommit, HeardRollback, OwnRecord, RollbackHandlers } from './consumer/own-record.js';
export type { BarrierOutcome } from './consumer/barrier.js';
export { ACKS_TOPIC } from './consumer/ack-outbox.js';
export type { CommitState, Inbox, InboxSession, OwnCommit } from './consumer/inbox.port.js';
export { MemoryInbox } from './consumer/inbox.memory.js';
export type { MemoryRows } from './consumer/inbox.memory.js';
export { PostgresInbox } from './consumer/inbox.postgres.js';
export type { SqlClient, SqlPool } from './consumer/inbox.postgres.js';
export { recoverabilityNote, toolCatalog } from './context/tool-catalog.js';
export type { CatalogTool } from './context/tool-catalog.js';
export { classify, markedPayload, SENSITIVITIES, sensitivityOf } from './context/classification.decisions.js';
export type { Classification, DataFinding, Sensitivity } from './context/classification.decisions.js';
export type { Consent, Consents } from './context/consents.port.js';
export { FileConsents } from './context/consents.file.js';
export { MemoryConsents } from './context/consents.memory.js';
export type { QueryLog } from './context/query-log.port.js';
export { FileQueryLog } from './context/query-log.file.js';
export { MemoryQueryLog } from './context/query-log.memory.js';
export { memoryReads, memoryRefusal } from './context/memory-reads.js';
export type { MemoryItem, MemoryRead, MemoryReads, MemoryReadsOptions, Sources } from './context/memory-reads.js';
export type { MemoryQuery, MemoryQueryRecord, MemoryRefusalCode } from './context/memory.messages.js';
export { guardExecute, guardFunction, guardMcp, serverFingerprint } from './adapters/agent-tools.js';
export type {
  AdapterOptions,
  CallPlace,
  McpAnswer,
  McpClient,
  McpContracts,
  McpOptions,
  McpTool,
  ToolExtras,
} from './adapters/agent-tools.js';
