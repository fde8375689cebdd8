// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { AssumptionDeclared, AssumptionInvalidated, AssumptionReaffirmed, AssumptionStated, HandleClaimed, HandleNamed, StatementConflicted } from './assumptions.js';
import type { AlarmClosed, AlarmRaised, HeadsSigned } from './audit.js';
import type { AgentSignalled, AutonomyChanged, FreezeAutonomy, SignalRefused, UnfreezeAutonomy } from './autonomy.js';
import type { BudgetDebited, BudgetEscalated, BudgetOpened, BudgetOverdue, BudgetOverrun, BudgetRefunded, BudgetReleased, BudgetReserved, BudgetRetried, BudgetSettled, CeilingMoved, CeilingProposed, DecideEscalation, EscalationDecided, ForwardApprovalNoted, MoveCeiling, OpenBudget, ReleaseReservation, ReserveBudget } from './budgets.js';
import type { RollbackAcknowledged } from './consumers.js';
import type { ConfirmRegistration, ContractRegistered, ContractRetired, EntryRegistered, EntryRetired, RegisterContract, RegisterEntry, RegistrationDropped, RegistrationProposed, RetireContract, RetireEntry, WithdrawRegistration } from './contracts.js';
import type { CheckpointTaken, StateChunk, ToolExecuted, ToolPlanned } from './executions.js';
import type { CommandAnswered, CutAccepted, DiscardParked, ObligationResent, ParkedResolved, PayloadsRead, Progress, RecordParked, RecordReading, RecordRedirected, RecordsRefused, RedriveParked, TimeAccepted, WireLossAccepted } from './log.js';
import type { AckRefused, AnswerRefused, BreakerClosed, BreakerOpened, CancelMutation, CheckpointHardened, CheckpointRecorded, CheckpointRolledBack, CloseBreaker, CommitBeyondBound, CompensationsExecuted, ConfirmTrigger, ConsumerAcknowledged, DeliveryOverdue, DeliveryReviewed, DivergenceReviewed, EffectAgreed, ErasureOrdered, ExecutionConflicted, ExecutionOverdue, HandleJudged, HeldReviewed, HoldElapsed, LineageReconciled, MutationPlanned, MutationReaffirmed, MutationRecorded, MutationSettled, MutationsFell, OrderErasure, OutOfBandReviewed, Reattached, ReconcileLineage, ReconcileMutation, RecoverabilityChanged, ReevaluationClosed, ReevaluationContinued, ReevaluationOpened, RejectTrigger, ReviewDelivery, ReviewDivergence, ReviewOutOfBand, ReviewTrend, RollbackEscalated, RollbackOutOfBand, SettleMutation, SourceJudged, SpreadClosed, SpreadContinued, SpreadOpened, StateChunkRecorded, StormCounted, TrendReviewed, TrendRose, TriggerHeld, TriggerRedundant, TriggerRejected, TriggerRollback, TriggerUnmatched, UndoListed, UndoRun, WindowClosing, WorkerAnswered, WorkerAsked } from './mutations.js';
import type { BoundReached, CommitReattached, DerivationAnnounced, RollbackAnnounced, RollbackSettled } from './notifications.js';
import type { OutcomeCounted, OutcomeRecorded } from './outcomes.js';
import type { AbandonStep, ApproveStep, BreakGlass, BreakerNoted, CheckStep, CloseIncident, CloseTask, DecideForwardApproval, DenyStep, DependentNoted, DependentSettled, EscalateStep, FactChanged, FactsAsked, FactsObserved, ForwardApprovalDecided, ForwardApprovalExpired, ForwardApprovalRequested, ForwardApprovalUsed, GlassBroken, HaltsReviewed, IncidentClosed, IncidentOpened, LegDispatched, LegSettled, LookAnswered, LookDispatched, MutationAdvanced, RecoveryClosed, RecoveryPlanned, ReportRefused, RequestForwardApproval, ResolveStep, RetryStep, StepApproved, StepBound, StepDenied, StepEscalated, StepHalted, StepReopened, StepResolved, StepWaits, TaskClosed, TasksOpened, UseForwardApproval } from './recoveries.js';
import type { LegReported, LegRequested } from './tools.js';

