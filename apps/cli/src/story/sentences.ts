// What each record says, as a sentence: who did what, and why, in words for somebody who was not there. Pure.
import { docOf } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import { cellText } from '../output/table.js';
import { TELLERS_SINCE_2, TELLERS_SINCE_3 } from './later-sentences.js';
import {
  ACCOUNTANT,
  amount,
  because,
  by,
  digest,
  evidenceOf,
  isByAnother,
  isGiven,
  isNobody,
  LEDGER,
  looked,
  observed,
  ORCHESTRATOR,
  owed,
  saying,
  tells,
  until,
} from './tellers.js';
import type { Open, Sentence, Teller } from './tellers.js';

/** The words that are told now. Packets of older versions are told in theirs; the first name none. */
export const WORDS = 3;
export type Words = 1 | 2 | typeof WORDS;

/** By record type. What has no line here is named by its type: nothing of a story is left out. */
const TELLERS: Readonly<Record<string, Teller>> = {
  ContractRegistered: (says) => ({
    who: cellText(says['registered_by']),
    what: `registered ${cellText(says['name'])} version ${cellText(says['version'])}${typeof says['confirmed_by'] === 'string' ? `, confirmed by ${says['confirmed_by']}` : ''}`,
  }),
  AssumptionStated: (says, open) => ({
    who: cellText(says['source']),
    what: `${says['kind'] === 'invalidated' || says['verdict'] === 'invalidated' ? 'said that it no longer holds' : 'stated'}: ${cellText(says['ref'])}: ${open(says['statement'])}`,
  }),
  MutationPlanned: (says, open) => planned(says, open, 'meant to call'),
  MutationRecorded: (says, open) => {
    const { reversal_capability: undo, reversal_args: args, reversal_expires_at: expires } = docOf(says['ref']);
    const { who, what } = planned(says, open, `called (${cellText(says['execution_state'])})`);
    const back =
      typeof undo === 'string'
        ? `; it is undone by ${undo} with ${open(args)} until ${until(expires)}`
        : `; nothing is bound that undoes it${because(says['reason'])}`;
    return { who, what: `${what}, which answered ${open(docOf(says['execution'])['result'])}${back}` };
  },
  ExecutionOverdue: tells(LEDGER, (says) => `asked people how it ended: nobody had told; ${owed(says)}`),
  MutationSettled: by('said how it ended'),
  HoldElapsed: tells(LEDGER, () => 'let the held effect go: its hold was over'),
  WindowClosing: tells(LEDGER, (says) => `warned that the window closes at ${until(says['closes_at'])}`),
  MutationReaffirmed: tells(LEDGER, (says, open) => `heard that it holds again: ${evidenceOf(says, open)}`),
  ErasureOrdered: (says) => ({
    who: cellText(says['by']),
    what: `had ${says['subject_id'] === null ? 'every payload' : 'the payloads of this subject'} erased${says['ended_by'] === null ? '' : `, as far as retention ended by ${until(says['ended_by'])}`}${because(says['reason'])}`,
  }),
  MutationsFell: tells(LEDGER, (says, open) => `marked it as fallen: ${evidenceOf(says, open)}`),
  TriggerHeld: tells(
    LEDGER,
    (says, open) => `held the trigger for a person (${cellText(says['reason'])}): ${evidenceOf(says, open)}`,
  ),
  TriggerRejected: by('rejected the trigger'),
  SourceJudged: (says) => ({
    who: cellText(says['by']),
    what: `judged ${cellText(says['source'])} ${says['confirmed'] === true ? 'right' : 'wrong'}${because(says['reason'])}`,
  }),
  TriggerRedundant: tells(LEDGER, () => 'noted a further trigger: it had fallen already'),
  RecoverabilityChanged: tells(
    LEDGER,
    (says) =>
      `recorded that it went from ${cellText(says['from_state'])} to ${cellText(says['to_state'])} (${cellText(says['event'])})${because(says['reason'])}`,
  ),
  CompensationsExecuted: tells(
    LEDGER,
    (says, open) =>
      `recorded the reversal as an execution of ${cellText(says['capability'])} with ${open(says['args'])}: ${cellText(says['execution_state'])}`,
  ),
  ConsumerAcknowledged: (says) => ({
    who: cellText(says['consumer']),
    what: `answered the rollback after ${cellText(says['after_ms'])} ms${says['is_late'] === true ? ', too late' : ''}`,
  }),
  DeliveryOverdue: tells(LEDGER, (says) => `noted that ${cellText(says['consumer'])} is silent; ${owed(says)}`),
  RollbackAnnounced: tells('the notices', () => 'told every consumer that it fell'),
  RollbackSettled: tells(
    'the notices',
    (says) => `told every consumer what became of it: ${cellText(says['recoverability'])}`,
  ),
  RecoveryPlanned: tells(ORCHESTRATOR, (says) => plannedStep(says)),
  MutationAdvanced: tells(ORCHESTRATOR, (says) => plannedStep(says)),
  FactsAsked: tells(ORCHESTRATOR, (says) => `had a worker look at the facts (${cellText(says['purpose'])})`),
  FactsObserved: (says, open) => ({ who: 'a worker', what: `looked: ${observed(says, open)}` }),
  FactChanged: tells(ORCHESTRATOR, (says) =>
    typeof says['attempt'] === 'number'
      ? `noted that facts changed: ${cellText(says['changed'])}; who agreed looks again if attempt ${cellText(says['attempt'])} counts for none`
      : `noted that facts changed: ${cellText(says['changed'])}; who agreed has to look again`,
  ),
  StepApproved: (says) => ({
    who: cellText(says['by']),
    what: `approved exactly the action ${digest(says['action_digest'])}${because(says['reason'])}`,
  }),
  StepDenied: (says) => ({
    who: cellText(says['by']),
    what: `denied the action ${digest(says['action_digest'])}${because(says['reason'])}`,
  }),
  GlassBroken: (says) => ({
    who: cellText(says['by']),
    what: `broke the glass for the action ${digest(says['action_digest'])} until ${until(says['valid_until'])}${because(says['reason'])}`,
  }),
  LegDispatched: tells(
    ORCHESTRATOR,
    (says) => `asked ${cellText(says['adapter'])} to undo it, attempt ${cellText(says['attempt'])}`,
  ),
  LegSettled: tells(
    ORCHESTRATOR,
    (says, open) =>
      `judged the attempt: ${cellText(says['outcome'])}${because(says['reason'])}${saying(says, open)}; ${observed(says, open)}`,
  ),
  LookAnswered: looked('a worker', "on a person's word"),
  StepEscalated: tells(ORCHESTRATOR, (says) => `gave it to people (${cellText(says['reason'])}); ${owed(says)}`),
  StepHalted: tells(ORCHESTRATOR, (says) => `halted it (${cellText(says['reason'])})`),
  StepReopened: by('had it tried again'),
  StepResolved: (says) => ({
    who: cellText(says['by']),
    what: `closed it by hand as ${cellText(says['resolution'])}${because(says['reason'])}`,
  }),
  RecoveryClosed: tells(ORCHESTRATOR, (says) => `closed the recovery: ${cellText(says['outcome'])}`),
  IncidentOpened: by('made an incident of it'),
  IncidentClosed: by('closed the incident'),
  TaskClosed: by('closed the task'),
  ForwardApprovalRequested: (says, open) => ({
    who: cellText(says['requested_by']),
    what: `asked people before calling ${cellText(says['capability'])} with ${open(says['args'])} (action ${digest(says['action_digest'])})`,
  }),
  ForwardApprovalDecided: (says) => ({
    who: cellText(says['by'] ?? 'a routine rule'),
    what: `${cellText(says['verdict'])} the action ${digest(says['action_digest'])} before it happened${because(says['reason'])}`,
  }),
  ForwardApprovalUsed: (says) => ({ who: cellText(says['used_by']), what: 'used the approval' }),
  BudgetReserved: tells(ACCOUNTANT, (says) => `reserved ${amount(says)}`),
  BudgetEscalated: tells(ACCOUNTANT, (says) => `asked a person: ${amount(says)} would exceed a ceiling; ${owed(says)}`),
  EscalationDecided: (says) => ({
    who: cellText(says['by']),
    what: `${says['approved'] === true ? 'let it be spent' : 'refused to let it be spent'}${because(says['reason'])}`,
  }),
  BudgetRetried: tells(ACCOUNTANT, () => 'kept for a further attempt what the one before had asked for'),
  BudgetSettled: tells(ACCOUNTANT, () => 'settled the reservation: the effect took hold'),
  BudgetReleased: tells(ACCOUNTANT, () => 'released the reservation'),
  BudgetRefunded: tells(ACCOUNTANT, () => 'gave the debt back: the undo was verified'),
  BudgetDebited: tells(ACCOUNTANT, () => 'debited the reversal under its own contract'),
};

