// What records say that the first words of stories named by their type alone, or told as a person's. Pure.
import { docOf } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import { cellText } from '../output/table.js';
import {
  ACCOUNTANT,
  because,
  by,
  evidenceOf,
  isByAnother,
  isGiven,
  isNobody,
  LEDGER,
  looked,
  observed,
  ORCHESTRATOR,
  owed,
  tells,
} from './tellers.js';
import type { Open, Sentence, Teller } from './tellers.js';

/** By record type: what the first words named by its type alone. */
export const TELLERS_SINCE_2: Readonly<Record<string, Teller>> = {
  TriggerUnmatched: tells(
    LEDGER,
    (says, open) => `remembered the trigger until somebody records the action: ${evidenceOf(says, open)}`,
  ),
  RollbackEscalated: tells(LEDGER, (says) => `gave it to people (${cellText(says['reason'])}); ${owed(says)}`),
  UndoListed: (says, open) => undoListed(says, open),
  OutOfBandReviewed: by((says) => `judged what a rollback reaches beyond its bound: ${cellText(says['verdict'])}`),
  HeldReviewed: tells(LEDGER, (says) =>
    says['lifts_closure'] === true ? 'let all of an event go, on the word of a person' : 'judged anew what was held',
  ),
  BreakerClosed: by((says) => `closed the breaker over ${over(says)}`),
  TrendReviewed: by((says) => `looked into the rise of rollbacks of ${over(says)}`),
  DeliveryReviewed: by((says) => `said what was done about ${cellText(says['consumer'])}, which is silent`),
  DivergenceReviewed: by((says) => `said what was done about the runtime ${cellText(says['runtime'])}`),
  LineageReconciled: by((says) => `had the runtime ${cellText(says['runtime'])} compared with the log`),
  EffectAgreed: tells(LEDGER, (says) => `noted that it was begun with the word of ${cellText(says['agreed_by'])}`),
  CheckpointRecorded: (says) => ({
    who: cellText(docOf(says['checkpoint'])['agent_id']),
    what: `committed a state without an outside effect, relying on ${cellText(docOf(says['checkpoint'])['assumption_refs'])}`,
  }),
  StepWaits: tells(
    ORCHESTRATOR,
    (says) => `had it wait (${cellText(says['reason'])}) for ${cellText(says['outstanding'])}; ${owed(says)}`,
  ),
  ReportRefused: tells(
    ORCHESTRATOR,
    (says) => `refused a worker's report of attempt ${cellText(says['attempt'])} (${cellText(says['code'])})`,
  ),
  LookDispatched: by(
    (says, open) => `had a worker look (${cellText(says['purpose'])}), going by ${open(says['evidence'])}`,
  ),
  CeilingMoved: (says) => {
    const { scope, scope_id: id, from_minor: from, ceiling_minor: to, cause } = says;
    const what = `moved the ceiling of ${cellText(scope)} ${cellText(id)} from ${cellText(from)} to ${cellText(to)} (${cellText(cause)})`;
    return {
      who: isNobody(says['by']) ? ACCOUNTANT : cellText(says['by']),
      what: `${what}${because(says['reason'])}`,
    };
  },
};

/** By record type: what the words before took for a person's; null where it is as they had it. */
export const TELLERS_SINCE_3: Readonly<Record<string, (...told: Parameters<Teller>) => Sentence | null>> = {
  LookDispatched: (says, open) =>
    isByAnother(says) ? { who: ORCHESTRATOR, what: `had another worker look${lookedFor(says, open)}` } : null,
  LookAnswered: (says, open) =>
    isByAnother(docOf(says['look'])) ? looked('another worker', 'for the orchestrator')(says, open) : null,
};

/** What another worker is to confirm: an undo, with what the one that acted saw, or what a person had the first look at. */
function lookedFor({ purpose, acted }: Doc, open: Open): string {
  if (purpose !== 'observe') return `, too (${cellText(purpose)})`;
  const seen = isNobody(acted) ? '' : `: ${observed({ observations: acted }, open)}`;
  return ` at what the one that acted says it undid${seen}`;
}

/** What a limit or a trend is about. */
function over({ scope, name }: Doc): string {
  return `${cellText(scope)} ${cellText(name)}`;
}

/** Who asked for an undo; nobody where a step of the run failed for good. */
function undoListed(
  { begun_by: failed, asked_ids: asked, mutation_ids: reached, evidence }: Doc,
  open: Open,
): Sentence {
  if (isGiven(failed))
    return {
      who: LEDGER,
      what: `began to undo the run, one of whose steps failed for good: it reaches ${cellText(reached)}`,
    };
  const { source, statement } = docOf(evidence);
  const what = isNobody(asked) ? 'the run' : `${cellText(asked)} of the run`;
  return {
    who: cellText(source),
    what: `asked to undo ${what}, which reaches ${cellText(reached)}${isGiven(statement) ? `: ${open(statement)}` : ''}`,
  };
}
