// The mutations log: every execution, how it is undone, and what became of it (docs/design/ledger.md).
//
// Boundary: says what the log reads and who decides it. Executions are taken in executions.ts, statements in statements.part.ts,
// commits in commits.part.ts, what workers are asked in forward-legs.ts; records become rows in mutations.fold.ts.
import { contractView, entryView, isClosingRef, subjectOfRecord } from '@recourse/contract';
import { append, NOTHING } from '@recourse/event-log';
import type {
  DecideContext,
  Decision,
  Doc,
  InputSpec,
  AcceptedRecord,
  Outgoing,
  RecordInput,
  ServiceCore,
  StateView,
  TimerInput,
} from '@recourse/event-log';
import { isAskOfLedger } from '@recourse/kernel';
import { isCommitId } from '@recourse/lineage';
import { announcedIn, bodyIn } from '@recourse/messages';
import type { Checkpoint, Execution } from '@recourse/messages';
import { NO_LIMITS } from './rules/admission/admission.messages.js';
import type { AdmissionLimits } from './rules/admission/admission.messages.js';
import { KEEPING } from './rules/commit/checkpoint.decisions.js';
import type { Keeping } from './rules/commit/checkpoint.decisions.js';
import type { AckWaits } from './rules/consumer/consumer.messages.js';
import { ACK_WAITS } from './rules/consumer/due.decider.js';
import { LEDGER_POLICY } from './rules/mutation/mutation.decider.js';
import type { LedgerPolicy } from './rules/mutation/mutation.decider.js';
import { EFFECTS_MAX } from './rules/mutation/refs.decider.js';
import { undoPart } from './rules/undo/undo.decider.js';
import { MUTATIONS_LOG } from './rules/record.messages.js';
import { commitIn } from './rows/commit.rows.js';
import { onChunk, onCommit, onCommitDue } from './core/commits.part.js';
import { CONSUMER_KINDS } from './rows/consumer.rows.js';
import { ACKS_INPUT, isDeliveryTimer, onAck, onDeliveryDue } from './core/consumers.part.js';
import { onTool } from './core/executions.js';
import { FALL_COMMANDS, isFallCommand, onFallCommand } from './core/fall-commands.part.js';
import { fall, onHeldDue, onRollbackDue } from './core/falls.part.js';
import { onCancel, onDue, onReport } from './core/forward-legs.js';
import { LIMIT_KINDS } from './rows/limit.rows.js';
import { MUTATION_KINDS, mutationIn, mutationsIn } from './rows/mutation.rows.js';
import { onRecovery } from './core/moves.part.js';
import { eventOf } from './core/events.js';
import { foldMutations } from './rows.js';
import { assumptionView, fallenView, NOTICES } from './core/views.js';
import { onReconcile, onReviewDivergence } from './core/reconciliations.part.js';
import { REEVALUATION_KIND } from './rows/reevaluation.rows.js';
import { onReevaluationDue, onSuccessor, SUCCESSORS } from './core/reevaluations.part.js';
import type { Reevaluating } from './core/reevaluations.part.js';
import { noticesOf } from './core/rollback-notices.js';
import { ROLLBACK_KINDS } from './rows/rollback.columns.js';
import { undoIn } from './rows/rollback.rows.js';
import { onLook, onSettle } from './core/settling.part.js';
import { onFall, onSpreadDue, onStatement } from './core/statements.part.js';

export { assumptionView, fallenView } from './core/views.js';
export { mutationIdOf } from './core/executions.js';

export interface MutationsConfig extends Partial<LedgerPolicy>, Partial<Keeping>, Partial<Reevaluating> {
  /** Most commits that one decision contradicts; EFFECTS_MAX unless told. */
  readonly effectsMax?: number;
  /** Limits of triggers of this partition; none unless told. */
  readonly admission?: AdmissionLimits;
  /** How long consumers have to answer, by mode; ACK_WAITS unless told. */
  readonly ackWaits?: AckWaits;
}

type Policy = Required<MutationsConfig>;

