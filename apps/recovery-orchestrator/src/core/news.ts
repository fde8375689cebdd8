// What other services and workers tell the orchestrator: marks and breakers of the ledger, notices, switches, reports.
import { entryView, killVerdict } from '@recourse/contract';
import type { Asked, DecideContext, Decision, InputTable, Owns, StateView } from '@recourse/event-log';
import { NOTHING, heardOf, toldOn } from '@recourse/event-log';
import { isAskOfLedger } from '@recourse/kernel';
import type {
  BodyOf,
  CommitRef,
  DerivationAnnounced,
  Fallen,
  LegReported,
  RecordOf,
  RecordTypeOf,
  Settled,
} from '@recourse/messages';
import { fallenIn, settledIn } from '@recourse/messages';
import { readHalts, readRow, readRows } from '../rows/kinds.js';
import { handleOf } from '../rules/decision/recovery.decisions.js';
import type { Child } from '../rules/lineage/dependents.decisions.js';
import { dependentKey, noteDependent, settleDependent } from '../rules/lineage/dependents.decisions.js';
import type { DependentDoc } from '../rules/lineage/dependents.messages.js';
import type { RecoveryRecord } from '../rules/record.messages.js';
import { record } from '../rules/record.messages.js';
import { report } from '../rules/step/report.decider.js';
import type { StepContext } from '../rules/step/step-draft.decisions.js';
import { HANDLE_ASKED } from '../rules/step/opening.decisions.js';
import { advance, childrenSettled, closeWindows, handleJudged, open, reaffirm } from '../rules/step/step.decider.js';
import type { CorePolicy } from './context.js';
import { append, readUpToContract, stepContext } from './context.js';

const MUTATIONS = 'recourse.mutations';
const CONTRACTS = 'recourse.contracts';
const NOTICES = 'recourse.rollback-notifications';
const RESULTS = 'recourse.tool-results';

type News<Type extends RecordTypeOf<typeof MUTATIONS>> = BodyOf<typeof MUTATIONS, Type>;

/** What is heard, from whom, and which rule says what follows. */
export function heardByRecoveries(policy: CorePolicy): readonly InputTable[] {
  return [
    heardOf(MUTATIONS, {
      mode: 'aligned',
      concerns: isNews,
      records: {
        MutationsFell: ({ body, context }) => onFall(context, fallenIn(body), policy),
        MutationReaffirmed: ({ body, context }) => onReaffirmed(context, body, policy),
        RecoverabilityChanged: ({ body, context }) => onRecoverability(context, body, policy),
        MutationRecorded: (asked) => onRecordedAgain(asked, policy),
        HandleJudged: ({ body, context }) => onHandleJudged(context, body, policy),
        BreakerOpened: ({ body }) => append([breakerNoted(body, true)]),
        BreakerClosed: ({ body }) => append([breakerNoted(body, false)]),
      },
    }),
    toldOn(RESULTS, {
      key: null,
      concerns: ({ body }) => !isAskOfLedger(body.leg_id),
      records: { LegReported: (asked) => onReport(asked, policy) },
      // A leg whose report lay unread until its lease was over would go out again, and what is begun ends before more begins.
      goesFirst: true,
    }),
    heardOf(CONTRACTS, {
      mode: 'broadcast',
      concerns: ({ body }) => 'kind' in body && body.kind === 'kill_switch',
      records: { EntryRegistered: onSwitch, EntryRetired: onSwitch },
    }),
    heardOf(NOTICES, {
      mode: 'broadcast',
      concerns: namesOwn,
      records: {
        DerivationAnnounced: ({ body, context: { state, owns } }) =>
          append(noteChildren(state, ownParents(body.parents, owns), body)),
        RollbackSettled: ({ body, context }) => onSettled(context, settledIn(body), policy),
      },
    }),
  ];
}

