// The mutations log as a table: every execution, how it is undone, and what became of it (docs/design/ledger.md).
//
// Boundary: says what the log hears, keeps and sends, and who decides it. What its lines call stands in core/, rules in rules/.
import { contractView, entryView, isClosingRef, subjectOfRecord } from '@recourse/contract';
import type {
  AcceptedRecord,
  Asked,
  DecideContext,
  Decision,
  Doc,
  Due,
  InputTable,
  ServiceCore,
  StateView,
  ViewSpec,
} from '@recourse/event-log';
import { NOTHING, append, command, commandsOf, core, heardOf, toldOn } from '@recourse/event-log';
import { isAskOfLedger } from '@recourse/kernel';
import { isCommitId } from '@recourse/lineage';
import type { Checkpoint, Execution } from '@recourse/messages';
import { announcedIn, bodyIn, recordIn } from '@recourse/messages';
import { onChunk, onCommit, onCommitDue } from './core/commits.part.js';
import { noticesOf, onAck, onDeliveryDue, onReviewDelivery } from './core/consumers.part.js';
import { onOrderErasure } from './core/erasures.part.js';
import { onAgreed } from './core/agreements.part.js';
import { onTool } from './core/executions.js';
import { judgeAs, onCloseBreaker, onReviewed, onTrigger, onUndo, undoing } from './core/fall-commands.part.js';
import { onHeldDue, onRollbackDue } from './core/falls.part.js';
import { CANCELLERS, onCancel, onDue, onReport } from './core/forward-legs.js';
import { onHandleClaimed, questionOfPlanned, questionOfRecorded } from './core/handles.part.js';
import { onRecovery } from './core/moves.part.js';
import { onReconcile, onReviewDivergence } from './core/reconciliations.part.js';
import { onReevaluationDue, onSuccessor } from './core/reevaluations.part.js';
import { isOwed, requestOf } from './core/requests.js';
import { onLook, onSettle } from './core/settling.part.js';
import { onFall, onSpreadDue, onStatement } from './core/statements.part.js';
import { onReviewTrend } from './core/trends.part.js';
import type { MutationsConfig, MutationsPolicy } from './policy.js';
import { policyIn, policyOf } from './policy.js';
import { EVOLVE } from './rows.js';
import { AGREEMENT_KIND } from './rows/agreement.rows.js';
import { commitIn } from './rows/commit.rows.js';
import { CONSUMER_KINDS, DELIVERY } from './rows/consumer.rows.js';
import { LIMIT_KINDS } from './rows/limit.rows.js';
import { MUTATION_KINDS, mutationIn } from './rows/mutation.rows.js';
import { REEVALUATION_KIND } from './rows/reevaluation.rows.js';
import { ROLLBACK_KINDS } from './rows/rollback.columns.js';
import { undoIn } from './rows/rollback.rows.js';
import { TREND_KIND } from './rows/trend.rows.js';
import { fallenEntry } from './rules/mutation/lineage.decider.js';
import { verdictEntry } from './rules/mutation/refs.decider.js';
import { MUTATIONS_LOG } from './rules/record.messages.js';

export { mutationIdOf } from './core/executions.js';
export type { MutationsConfig } from './policy.js';

/** The mutations log as pure functions. */
export function mutationsCore(config: MutationsConfig = {}): ServiceCore {
  const policy = policyOf(config);
  return core<typeof MUTATIONS_LOG>(MUTATIONS_LOG, {
    inputs: [wireOfTools(policy), wireOfResults(policy), commandsOfPeople(policy), wireOfAcks(), ...heardLogs(policy)],
    views: [contractView, entryView, assumptionView, fallenView],
    rows: [...MUTATION_KINDS, ...ROLLBACK_KINDS, ...LIMIT_KINDS, TREND_KIND, AGREEMENT_KIND, ...CONSUMER_KINDS].map(
      (spec) => ({
        spec,
      }),
    ),
    edition: 4,
    keyOf: keyOf,
    evolve: EVOLVE,
    due: dueOf(policy),
    sends: {
      WorkerAsked: (asked) => [requestOf(asked)],
      MutationPlanned: questionOfPlanned,
      MutationRecorded: questionOfRecorded,
    },
    owed: isOwed,
    derived: { topic: NOTICES, derive: noticesOf },
    sealScope: ({ type, body }, state, member) => ({
      ...subjectOfRecord({ ...body, ...member }, (run_id, tenant) =>
        subjectIn(state, { run_id, tenant }, { ...body, ...member }),
      ),
      ...unitOf(type, body),
    }),
  });
}

const RUNTIME = { is: ({ runtime }: { readonly runtime: string }) => runtime, name: 'runtime' };
const TENANT = {
  is: ({ envelope: { tenant } }: { readonly envelope: { readonly tenant: string } }) => tenant,
  name: 'tenant',
};
const RUN = { is: ({ run_id }: { readonly run_id: string }) => run_id, name: 'run id' };

