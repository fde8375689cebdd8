// What other services and workers tell the orchestrator: marks and breakers of the ledger, notices, switches, reports.
import { entryView, killVerdict } from '@recourse/contract';
import { heardOf, NOTHING, toldOn } from '@recourse/event-log';
import type { Asked, DecideContext, Decision, InputTable } from '@recourse/event-log';
import { isAskOfLedger } from '@recourse/kernel';
import type { BodyOf, Fallen, LegReported, RecordOf, RecordTypeOf, Settled } from '@recourse/messages';
import { fallenIn, settledIn } from '@recourse/messages';
import { handleOf } from '../rules/decision/recovery.decisions.js';
import { record } from '../rules/record.messages.js';
import type { RecoveryRecord } from '../rules/record.messages.js';
import { report } from '../rules/step/report.decider.js';
import { advance, closeWindows, open, reaffirm } from '../rules/step/step.decider.js';
import { readHalts } from '../rows/kinds.js';
import { append, readUpToContract, stepContext } from './context.js';
import type { CorePolicy } from './context.js';
import { namesOwn, noteChildren, ownParents, settleChildren } from './lineage.part.js';

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
        BreakerOpened: ({ body }) => append([breakerNoted(body, true)]),
        BreakerClosed: ({ body }) => append([breakerNoted(body, false)]),
      },
    }),
    toldOn(RESULTS, {
      key: null,
      concerns: ({ body }) => !isAskOfLedger(body.leg_id),
      records: { LegReported: (asked) => onReport(asked, policy) },
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
  const { mutation_id, execution, execution_state, recoverability, reason, terms, ref, rollback_id, found_out } = body;
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
    reason,
    terms,
    ref,
    recorded_hash: input.hash,
    recorded_seq: input.seq,
    consumers: [],
    found_out,
  };
  return append(advance(step, learnt, within));
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
