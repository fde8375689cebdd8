// The log recourse.recoveries as a core: triggers, marks, approvals, reports and timers in; decisions of recovery out.
//
// Boundary: reads rows and inputs, asks the domain, maps its answers. Holds no rule of recovery.
import {
  charterFor,
  contractByDigest,
  contractByName,
  contractView,
  editorsOf,
  entryView,
  killVerdict,
  subjectOfRecord,
} from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import type {
  DecideContext,
  Decided,
  Decision,
  Doc,
  Input,
  RecordInput,
  ServiceCore,
  TimerInput,
} from '@recourse/event-log';
import { accepted, append, NOTHING, refused } from '@recourse/event-log';
import { isAskOfLedger } from '@recourse/kernel';
import type {
  AbandonStep,
  ApproveStep,
  BreakGlass,
  CheckpointRolledBack,
  CheckStep,
  CloseBreaker,
  CloseIncident,
  CloseTask,
  CommitBeyondBound,
  MutationContradicted,
  MutationReaffirmed,
  MutationRolledBack,
  ConfirmTrigger,
  DerivationAnnounced,
  DenyStep,
  EscalateStep,
  LegReported,
  MutationRecorded,
  RecoverabilityChanged,
  RecoveryApprovalMode,
  RejectTrigger,
  ResolveStep,
  RetryStep,
  ReviewOutOfBand,
  RollbackSettled,
  TriggerRollback,
  UndoRun,
  UndoSpread,
} from '@recourse/messages';
import { NO_LIMITS } from '../domain/admission/admission.messages.js';
import type { AdmissionLimits } from '../domain/admission/admission.messages.js';
import type { Verdict } from '../domain/admission/judging.decisions.js';
import { NO_RATES } from '../domain/admission/pace.decisions.js';
import type { Rates } from '../domain/admission/pace.decisions.js';
import { CHILDREN_FIRST_MS } from '../domain/lineage/dependents.decisions.js';
import { FORWARD_VALID_MS, MARGIN_MS, RISK_LIMIT } from '../domain/policy.messages.js';
import type { RecoveryPolicy, RiskLevel } from '../domain/policy.messages.js';
import {
  escalateRollback,
  isUsableId,
  rollbackIdOf,
  triggerOfCommand,
  triggerOfContradiction,
  triggerRefusal,
} from '../domain/rollback/rollback.decider.js';
import { roleRefusal } from '../domain/step/approval.decisions.js';
import { recoveryIdOf } from '../domain/step/opening.decisions.js';
import { handleOf } from '../domain/decision/recovery.decisions.js';
import { escalateUndo, listUndo, openUndo, undoIdOf, undoRefusal } from '../domain/undo/undo.decider.js';
import { escalateToIncident } from '../domain/step/command.decisions.js';
import { isStepRecord, stepAfter } from '../domain/step/step-row.transitions.js';
import {
  advance,
  approve,
  breakOpen,
  check,
  closeWindow,
  deny,
  due,
  endTask,
  giveUp,
  open,
  reaffirm,
  report,
  resolve,
  resume,
  retry,
} from '../domain/step/step.decider.js';
import type { StepContext } from '../domain/step/step.decider.js';
import { fact } from '../domain/step/step.messages.js';
import type { Fact, Refusal, RefusalCode, StepDoc } from '../domain/step/step.messages.js';
import { close, countMarked, decideTrigger, isBroken, judge, nextPlaceAt, reviewHeld } from './admission.part.js';
import { onBeyondBound, onCheckpointMarked, onReview } from './bound.part.js';
import { decideForwardCommand, dueForward, FORWARD_COMMANDS, FORWARD_KIND, isForwardCommand } from './forward.part.js';
import type { ForwardCommandType } from './forward.part.js';
import { isLegOwed, legRequests } from './leg-request.js';
import { HALTED, readHalt, readHalts, readRow, readRows, RECOVERY_KINDS } from './recoveries.kinds.js';
import { noteChildren, NOTICES_INPUT, ownParents, settleChildren } from './lineage.part.js';
import { foldRecovery } from './recoveries.fold.js';

