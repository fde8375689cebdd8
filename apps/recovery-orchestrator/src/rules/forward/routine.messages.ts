// What a routine rule of a policy bundle says of an action that its contract asks a person about: let go, or why not.
import type { RoutineScope } from '@recourse/messages';

/** Reasons a routine rule leaves an action to a person, in the order they are looked for. */
export const ROUTINE_REASONS = {
  ASKED_BY_CALLER: 'The contract asks nobody; the caller wants a person, and gets one.',
  TWO_PEOPLE_ASKED: 'Two people are asked: by the contract, by the caller, or because nobody answers for the action.',
  CONTRACT_NOT_STANDING: 'The capability has no contract that stands by now.',
  NEVER_ROUTINE: 'No rule lets it go: of high risk, grave impact or effect in law, or two people are asked by now.',
  OUTSIDE_RULE: 'The contract has another impact, or a higher risk, than the rule lets go.',
  RULE_OF_CONCERNED: 'Who registered the rule may not approve the action: it is theirs, or they edited its contract.',
  STOPPED: 'A kill switch, a breaker or the charter of the agent stops it.',
  AMOUNT_ABOVE_RULE: 'It moves more than the rule lets go, or nobody can read how much.',
  EXPOSURE_ABOVE_RULE: 'It discloses more than the rule lets go.',
  CONDITION_FALSE: 'The condition of the rule does not hold.',
  RULE_UNJUDGED: 'The condition of the rule cannot be judged.',
  CAP_REACHED: 'The rule let as many go as its cap allows in its window.',
} as const satisfies Readonly<Record<string, string>>;
export type RoutineReason = keyof typeof ROUTINE_REASONS;

/** When a rule let actions go, of one agent or of a tenant. */
export type RoutineCountDoc = {
  readonly count_id: string;
  readonly tenant: string;
  readonly bundle: string;
  readonly rule: string;
  readonly scope: RoutineScope;
  readonly name: string;
  /** Epoch milliseconds, ascending: the newest, as many as any cap counts, within the longest window. */
  readonly let_go_at: readonly number[];
  readonly updated_at: number;
};