/** The topics of schemas/topics.json, with the full names of their records. */
export const TOPICS = [
  {
    "name": "recourse.tool-executions",
    "kind": "wire",
    "key": "run id",
    "partitioned": true,
    "records": [
      "recourse.executions.ToolPlanned",
      "recourse.executions.ToolExecuted",
      "recourse.executions.CheckpointTaken",
      "recourse.executions.StateChunk"
    ],
    "written_by": "producers, consumers (what they derive)",
    "read_by": "mutation-ledger",
    "doc": "What agents did.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "604800000",
      "retention.bytes": "-1",
      "max.message.bytes": "3145728",
      "message.timestamp.type": "LogAppendTime"
    }
  },
  {
    "name": "recourse.assumption-events",
    "kind": "wire",
    "key": "assumption ref",
    "partitioned": true,
    "records": [
      "recourse.assumptions.AssumptionDeclared",
      "recourse.assumptions.AssumptionInvalidated",
      "recourse.assumptions.AssumptionReaffirmed",
      "recourse.assumptions.HandleNamed"
    ],
    "written_by": "producers, critics, mutation-ledger (handles)",
    "read_by": "mutation-ledger",
    "doc": "What the outside world says about assumptions, and which handles executions name.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "604800000",
      "retention.bytes": "-1",
      "max.message.bytes": "3145728",
      "message.timestamp.type": "LogAppendTime"
    }
  },
  {
    "name": "recourse.registry-commands",
    "kind": "wire",
    "key": "name",
    "partitioned": false,
    "records": [
      "recourse.contracts.RegisterContract",
      "recourse.contracts.RetireContract",
      "recourse.contracts.ConfirmRegistration",
      "recourse.contracts.WithdrawRegistration",
      "recourse.contracts.RegisterEntry",
      "recourse.contracts.RetireEntry",
      "recourse.log.RedriveParked",
      "recourse.log.DiscardParked",
      "recourse.log.RecordReading"
    ],
    "written_by": "contract-registry (its edge)",
    "read_by": "contract-registry",
    "doc": "Commands to the contract registry.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "604800000",
      "retention.bytes": "-1",
      "max.message.bytes": "3145728",
      "message.timestamp.type": "LogAppendTime"
    }
  },
  {
    "name": "recourse.ledger-commands",
    "kind": "wire",
    "key": "run id, or partition key",
    "partitioned": true,
    "records": [
      "recourse.mutations.CancelMutation",
      "recourse.mutations.SettleMutation",
      "recourse.mutations.ReconcileMutation",
      "recourse.log.RedriveParked",
      "recourse.log.DiscardParked",
      "recourse.log.RecordReading",
      "recourse.mutations.ReconcileLineage",
      "recourse.mutations.ReviewDivergence",
      "recourse.mutations.TriggerRollback",
      "recourse.mutations.UndoRun",
      "recourse.mutations.ConfirmTrigger",
      "recourse.mutations.RejectTrigger",
      "recourse.mutations.ReviewOutOfBand",
      "recourse.mutations.CloseBreaker",
      "recourse.mutations.ReviewTrend",
      "recourse.mutations.ReviewDelivery",
      "recourse.mutations.OrderErasure"
    ],
    "written_by": "mutation-ledger (its edge), critics",
    "read_by": "mutation-ledger",
    "doc": "Commands to the mutation ledger.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "604800000",
      "retention.bytes": "-1",
      "max.message.bytes": "3145728",
      "message.timestamp.type": "LogAppendTime"
    }
  },
  {
    "name": "recourse.recovery-commands",
    "kind": "wire",
    "key": "run id",
    "partitioned": true,
    "records": [
      "recourse.recoveries.ApproveStep",
      "recourse.recoveries.DenyStep",
      "recourse.recoveries.ResolveStep",
      "recourse.recoveries.CloseTask",
      "recourse.recoveries.BreakGlass",
      "recourse.recoveries.RetryStep",
      "recourse.recoveries.AbandonStep",
      "recourse.recoveries.CheckStep",
      "recourse.recoveries.EscalateStep",
      "recourse.recoveries.CloseIncident",
      "recourse.recoveries.RequestForwardApproval",
      "recourse.recoveries.DecideForwardApproval",
      "recourse.recoveries.UseForwardApproval",
      "recourse.log.RedriveParked",
      "recourse.log.DiscardParked",
      "recourse.log.RecordReading"
    ],
    "written_by": "recovery-orchestrator (its edge)",
    "read_by": "recovery-orchestrator",
    "doc": "Commands to the recovery orchestrator.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "604800000",
      "retention.bytes": "-1",
      "max.message.bytes": "3145728",
      "message.timestamp.type": "LogAppendTime"
    }
  },
  {
    "name": "recourse.budget-commands",
    "kind": "wire",
    "key": "tenant",
    "partitioned": true,
    "records": [
      "recourse.budgets.OpenBudget",
      "recourse.budgets.MoveCeiling",
      "recourse.budgets.ReserveBudget",
      "recourse.budgets.ReleaseReservation",
      "recourse.budgets.DecideEscalation",
      "recourse.autonomy.FreezeAutonomy",
      "recourse.autonomy.UnfreezeAutonomy",
      "recourse.log.RedriveParked",
      "recourse.log.DiscardParked",
      "recourse.log.RecordReading"
    ],
    "written_by": "budget-accountant (its edge)",
    "read_by": "budget-accountant",
    "doc": "Commands to the budget accountant.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "604800000",
      "retention.bytes": "-1",
      "max.message.bytes": "3145728",
      "message.timestamp.type": "LogAppendTime"
    }
  },
  {
    "name": "recourse.tool-requests.payments",
    "kind": "wire",
    "key": "run id",
    "partitioned": true,
    "records": [
      "recourse.tools.LegRequested"
    ],
    "written_by": "recovery-orchestrator, mutation-ledger",
    "read_by": "workers",
    "doc": "Legs for the workers of the adapter payments.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "604800000",
      "retention.bytes": "-1",
      "max.message.bytes": "3145728",
      "message.timestamp.type": "LogAppendTime"
    }
  },
  {
    "name": "recourse.tool-results",
    "kind": "wire",
    "key": "run id",
    "partitioned": true,
    "records": [
      "recourse.tools.LegReported"
    ],
    "written_by": "workers",
    "read_by": "recovery-orchestrator, mutation-ledger",
    "doc": "What workers did and observed.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "604800000",
      "retention.bytes": "-1",
      "max.message.bytes": "3145728",
      "message.timestamp.type": "LogAppendTime"
    }
  },
  {
    "name": "recourse.consumer-acks",
    "kind": "wire",
    "key": "run id",
    "partitioned": true,
    "records": [
      "recourse.consumers.RollbackAcknowledged"
    ],
    "written_by": "consumers",
    "read_by": "mutation-ledger",
    "doc": "What consumers applied, derived and emitted.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "604800000",
      "retention.bytes": "-1",
      "max.message.bytes": "3145728",
      "message.timestamp.type": "LogAppendTime"
    }
  },
  {
    "name": "recourse.agent-signals",
    "kind": "wire",
    "key": "tenant",
    "partitioned": true,
    "records": [
      "recourse.autonomy.AgentSignalled",
      "recourse.outcomes.OutcomeRecorded"
    ],
    "written_by": "producers, critics",
    "read_by": "budget-accountant",
    "doc": "How agents did: scores, incidents, and what their work cost and was worth.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "604800000",
      "retention.bytes": "-1",
      "max.message.bytes": "3145728",
      "message.timestamp.type": "LogAppendTime"
    }
  },
  {
    "name": "recourse.contracts",
    "kind": "log",
    "key": "name",
    "partitioned": false,
    "records": [
      "recourse.log.Progress",
      "recourse.log.RecordParked",
      "recourse.log.ParkedResolved",
      "recourse.log.PayloadsRead",
      "recourse.log.CommandAnswered",
      "recourse.log.ObligationResent",
      "recourse.log.CutAccepted",
      "recourse.log.WireLossAccepted",
      "recourse.log.TimeAccepted",
      "recourse.log.RecordRedirected",
      "recourse.log.RecordsRefused",
      "recourse.contracts.ContractRegistered",
      "recourse.contracts.ContractRetired",
      "recourse.contracts.RegistrationProposed",
      "recourse.contracts.RegistrationDropped",
      "recourse.contracts.EntryRegistered",
      "recourse.contracts.EntryRetired"
    ],
    "written_by": "contract-registry",
    "read_by": "mutation-ledger (broadcast), recovery-orchestrator (broadcast), budget-accountant (broadcast), notifier",
    "doc": "Contracts and what else is registered.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "-1",
      "retention.bytes": "-1",
      "max.message.bytes": "1048576"
    }
  },
  {
    "name": "recourse.assumptions",
    "kind": "log",
    "key": "assumption ref",
    "partitioned": true,
    "records": [
      "recourse.log.Progress",
      "recourse.log.RecordParked",
      "recourse.log.ParkedResolved",
      "recourse.log.PayloadsRead",
      "recourse.log.CommandAnswered",
      "recourse.log.ObligationResent",
      "recourse.log.CutAccepted",
      "recourse.log.WireLossAccepted",
      "recourse.log.TimeAccepted",
      "recourse.log.RecordRedirected",
      "recourse.log.RecordsRefused",
      "recourse.assumptions.AssumptionStated",
      "recourse.assumptions.StatementConflicted",
      "recourse.assumptions.HandleClaimed"
    ],
    "written_by": "mutation-ledger",
    "read_by": "mutation-ledger (broadcast), notifier",
    "doc": "Accepted statements about assumptions.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "-1",
      "retention.bytes": "-1",
      "max.message.bytes": "1048576"
    }
  },
  {
    "name": "recourse.mutations",
    "kind": "log",
    "key": "run id",
    "partitioned": true,
    "records": [
      "recourse.log.Progress",
      "recourse.log.RecordParked",
      "recourse.log.ParkedResolved",
      "recourse.log.PayloadsRead",
      "recourse.log.CommandAnswered",
      "recourse.log.ObligationResent",
      "recourse.log.CutAccepted",
      "recourse.log.WireLossAccepted",
      "recourse.log.TimeAccepted",
      "recourse.log.RecordRedirected",
      "recourse.log.RecordsRefused",
      "recourse.mutations.MutationPlanned",
      "recourse.mutations.MutationRecorded",
      "recourse.mutations.ExecutionConflicted",
      "recourse.mutations.ExecutionOverdue",
      "recourse.mutations.MutationSettled",
      "recourse.mutations.HandleJudged",
      "recourse.mutations.EffectAgreed",
      "recourse.mutations.MutationsFell",
      "recourse.mutations.RecoverabilityChanged",
      "recourse.mutations.CompensationsExecuted",
      "recourse.mutations.TriggerUnmatched",
      "recourse.mutations.SpreadOpened",
      "recourse.mutations.SpreadContinued",
      "recourse.mutations.SpreadClosed",
      "recourse.mutations.HoldElapsed",
      "recourse.mutations.WorkerAsked",
      "recourse.mutations.WorkerAnswered",
      "recourse.mutations.AnswerRefused",
      "recourse.mutations.WindowClosing",
      "recourse.mutations.MutationReaffirmed",
      "recourse.mutations.CheckpointRecorded",
      "recourse.mutations.StateChunkRecorded",
      "recourse.mutations.CheckpointRolledBack",
      "recourse.mutations.CommitBeyondBound",
      "recourse.mutations.Reattached",
      "recourse.mutations.CheckpointHardened",
      "recourse.mutations.ReevaluationOpened",
      "recourse.mutations.ReevaluationContinued",
      "recourse.mutations.ReevaluationClosed",
      "recourse.mutations.ConsumerAcknowledged",
      "recourse.mutations.DeliveryOverdue",
      "recourse.mutations.DeliveryReviewed",
      "recourse.mutations.AckRefused",
      "recourse.mutations.LineageReconciled",
      "recourse.mutations.DivergenceReviewed",
      "recourse.mutations.RollbackEscalated",
      "recourse.mutations.TriggerRedundant",
      "recourse.mutations.TriggerHeld",
      "recourse.mutations.TriggerRejected",
      "recourse.mutations.SourceJudged",
      "recourse.mutations.StormCounted",
      "recourse.mutations.BreakerOpened",
      "recourse.mutations.BreakerClosed",
      "recourse.mutations.TrendRose",
      "recourse.mutations.TrendReviewed",
      "recourse.mutations.ErasureOrdered",
      "recourse.mutations.HeldReviewed",
      "recourse.mutations.UndoListed",
      "recourse.mutations.RollbackOutOfBand",
      "recourse.mutations.OutOfBandReviewed"
    ],
    "written_by": "mutation-ledger",
    "read_by": "recovery-orchestrator (aligned), budget-accountant (broadcast), notifier",
    "doc": "Mutations, their lifecycle and rollback marks.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "-1",
      "retention.bytes": "-1",
      "max.message.bytes": "1048576"
    }
  },
  {
    "name": "recourse.recoveries",
    "kind": "log",
    "key": "run id",
    "partitioned": true,
    "records": [
      "recourse.log.Progress",
      "recourse.log.RecordParked",
      "recourse.log.ParkedResolved",
      "recourse.log.PayloadsRead",
      "recourse.log.CommandAnswered",
      "recourse.log.ObligationResent",
      "recourse.log.CutAccepted",
      "recourse.log.WireLossAccepted",
      "recourse.log.TimeAccepted",
      "recourse.log.RecordRedirected",
      "recourse.log.RecordsRefused",
      "recourse.recoveries.RecoveryPlanned",
      "recourse.recoveries.StepApproved",
      "recourse.recoveries.StepDenied",
      "recourse.recoveries.StepResolved",
      "recourse.recoveries.LegDispatched",
      "recourse.recoveries.LegSettled",
      "recourse.recoveries.StepEscalated",
      "recourse.recoveries.StepHalted",
      "recourse.recoveries.HaltsReviewed",
      "recourse.recoveries.StepBound",
      "recourse.recoveries.MutationAdvanced",
      "recourse.recoveries.StepWaits",
      "recourse.recoveries.TasksOpened",
      "recourse.recoveries.TaskClosed",
      "recourse.recoveries.GlassBroken",
      "recourse.recoveries.StepReopened",
      "recourse.recoveries.LookDispatched",
      "recourse.recoveries.LookAnswered",
      "recourse.recoveries.IncidentOpened",
      "recourse.recoveries.IncidentClosed",
      "recourse.recoveries.ForwardApprovalRequested",
      "recourse.recoveries.ForwardApprovalDecided",
      "recourse.recoveries.ForwardApprovalUsed",
      "recourse.recoveries.ForwardApprovalExpired",
      "recourse.recoveries.ReportRefused",
      "recourse.recoveries.RecoveryClosed",
      "recourse.recoveries.FactsAsked",
      "recourse.recoveries.FactsObserved",
      "recourse.recoveries.FactChanged",
      "recourse.recoveries.DependentNoted",
      "recourse.recoveries.DependentSettled",
      "recourse.recoveries.BreakerNoted"
    ],
    "written_by": "recovery-orchestrator",
    "read_by": "mutation-ledger (aligned), budget-accountant (broadcast), notifier",
    "doc": "The decision records of recovery.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "-1",
      "retention.bytes": "-1",
      "max.message.bytes": "1048576"
    }
  },
  {
    "name": "recourse.budgets",
    "kind": "log",
    "key": "tenant",
    "partitioned": true,
    "records": [
      "recourse.log.Progress",
      "recourse.log.RecordParked",
      "recourse.log.ParkedResolved",
      "recourse.log.PayloadsRead",
      "recourse.log.CommandAnswered",
      "recourse.log.ObligationResent",
      "recourse.log.CutAccepted",
      "recourse.log.WireLossAccepted",
      "recourse.log.TimeAccepted",
      "recourse.log.RecordRedirected",
      "recourse.log.RecordsRefused",
      "recourse.budgets.BudgetOpened",
      "recourse.budgets.CeilingProposed",
      "recourse.budgets.CeilingMoved",
      "recourse.budgets.BudgetReserved",
      "recourse.budgets.BudgetEscalated",
      "recourse.budgets.BudgetRetried",
      "recourse.budgets.EscalationDecided",
      "recourse.budgets.BudgetSettled",
      "recourse.budgets.BudgetOverrun",
      "recourse.budgets.BudgetOverdue",
      "recourse.budgets.BudgetReleased",
      "recourse.budgets.BudgetRefunded",
      "recourse.budgets.BudgetDebited",
      "recourse.budgets.ForwardApprovalNoted",
      "recourse.autonomy.AutonomyChanged",
      "recourse.autonomy.SignalRefused",
      "recourse.outcomes.OutcomeCounted"
    ],
    "written_by": "budget-accountant",
    "read_by": "notifier",
    "doc": "Irreversibility debt.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "-1",
      "retention.bytes": "-1",
      "max.message.bytes": "1048576"
    }
  },
  {
    "name": "recourse.rollback-notifications",
    "kind": "derived",
    "key": "run id",
    "partitioned": true,
    "records": [
      "recourse.notifications.RollbackAnnounced",
      "recourse.notifications.RollbackSettled",
      "recourse.notifications.DerivationAnnounced",
      "recourse.notifications.BoundReached",
      "recourse.notifications.CommitReattached"
    ],
    "written_by": "mutation-ledger",
    "read_by": "consumers, mutation-ledger (broadcast), recovery-orchestrator (broadcast)",
    "doc": "Derived from recourse.mutations: what downstream must hear, in order.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "-1",
      "retention.bytes": "-1",
      "max.message.bytes": "1048576"
    }
  },
  {
    "name": "recourse.signed-heads",
    "kind": "log",
    "key": "`heads`, or the alarm",
    "partitioned": false,
    "records": [
      "recourse.audit.HeadsSigned",
      "recourse.audit.AlarmRaised",
      "recourse.audit.AlarmClosed"
    ],
    "written_by": "auditor",
    "read_by": "notifier",
    "doc": "Heads of all logs and public wires, as the auditor signed them, and what it found.",
    "config": {
      "cleanup.policy": "delete",
      "retention.ms": "-1",
      "retention.bytes": "-1",
      "max.message.bytes": "1048576"
    }
  }
] as const;