export const RECOVERIES_LOG = 'recourse.recoveries';
const COMMANDS = 'recourse.recovery-commands';
const MUTATIONS = 'recourse.mutations';
const RESULTS = 'recourse.tool-results';
const CONTRACTS = 'recourse.contracts';

/** What the core is built with; the margin is two seconds, a forward approval good for a quarter of an hour, unless told. */
export type RecoveriesConfig = Omit<
  RecoveryPolicy,
  'marginMs' | 'forwardValidMs' | 'modeNow' | 'riskLimit' | 'childrenFirstMs'
> & {
  readonly marginMs?: number;
  readonly forwardValidMs?: number;
  readonly riskLimit?: RiskLevel;
  readonly childrenFirstMs?: number;
  /** Limits of triggers and rates of compensations of this partition; none unless told. */
  readonly admission?: AdmissionLimits;
  readonly rates?: Rates;
};

/** The policy with everything told. */
type CorePolicy = RecoveryPolicy & {
  readonly admission: AdmissionLimits;
  readonly rates: Rates;
};

/** Builds the core of recourse.recoveries. */
export function recoveriesCore(config: RecoveriesConfig): ServiceCore {
  const policy: CorePolicy = {
    ...config,
    childrenFirstMs: config.childrenFirstMs ?? CHILDREN_FIRST_MS,
    admission: config.admission ?? NO_LIMITS,
    rates: config.rates ?? NO_RATES,
    modeNow: () => null,
    marginMs: config.marginMs ?? MARGIN_MS,
    forwardValidMs: config.forwardValidMs ?? FORWARD_VALID_MS,
    riskLimit: config.riskLimit ?? RISK_LIMIT,
  };
  return {
    log: RECOVERIES_LOG,
    inputs: [
      {
        topic: COMMANDS,
        source: 'wire',
        mode: 'aligned',
        types: [
          'TriggerRollback',
          'ApproveStep',
          'DenyStep',
          'ResolveStep',
          'UndoRun',
          'CloseTask',
          'BreakGlass',
          'RetryStep',
          'CheckStep',
          'AbandonStep',
          'EscalateStep',
          'CloseIncident',
          'ConfirmTrigger',
          'RejectTrigger',
          'CloseBreaker',
          'ReviewOutOfBand',
          ...FORWARD_COMMANDS,
        ],
      },
      {
        topic: MUTATIONS,
        source: 'log',
        mode: 'aligned',
        types: [
          'MutationContradicted',
          'MutationRolledBack',
          'MutationReaffirmed',
          'RecoverabilityChanged',
          'MutationRecorded',
          'UndoSpread',
          'CheckpointRolledBack',
          'CommitBeyondBound',
        ],
        concerns: isNews,
      },
      {
        topic: RESULTS,
        source: 'wire',
        mode: 'aligned',
        types: ['LegReported'],
        concerns: ({ body }) => !isAskOfLedger(String(body['leg_id'])),
      },
      {
        topic: CONTRACTS,
        source: 'log',
        mode: 'broadcast',
        types: ['EntryRegistered', 'EntryRetired'],
        concerns: ({ body }) => body['kind'] === 'kill_switch',
      },
      NOTICES_INPUT,
    ],
    views: [contractView, entryView],
    kinds: RECOVERY_KINDS,
    sealScope: ({ body }, state) =>
      subjectOfRecord(body, (run) => readRow(state, 'step', run, String(body['step_id']))?.ref.subject_ref ?? null),
    keyOf: (record) =>
      record.type === 'HaltsReviewed' ? `kill-switch/${String(record.body['name'])}` : runOf(record.body),
    decide: (context, input) =>
      input.source === 'timer' ? onTimer(context, input, policy) : onRecord(context, input, policy),
    evolve: foldRecovery,
    react: legRequests,
    owed: isLegOwed,
  };
}

