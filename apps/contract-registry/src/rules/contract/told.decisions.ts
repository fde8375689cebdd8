// Decides how much of an answer is told: what differs, or is wrong, in more places than anybody reads would fit no record.
import { canonicalJson } from '@recourse/kernel';
import type { ContractProblem, Difference } from '@recourse/contract';
import type { ContractAnswer, ContractEvent, ContractRejection, Outcome } from './contract.messages.js';

/** Most differences and most problems of a request that are told: more nobody reads, and they have to fit one batch of the log. */
export const TOLD_MAX = 100;
/** Longest path, reason or value that is told: names in a schema have no bound but that of the contract. Characters. */
const TEXT_MAX = 300;
/** Longest message of a problem: a reason and its remedy. Characters. */
const MESSAGE_MAX = 2 * TEXT_MAX;

/** An answer with as much as is told; how many more differences there are is said as the last of them. */
export function told(answer: ContractAnswer, countMax: number): ContractAnswer {
  switch (answer.kind) {
    case 'rejected':
      return { kind: 'rejected', rejection: toldRejection(answer.rejection, countMax) };
    case 'unchanged':
      return { ...answer, outcome: toldOutcome(answer.outcome, countMax) };
    case 'recorded':
      return {
        ...answer,
        events: answer.events.map((event) => toldEvent(event, countMax)),
        outcome: toldOutcome(answer.outcome, countMax),
      };
  }
}

/** A refusal with as many problems as are told; its message says how many there are. */
export function toldRejection(rejection: ContractRejection, countMax: number): ContractRejection {
  const { problems, message } = rejection;
  if (problems === undefined) return rejection;
  const shown = problems.slice(0, countMax).map(toldProblem);
  const isAll = shown.length === problems.length;
  return { ...rejection, problems: shown, message: isAll ? message : `${message}; the first ${countMax} are told` };
}

function toldProblem(problem: ContractProblem): ContractProblem {
  const { path, message } = problem;
  return { ...problem, message: cut(message, MESSAGE_MAX), ...(path === undefined ? {} : { path: cut(path) }) };
}

function toldEvent(event: ContractEvent, countMax: number): ContractEvent {
  if (event.type !== 'RegistrationProposed') return event;
  const { weakenings } = event.body;
  const shown = weakenings.slice(0, countMax).map((each) => cut(each, MESSAGE_MAX));
  const more = weakenings.length - shown.length;
  return { ...event, body: { ...event.body, weakenings: more === 0 ? shown : [...shown, moreOf(more)] } };
}

function toldOutcome(outcome: Outcome, countMax: number): Outcome {
  const { differences } = outcome;
  if (differences === undefined) return outcome;
  const [shown, left] = [differences.slice(0, countMax).map(toldDifference), differences.slice(countMax)];
  const [first] = left; // weakening ones come first
  const more = first === undefined ? [] : [{ ...NOWHERE, kind: first.kind, reason: moreOf(left.length) }];
  return { ...outcome, differences: [...shown, ...more] };
}

const NOWHERE = { path: '', from: null, to: null } as const;

function toldDifference({ path, kind, from, to, reason }: Difference): Difference {
  return { path: cut(path), kind, from: toldValue(from), to: toldValue(to), reason: cut(reason) };
}

/** A value as it is, or the beginning of its text. */
function toldValue(value: Difference['from']): Difference['from'] {
  const text = canonicalJson(value);
  return text.length <= TEXT_MAX ? value : cut(text);
}

function moreOf(count: number): string {
  return `and ${count} more`;
}

/** Cut between characters: half of one fits no record. */
function cut(text: string, lengthMax = TEXT_MAX): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}
