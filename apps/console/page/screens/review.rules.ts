// What a person who decides about a step is told that their click leads to, and when the step is another one than they read. Pure.
import type { Calls, InForce, Review, Taken } from '../api/shapes.js';
import { amountText } from '../parts/amount.js';
import { counted } from '../parts/counted.js';
import { codeWords, MISSING } from '../words/kinds.js';

/** A review, and when its window closes. */
export interface ReadReview extends Review {
  /** Epoch milliseconds; null where no window is known. */
  readonly closes_at: number | null;
}

/** What a review says is left is left from when it was read. */
export function readAt(review: Review, now: number): ReadReview {
  const { time_left_ms: left } = review;
  return { ...review, closes_at: left === null ? null : now + left };
}

/** Is the step as somebody read it? Who agreed, and how many have to, is part of it: it says whose click is the last. */
export function isSameStep(seen: Review, now: Review): boolean {
  return JSON.stringify(heldTo(seen)) === JSON.stringify(heldTo(now));
}

function heldTo({ action_digest, phase, approvals: { required, given } }: Review): unknown {
  return [action_digest, phase, required, given.map(({ by }) => by).sort()];
}

/** What agreeing leads to, in the words of the contract. */
export function consequence({ compensation, action }: Pick<Review, 'compensation' | 'action'>): readonly string[] {
  if (compensation === null) return ['Nothing is proposed to be called.'];
  const { capability, then, residue, risk, success_condition: success } = compensation;
  const stake = action.value === null ? '' : `; at stake: ${amountText(action.value)}`;
  return [
    `${capability} is called with the arguments on the screen${stake}.`,
    ...then.map((call) => `Then, once that is verified, ${call.capability} is called with those on the screen.`),
    ...(residue === null ? [] : [`What stays different: ${residue}`]),
    ...(risk === null ? [] : [`If it was not needed: ${risk}`]),
    ...(success === null ? [] : [`It counts as undone only once another capability has seen: ${success}`]),
  ];
}

/** What denying leads to. */
export function notCalled({ compensation }: Pick<Review, 'compensation'>): string {
  if (compensation === null) return 'The compensation is not called. What the agent did stands.';
  const [first, ...others] = [compensation, ...compensation.then].map(({ capability }) => capability);
  return `${first} is not called${others.map((call) => `, nor is ${call}`).join('')}. What the agent did stands.`;
}

/** How many have to agree after whoever clicks now; null where that is the last agreement. */
export function agreement(given: number, required: number): string | null {
  const more = required - given - 1;
  return more > 0 ? `${counted(more, 'more person has', 'more people have')} to agree after you.` : null;
}

/** Why nobody who sees what is on the screen can agree. Where no fact is missing, some are hidden from whoever reads. */
export function whyBlind({ missing }: Pick<Review, 'missing'>): string {
  return missing.length === 0
    ? 'Its arguments are sealed for you; an approver sees them.'
    : `Nobody can agree yet: ${missing.map((fact) => MISSING[fact] ?? fact).join('; ')}.`;
}

/** An argument that nobody can see yet: an earlier call gives it. */
export function takenWords({ name, call, path }: Taken): string {
  return `${name}: what call ${call} answers at ${path === '' ? 'its whole' : path}`;
}

/** How far an attempt at several calls came. */
export function callsWords({ done, stopped_at: stopped }: Calls): string {
  const made = done.length === 0 ? 'None of its calls was seen to be made' : `Made: ${done.join(', ')}`;
  return stopped === null ? `${made}.` : `${made}; it stopped at ${stopped}.`;
}

/** What binds beside the contract of the effect: it may only be stricter. */
export function inForceWords({
  contract_version: version,
  approval_mode: mode,
  risk_level: level,
  rules,
}: InForce): string {
  const by = rules.length === 0 ? '' : `, by ${rules.join(', ')}`;
  return `contract version ${version}; approval: ${codeWords(mode)}; risk: ${codeWords(level)}${by}`;
}

/** The parts of the release that acted, each with its version. */
export function releaseWords(release: Readonly<Record<string, string>>): string {
  return Object.entries(release)
    .map(([part, version]) => `${part} ${version}`)
    .join(', ');
}