/** Of what the ledger records of its mutations: marks and hits, windows that close, and what it learns of a commit after its mark. */
function isNews({ type, body }: Pick<RecordInput, 'type' | 'body'>): boolean {
  switch (type) {
    case 'RecoverabilityChanged':
      return body['event'] === 'window_closed';
    case 'MutationRecorded':
      return (body['rollback_id'] ?? null) !== null;
    default:
      return true;
  }
}

function onTimer(context: DecideContext, { address, dueAt }: TimerInput, policy: CorePolicy): Decision {
  if (address.kind === 'rollback') {
    const rollback = readRow(context.state, 'rollback', address.group, address.key);
    const overdue = rollback === undefined ? null : escalateRollback(rollback, context.now, policy);
    return recorded(overdue === null ? [] : [overdue]);
  }
  if (address.kind === 'undo') {
    const undo = readRow(context.state, 'undo', address.group, address.key);
    const overdue = undo === undefined ? null : escalateUndo(undo, context.now, policy);
    return recorded(overdue === null ? [] : [overdue]);
  }
  if (address.kind === FORWARD_KIND) return dueForward(context.state, address.group, address.key, context.now);
  if (address.kind === 'held')
    return recorded(reviewHeld(context, address.group, address.key, { policy, limits: policy.admission }));
  if (address.kind === 'halt') return onHaltReviewed(context, address.key, policy);
  const step = address.kind === 'step' ? readRow(context.state, 'step', address.group, address.key) : undefined;
  return step === undefined ? NOTHING : recorded(due(step, dueAt, stepContext(context, step.run_id, policy)));
}

/** A switch changed: whoever may go on now is looked at, each in a decision of its own (L4). */
function onSwitch({ state, views }: DecideContext, { body }: RecordInput): Decision {
  const entries = views.view(entryView.name);
  const mayGoOn = readHalts(state).some(
    ({ tenant, agent_id: agent, capability }) => killVerdict(entries, { tenant, agent, capability }).admitted,
  );
  return mayGoOn
    ? append(fact('HaltsReviewed', { tenant: String(body['tenant']), name: String(body['name']) }))
    : NOTHING;
}

function onHaltReviewed(context: DecideContext, stepId: string, policy: CorePolicy): Decision {
  const halt = readHalt(context.state, stepId);
  const step = halt === undefined ? undefined : readRow(context.state, 'step', halt.run_id, stepId);
  return step === undefined ? NOTHING : recorded(resume(step, stepContext(context, step.run_id, policy)));
}

function onForward(context: DecideContext, input: RecordInput, type: ForwardCommandType, policy: CorePolicy): Decision {
  if (type === 'RequestForwardApproval') readUpToContract(context, input.body['contract_digest']);
  const { now, policy: told, contractOf, editorsOf: editors } = stepContext(context, runOf(input.body), policy, []);
  const decision = decideForwardCommand(input, type, {
    now,
    policy: told,
    contractOf,
    editorsOf: editors,
    state: context.state,
  });
  const isApproved =
    type === 'DecideForwardApproval' && input.body['verdict'] === 'approve' && decision.records.length > 0;
  if (isApproved) readEditors(context);
  return decision;
}

