// The mutations log: every execution, how it is undone, and what became of it (DESIGN 6.2).
//
// Boundary: reads state and views, hands them to the deciders, maps their facts. Executions are taken in executions.ts, what
// workers are asked in forward-legs.ts; rows are made in mutation-rows.ts.
import { contractView, entryView, isClosingRef, subjectOfRecord } from '@recourse/contract';
import { append, NOTHING } from '@recourse/event-log';
import type {
  AcceptedRecord,
  DecideContext,
  Decision,
  Doc,
  InputSpec,
  Outgoing,
  RecordInput,
  ServiceCore,
  StateView,
  TimerInput,
  Views,
  ViewSpec,
} from '@recourse/event-log';
import { InvariantViolation, isAskOfLedger } from '@recourse/kernel';
import { isCommitId } from '@recourse/lineage';
import type {
  AssumptionStated,
  Checkpoint,
  Execution,
  LegRequested,
  RollbackOpened,
  WorkerAsked,
} from '@recourse/messages';
import type { AckWaits } from '../domain/consumer/consumer.messages.js';
import { ACK_WAITS } from '../domain/consumer/due.decider.js';
import { closeByEvent, closedByStatement } from '../domain/mutation/closing.decider.js';
import { decideFall, fallenEntry, standsRef } from '../domain/mutation/lineage.decider.js';
import type { Announced, Passed } from '../domain/mutation/lineage.decider.js';
import { isHeld } from '../domain/mutation/hold.decider.js';
import { decideRecovery, decideRollback, LEDGER_POLICY, rollBack } from '../domain/mutation/mutation.decider.js';
import type { LedgerPolicy } from '../domain/mutation/mutation.decider.js';
import { isRecorded } from '../domain/mutation/mutation.messages.js';
import type { Binding, Body, MutationEvent, MutationFact, Trigger } from '../domain/mutation/mutation.messages.js';
import {
  continueSpread,
  decideReaffirmation,
  decideStatement,
  EFFECTS_MAX,
  verdictEntry,
} from '../domain/mutation/refs.decider.js';
import { refScope } from '../domain/scope.js';
import { undoOf, undoPart } from '../domain/mutation/undo.decider.js';
import { KEEPING } from '../domain/commit/checkpoint.decisions.js';
import type { Keeping } from '../domain/commit/checkpoint.decisions.js';
import { markCommit, onChunk, onCommit, onCommitDue, triggerOf, withFates } from './commits.part.js';
import {
  ACKS_INPUT,
  CONSUMER_KINDS,
  consumersDue,
  evolveConsumers,
  isDeliveryTimer,
  onAck,
  onDeliveryDue,
  scopedOf,
} from './consumers.part.js';
import { commitIn } from './commit-rows.js';
import { bindingScopes, oneOrNone, onTool } from './executions.js';
import { cancels, onCancel, onDue, onReport } from './forward-legs.js';
import { onReconcile } from './reconciliations.part.js';
import {
  bindingsIn,
  evolveMutations,
  MUTATION_KINDS,
  mutationIn,
  mutationsIn,
  namesOf,
  spreadsIn,
  triggerIn,
  undoIn,
} from './mutation-rows.js';
import { onReevaluationDue, onSuccessor, REEVALUATION_KIND, SUCCESSORS } from './reevaluations.part.js';
import type { Reevaluating } from './reevaluations.part.js';
import { noticesOf } from './rollback-notices.js';

export { mutationIdOf } from './executions.js';

export interface MutationsConfig extends Partial<LedgerPolicy>, Partial<Keeping>, Partial<Reevaluating> {
  /** Most contradictions of one decision; EFFECTS_MAX unless told. */
  readonly effectsMax?: number;
  /** How long consumers have to answer, by mode; ACK_WAITS unless told. */
  readonly ackWaits?: AckWaits;
}

type Policy = Required<MutationsConfig>;