/** Topics of requests differ by adapter alone. */
const REQUESTS = 'recourse.tool-requests.payments';

/** The mutations log as pure functions. */
export function mutationsCore(config: MutationsConfig = {}): ServiceCore {
  const policy: Policy = {
    ...LEDGER_POLICY,
    ...KEEPING,
    effectsMax: EFFECTS_MAX,
    boundMs: null,
    admission: NO_LIMITS,
    ackWaits: ACK_WAITS,
    ...config,
  };
  return {
    log: MUTATIONS_LOG,
    inputs: INPUTS,
    views: [contractView, entryView, assumptionView, fallenView],
    kinds: [...MUTATION_KINDS, ...ROLLBACK_KINDS, ...LIMIT_KINDS, ...CONSUMER_KINDS],
    sealScope: ({ type, body }, state, member) => ({
      ...subjectOfRecord({ ...body, ...member }, (run) => subjectIn(state, run, { ...body, ...member })),
      ...unitOf(type, body),
    }),
    keyOf: ({ body }) =>
      String(
        body.run_id ?? (body.execution as Execution | undefined)?.run_id ?? body.ref ?? body.bundle ?? body.runtime,
      ),
    decide: (context, input) => {
      if (input.source === 'timer') return onTimer(context, input, policy);
      const isHeard = INPUTS.some(({ topic, types }) => topic === input.topic && types.includes(input.type));
      return isHeard ? onEvent(context, input, policy) : NOTHING;
    },
    evolve: foldMutations,
    react: requestsOf,
    owed: isAskOwed,
    derived: { topic: NOTICES, derive: noticesOf },
  };
}

/** Subject of the mutation or commit a record is about, as far as it is known. */
function subjectIn(state: StateView, runId: string, { mutation_id, commit_id, checkpoint }: Doc): string | null {
  if (typeof commit_id !== 'string') return subjectNamed(state, runId, String(mutation_id));
  return ((checkpoint as Checkpoint | undefined) ?? commitIn(state, runId, commit_id)?.checkpoint)?.subject_ref ?? null; // records that name a commit hold its checkpoint, or follow one that did
}

/** What should not stand is named alike, with an effect or without. */
function subjectNamed(state: StateView, runId: string, id: string): string | null {
  const subject = isCommitId(id)
    ? commitIn(state, runId, id)?.checkpoint.subject_ref
    : mutationIn(state, runId, id)?.subject_ref;
  return subject ?? null;
}

/** The state of a commit is sealed under a key of its own, so that it can be destroyed alone (E27, E36). */
function unitOf(type: string, { commit_id }: Doc): { readonly unit?: string } {
  return type === 'CheckpointRecorded' || type === 'StateChunkRecorded' ? { unit: String(commit_id) } : {};
}

const INPUTS: readonly InputSpec[] = [
  {
    topic: 'recourse.tool-executions',
    source: 'wire',
    mode: 'aligned',
    types: ['ToolPlanned', 'ToolExecuted', 'CheckpointTaken', 'StateChunk'],
  },
  {
    topic: 'recourse.tool-results',
    source: 'wire',
    mode: 'aligned',
    types: ['LegReported'],
    concerns: ({ body }) => isAskOfLedger(String(body['leg_id'])),
  },
  {
    topic: 'recourse.ledger-commands',
    source: 'wire',
    mode: 'aligned',
    types: ['CancelMutation', 'SettleMutation', 'ReconcileMutation', 'ReconcileLineage', 'ReviewDivergence', ...FALL_COMMANDS],
  },
  ACKS_INPUT,
  {
    topic: 'recourse.recoveries',
    source: 'log',
    mode: 'aligned',
    types: ['LegDispatched', 'LegSettled', 'StepEscalated', 'StepDenied', 'StepResolved'],
  },
  {
    topic: 'recourse.assumptions',
    source: 'log',
    mode: 'broadcast',
    types: ['AssumptionStated'],
    concerns: ({ body }) =>
      body['superseded'] !== true &&
      (body['verdict'] === 'invalidated' || body['kind'] === 'reaffirmed' || isClosingRef(String(body['ref']))),
  },
  { topic: NOTICES, source: 'log', mode: 'broadcast', types: ['RollbackAnnounced', 'BoundReached'] },
  SUCCESSORS,
];

