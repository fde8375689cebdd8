// What a rung lets an agent do: how much a run of it may spend, and who is asked before (A84). Pure.
//
// Invariants
//   G1. What a rung grants only ever tightens: a ceiling is lowered, never raised.
//   G2. Who an agent is, its token says. What it calls itself, and the rung it would like, count for nothing.
import type { Grant, GrantedApproval } from '@recourse/contract';
import { ceilingIn, grantAt, lowerRung, stricterGrant } from '@recourse/contract';
import type { Rung, Standing } from '@recourse/messages';
import type { Scopes } from '../budget/budget.decider.js';
import type { Budget } from '../budget/budget.messages.js';
import type { Autonomy } from './autonomy.messages.js';
import { rungInForce } from './standing.decisions.js';
import type { TaskFacts } from './standing.decisions.js';

/** A kind of task that a capability is part of, and what the agent has earned at it; null for nothing. */
export interface EarnedAt {
  readonly taskKind: string;
  readonly standing: Autonomy | null;
  readonly task: TaskFacts;
}

/** What an agent may do with a capability. */
export interface Allowance {
  readonly task_kind: string;
  readonly rung: Rung;
  readonly capped_by: string | null;
  /** Who is asked before the effect, beside whom its contract asks. */
  readonly forward_approval: GrantedApproval;
  readonly grant: Grant;
}

/** What an agent may do: of several kinds of task the lowest rung, and the stricter of what each lets it do. */
export function allowanceOf([first, ...others]: readonly [EarnedAt, ...EarnedAt[]], now: number): Allowance {
  return others.reduce((so, next) => lower(so, allowed(next, now)), allowed(first, now));
}

function allowed({ taskKind, standing, task }: EarnedAt, now: number): Allowance {
  const { rung, capped_by }: Pick<Standing, 'rung' | 'capped_by'> = rungInForce(standing, task, now);
  const grant = grantAt(task.policy, rung);
  return { task_kind: taskKind, rung, capped_by, forward_approval: grant.forward_approval ?? 'policy', grant };
}

function lower(one: Allowance, other: Allowance): Allowance {
  const grant = stricterGrant(one.grant, other.grant);
  const lowest = lowerRung(one.rung, other.rung) === one.rung ? one : other;
  return { ...lowest, grant, forward_approval: grant.forward_approval ?? 'policy' };
}

/** The budgets a debit counts against, the run's no higher than the rung allows. */
export function underRung(
  scopes: Scopes,
  { grant }: Allowance,
  run: Pick<Budget, 'tenant' | 'scope_id' | 'currency'>,
): Scopes {
  const ceiling = ceilingIn(grant, run.currency);
  if (ceiling === null) return scopes;
  const standing = scopes.run ?? { ...run, scope: 'run', ceiling_minor: null, used_minor: 0, overrun: false };
  return { ...scopes, run: { ...standing, ceiling_minor: Math.min(ceiling, standing.ceiling_minor ?? ceiling) } };
}

/** Why an agent on this rung does not act, for people. */
export function rungRefusal({ task_kind, rung, capped_by }: Allowance): string {
  const why = capped_by === null ? '' : `, held by ${capped_by}`;
  return `the agent has earned ${rung} at ${task_kind}${why}: this is not for it to do alone or with an approval`;
}

/** What whoever reserves is told of it. */
export function allowanceShown({
  task_kind,
  rung,
  capped_by,
  forward_approval,
}: Allowance): Readonly<Record<string, unknown>> {
  return { autonomy: { task_kind, rung, capped_by, forward_approval } };
}