/** Picks what matters here: marks, windows that close, what the ledger learns of a commit after its mark, breakers over what is called. */
function isNews({ type, body }: RecordOf<typeof MUTATIONS>): boolean {
  switch (type) {
    case 'RecoverabilityChanged':
      return body.event === 'window_closed';
    case 'MutationRecorded':
      return body.rollback_id !== null;
    case 'BreakerOpened':
    case 'BreakerClosed':
      return body.scope === 'capability';
    default:
      return true;
  }
}

/** Children of the own runs came to rest. */
function onSettled(context: DecideContext, told: readonly Settled[], policy: CorePolicy): Decision {
  const settled = told.map((one) => ({ ...one, derived_from: ownParents(one.derived_from, context.owns) }));
  return append(settleChildren(context.state, settled, (runId) => stepContext(context, runId, policy)));
}

function onFall(context: DecideContext, fallen: readonly Fallen[], policy: CorePolicy): Decision {
  const [first] = fallen;
  if (first === undefined) return NOTHING;
  // Only a handle with something missing is bound here, from the contract the mutation executed under.
  for (const { terms, ref } of fallen)
    if (handleOf(terms, ref) === 'incomplete') readUpToContract(context, terms?.contract_digest);
  const marked = fallen.map(({ admission, ...mark }) => ({ ...mark, triggered_at: admission.triggered_at }));
  return append(open(marked, stepContext(context, first.run_id, policy)));
}

/** While a breaker over a capability is open, no step that would call it is dispatched. */
function breakerNoted(
  { breaker_id, tenant, name, run_id }: News<'BreakerOpened'> | News<'BreakerClosed'>,
  is_open: boolean,
): RecoveryRecord {
  return record('BreakerNoted', { breaker_id, tenant, capability: name, run_id, is_open });
}

/** Life goes on: what the ledger learnt of a commit after it was marked. */
function onRecordedAgain({ body, input, context }: Asked<News<'MutationRecorded'>>, policy: CorePolicy): Decision {
  const { mutation_id, execution, execution_state, recoverability, terms, ref, rollback_id, found_out } = body;
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
    triggered_at: step.triggered_at,
    execution,
    execution_state,
    recoverability,
    // Its question is on the way: the answer goes on with it.
    reason: typeof body.handle_ref === 'string' ? HANDLE_ASKED : body.reason,
    terms,
    ref,
    recorded_hash: input.hash,
    recorded_seq: input.seq,
    consumers: [],
    found_out,
  };
  return append(advance(step, learnt, within));
}

/** Whose the handle of an effect is that fell before it named one. */
function onHandleJudged(
  context: DecideContext,
  { tenant, run_id, mutation_id, is_owner }: News<'HandleJudged'>,
  policy: CorePolicy,
): Decision {
  const within = stepContext(context, run_id, policy);
  const step = within.steps.find((one) => one.tenant === tenant && one.mutation_id === mutation_id);
  return step === undefined ? NOTHING : append(handleJudged(step, is_owner, within));
}

/** The assumption is said to hold again: whoever agreed because it did not is asked again. */
function onReaffirmed(
  context: DecideContext,
  { tenant, run_id, mutation_id, evidence }: News<'MutationReaffirmed'>,
  policy: CorePolicy,
): Decision {
  const within = stepContext(context, run_id, policy);
  const step = within.steps.find((one) => one.tenant === tenant && one.mutation_id === mutation_id);
  return step === undefined ? NOTHING : append(reaffirm(step, evidence, within));
}

function onRecoverability(
  context: DecideContext,
  changed: News<'RecoverabilityChanged'>,
  policy: CorePolicy,
): Decision {
  if (changed.event !== 'window_closed') return NOTHING;
  const { tenant, run_id, members } = changed;
  const closed = members.map(({ mutation_id }) => mutation_id);
  return append(closeWindows(closed, tenant, stepContext(context, run_id, policy)));
}

/** Refuses a report that came under another key than its run, on that key: it must not stop either run. */
function onReport({ body: message, context, input }: Asked<LegReported>, policy: CorePolicy): Decision {
  if (input.key === message.run_id)
    return append(report(message, stepContext(context, message.run_id, policy), input.speaker));
  const { tenant, leg_id, attempt } = message;
  return append([record('ReportRefused', { tenant, run_id: input.key, leg_id, attempt, code: 'KEY_MISMATCH' })]);
}