/** Derived from this log, and read again by every partition of it: the fall of a commit is news to those derived from it. */
const NOTICES = 'recourse.rollback-notifications';

/** The mutations log as pure functions. */
export function mutationsCore(config: MutationsConfig = {}): ServiceCore {
  const policy: Policy = {
    ...LEDGER_POLICY,
    ...KEEPING,
    effectsMax: EFFECTS_MAX,
    boundMs: null,
    ackWaits: ACK_WAITS,
    ...config,
  };
  return {
    log: 'recourse.mutations',
    inputs: INPUTS,
    views: [contractView, entryView, assumptionView, fallenView],
    kinds: [...MUTATION_KINDS, ...CONSUMER_KINDS],
    sealScope: ({ type, body }, state) => ({
      ...subjectOfRecord(body, (run) => subjectIn(state, run, body)),
      ...unitOf(type, body),
    }),
    keyOf: ({ body }) =>
      String(
        body.run_id ?? (body.execution as Execution | undefined)?.run_id ?? body.ref ?? body.bundle ?? body.runtime,
      ),
    decide: (context, input) =>
      input.source === 'timer' ? onTimer(context, input, policy) : onEvent(context, input, policy),
    evolve: (state, record) => [...evolveMutations(state, record), ...evolveConsumers(state, record)],
    react: requestsOf,
    owed: isAskOwed,
    derived: { topic: NOTICES, derive: noticesOf },
  };
}

/** Subject of the mutation or commit a record is about, as far as it is known. */
function subjectIn(state: StateView, runId: string, { mutation_id, commit_id, checkpoint }: Doc): string | null {
  if (typeof commit_id !== 'string') return mutationIn(state, runId, String(mutation_id))?.subject_ref ?? null;
  return ((checkpoint as Checkpoint | undefined) ?? commitIn(state, runId, commit_id)?.checkpoint)?.subject_ref ?? null; // records that name a commit hold its checkpoint, or follow one that did
}

/** The state of a commit has a key of its own: it is given up by itself (E27, E36). */
function unitOf(type: string, { commit_id }: Doc): { readonly unit?: string } {
  return type === 'CheckpointRecorded' || type === 'StateChunkRecorded' ? { unit: String(commit_id) } : {};
}

/** View of the assumptions log: the verdict that stands per ref and scope. */
export const assumptionView: ViewSpec = {
  name: 'assumptions',
  topic: 'recourse.assumptions',
  fold: (record: AcceptedRecord) => {
    if (record.type !== 'AssumptionStated') return [];
    const entry = verdictEntry(record.body as Body<AssumptionStated>, record.seq); // the type says which body it is
    return entry === null ? [] : [entry];
  },
};

/** View of the log derived from this one: the commits that fell, each with the place of its announcement. */
export const fallenView: ViewSpec = {
  name: 'fallen',
  topic: NOTICES,
  fold: ({ type, body, seq }: AcceptedRecord) =>
    type === 'RollbackAnnounced' || type === 'BoundReached' ? [fallenEntry(body as Announced | Passed, seq)] : [], // the type says which body it is
};

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
  { topic: 'recourse.ledger-commands', source: 'wire', mode: 'aligned', types: ['CancelMutation', 'ReconcileLineage'] },
  ACKS_INPUT,
  {
    topic: 'recourse.recoveries',
    source: 'log',
    mode: 'aligned',
    types: [
      'RollbackOpened',
      'UndoOpened',
      'LegDispatched',
      'StepOutcomeRecorded',
      'StepEscalated',
      'StepDenied',
      'StepResolved',
    ],
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
    case 'BoundReached':
      return onFall(context, input, event.body, policy);
    case 'RollbackOpened':
      return onRollback(context, event.body, policy);
    case 'UndoOpened':
      return append(...undoPart(undoOf(event.body), mutationsIn(context.state, event.body.run_id), policy.effectsMax));
    case 'LegReported':
      return onReport(context, input, event.body, policy);
    case 'CancelMutation':
      return onCancel(context, input, event.body, policy);
    case 'ReconcileLineage':
      return onReconcile(context, input, event.body);
    case 'RollbackAcknowledged':
      return onAck(context, input, event.body);
    case 'EntryRegistered':
      return onSuccessor(context, event.body, input, policy);
    case 'LegDispatched':
    case 'StepOutcomeRecorded':
    case 'StepEscalated':
    case 'StepDenied':
    case 'StepResolved': {
      const mutation = mutationIn(context.state, event.body.run_id, event.body.mutation_id);
      return isRecorded(mutation) ? oneOrNone(decideRecovery(event, mutation)) : NOTHING;
    }
    // Commands to take up or drop what is parked are the loop's; the core is not asked about them.
    default:
      return NOTHING;
  }
}