/** What `recourse.tool-executions` holds. */
export type ToolExecutionsRecord =
  | { readonly type: 'ToolPlanned'; readonly body: ToolPlanned }
  | { readonly type: 'ToolExecuted'; readonly body: ToolExecuted }
  | { readonly type: 'CheckpointTaken'; readonly body: CheckpointTaken }
  | { readonly type: 'StateChunk'; readonly body: StateChunk };

/** What `recourse.assumption-events` holds. */
export type AssumptionEventsRecord =
  | { readonly type: 'AssumptionDeclared'; readonly body: AssumptionDeclared }
  | { readonly type: 'AssumptionInvalidated'; readonly body: AssumptionInvalidated }
  | { readonly type: 'AssumptionReaffirmed'; readonly body: AssumptionReaffirmed }
  | { readonly type: 'HandleNamed'; readonly body: HandleNamed };

/** What `recourse.registry-commands` holds. */
export type RegistryCommandsRecord =
  | { readonly type: 'RegisterContract'; readonly body: RegisterContract }
  | { readonly type: 'RetireContract'; readonly body: RetireContract }
  | { readonly type: 'ConfirmRegistration'; readonly body: ConfirmRegistration }
  | { readonly type: 'WithdrawRegistration'; readonly body: WithdrawRegistration }
  | { readonly type: 'RegisterEntry'; readonly body: RegisterEntry }
  | { readonly type: 'RetireEntry'; readonly body: RetireEntry }
  | { readonly type: 'RedriveParked'; readonly body: RedriveParked }
  | { readonly type: 'DiscardParked'; readonly body: DiscardParked }
  | { readonly type: 'RecordReading'; readonly body: RecordReading };