/** What agents say they mean to do and did. */
function wireOfTools(config: MutationsPolicy): InputTable {
  return toldOn('recourse.tool-executions', {
    key: RUN,
    records: {
      ToolPlanned: ({ body, input, context }) =>
        onTool(context, { type: 'ToolPlanned', body, input }, policyIn(config, context)),
      ToolExecuted: ({ body, input, context }) =>
        onTool(context, { type: 'ToolExecuted', body, input }, policyIn(config, context)),
      CheckpointTaken: ({ body, context }) => onCommit(context, body, policyIn(config, context)),
      StateChunk: ({ body, context }) => onChunk(context, body),
    },
  });
}

/** What workers answer that the ledger asked. A report under another key than its run is refused on the key it came with. */
function wireOfResults(config: MutationsPolicy): InputTable {
  return toldOn('recourse.tool-results', {
    key: null,
    concerns: ({ body }) => isAskOfLedger(body.leg_id),
    records: { LegReported: ({ body, input, context }) => onReport(context, input, body, policyIn(config, context)) },
    goesFirst: true,
  });
}

/** What consumers say of the rollbacks they applied. */
function wireOfAcks(): InputTable {
  return toldOn('recourse.consumer-acks', {
    key: RUN,
    records: { RollbackAcknowledged: ({ body, context }) => onAck(context, body) },
  });
}

/** Commands about what should not stand, and about effects that wait for people. */
function commandsOfPeople(config: MutationsPolicy): InputTable {
  const by =
    <Body, Answer extends Decision>(decide: (context: DecideContext, body: Body, policy: MutationsPolicy) => Answer) =>
    ({ body, context }: Asked<Body>): Answer =>
      decide(context, body, policyIn(config, context));
  return commandsOf('recourse.ledger-commands', {
    key: { is: ({ run_id: runId }) => String(runId), name: 'run' },
    commands: {
      CancelMutation: command(['agent', ...CANCELLERS], by(onCancel)),
      SettleMutation: command(['operator', 'approver', 'administrator'], by(onSettle)),
      ReconcileMutation: command(['operator', 'approver', 'administrator'], by(onLook)),
      TriggerRollback: command(['reporter', 'requester', 'approver', 'administrator'], by(onTrigger)),
      UndoRun: command(['requester', 'reporter', 'approver', 'administrator'], by(onUndo)),
      ConfirmTrigger: command(['approver', 'administrator'], by(judgeAs('confirmed'))),
      RejectTrigger: command(['approver', 'administrator'], by(judgeAs('rejected'))),
      ReviewOutOfBand: command(['approver', 'administrator'], by(onReviewed)),
      CloseBreaker: command(['operator', 'administrator'], by(onCloseBreaker)),
      ReviewTrend: command(['operator', 'approver', 'administrator'], by(onReviewTrend)),
      ReviewDelivery: command(['operator', 'approver', 'administrator'], by(onReviewDelivery)),
      ReconcileLineage: command(['agent', 'operator', 'administrator', 'auditor'], by(onReconcile), RUNTIME),
      ReviewDivergence: command(['operator', 'approver', 'administrator'], by(onReviewDivergence), RUNTIME),
      OrderErasure: command(['administrator'], onOrderErasure, TENANT),
    },
  });
}

/** A recovery goes on without what is noted of it here: its records are noted together, and told then. */
const NOTED_TOGETHER = { mode: 'aligned', patienceMs: 10 } as const;

/** What becomes of recoveries, and what people agreed to before an effect. */
function heardRecoveries(): InputTable {
  return heardOf('recourse.recoveries', {
    ...NOTED_TOGETHER,
    records: {
      LegDispatched: ({ body, context }) => onRecovery(context, { type: 'LegDispatched', body }),
      LegSettled: ({ body, context }) => onRecovery(context, { type: 'LegSettled', body }),
      StepEscalated: ({ body, context }) => onRecovery(context, { type: 'StepEscalated', body }),
      StepDenied: ({ body, context }) => onRecovery(context, { type: 'StepDenied', body }),
      StepResolved: ({ body, context }) => onRecovery(context, { type: 'StepResolved', body }),
      ForwardApprovalUsed: ({ body }) => onAgreed(body),
    },
  });
}