/** What has no words is named by its type, and by whoever it says it is by. */
const unnamed =
  (type: string, words: Words): Teller =>
  (says) => ({
    who: words < 2 || isNobody(says['by']) ? 'a service' : cellText(says['by']),
    what: `recorded ${type}${because(says['reason'])}`,
  });

/** The sentence of a record, in the words of a version. */
export function sentenceOf(type: string, says: Doc, open: Open, words: Words): Sentence {
  const first = TELLERS[type] ?? (words < 2 ? undefined : TELLERS_SINCE_2[type]) ?? unnamed(type, words);
  return (words < 3 ? null : TELLERS_SINCE_3[type]?.(says, open)) ?? first(says, open);
}

/** Whether a person decided here, by the words of a version. */
export function isDecision(type: string, says: Doc, words: Words): boolean {
  if (words < 2 || DECISIONS.has(type)) return DECISIONS.has(type);
  if (type === 'UndoListed') return !isGiven(says['begun_by']) && docOf(says['evidence'])['kind'] === 'human';
  if (words >= 3 && type === 'LookDispatched' && isByAnother(says)) return false;
  return DECISIONS_SINCE_2.has(type) && !isNobody(says['by']);
}

/** Records that a person's word stands in: what they decided, and what they had to go by. */
const DECISIONS: ReadonlySet<string> = new Set([
  'StepApproved',
  'StepDenied',
  'GlassBroken',
  'StepResolved',
  'ForwardApprovalDecided',
  'EscalationDecided',
  'SourceJudged',
  'MutationSettled',
  'ErasureOrdered',
]);
const DECISIONS_SINCE_2: ReadonlySet<string> = new Set([
  'TriggerRejected',
  'OutOfBandReviewed',
  'BreakerClosed',
  'TrendReviewed',
  'DeliveryReviewed',
  'DivergenceReviewed',
  'StepReopened',
  'LookDispatched',
  'CeilingMoved',
]);
export const FACTS: ReadonlySet<string> = new Set([
  'AssumptionStated',
  'FactsObserved',
  'LookAnswered',
  'MutationsFell',
  'RecoveryPlanned',
  'ForwardApprovalRequested',
  'BudgetEscalated',
  'TriggerHeld',
]);

function planned(says: Doc, open: Open, verb: string): Sentence {
  const execution = docOf(says['execution']);
  const forWhom = typeof execution['initiator'] === 'string' ? ` for ${execution['initiator']}` : '';
  const objective = typeof execution['objective'] === 'string' ? `, to ${JSON.stringify(execution['objective'])}` : '';
  const refs = says['assumption_refs'] ?? docOf(says['ref'])['assumption_refs'];
  return {
    who: `${cellText(execution['agent_id'])}${forWhom}`,
    what: `${verb} ${cellText(execution['capability'])} with ${open(execution['args'])}${objective}, relying on ${cellText(refs)}`,
  };
}

function plannedStep(says: Doc): string {
  const needs = Number(says['required_approvals'] ?? 0);
  const { capability } = docOf(says['call']);
  return `decided ${cellText(says['decision'])} (${cellText(says['reason'])})${typeof capability === 'string' ? `: ${capability}, action ${digest(says['action_digest'])}` : ''}${needs > 0 ? `; ${String(needs)} must agree` : ''}; ${owed(says)}`;
}