/** Dispatches on the type; bodies have the types their codecs gave them. */
function onRecord(context: DecideContext, input: RecordInput, policy: CorePolicy): Decision {
  if (isForwardCommand(input.type)) return onForward(context, input, input.type, policy);
  switch (input.type) {
    case 'MutationContradicted':
      return onContradiction(context, bodyAs<MutationContradicted>(input), policy);
    case 'MutationRolledBack':
      return onMark(context, bodyAs<MutationRolledBack>(input), policy);
    case 'CheckpointRolledBack':
      return recorded(onCheckpointMarked(context, bodyAs<CheckpointRolledBack>(input)));
    case 'CommitBeyondBound':
      return recorded(onBeyondBound(context, bodyAs<CommitBeyondBound>(input), { policy, limits: policy.admission }));
    case 'DerivationAnnounced':
      return recorded(noteChildren(context.state, ownParents(input, context.owns), bodyAs<DerivationAnnounced>(input)));
    case 'RollbackSettled':
      return recorded(
        settleChildren(context.state, ownParents(input, context.owns), bodyAs<RollbackSettled>(input), (runId) =>
          stepContext(context, runId, policy),
        ),
      );
    case 'MutationReaffirmed':
      return onReaffirmed(context, bodyAs<MutationReaffirmed>(input), policy);
    case 'RecoverabilityChanged':
      return onRecoverability(context, bodyAs<RecoverabilityChanged>(input), policy);
    case 'MutationRecorded':
      return onRecordedAgain(context, input, policy);
    case 'LegReported':
      return onReport(context, input, policy);
    case 'UndoSpread':
      return onListed(context, bodyAs<UndoSpread>(input));
    case 'EntryRegistered':
    case 'EntryRetired':
      return onSwitch(context, input);
    case 'TriggerRollback':
    case 'ApproveStep':
    case 'DenyStep':
    case 'ResolveStep':
    case 'UndoRun':
    case 'CloseTask':
    case 'BreakGlass':
    case 'RetryStep':
    case 'CheckStep':
    case 'AbandonStep':
    case 'EscalateStep':
    case 'CloseIncident':
    case 'ConfirmTrigger':
    case 'RejectTrigger':
    case 'CloseBreaker':
    case 'ReviewOutOfBand':
      return onCommand(context, input, input.type, policy);
    default:
      return NOTHING;
  }
}

function onContradiction(context: DecideContext, hit: MutationContradicted, policy: CorePolicy): Decision {
  return recorded(decideTrigger(context, triggerOfContradiction(hit), { policy, limits: policy.admission }).facts);
}

function onMark(context: DecideContext, marked: MutationRolledBack, policy: CorePolicy): Decision {
  // Only a handle with something missing is bound here, from the contract the mutation executed under.
  if (handleOf(marked.terms, marked.ref) === 'incomplete') readUpToContract(context, marked.terms?.contract_digest);
  const counted = countMarked(context, marked, { policy, limits: policy.admission });
  const opens = counted.some(({ type }) => type === 'BreakerOpened');
  const within = stepContext(context, marked.run_id, policy);
  const facts = open(
    marked,
    opens ? { ...within, killed: breaking(within.killed, marked.terms?.reversal_capability ?? '') } : within,
  );
  return recorded(facts.length === 0 ? [] : [...counted, ...facts]);
}

/** A breaker that opens in this decision stops what is decided with it. */
function breaking(killed: StepContext['killed'], capability: string): StepContext['killed'] {
  return (acting) => (acting.capability === capability ? BROKEN : killed(acting));
}

const BROKEN = {
  admitted: false,
  code: 'BREAKER_OPEN',
  reason: 'a burst opened the breaker over the capability that would be called',
} as const;

/** Life goes on: what the ledger learnt of a commit after it was marked. */
function onRecordedAgain(context: DecideContext, input: RecordInput, policy: CorePolicy): Decision {
  const { mutation_id, execution, execution_state, recoverability, reason, terms, ref, rollback_id } =
    bodyAs<MutationRecorded>(input);
  if (rollback_id === null) return NOTHING;
  if (handleOf(terms, ref) === 'incomplete') readUpToContract(context, terms?.contract_digest);
  const { tenant, run_id } = execution;
  const within = stepContext(context, run_id, policy);
  const step = within.steps.find((one) => one.tenant === tenant && one.mutation_id === mutation_id);
  if (step === undefined) return NOTHING;
  const learnt = {
    mutation_id,
    tenant,
    run_id,
    rollback_id,
    evidence: step.evidence,
    execution,
    execution_state,
    recoverability,
    reason,
    terms,
    ref,
    recorded_hash: input.hash,
    recorded_seq: input.seq,
    consumers: [],
  };
  return recorded(advance(step, learnt, within));
}