/** What `recourse.ledger-commands` holds. */
export type LedgerCommandsRecord =
  | { readonly type: 'CancelMutation'; readonly body: CancelMutation }
  | { readonly type: 'SettleMutation'; readonly body: SettleMutation }
  | { readonly type: 'ReconcileMutation'; readonly body: ReconcileMutation }
  | { readonly type: 'RedriveParked'; readonly body: RedriveParked }
  | { readonly type: 'DiscardParked'; readonly body: DiscardParked }
  | { readonly type: 'RecordReading'; readonly body: RecordReading }
  | { readonly type: 'ReconcileLineage'; readonly body: ReconcileLineage }
  | { readonly type: 'ReviewDivergence'; readonly body: ReviewDivergence }
  | { readonly type: 'TriggerRollback'; readonly body: TriggerRollback }
  | { readonly type: 'UndoRun'; readonly body: UndoRun }
  | { readonly type: 'ConfirmTrigger'; readonly body: ConfirmTrigger }
  | { readonly type: 'RejectTrigger'; readonly body: RejectTrigger }
  | { readonly type: 'ReviewOutOfBand'; readonly body: ReviewOutOfBand }
  | { readonly type: 'CloseBreaker'; readonly body: CloseBreaker }
  | { readonly type: 'ReviewTrend'; readonly body: ReviewTrend }
  | { readonly type: 'ReviewDelivery'; readonly body: ReviewDelivery }
  | { readonly type: 'OrderErasure'; readonly body: OrderErasure };

