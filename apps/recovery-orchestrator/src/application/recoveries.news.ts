// What other services and workers tell the orchestrator: marks and hits of the ledger, notices, switches, reports.
import { entryView, killVerdict } from '@recourse/contract';
import { NOTHING } from '@recourse/event-log';
import type { DecideContext, Decision, RecordInput } from '@recourse/event-log';
import type { BodyOf, RecordTypeOf } from '@recourse/messages';
import { bodyIn, recordIn } from '@recourse/messages';
import { handleOf } from '../domain/decision/recovery.decisions.js';
import { record } from '../domain/record.messages.js';
import { triggerOfContradiction } from '../domain/rollback/rollback.decider.js';
import { report } from '../domain/step/report.decider.js';
import type { StepContext } from '../domain/step/step-draft.decisions.js';
import { advance, closeWindow, open, reaffirm } from '../domain/step/step.decider.js';
import { listUndo } from '../domain/undo/undo.decider.js';
import { countMarked, decideTrigger } from './admission.part.js';
import { onBeyondBound, onCheckpointMarked } from './bound.part.js';
import { noteChildren, ownParents, settleChildren } from './lineage.part.js';
import { append, BROKEN, readUpToContract, stepContext } from './recoveries.context.js';
import type { Asked, CorePolicy } from './recoveries.context.js';
import { readHalts, readRow } from './recoveries.kinds.js';

const MUTATIONS = 'recourse.mutations';
const NOTICES = 'recourse.rollback-notifications';
const RESULTS = 'recourse.tool-results';

type News<Type extends RecordTypeOf<typeof MUTATIONS>> = BodyOf<typeof MUTATIONS, Type>;

/** Decides what the ledger recorded about mutations. */
export function onMutations({ context, input, policy }: Asked): Decision {
  const told = recordIn(MUTATIONS, input);
  const admitting = { policy, limits: policy.admission };
  switch (told.type) {
    case 'MutationContradicted':
      return append(decideTrigger(context, triggerOfContradiction(told.body), admitting).records);
    case 'MutationRolledBack':
      return onMark(context, told.body, policy);
    case 'CheckpointRolledBack':
      return append(onCheckpointMarked(context, told.body));
    case 'CommitBeyondBound':
      return append(onBeyondBound(context, told.body, admitting));
    case 'MutationReaffirmed':
      return onReaffirmed(context, told.body, policy);
    case 'RecoverabilityChanged':
      return onRecoverability(context, told.body, policy);
    case 'MutationRecorded':
      return onRecordedAgain(context, input, told.body, policy);
    case 'UndoSpread':
      return onListed(context, told.body);
    default:
      return NOTHING;
  }
}

/** Decides what the ledger announced about commits that others were derived from. */
export function onNotices({ context, input, policy }: Asked): Decision {
  const told = recordIn(NOTICES, input);
  const parents = ownParents(input, context.owns);
  switch (told.type) {
    case 'DerivationAnnounced':
      return append(noteChildren(context.state, parents, told.body));
    case 'RollbackSettled':
      return append(settleChildren(context.state, parents, told.body, (runId) => stepContext(context, runId, policy)));
    default:
      return NOTHING;
  }
}

function onMark(context: DecideContext, marked: News<'MutationRolledBack'>, policy: CorePolicy): Decision {
  // Only a handle with something missing is bound here, from the contract the mutation executed under.
  if (handleOf(marked.terms, marked.ref) === 'incomplete') readUpToContract(context, marked.terms?.contract_digest);
  const counted = countMarked(context, marked, { policy, limits: policy.admission });
  const opens = counted.some(({ type }) => type === 'BreakerOpened');
  const within = stepContext(context, marked.run_id, policy);
  const opened = open(
    marked,
    opens ? { ...within, killed: breaking(within.killed, marked.terms?.reversal_capability ?? '') } : within,
  );
  return append(opened.length === 0 ? [] : [...counted, ...opened]);
}

/** A breaker that opens in this decision stops what is decided with it. */
function breaking(killed: StepContext['killed'], capability: string): StepContext['killed'] {
  return (acting) => (acting.capability === capability ? BROKEN : killed(acting));
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
  const within = stepContext(context, changed.run_id, policy);
  const step = within.steps.find((one) => one.tenant === changed.tenant && one.mutation_id === changed.mutation_id);
  return step === undefined ? NOTHING : append(closeWindow(step, within));
}

/** Refuses a report that came under another key than its run, on that key: it must not stop either run. */
export function onReport({ context, input, policy }: Asked): Decision {
  const message = bodyIn(RESULTS, 'LegReported', input);
  if (input.key === message.run_id) return append(report(message, stepContext(context, message.run_id, policy)));
  const { tenant, leg_id, attempt } = message;
  return append([record('ReportRefused', { tenant, run_id: input.key, leg_id, attempt, code: 'KEY_MISMATCH' })]);
}

/** The ledger lists the effects of an undo. */
function onListed(context: DecideContext, part: News<'UndoSpread'>): Decision {
  const listed = listUndo(readRow(context.state, 'undo', part.run_id, part.undo_id), part);
  return append(listed === null ? [] : [listed]);
}

/** A switch changed: whoever may go on now is looked at, each in a decision of its own (L4). */
export function onSwitch({ context: { state, views }, input: { body } }: Asked): Decision {
  const entries = views.view(entryView.name);
  const mayGoOn = readHalts(state).some(
    ({ tenant, agent_id: agent, capability }) => killVerdict(entries, { tenant, agent, capability }).admitted,
  );
  return mayGoOn
    ? append([record('HaltsReviewed', { tenant: String(body['tenant']), name: String(body['name']) })])
    : NOTHING;
}