/** The assumption is said to hold again: who agreed because it did not is asked anew. */
function onReaffirmed(
  context: DecideContext,
  { tenant, run_id, mutation_id, evidence }: MutationReaffirmed,
  policy: CorePolicy,
): Decision {
  const within = stepContext(context, run_id, policy);
  const step = within.steps.find((one) => one.tenant === tenant && one.mutation_id === mutation_id);
  return step === undefined ? NOTHING : recorded(reaffirm(step, evidence, within));
}

function onRecoverability(context: DecideContext, changed: RecoverabilityChanged, policy: CorePolicy): Decision {
  if (changed.event !== 'window_closed') return NOTHING;
  const within = stepContext(context, changed.run_id, policy);
  const step = within.steps.find((one) => one.tenant === changed.tenant && one.mutation_id === changed.mutation_id);
  return step === undefined ? NOTHING : recorded(closeWindow(step, within));
}

/** A report under another key than its run is refused on the key it came with: it must not stop either run. */
function onReport(context: DecideContext, input: RecordInput, policy: CorePolicy): Decision {
  const message = bodyAs<LegReported>(input);
  if (input.key === message.run_id) return recorded(report(message, stepContext(context, message.run_id, policy)));
  const { tenant, leg_id, attempt } = message;
  return recorded([fact('ReportRefused', { tenant, run_id: input.key, leg_id, attempt, code: 'KEY_MISMATCH' })]);
}

/** The ledger names the effects of an undo. */
function onListed(context: DecideContext, part: UndoSpread): Decision {
  const listed = listUndo(readRow(context.state, 'undo', part.run_id, part.undo_id), part);
  return recorded(listed === null ? [] : [listed]);
}

type StepCommand =
  | 'TriggerRollback'
  | 'ApproveStep'
  | 'DenyStep'
  | 'ResolveStep'
  | 'UndoRun'
  | 'CloseTask'
  | 'BreakGlass'
  | 'RetryStep'
  | 'CheckStep'
  | 'AbandonStep'
  | 'EscalateStep'
  | 'CloseIncident'
  | 'ConfirmTrigger'
  | 'RejectTrigger'
  | 'CloseBreaker'
  | 'ReviewOutOfBand';

function onCommand(context: DecideContext, input: RecordInput, type: StepCommand, policy: CorePolicy): Decision {
  if (input.key !== runOf(input.body))
    return refusedWith({
      httpStatus: 422,
      code: 'KEY_MISMATCH',
      message: 'The record key must be the run the command is about.',
    });
  // Which role ends a task depends on its kind.
  const refusal =
    type === 'CloseTask' ? null : roleRefusal(type, bodyAs<Pick<ApproveStep, 'envelope'>>(input).envelope);
  if (refusal !== null) return refusedWith(refusal);
  switch (type) {
    case 'TriggerRollback':
      return onTrigger(context, bodyAs<TriggerRollback>(input), policy);
    case 'ApproveStep':
      return onApprove(context, bodyAs<ApproveStep>(input), policy);
    case 'DenyStep':
      return onDeny(context, bodyAs<DenyStep>(input), policy);
    case 'ResolveStep':
      return onResolve(context, bodyAs<ResolveStep>(input), policy);
    case 'UndoRun':
      return onUndo(context, bodyAs<UndoRun>(input));
    case 'BreakGlass': {
      const decision = onStep(context, bodyAs<BreakGlass>(input), policy, breakOpen);
      if (decision.answer?.status === 'accepted') readEditors(context);
      return decision;
    }
    case 'RetryStep':
      return onStep(context, bodyAs<RetryStep>(input), policy, retry);
    case 'CheckStep':
      return onStep(context, bodyAs<CheckStep>(input), policy, check);
    case 'AbandonStep':
      return onStep(context, bodyAs<AbandonStep>(input), policy, giveUp);
    case 'EscalateStep':
      return onStep(context, bodyAs<EscalateStep>(input), policy, incidentOf);
    case 'CloseIncident':
      return onCloseIncident(context, bodyAs<CloseIncident>(input));
    case 'CloseTask':
      return onCloseTask(context, bodyAs<CloseTask>(input), policy);
    case 'ConfirmTrigger':
      return onJudged(context, bodyAs<ConfirmTrigger>(input), 'confirmed', policy);
    case 'RejectTrigger':
      return onJudged(context, bodyAs<RejectTrigger>(input), 'rejected', policy);
    case 'CloseBreaker':
      return onCloseBreaker(context, bodyAs<CloseBreaker>(input));
    case 'ReviewOutOfBand':
      return onReviewed(context, bodyAs<ReviewOutOfBand>(input), policy);
  }
}

