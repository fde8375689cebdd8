// Decides contracts that are registered in one request: each may name the others, and all of them register or none does.
//
// Boundary: pure; every contract is decided as if the sound ones beside it stood already, and those that register at once as if
// only they did.
import { parseContract } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { decideContract } from './contract.decider.js';
import type {
  Asker,
  ContractAnswer,
  ContractEvent,
  ContractRejection,
  ContractState,
  Outcome,
} from './contract.messages.js';
import { TOLD_MAX, toldRejection } from './told.decisions.js';

/** A contract as it was sent. */
export interface Sent {
  readonly name: string;
  readonly body: string;
}

/** What becomes of all of them. */
export type TogetherAnswer =
  | { readonly kind: 'recorded'; readonly events: readonly ContractEvent[]; readonly outcomes: readonly Outcome[] }
  | { readonly kind: 'rejected'; readonly rejection: ContractRejection };

/** Answers a request with the records it makes, or with everything that is wrong with any of its contracts. */
export function decideTogether(
  asker: Asker,
  sent: readonly Sent[],
  stateOf: (name: string) => ContractState,
): TogetherAnswer {
  const names = sent.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    return {
      kind: 'rejected',
      rejection: { code: 'CONTRACT_NAMED_TWICE', message: `${twice} is in the request twice; send it once` },
    };
  const toldMax = Math.max(1, Math.floor(TOLD_MAX / sent.length));
  const judged = (one: Sent, sound: ReadonlyMap<string, Contract>): ContractAnswer => {
    const state = stateOf(one.name);
    const contractOf = (name: string): Contract | undefined => sound.get(name) ?? state.contractOf(name);
    return decideContract({ type: 'RegisterContract', asker, ...one }, { ...state, contractOf }, toldMax);
  };
  const answers = sent.map((one) => judged(one, soundIn(sent)));
  const registering = sent.filter((_, at) => registers(answers[at]));
  // What waits for a second person, or stood already, binds nobody more: the others have to be sound without it.
  const others = registering.length === sent.length ? [] : sent.filter((_, at) => !waits(answers[at]));
  const found = refusalsIn(answers);
  const refusals = found.length > 0 ? found : refusalsIn(others.map((one) => judged(one, soundIn(registering))));
  return refusals.length > 0
    ? { kind: 'rejected', rejection: toldRejection(joined(refusals), TOLD_MAX) }
    : recorded(answers);
}

function registers(answer: ContractAnswer | undefined): boolean {
  return answer?.kind === 'recorded' && answer.outcome.state === 'registered';
}

function waits(answer: ContractAnswer | undefined): boolean {
  return answer !== undefined && answer.kind !== 'rejected' && answer.outcome.state === 'proposed';
}

function refusalsIn(answers: readonly ContractAnswer[]): readonly ContractRejection[] {
  return answers.flatMap((answer) => (answer.kind === 'rejected' ? [answer.rejection] : []));
}

function soundIn(sent: readonly Sent[]): ReadonlyMap<string, Contract> {
  return new Map(
    sent.flatMap(({ body }) => {
      const read = parseContract(body);
      return read.ok ? [[read.contract.name, read.contract] as const] : [];
    }),
  );
}

/** The first refusal that is no list of problems, else all problems of all contracts. */
function joined(refusals: readonly ContractRejection[]): ContractRejection {
  const other = refusals.find(({ code }) => code !== 'CONTRACT_REFUSED');
  return (
    other ?? {
      code: 'CONTRACT_REFUSED',
      message: refusals.map(({ message }) => message).join('; '),
      problems: refusals.flatMap(({ problems = [] }) => problems),
    }
  );
}

function recorded(answers: readonly ContractAnswer[]): TogetherAnswer {
  return {
    kind: 'recorded',
    events: answers.flatMap((answer) => (answer.kind === 'recorded' ? answer.events : [])),
    outcomes: answers.flatMap((answer) => (answer.kind === 'rejected' ? [] : [answer.outcome])),
  };
}
