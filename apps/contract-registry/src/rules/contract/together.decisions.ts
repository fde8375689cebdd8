// Decides contracts that are registered, or confirmed, in one request: each may name the others, and all of them are or none is.
//
// Boundary: pure; every contract is decided as if the sound ones beside it stood already, and those that register at once as if
// only they did: what is sound only beside a weaker one waits for a second person with it. What is confirmed is decided as if the others that are confirmed with it stood, and nothing else that waits.
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
  Proposal,
} from './contract.messages.js';
import { TOLD_MAX, toldRejection } from './told.decisions.js';

/** Most bytes of bodies that are confirmed in one request: a batch of the log has 900 KB, and what is told of each lies beside it. */
const BODIES_BYTES_MAX = 700_000;

/** A contract as it was sent. */
export interface Sent {
  readonly name: string;
  readonly body: string;
}

/** What somebody looked at, and confirms: a proposal by its capability and its digest, 64 hex digits. */
export interface LookedAt {
  readonly name: string;
  readonly digest: string;
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
  const twice = namedTwice(sent);
  if (twice !== null) return twice;
  const toldMax = shareOf(sent);
  const judged: Judges = (one, beside, waitsFor = []) => {
    const state = withSound(stateOf(one.name), soundIn(beside));
    return decideContract({ type: 'RegisterContract', asker, ...one, waitsFor }, state, toldMax);
  };
  const first = sent.map((one) => ({ one, answer: judged(one, sent) }));
  const found = refusalsIn(first.map(({ answer }) => answer));
  if (found.length > 0) return refused(found);
  const weaker = first.filter(({ answer }) => waits(answer)).map(({ one }) => one);
  const registering = first.filter(({ answer }) => registers(answer)).map(({ one }) => one);
  const atOnce = weaker.length === 0 ? registering : soundTogether(registering, judged);
  const later = registering.filter((one) => !atOnce.includes(one));
  const answers = first.map(({ one, answer }) =>
    later.includes(one) ? judged(one, sent, neededBy(one, [...weaker, ...later], sent, judged)) : answer,
  );
  // What waits for a second person binds nobody, and what stood already is nothing new: the others have to be sound without it.
  const others = atOnce.length === sent.length ? [] : sent.filter((_, at) => !waits(answers[at]));
  return answered(answers, refusalsIn(others.map((one) => judged(one, atOnce))));
}

/** Decides one as if some others stood; `waitsFor`: those for which it has to wait itself. */
type Judges = (one: Sent, beside: readonly Sent[], waitsFor?: readonly string[]) => ContractAnswer;

/** Names of those that wait and without which it is not sound; of all of them where it needs no single one. */
function neededBy(one: Sent, waiting: readonly Sent[], sent: readonly Sent[], judged: Judges): readonly string[] {
  const others = waiting.filter((other) => other !== one);
  const needed = others.filter(
    (other) =>
      one.body.includes(JSON.stringify(other.name)) &&
      judged(
        one,
        sent.filter((each) => each !== other),
      ).kind === 'rejected',
  );
  return (needed.length > 0 ? needed : others).map(({ name }) => name);
}

/** Those that are sound beside each other and what stands; what needs one that is not is not either. */
function soundTogether(all: readonly Sent[], judged: Judges): readonly Sent[] {
  const sound = all.filter((one) => judged(one, all).kind !== 'rejected');
  return sound.length === all.length ? all : soundTogether(sound, judged);
}

/** Answers a second person who confirms several proposals that need each other as they will be: all of them, or none. */
export function confirmTogether(
  asker: Asker,
  looked: readonly LookedAt[],
  stateOf: (name: string) => ContractState,
): TogetherAnswer {
  const twice = namedTwice(looked);
  if (twice !== null) return twice;
  const states = looked.map((one) => ({ one, state: stateOf(one.name) }));
  const waiting = states.flatMap(({ state: { proposal } }) =>
    proposal === null || proposal.retires ? [] : [proposal],
  );
  const large = tooLarge(waiting);
  if (large !== null) return large;
  const sound = soundIn(waiting);
  const answers = states.map(({ one, state }) =>
    decideContract({ type: 'ConfirmRegistration', asker, ...one }, withSound(state, sound), shareOf(looked)),
  );
  return answered(answers, refusalsIn(answers));
}

function namedTwice(all: readonly { readonly name: string }[]): TogetherAnswer | null {
  const names = all.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice === undefined) return null;
  const message = `${twice} is in the request twice; send it once`;
  return { kind: 'rejected', rejection: { code: 'CONTRACT_NAMED_TWICE', message } };
}

/** Each was proposed alone, and a proposal has its whole body: all of them are registered in one batch (L4). */
function tooLarge(waiting: readonly Pick<Proposal, 'body'>[]): TogetherAnswer | null {
  const bytes = waiting.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
  if (bytes <= BODIES_BYTES_MAX) return null;
  const [have, fit] = [bytes, BODIES_BYTES_MAX].map((count) => count.toLocaleString('en'));
  const message = `${waiting.length} versions have ${have} bytes together, and ${fit} are confirmed at once; confirm them in smaller groups, each with those that it needs`;
  const facts = { contracts: waiting.length, bytes, bytes_max: BODIES_BYTES_MAX };
  return { kind: 'rejected', rejection: { code: 'CONTRACTS_TOO_LARGE', message, facts } };
}

/** As many differences or problems of each as are told of one, in all. */
function shareOf(all: readonly unknown[]): number {
  return Math.max(1, Math.floor(TOLD_MAX / all.length));
}

function answered(answers: readonly ContractAnswer[], refusals: readonly ContractRejection[]): TogetherAnswer {
  return refusals.length > 0 ? refused(refusals) : recorded(answers);
}

function refused(refusals: readonly ContractRejection[]): TogetherAnswer {
  return { kind: 'rejected', rejection: toldRejection(joined(refusals), TOLD_MAX) };
}

/** What one contract is decided by, as if the others stood. */
function withSound(state: ContractState, sound: ReadonlyMap<string, Contract>): ContractState {
  return { ...state, contractOf: (name) => sound.get(name) ?? state.contractOf(name) };
}

function registers(answer: ContractAnswer): boolean {
  return answer.kind === 'recorded' && answer.outcome.state === 'registered';
}

function waits(answer: ContractAnswer | undefined): boolean {
  return answer !== undefined && answer.kind !== 'rejected' && answer.outcome.state === 'proposed';
}

function refusalsIn(answers: readonly ContractAnswer[]): readonly ContractRejection[] {
  return answers.flatMap((answer) => (answer.kind === 'rejected' ? [answer.rejection] : []));
}

function soundIn(sent: readonly Pick<Sent, 'body'>[]): ReadonlyMap<string, Contract> {
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