function onTrigger(context: DecideContext, command: TriggerRollback, policy: CorePolicy): Decision {
  const refusal = triggerRefusal(command);
  if (refusal !== null) return refusedWith(refusal);
  const { tenant } = command.envelope;
  const { facts: decided, outcome } = decideTrigger(context, triggerOfCommand(command), {
    policy,
    limits: policy.admission,
  });
  const body = {
    rollback_id: rollbackIdOf(command.mutation_id),
    recovery_id: recoveryIdOf(tenant, command.run_id),
    run_id: command.run_id,
    mutation_id: command.mutation_id,
    redundant: outcome === 'redundant',
    held: outcome === 'held',
  };
  return accepted(outcome === 'redundant' ? 200 : outcome === 'held' ? 202 : 201, body, ...decided);
}

function onJudged(
  context: DecideContext,
  command: ConfirmTrigger | RejectTrigger,
  verdict: Verdict,
  policy: CorePolicy,
): Decision {
  if (![command.envelope.tenant, command.mutation_id].every(isUsableId))
    return refusedWith({
      httpStatus: 422,
      code: 'COMMAND_INVALID',
      message: 'Tenant and mutation must be 1 to 200 bytes without NUL.',
    });
  const judged = judge(context, command, verdict, { policy, limits: policy.admission });
  return 'code' in judged
    ? refusedWith(judged)
    : accepted(
        200,
        { rollback_id: command.rollback_id, run_id: command.run_id, phase: judged.phase, verdict },
        ...judged.facts,
      );
}

function onReviewed(context: DecideContext, command: ReviewOutOfBand, policy: CorePolicy): Decision {
  const reviewed = onReview(context, command, { policy, limits: policy.admission });
  return 'code' in reviewed
    ? refusedWith(reviewed)
    : accepted(
        200,
        {
          rollback_id: rollbackIdOf(command.mutation_id),
          run_id: command.run_id,
          phase: reviewed.phase,
          verdict: command.verdict,
        },
        ...reviewed.facts,
      );
}

function onCloseBreaker(context: DecideContext, command: CloseBreaker): Decision {
  const closed = close(context, command);
  return 'code' in closed
    ? refusedWith(closed)
    : accepted(200, { breaker_id: command.breaker_id, phase: 'closed' }, closed);
}

function onApprove(context: DecideContext, command: ApproveStep, policy: CorePolicy): Decision {
  const within = stepContext(context, command.run_id, policy);
  const step = stepOf(within, command);
  if (step === undefined) return refusedWith(STEP_UNKNOWN);
  const outcome = approve(step, command, within);
  if ('code' in outcome) return refusedWith(outcome);
  readEditors(context);
  const after = outcome.step;
  const body = {
    step_id: after.step_id,
    recovery_id: after.recovery_id,
    approval_id: outcome.approvalId,
    phase: after.phase,
    reason: after.reason,
    approvals: after.approvals.length,
    required_approvals: after.required_approvals,
  };
  return accepted(200, body, ...outcome.facts);
}