/** A rollback of an effect that is held cancels it: once that is recorded, the remembered trigger finds it so. */
function onRollback(context: DecideContext, opened: Body<RollbackOpened>, policy: Policy): Decision {
  const event = triggerOf(opened);
  const { run_id, tenant, mutation_id, rollback_id } = event;
  const commit = markCommit(context, event, policy);
  if (commit !== null) return commit;
  const mutation = mutationIn(context.state, run_id, mutation_id);
  const due =
    isRecorded(mutation) && mutation.rollback_id === null
      ? consumersDue(context, scopedOf(mutation), policy.ackWaits)
      : [];
  const marked = decideRollback(event, mutation, triggerIn(context.state, run_id, tenant, mutation_id), due);
  if (marked === null) return NOTHING;
  const cancelled =
    isHeld(mutation) && mutation.tenant === tenant
      ? cancels(context, mutation, 'ROLLED_BACK', rollback_id, policy)
      : [];
  return append(marked, ...cancelled);
}

/** Statements that reach the commits of a ref: it does not hold, or it holds again. */
function isNewsOfRef({ verdict, kind }: Pick<AssumptionStated, 'verdict' | 'kind'>): boolean {
  return verdict === 'invalidated' || kind === 'reaffirmed';
}

/** A statement is decided once the view has it: what binds from here on is judged at or after it. */
function onStatement(
  context: DecideContext,
  input: RecordInput,
  body: Body<AssumptionStated>,
  policy: Policy,
): Decision {
  const { state, views } = context;
  const isEvent = isClosingRef(body.ref);
  if (body.superseded || !(isNewsOfRef(body) || isEvent)) return NOTHING;
  readUpTo(context, 'assumptions', input);
  const scope = refScope(body.tenant, body.ref);
  const bindings = bindingsIn(state, scope);
  const closed = closedByStatement(body, bindings).flatMap(
    (binding) => closeByEvent(mutationIn(state, binding.run_id, binding.mutation_id), body) ?? [],
  );
  const contradicted = decideStatement(
    body,
    input.partition,
    input.seq,
    bindings,
    spreadsIn(state, scope),
    policy.effectsMax,
  );
  const reaffirmed = decideReaffirmation(
    body,
    input.partition,
    input.seq,
    bindings,
    spreadsIn(state, scope),
    policy.effectsMax,
    views.view('assumptions'),
  );
  return append(...closed, ...withCancels(context, contradicted, bindings, policy), ...reaffirmed);
}

/** A commit fell: those derived from it are contradicted. As a statement it is decided once the view has it. */
function onFall(context: DecideContext, input: RecordInput, body: Announced | Passed, policy: Policy): Decision {
  readUpTo(context, 'fallen', input);
  const scope = refScope(body.tenant, standsRef(body.mutation_id));
  const bindings = bindingsIn(context.state, scope);
  const fallen = decideFall(
    body,
    input.partition,
    input.seq,
    bindings,
    spreadsIn(context.state, scope),
    policy.effectsMax,
  );
  return append(...withCancels(context, withFates(context, fallen, bindings), bindings, policy));
}