/** What `recourse.recovery-commands` holds. */
export type RecoveryCommandsRecord =
  | { readonly type: 'ApproveStep'; readonly body: ApproveStep }
  | { readonly type: 'DenyStep'; readonly body: DenyStep }
  | { readonly type: 'ResolveStep'; readonly body: ResolveStep }
  | { readonly type: 'CloseTask'; readonly body: CloseTask }
  | { readonly type: 'BreakGlass'; readonly body: BreakGlass }
  | { readonly type: 'RetryStep'; readonly body: RetryStep }
  | { readonly type: 'AbandonStep'; readonly body: AbandonStep }
  | { readonly type: 'CheckStep'; readonly body: CheckStep }
  | { readonly type: 'EscalateStep'; readonly body: EscalateStep }
  | { readonly type: 'CloseIncident'; readonly body: CloseIncident }
  | { readonly type: 'RequestForwardApproval'; readonly body: RequestForwardApproval }
  | { readonly type: 'DecideForwardApproval'; readonly body: DecideForwardApproval }
  | { readonly type: 'UseForwardApproval'; readonly body: UseForwardApproval }
  | { readonly type: 'RedriveParked'; readonly body: RedriveParked }
  | { readonly type: 'DiscardParked'; readonly body: DiscardParked }
  | { readonly type: 'RecordReading'; readonly body: RecordReading };

/** What `recourse.budget-commands` holds. */
export type BudgetCommandsRecord =
  | { readonly type: 'OpenBudget'; readonly body: OpenBudget }
  | { readonly type: 'MoveCeiling'; readonly body: MoveCeiling }
  | { readonly type: 'ReserveBudget'; readonly body: ReserveBudget }
  | { readonly type: 'ReleaseReservation'; readonly body: ReleaseReservation }
  | { readonly type: 'DecideEscalation'; readonly body: DecideEscalation }
  | { readonly type: 'FreezeAutonomy'; readonly body: FreezeAutonomy }
  | { readonly type: 'UnfreezeAutonomy'; readonly body: UnfreezeAutonomy }
  | { readonly type: 'RedriveParked'; readonly body: RedriveParked }
  | { readonly type: 'DiscardParked'; readonly body: DiscardParked }
  | { readonly type: 'RecordReading'; readonly body: RecordReading };

