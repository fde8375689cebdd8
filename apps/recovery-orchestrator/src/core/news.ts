// What other services and workers tell the orchestrator: marks and breakers of the ledger, notices, switches, reports.
import { entryView, killVerdict } from '@recourse/contract';
import { NOTHING } from '@recourse/event-log';
import type { DecideContext, Decision, RecordInput } from '@recourse/event-log';
import type { BodyOf, Fallen, RecordTypeOf } from '@recourse/messages';
import { bodyIn, fallenIn, recordIn, settledIn } from '@recourse/messages';
import { handleOf } from '../rules/decision/recovery.decisions.js';
import { record } from '../rules/record.messages.js';
import type { RecoveryRecord } from '../rules/record.messages.js';
import { report } from '../rules/step/report.decider.js';
import { advance, closeWindows, open, reaffirm } from '../rules/step/step.decider.js';
import { noteChildren, ownParents, settleChildren } from './lineage.part.js';
import { append, readUpToContract, stepContext } from './context.js';
import type { Asked, CorePolicy } from './context.js';
import { readHalts } from '../rows/kinds.js';

const MUTATIONS = 'recourse.mutations';
const NOTICES = 'recourse.rollback-notifications';
const RESULTS = 'recourse.tool-results';

type News<Type extends RecordTypeOf<typeof MUTATIONS>> = BodyOf<typeof MUTATIONS, Type>;

/** Decides what the ledger recorded about mutations. */
export function onMutations({ context, input, policy }: Asked): Decision {
  const told = recordIn(MUTATIONS, input);
  switch (told.type) {
    case 'MutationsFell':
      return onFall(context, fallenIn(told.body), policy);
    case 'MutationReaffirmed':
      return onReaffirmed(context, told.body, policy);
    case 'RecoverabilityChanged':
      return onRecoverability(context, told.body, policy);
    case 'MutationRecorded':
      return onRecordedAgain(context, input, told.body, policy);
    case 'BreakerOpened':
      return append([breakerNoted(told.body, true)]);
    case 'BreakerClosed':
      return append([breakerNoted(told.body, false)]);
    default:
      return NOTHING;
  }
}

/** Decides what the ledger announced about commits that others were derived from. */
export function onNotices({ context, input, policy }: Asked): Decision {
  const told = recordIn(NOTICES, input);
  const { owns, state } = context;
  switch (told.type) {
    case 'DerivationAnnounced':
      return append(noteChildren(state, ownParents(told.body.parents, owns), told.body));
    case 'RollbackSettled': {
      const settled = settledIn(told.body).map((one) => ({
        ...one,
        derived_from: ownParents(one.derived_from, owns),
      }));
      return append(settleChildren(state, settled, (runId) => stepContext(context, runId, policy)));
    }
    default:
      return NOTHING;
  }
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
function onRecordedAgain(
  context: DecideContext,
  input: RecordInput,
  body: News<'MutationRecorded'>,
  policy: CorePolicy,
): Decision {
  const { mutation_id, execution, execution_state, recoverability, reason, terms, ref, rollback_id } = body;
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
export function onReport({ context, input, policy }: Asked): Decision {
  const message = bodyIn(RESULTS, 'LegReported', input);
  if (input.key === message.run_id) return append(report(message, stepContext(context, message.run_id, policy)));
  const { tenant, leg_id, attempt } = message;
  return append([record('ReportRefused', { tenant, run_id: input.key, leg_id, attempt, code: 'KEY_MISMATCH' })]);
}

/** A switch changed: whoever may go on now is looked at, each in a decision of its own (L4). */
export function onSwitch({ context: { state, views }, input: { body } }: Asked): Decision {
  const entries = views.view(entryView.name);
  const mayGoOn = readHalts(state).some(
    ({ tenant, agent_id: agent, capability }) =>
      killVerdict(entries, { tenant, agent, capability, isRecovery: true }).admitted,
  );
  return mayGoOn
    ? append([record('HaltsReviewed', { tenant: String(body['tenant']), name: String(body['name']) })])
    : NOTHING;
}