function onDeny(context: DecideContext, command: DenyStep, policy: CorePolicy): Decision {
  const within = stepContext(context, command.run_id, policy);
  const step = stepOf(within, command);
  if (step === undefined) return refusedWith(STEP_UNKNOWN);
  const outcome = deny(step, command, within);
  if ('code' in outcome) return refusedWith(outcome);
  return accepted(200, { step_id: step.step_id, recovery_id: step.recovery_id, phase: 'denied' }, ...outcome);
}

function onResolve(context: DecideContext, command: ResolveStep, policy: CorePolicy): Decision {
  const within = stepContext(context, command.run_id, policy);
  const step = stepOf(within, command);
  if (step === undefined) return refusedWith(STEP_UNKNOWN);
  const outcome = resolve(step, command, within);
  if ('code' in outcome) return refusedWith(outcome);
  return accepted(
    200,
    { step_id: step.step_id, recovery_id: step.recovery_id, phase: 'resolved', resolution: command.resolution },
    ...outcome,
  );
}

/** A command about one step; the answer names its phase and what else was made of it. */
function onStep<Command extends BreakGlass | RetryStep | CheckStep | AbandonStep | EscalateStep>(
  context: DecideContext,
  command: Command,
  policy: CorePolicy,
  act: (step: StepDoc, command: Command, within: StepContext) => readonly Fact[] | Refusal,
): Decision {
  const within = stepContext(context, command.run_id, policy);
  const step = stepOf(within, command);
  if (step === undefined) return refusedWith(STEP_UNKNOWN);
  const outcome = act(step, command, within);
  if ('code' in outcome) return refusedWith(outcome);
  const after = outcome.reduce(
    (doc, { type, body }) =>
      isStepRecord(type) && body['step_id'] === doc.step_id ? stepAfter(doc, type, body, context.now) : doc,
    step,
  );
  const incident = outcome.find(({ type }) => type === 'IncidentOpened')?.body['incident_id'];
  return accepted(
    200,
    {
      step_id: step.step_id,
      recovery_id: step.recovery_id,
      phase: after.phase,
      reason: after.reason,
      ...(incident === undefined ? {} : { incident_id: incident }),
    },
    ...outcome,
  );
}

function incidentOf(step: StepDoc, command: EscalateStep, { now, policy }: StepContext): readonly Fact[] | Refusal {
  const opened = escalateToIncident(step, command, now, policy);
  return 'code' in opened ? opened : [opened];
}

function onCloseIncident(
  context: DecideContext,
  { envelope, run_id, incident_id, summary, reason }: CloseIncident,
): Decision {
  const incident = isUsableId(incident_id) ? readRow(context.state, 'incident', run_id, incident_id) : undefined;
  if (incident?.tenant !== envelope.tenant)
    return refusedWith({
      httpStatus: 404,
      code: 'INCIDENT_UNKNOWN',
      message: 'There is no such incident in this run of this tenant.',
    });
  if (incident.phase === 'closed')
    return refusedWith({
      httpStatus: 409,
      code: 'INCIDENT_CLOSED',
      message: 'Somebody has ended this incident already.',
    });
  const { step_id, recovery_id, tenant, mutation_id } = incident;
  return accepted(
    200,
    { incident_id, step_id, phase: 'closed' },
    fact('IncidentClosed', {
      step_id,
      recovery_id,
      tenant,
      run_id,
      mutation_id,
      incident_id,
      summary,
      by: envelope.principal,
      reason,
      command_id: envelope.command_id,
    }),
  );
}