function onEvent(context: DecideContext, input: RecordInput, policy: Policy): Decision {
  const event = eventOf(input);
  if (isFallCommand(event)) return onFallCommand(context, input.key, event, policy);
  switch (event.type) {
    case 'ToolPlanned':
    case 'ToolExecuted':
      return onTool(context, input.key, event, policy);
    case 'CheckpointTaken':
      return onCommit(context, input.key, event.body, policy);
    case 'StateChunk':
      return onChunk(context, input.key, event.body);
    case 'AssumptionStated':
      return onStatement(context, input, event.body, policy);
    case 'RollbackAnnounced':
      return onFall(context, input, announcedIn(event.body), policy);
    case 'BoundReached':
      return onFall(context, input, [event.body], policy);
    case 'LegReported':
      return onReport(context, input, event.body, policy);
    case 'CancelMutation':
      return onCancel(context, input, event.body, policy);
    case 'SettleMutation':
      return onSettle(context, input, event.body, policy);
    case 'ReconcileMutation':
      return onLook(context, input, event.body, policy);
    case 'ReconcileLineage':
      return onReconcile(context, input, event.body, policy);
    case 'ReviewDivergence':
      return onReviewDivergence(context, input, event.body);
    case 'RollbackAcknowledged':
      return onAck(context, input, event.body);
    case 'EntryRegistered':
      return onSuccessor(context, event.body, input, policy);
    case 'LegDispatched':
    case 'LegSettled':
    case 'StepEscalated':
    case 'StepDenied':
    case 'StepResolved':
      return onRecovery(context, event);
    // Commands to take up or drop what is parked are the loop's; the core is not asked about them.
    default:
      return NOTHING;
  }
}

function onTimer(context: DecideContext, timer: TimerInput, policy: Policy): Decision {
  const {
    address: { kind, group, key },
  } = timer;
  const { state } = context;
  if (isDeliveryTimer(timer)) return onDeliveryDue(context, timer);
  if (kind === 'spread') return onSpreadDue(context, group, policy);
  if (kind === REEVALUATION_KIND) return onReevaluationDue(context, { group, key }, policy);
  if (kind === 'mutation') {
    const mutation = mutationIn(state, group, key);
    return mutation === undefined ? NOTHING : onDue(context, mutation, policy);
  }
  if (kind === 'commit') return onCommitDue(context, group, key);
  if (kind === 'rollback') return onRollbackDue(context, { group, key }, policy);
  if (kind === 'held') return onHeldDue(context, { group, key }, policy);
  const undo = kind === 'undo' ? undoIn(state, group, key) : undefined;
  return undo === undefined
    ? NOTHING
    : append(...fall(context, undoPart(undo, mutationsIn(state, group), policy.effectsMax), policy));
}

/** One request per record that a worker was asked, in its own words. */
function requestsOf(record: AcceptedRecord): readonly Outgoing[] {
  if (record.type !== 'WorkerAsked') return [];
  const { adapter, run_id, request } = bodyIn(MUTATIONS_LOG, 'WorkerAsked', record);
  return [
    {
      obligationId: request.leg_id,
      topic: `recourse.tool-requests.${adapter}`,
      key: run_id,
      type: 'recourse.tools.LegRequested',
      body: { ...request },
    },
  ];
}

/** Owed as long as it is open and a worker may still take it. */
function isAskOwed(state: StateView, message: Outgoing, now: number): boolean {
  const { run_id, leg_id, lease_id, not_after, steps } = bodyIn(REQUESTS, 'LegRequested', {
    type: 'LegRequested',
    body: message.body,
  });
  const mutation = mutationIn(state, run_id, steps[0]?.step_id ?? '');
  const ask = mutation?.forward?.asks.find((one) => one.leg_id === leg_id && one.lease_id === lease_id);
  return ask?.answered === null && now < not_after;
}