/** Reads a view at least as far as an input of its log. Errors: Lacking; InvariantViolation when it ends before the input. */
function readUpTo({ views }: DecideContext, view: string, { partition, seq }: RecordInput): void {
  const isBehind = (): boolean => views.view(view).position(partition) < seq;
  if (!isBehind()) return;
  views.readToEnd();
  if (isBehind())
    throw new InvariantViolation('judged-at', `the view is behind a statement at ${partition}/${seq}`, 'partition');
}

/** Where a contradicted effect is still held, it is cancelled in the same decision. */
function withCancels(
  context: DecideContext,
  decided: readonly MutationFact[],
  bindings: readonly Binding[],
  policy: Policy,
): readonly MutationFact[] {
  const held = new Set(bindings.filter((binding) => binding.is_held === true).map((binding) => binding.mutation_id));
  if (held.size === 0) return decided;
  return decided.flatMap((fact) => {
    if (fact.type !== 'MutationContradicted' || !held.has(fact.body.mutation_id)) return [fact];
    const mutation = mutationIn(context.state, fact.body.run_id, fact.body.mutation_id);
    return isHeld(mutation)
      ? [fact, ...cancels(context, mutation, 'REF_INVALIDATED', fact.body.evidence.event_id, policy)]
      : [fact];
  });
}

function onTimer(context: DecideContext, timer: TimerInput, policy: Policy): Decision {
  const {
    address: { kind, group, key },
  } = timer;
  const { state } = context;
  if (isDeliveryTimer(timer)) return onDeliveryDue(context, timer);
  if (kind === 'spread') {
    const bindings = bindingsIn(state, group);
    return append(
      ...withCancels(
        context,
        withFates(context, continueSpread(spreadsIn(state, group), bindings, policy.effectsMax), bindings),
        bindings,
        policy,
      ),
    );
  }
  if (kind === REEVALUATION_KIND) return onReevaluationDue(context, { group, key }, policy);
  if (kind === 'mutation') {
    const mutation = mutationIn(state, group, key);
    return mutation === undefined ? NOTHING : onDue(context, mutation, policy);
  }
  if (kind === 'commit') return onCommitDue(context, group, key);
  if (kind === 'undo') {
    const undo = undoIn(state, group, key);
    return undo === undefined ? NOTHING : append(...undoPart(undo, mutationsIn(state, group), policy.effectsMax));
  }
  const waiting = state.get(kind, group, key) as Trigger | undefined;
  const marked = waiting === undefined ? null : markCommit(context, waiting, policy);
  if (marked !== null) return marked;
  const commit = waiting === undefined ? undefined : mutationIn(state, group, waiting.mutation_id);
  if (waiting === undefined || !isRecorded(commit)) return NOTHING;
  const due = consumersDue(context, scopedOf(commit), policy.ackWaits);
  return oneOrNone(rollBack(commit, waiting, due));
}

/** One request per record that a worker was asked, in its own words. */
function requestsOf(record: AcceptedRecord): readonly Outgoing[] {
  if (record.type !== 'WorkerAsked') return [];
  const { adapter, run_id, request } = record.body as Body<WorkerAsked>; // the type says which body it is
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
  const { run_id, leg_id, lease_id, not_after, steps } = message.body as unknown as LegRequested; // requestsOf alone makes the messages of this log
  const mutation = mutationIn(state, run_id, steps[0]?.step_id ?? '');
  const ask = mutation?.forward?.asks.find((one) => one.leg_id === leg_id && one.lease_id === lease_id);
  return ask?.answered === null && now < not_after;
}

interface Group {
  readonly kind: string;
  readonly group: string;
}

// The catalogue admits only these types, and the codec has checked their shape.
function eventOf(input: RecordInput): MutationEvent {
  return { type: input.type, body: input.body } as unknown as MutationEvent;
}