function onUndo(context: DecideContext, command: UndoRun): Decision {
  const refusal = undoRefusal(command);
  if (refusal !== null) return refusedWith(refusal);
  const {
    run_id,
    envelope: { tenant, command_id },
  } = command;
  return accepted(
    201,
    { undo_id: undoIdOf(command_id), recovery_id: recoveryIdOf(tenant, run_id), run_id, phase: 'opened' },
    openUndo(command, context.now),
  );
}

function onCloseTask(context: DecideContext, command: CloseTask, policy: CorePolicy): Decision {
  const task = isUsableId(command.task_id)
    ? readRow(context.state, 'task', command.run_id, command.task_id)
    : undefined;
  if (task?.tenant !== command.envelope.tenant)
    return refusedWith({
      httpStatus: 404,
      code: 'TASK_UNKNOWN',
      message: 'There is no such task in this run of this tenant.',
    });
  const outcome = endTask(task, command, stepContext(context, command.run_id, policy));
  if ('code' in outcome) return refusedWith(outcome);
  return accepted(200, { task_id: task.task_id, step_id: task.step_id, phase: command.outcome }, ...outcome);
}

/** Another tenant's step is as unknown as none. */
const STEP_UNKNOWN: Refusal = {
  httpStatus: 404,
  code: 'STEP_UNKNOWN',
  message: 'There is no such step in this run of this tenant.',
};

function stepOf(within: StepContext, command: Pick<ApproveStep, 'envelope' | 'step_id'>): StepDoc | undefined {
  return within.steps.find((step) => step.step_id === command.step_id && step.tenant === command.envelope.tenant);
}

/** `steps` are those of the run unless told. */
function stepContext(
  { now, state, views }: DecideContext,
  runId: string,
  policy: CorePolicy,
  steps = readRows(state, 'step', runId),
): StepContext {
  const entries = views.view(entryView.name);
  return {
    now,
    steps,
    policy: {
      ...policy,
      ownerOf: (tenant, agent) => charterFor(entries, tenant, agent)?.owner ?? policy.ownerOf(tenant, agent),
      modeNow: (capability) => modeOf(contractByName(views.view(contractView.name), capability)?.contract),
    },
    killed: (acting) => {
      const verdict = killVerdict(entries, acting);
      return verdict.admitted && policy.admission.storm !== null && isBroken(state, acting.tenant, acting.capability)
        ? BROKEN
        : verdict;
    },
    rates: policy.rates,
    dependentsIn: (run) => readRows(state, 'dependent', run),
    nextAt: (tenant, scope, name) => nextPlaceAt(state, tenant, scope, name),
    contractOf: (digest) => contractByDigest(views.view(contractView.name), digest)?.contract ?? null,
    editorsOf: (digest) => editorsOf(views.view(contractView.name), digest),
  };
}

/** Nobody approves before it is known who edited the contract up to now: an edit of a moment ago may not be in the view. */
function readEditors({ views }: DecideContext): void {
  views.readToEnd();
}

/** Recovery mode a contract asks for; people are the default (D27). */
function modeOf(contract: Contract | undefined): RecoveryApprovalMode | null {
  return contract === undefined ? null : (contract.recovery_approval_mode ?? 'human');
}

/** The view may not have come as far as who names a contract. */
function readUpToContract({ views }: DecideContext, digest: unknown): void {
  if (Buffer.isBuffer(digest) && contractByDigest(views.view(contractView.name), digest) === undefined)
    views.readToEnd();
}

function recorded(decided: readonly Fact[]): Decision {
  return decided.length === 0 ? NOTHING : append(...decided);
}

function refusedWith({
  httpStatus,
  code,
  message,
}: {
  readonly httpStatus: number;
  readonly code: RefusalCode;
  readonly message: string;
}): Decision {
  return refused(httpStatus, code, message);
}

function runOf(body: Decided['body']): string {
  return String(body['run_id']);
}

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names the record type it looked at
function bodyAs<Body>(input: { readonly body: Doc }): Body {
  // The loop decodes a record by its schema before it hands it over; the type name was looked at above.
  return input.body as unknown as Body;
}