/** Logs of the other services, of assumptions, and the notices of all partitions. */
function heardLogs(config: MutationsPolicy): readonly InputTable[] {
  const fell =
    <Body>(members: (body: Body) => Parameters<typeof onFall>[2]) =>
    ({ body, input, context }: Asked<Body>): Decision =>
      onFall(context, input, members(body), policyIn(config, context));
  return [
    heardRecoveries(),
    heardOf('recourse.assumptions', {
      mode: 'broadcast',
      concerns: ({ type, body }, owns) =>
        type === 'HandleClaimed'
          ? owns(body.run_id)
          : type === 'AssumptionStated' &&
            !body.superseded &&
            (body.verdict === 'invalidated' || body.kind === 'reaffirmed' || isClosingRef(body.ref)),
      records: {
        HandleClaimed: ({ body, input, context }) => onHandleClaimed(context, input, body, policyIn(config, context)),
        AssumptionStated: ({ body, input, context }) => onStatement(context, input, body, policyIn(config, context)),
      },
    }),
    heardOf(NOTICES, {
      mode: 'broadcast',
      records: { RollbackAnnounced: fell(announcedIn), BoundReached: fell((one) => [one]) },
    }),
    heardOf('recourse.contracts', {
      mode: 'broadcast',
      // Versions that follow another.
      concerns: ({ type, body }) => type === 'EntryRegistered' && body.kind === 'policy_bundle' && body.version > 1,
      records: { EntryRegistered: ({ body, input, context }) => onSuccessor(context, body, input, config) },
    }),
  ];
}

/** What a row does whose time has come. */
function dueOf(config: MutationsPolicy): Due {
  return {
    [DELIVERY]: onDeliveryDue,
    [REEVALUATION_KIND]: (context, { address }) => onReevaluationDue(context, address, policyIn(config, context)),
    spread: (context, { address: { group } }) => onSpreadDue(context, group, policyIn(config, context)),
    mutation: (context, { address: { group, key } }) => {
      const mutation = mutationIn(context.state, group, key);
      return mutation === undefined ? NOTHING : onDue(context, mutation, policyIn(config, context));
    },
    commit: onCommitDue,
    rollback: (context, { address }) => onRollbackDue(context, address, policyIn(config, context)),
    held: (context, { address }) => onHeldDue(context, address, policyIn(config, context)),
    undo: (context, { address: { group, key } }) => {
      const undo = undoIn(context.state, group, key);
      return undo === undefined ? NOTHING : append(...undoing(context, undo, policyIn(config, context)));
    },
  };
}

/** Most records are about a run; an intent names it in its execution, others are about a ref, a bundle, a runtime or a tenant. */
function keyOf(body: object): string {
  const { run_id, execution, ref, bundle, runtime, tenant } = body as Doc; // members that records of this log may have
  return String(run_id ?? (execution as Execution | undefined)?.run_id ?? ref ?? bundle ?? runtime ?? tenant);
}

/** The run of a tenant. */
interface OwnRun {
  readonly run_id: string;
  readonly tenant: string;
}

/** Subject of the mutation or commit a record is about, as far as it is known, and that tenant's own. */
function subjectIn(state: StateView, of: OwnRun, { mutation_id, commit_id, checkpoint }: Doc): string | null {
  if (typeof commit_id !== 'string') return subjectNamed(state, of, String(mutation_id));
  return checkpoint === undefined ? subjectNamed(state, of, commit_id) : (checkpoint as Checkpoint).subject_ref; // records that name a commit hold its checkpoint, or follow one that did
}

/** What should not stand is named alike, with an effect or without; whoever names another tenant's has no subject by it. */
function subjectNamed(state: StateView, { run_id, tenant }: OwnRun, id: string): string | null {
  const found = isCommitId(id) ? commitIn(state, run_id, id)?.checkpoint : mutationIn(state, run_id, id);
  return found?.tenant === tenant ? found.subject_ref : null;
}

/** The state of a commit is sealed under a key of its own, so that it can be destroyed alone (E27, E36). */
function unitOf(type: string, { commit_id }: Doc): { readonly unit?: string } {
  return type === 'CheckpointRecorded' || type === 'StateChunkRecorded' ? { unit: String(commit_id) } : {};
}

// Views the mutations log reads: which refs hold, and which commits fell.

const ASSUMPTIONS = 'recourse.assumptions';
/** Derived from the mutations log, and read again by every partition of it: the fall of a commit is news to those derived from it. */
const NOTICES = 'recourse.rollback-notifications';

/** View of the assumptions log: the verdict that stands per ref and scope. */
export const assumptionView: ViewSpec = {
  name: 'assumptions',
  topic: ASSUMPTIONS,
  fold: (record: AcceptedRecord) => {
    if (record.type !== 'AssumptionStated') return [];
    const entry = verdictEntry(bodyIn(ASSUMPTIONS, 'AssumptionStated', record), record.seq);
    return entry === null ? [] : [entry];
  },
};

/** View of the log derived from this one: the commits that fell, each with the place of its announcement. */
export const fallenView: ViewSpec = {
  name: 'fallen',
  topic: NOTICES,
  fold: (record: AcceptedRecord) => {
    const { type, body } = recordIn(NOTICES, record);
    const fallen = type === 'RollbackAnnounced' ? announcedIn(body) : type === 'BoundReached' ? [body] : [];
    return fallen.map((one) => fallenEntry(one, record.seq));
  },
};