/** What `recourse.tool-requests.payments` holds. */
export type ToolRequestsPaymentsRecord =
  | { readonly type: 'LegRequested'; readonly body: LegRequested };

/** What `recourse.tool-results` holds. */
export type ToolResultsRecord =
  | { readonly type: 'LegReported'; readonly body: LegReported };

/** What `recourse.consumer-acks` holds. */
export type ConsumerAcksRecord =
  | { readonly type: 'RollbackAcknowledged'; readonly body: RollbackAcknowledged };

/** What `recourse.agent-signals` holds. */
export type AgentSignalsRecord =
  | { readonly type: 'AgentSignalled'; readonly body: AgentSignalled }
  | { readonly type: 'OutcomeRecorded'; readonly body: OutcomeRecorded };

/** What `recourse.contracts` holds. */
export type ContractsRecord =
  | { readonly type: 'Progress'; readonly body: Progress }
  | { readonly type: 'RecordParked'; readonly body: RecordParked }
  | { readonly type: 'ParkedResolved'; readonly body: ParkedResolved }
  | { readonly type: 'PayloadsRead'; readonly body: PayloadsRead }
  | { readonly type: 'CommandAnswered'; readonly body: CommandAnswered }
  | { readonly type: 'ObligationResent'; readonly body: ObligationResent }
  | { readonly type: 'CutAccepted'; readonly body: CutAccepted }
  | { readonly type: 'WireLossAccepted'; readonly body: WireLossAccepted }
  | { readonly type: 'TimeAccepted'; readonly body: TimeAccepted }
  | { readonly type: 'RecordRedirected'; readonly body: RecordRedirected }
  | { readonly type: 'RecordsRefused'; readonly body: RecordsRefused }
  | { readonly type: 'ContractRegistered'; readonly body: ContractRegistered }
  | { readonly type: 'ContractRetired'; readonly body: ContractRetired }
  | { readonly type: 'RegistrationProposed'; readonly body: RegistrationProposed }
  | { readonly type: 'RegistrationDropped'; readonly body: RegistrationDropped }
  | { readonly type: 'EntryRegistered'; readonly body: EntryRegistered }
  | { readonly type: 'EntryRetired'; readonly body: EntryRetired };

/** What `recourse.assumptions` holds. */
export type AssumptionsRecord =
  | { readonly type: 'Progress'; readonly body: Progress }
  | { readonly type: 'RecordParked'; readonly body: RecordParked }
  | { readonly type: 'ParkedResolved'; readonly body: ParkedResolved }
  | { readonly type: 'PayloadsRead'; readonly body: PayloadsRead }
  | { readonly type: 'CommandAnswered'; readonly body: CommandAnswered }
  | { readonly type: 'ObligationResent'; readonly body: ObligationResent }
  | { readonly type: 'CutAccepted'; readonly body: CutAccepted }
  | { readonly type: 'WireLossAccepted'; readonly body: WireLossAccepted }
  | { readonly type: 'TimeAccepted'; readonly body: TimeAccepted }
  | { readonly type: 'RecordRedirected'; readonly body: RecordRedirected }
  | { readonly type: 'RecordsRefused'; readonly body: RecordsRefused }
  | { readonly type: 'AssumptionStated'; readonly body: AssumptionStated }
  | { readonly type: 'StatementConflicted'; readonly body: StatementConflicted }
  | { readonly type: 'HandleClaimed'; readonly body: HandleClaimed };