/** A switch changed: whoever may go on now is looked at, each in a decision of its own (L4). */
function onSwitch({
  body: { tenant, name },
  context: { state, views },
}: Asked<{ readonly tenant: string; readonly name: string }>): Decision {
  const entries = views.view(entryView.name);
  const mayGoOn = readHalts(state).some(
    (halt) =>
      killVerdict(entries, {
        tenant: halt.tenant,
        agent: halt.agent_id,
        capability: halt.capability,
        isRecovery: true,
      }).admitted,
  );
  return mayGoOn ? append([record('HaltsReviewed', { tenant, name })]) : NOTHING;
}

// What other runs made of the effects of a run, as a part of the orchestrator's core: notices in, dependents and waking out.
//
// Boundary: every owner reads every notice; only the owner of a parent's run answers it, the others with nothing.

type Notice = RecordOf<'recourse.rollback-notifications'>;

/** Does a notice name a parent on the own partition? */
function namesOwn({ type, body }: Notice, owns: Owns): boolean {
  switch (type) {
    case 'DerivationAnnounced':
      return ownParents(body.parents, owns).length > 0;
    case 'RollbackSettled':
      return settledIn(body).some(({ derived_from }) => ownParents(derived_from, owns).length > 0);
    default:
      return false;
  }
}

/** Parents whose runs live on this partition. */
function ownParents(named: readonly CommitRef[], owns: Owns): readonly CommitRef[] {
  return named.filter(({ run_id: runId }) => owns(runId));
}

/** Notes children of the own runs. */
function noteChildren(
  state: StateView,
  parents: readonly CommitRef[],
  { tenant, run_id, mutation_id }: Pick<DerivationAnnounced, 'tenant' | 'run_id' | 'mutation_id'>,
): readonly RecoveryRecord[] {
  const child: Child = { tenant, run_id, mutation_id };
  return parents.flatMap(
    (parent) =>
      noteDependent(child, parent, standingOf(state, child, parent), readRows(state, 'step', parent.run_id)) ?? [],
  );
}

/** Children of the own runs came to rest: who waited for them goes on, in the same decision. Shape: `derived_from` has the own parents alone. */
function settleChildren(
  state: StateView,
  settled: readonly Settled[],
  contextOf: (runId: string) => StepContext,
): readonly RecoveryRecord[] {
  const [first] = settled;
  if (first === undefined) return [];
  const { tenant } = first;
  const pairs = settled.flatMap((child) => child.derived_from.map((parent) => ({ child, parent })));
  const states = new Map(settled.map(({ mutation_id, recoverability }) => [mutation_id, recoverability]));
  return [...new Set(pairs.map(({ parent }) => parent.run_id))].flatMap((runId) => {
    const of = pairs.filter(({ parent }) => parent.run_id === runId);
    const ended = of.flatMap(
      ({ child, parent }) =>
        settleDependent(child, parent, child.recoverability, standingOf(state, child, parent)) ?? [],
    );
    if (ended.length === 0) return [];
    const dependents = readRows(state, 'dependent', runId).map((one): DependentDoc => {
      const now = one.tenant === tenant ? states.get(one.child_mutation_id) : undefined;
      return now === undefined ? one : { ...one, settled_as: now };
    });
    return [
      ...ended,
      ...childrenSettled([...new Set(of.map(({ parent }) => parent.commit_id))], tenant, {
        ...contextOf(runId),
        dependentsIn: () => dependents,
      }),
    ];
  });
}

function standingOf(
  state: StateView,
  { tenant, mutation_id: child }: Child,
  { run_id: runId, commit_id }: CommitRef,
): DependentDoc | undefined {
  return readRow(state, 'dependent', runId, dependentKey({ tenant, mutation_id: commit_id, child_mutation_id: child }));
}