/** What `recourse.mutations` holds. */
export type MutationsRecord =
  | { readonly type: 'Progress'; readonly body: Progress }
  | { readonly type: 'RecordParked'; readonly body: RecordParked }
  | { readonly type: 'ParkedResolved'; readonly body: ParkedResolved }
  | { readonly type: 'PayloadsRead'; readonly body: PayloadsRead }
  | { readonly type: 'CommandAnswered'; readonly body: CommandAnswered }
  | { readonly type: 'ObligationResent'; readonly body: ObligationResent }
  | { readonly type: 'CutAccepted'; readonly body: CutAccepted }
  | { readonly type: 'WireLossAccepted'; readonly body: WireLossAccepted }
  | { readonly type: 'TimeAccepted'; readonly body: TimeAccepted }
  | { readonly type: 'RecordRedirected'; readonly body: RecordRedirected }
  | { readonly type: 'RecordsRefused'; readonly body: RecordsRefused }
  | { readonly type: 'MutationPlanned'; readonly body: MutationPlanned }
  | { readonly type: 'MutationRecorded'; readonly body: MutationRecorded }
  | { readonly type: 'ExecutionConflicted'; readonly body: ExecutionConflicted }
  | { readonly type: 'ExecutionOverdue'; readonly body: ExecutionOverdue }
  | { readonly type: 'MutationSettled'; readonly body: MutationSettled }
  | { readonly type: 'HandleJudged'; readonly body: HandleJudged }
  | { readonly type: 'EffectAgreed'; readonly body: EffectAgreed }
  | { readonly type: 'MutationsFell'; readonly body: MutationsFell }
  | { readonly type: 'RecoverabilityChanged'; readonly body: RecoverabilityChanged }
  | { readonly type: 'CompensationsExecuted'; readonly body: CompensationsExecuted }
  | { readonly type: 'TriggerUnmatched'; readonly body: TriggerUnmatched }
  | { readonly type: 'SpreadOpened'; readonly body: SpreadOpened }
  | { readonly type: 'SpreadContinued'; readonly body: SpreadContinued }
  | { readonly type: 'SpreadClosed'; readonly body: SpreadClosed }
  | { readonly type: 'HoldElapsed'; readonly body: HoldElapsed }
  | { readonly type: 'WorkerAsked'; readonly body: WorkerAsked }
  | { readonly type: 'WorkerAnswered'; readonly body: WorkerAnswered }
  | { readonly type: 'AnswerRefused'; readonly body: AnswerRefused }
  | { readonly type: 'WindowClosing'; readonly body: WindowClosing }
  | { readonly type: 'MutationReaffirmed'; readonly body: MutationReaffirmed }
  | { readonly type: 'CheckpointRecorded'; readonly body: CheckpointRecorded }
  | { readonly type: 'StateChunkRecorded'; readonly body: StateChunkRecorded }
  | { readonly type: 'CheckpointRolledBack'; readonly body: CheckpointRolledBack }
  | { readonly type: 'CommitBeyondBound'; readonly body: CommitBeyondBound }
  | { readonly type: 'Reattached'; readonly body: Reattached }
  | { readonly type: 'CheckpointHardened'; readonly body: CheckpointHardened }
  | { readonly type: 'ReevaluationOpened'; readonly body: ReevaluationOpened }
  | { readonly type: 'ReevaluationContinued'; readonly body: ReevaluationContinued }
  | { readonly type: 'ReevaluationClosed'; readonly body: ReevaluationClosed }
  | { readonly type: 'ConsumerAcknowledged'; readonly body: ConsumerAcknowledged }
  | { readonly type: 'DeliveryOverdue'; readonly body: DeliveryOverdue }
  | { readonly type: 'DeliveryReviewed'; readonly body: DeliveryReviewed }
  | { readonly type: 'AckRefused'; readonly body: AckRefused }
  | { readonly type: 'LineageReconciled'; readonly body: LineageReconciled }
  | { readonly type: 'DivergenceReviewed'; readonly body: DivergenceReviewed }
  | { readonly type: 'RollbackEscalated'; readonly body: RollbackEscalated }
  | { readonly type: 'TriggerRedundant'; readonly body: TriggerRedundant }
  | { readonly type: 'TriggerHeld'; readonly body: TriggerHeld }
  | { readonly type: 'TriggerRejected'; readonly body: TriggerRejected }
  | { readonly type: 'SourceJudged'; readonly body: SourceJudged }
  | { readonly type: 'StormCounted'; readonly body: StormCounted }
  | { readonly type: 'BreakerOpened'; readonly body: BreakerOpened }
  | { readonly type: 'BreakerClosed'; readonly body: BreakerClosed }
  | { readonly type: 'TrendRose'; readonly body: TrendRose }
  | { readonly type: 'TrendReviewed'; readonly body: TrendReviewed }
  | { readonly type: 'ErasureOrdered'; readonly body: ErasureOrdered }
  | { readonly type: 'HeldReviewed'; readonly body: HeldReviewed }
  | { readonly type: 'UndoListed'; readonly body: UndoListed }
  | { readonly type: 'RollbackOutOfBand'; readonly body: RollbackOutOfBand }
  | { readonly type: 'OutOfBandReviewed'; readonly body: OutOfBandReviewed };

/** What `recourse.recoveries` holds. */
export type RecoveriesRecord =
  | { readonly type: 'Progress'; readonly body: Progress }
  | { readonly type: 'RecordParked'; readonly body: RecordParked }
  | { readonly type: 'ParkedResolved'; readonly body: ParkedResolved }
  | { readonly type: 'PayloadsRead'; readonly body: PayloadsRead }
  | { readonly type: 'CommandAnswered'; readonly body: CommandAnswered }
  | { readonly type: 'ObligationResent'; readonly body: ObligationResent }
  | { readonly type: 'CutAccepted'; readonly body: CutAccepted }
  | { readonly type: 'WireLossAccepted'; readonly body: WireLossAccepted }
  | { readonly type: 'TimeAccepted'; readonly body: TimeAccepted }
  | { readonly type: 'RecordRedirected'; readonly body: RecordRedirected }
  | { readonly type: 'RecordsRefused'; readonly body: RecordsRefused }
  | { readonly type: 'RecoveryPlanned'; readonly body: RecoveryPlanned }
  | { readonly type: 'StepApproved'; readonly body: StepApproved }
  | { readonly type: 'StepDenied'; readonly body: StepDenied }
  | { readonly type: 'StepResolved'; readonly body: StepResolved }
  | { readonly type: 'LegDispatched'; readonly body: LegDispatched }
  | { readonly type: 'LegSettled'; readonly body: LegSettled }
  | { readonly type: 'StepEscalated'; readonly body: StepEscalated }
  | { readonly type: 'StepHalted'; readonly body: StepHalted }
  | { readonly type: 'HaltsReviewed'; readonly body: HaltsReviewed }
  | { readonly type: 'StepBound'; readonly body: StepBound }
  | { readonly type: 'MutationAdvanced'; readonly body: MutationAdvanced }
  | { readonly type: 'StepWaits'; readonly body: StepWaits }
  | { readonly type: 'TasksOpened'; readonly body: TasksOpened }
  | { readonly type: 'TaskClosed'; readonly body: TaskClosed }
  | { readonly type: 'GlassBroken'; readonly body: GlassBroken }
  | { readonly type: 'StepReopened'; readonly body: StepReopened }
  | { readonly type: 'LookDispatched'; readonly body: LookDispatched }
  | { readonly type: 'LookAnswered'; readonly body: LookAnswered }
  | { readonly type: 'IncidentOpened'; readonly body: IncidentOpened }
  | { readonly type: 'IncidentClosed'; readonly body: IncidentClosed }
  | { readonly type: 'ForwardApprovalRequested'; readonly body: ForwardApprovalRequested }
  | { readonly type: 'ForwardApprovalDecided'; readonly body: ForwardApprovalDecided }
  | { readonly type: 'ForwardApprovalUsed'; readonly body: ForwardApprovalUsed }
  | { readonly type: 'ForwardApprovalExpired'; readonly body: ForwardApprovalExpired }
  | { readonly type: 'ReportRefused'; readonly body: ReportRefused }
  | { readonly type: 'RecoveryClosed'; readonly body: RecoveryClosed }
  | { readonly type: 'FactsAsked'; readonly body: FactsAsked }
  | { readonly type: 'FactsObserved'; readonly body: FactsObserved }
  | { readonly type: 'FactChanged'; readonly body: FactChanged }
  | { readonly type: 'DependentNoted'; readonly body: DependentNoted }
  | { readonly type: 'DependentSettled'; readonly body: DependentSettled }
  | { readonly type: 'BreakerNoted'; readonly body: BreakerNoted };

/** What `recourse.budgets` holds. */
export type BudgetsRecord =
  | { readonly type: 'Progress'; readonly body: Progress }
  | { readonly type: 'RecordParked'; readonly body: RecordParked }
  | { readonly type: 'ParkedResolved'; readonly body: ParkedResolved }
  | { readonly type: 'PayloadsRead'; readonly body: PayloadsRead }
  | { readonly type: 'CommandAnswered'; readonly body: CommandAnswered }
  | { readonly type: 'ObligationResent'; readonly body: ObligationResent }
  | { readonly type: 'CutAccepted'; readonly body: CutAccepted }
  | { readonly type: 'WireLossAccepted'; readonly body: WireLossAccepted }
  | { readonly type: 'TimeAccepted'; readonly body: TimeAccepted }
  | { readonly type: 'RecordRedirected'; readonly body: RecordRedirected }
  | { readonly type: 'RecordsRefused'; readonly body: RecordsRefused }
  | { readonly type: 'BudgetOpened'; readonly body: BudgetOpened }
  | { readonly type: 'CeilingProposed'; readonly body: CeilingProposed }
  | { readonly type: 'CeilingMoved'; readonly body: CeilingMoved }
  | { readonly type: 'BudgetReserved'; readonly body: BudgetReserved }
  | { readonly type: 'BudgetEscalated'; readonly body: BudgetEscalated }
  | { readonly type: 'BudgetRetried'; readonly body: BudgetRetried }
  | { readonly type: 'EscalationDecided'; readonly body: EscalationDecided }
  | { readonly type: 'BudgetSettled'; readonly body: BudgetSettled }
  | { readonly type: 'BudgetOverrun'; readonly body: BudgetOverrun }
  | { readonly type: 'BudgetOverdue'; readonly body: BudgetOverdue }
  | { readonly type: 'BudgetReleased'; readonly body: BudgetReleased }
  | { readonly type: 'BudgetRefunded'; readonly body: BudgetRefunded }
  | { readonly type: 'BudgetDebited'; readonly body: BudgetDebited }
  | { readonly type: 'ForwardApprovalNoted'; readonly body: ForwardApprovalNoted }
  | { readonly type: 'AutonomyChanged'; readonly body: AutonomyChanged }
  | { readonly type: 'SignalRefused'; readonly body: SignalRefused }
  | { readonly type: 'OutcomeCounted'; readonly body: OutcomeCounted };

/** What `recourse.rollback-notifications` holds. */
export type RollbackNotificationsRecord =
  | { readonly type: 'RollbackAnnounced'; readonly body: RollbackAnnounced }
  | { readonly type: 'RollbackSettled'; readonly body: RollbackSettled }
  | { readonly type: 'DerivationAnnounced'; readonly body: DerivationAnnounced }
  | { readonly type: 'BoundReached'; readonly body: BoundReached }
  | { readonly type: 'CommitReattached'; readonly body: CommitReattached };

/** What `recourse.signed-heads` holds. */
export type SignedHeadsRecord =
  | { readonly type: 'HeadsSigned'; readonly body: HeadsSigned }
  | { readonly type: 'AlarmRaised'; readonly body: AlarmRaised }
  | { readonly type: 'AlarmClosed'; readonly body: AlarmClosed };

/** Record union by topic name. */
export interface TopicRecords {
  readonly 'recourse.tool-executions': ToolExecutionsRecord;
  readonly 'recourse.assumption-events': AssumptionEventsRecord;
  readonly 'recourse.registry-commands': RegistryCommandsRecord;
  readonly 'recourse.ledger-commands': LedgerCommandsRecord;
  readonly 'recourse.recovery-commands': RecoveryCommandsRecord;
  readonly 'recourse.budget-commands': BudgetCommandsRecord;
  readonly 'recourse.tool-requests.payments': ToolRequestsPaymentsRecord;
  readonly 'recourse.tool-results': ToolResultsRecord;
  readonly 'recourse.consumer-acks': ConsumerAcksRecord;
  readonly 'recourse.agent-signals': AgentSignalsRecord;
  readonly 'recourse.contracts': ContractsRecord;
  readonly 'recourse.assumptions': AssumptionsRecord;
  readonly 'recourse.mutations': MutationsRecord;
  readonly 'recourse.recoveries': RecoveriesRecord;
  readonly 'recourse.budgets': BudgetsRecord;
  readonly 'recourse.rollback-notifications': RollbackNotificationsRecord;
  readonly 'recourse.signed-heads': SignedHeadsRecord;
}

/** Name of a topic, as it stands in schemas/topics.json. */
export type TopicName = keyof TopicRecords;
