// What a rung lets an agent do: how much a run of it may spend, and who is asked before (A84). Pure.
//
// Invariants
//   G1. What a rung grants only ever tightens: a ceiling is lowered, never raised.
//   G2. Who an agent is, its token says. What it calls itself, and the rung it would like, count for nothing.
import type { Grant, GrantedApproval } from '@recourse/contract';
import { ceilingIn, EXPOSURE, grantAt, lowerRung, stricterGrant } from '@recourse/contract';
import type { Excess, Money, Rung, Standing } from '@recourse/messages';
import { rungExcess } from '../budget/approval.decisions.js';
import { isExposureOpen } from '../budget/bounds.decisions.js';
import type { Bounds } from '../budget/bounds.decisions.js';
import { emptyBudget } from '../budget/budget.decider.js';
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

/** What counts against an action, the ceilings of its run no higher than the rung allows, in each unit it asks for. */
export function underRung(
  bounds: Bounds,
  { grant }: Allowance,
  values: readonly Pick<Money, 'currency'>[],
  tenant: string,
): Bounds {
  return values.reduce((so, { currency }) => {
    const granted = ceilingIn(grant, currency);
    // What a rung lets a run disclose opens nothing that nobody opened.
    if (granted === null || (currency === EXPOSURE && !isExposureOpen(so.budgets))) return so;
    const isRuns = (one: Budget): boolean => one.scope === 'run' && one.window === 'life' && one.currency === currency;
    const standing =
      so.budgets.find(isRuns) ?? emptyBudget({ tenant, scope: 'run', scope_id: so.runId, currency, window: 'life' });
    const lowered = { ...standing, ceiling_minor: Math.min(granted, standing.ceiling_minor ?? granted) };
    return { ...so, budgets: [lowered, ...so.budgets.filter((one) => !isRuns(one))] };
  }, bounds);
}

/** What was left out where an effect was made past whoever reserves: nobody was asked whom the rung wants asked. */
export function unasked({ forward_approval }: Allowance, agentId: string): readonly Excess[] {
  return rungExcess(forward_approval, agentId);
}

/** Why an agent on this rung does not act, for people. */
export function rungRefusal({ task_kind, rung, capped_by }: Allowance): string {
  const why = capped_by === null ? '' : `, held by ${capped_by}`;
  return `the agent has earned ${rung} at ${task_kind}${why}: this is not for it to do alone or with an approval`;
}

/** What whoever reserves is told of it. */
export type AllowanceTold = {
  readonly autonomy: Pick<Allowance, 'task_kind' | 'rung' | 'capped_by'> & { readonly forward_approval: string };
};

export function allowanceShown({
  task_kind,
  rung,
  capped_by,
  forward_approval,
}: AllowanceTold['autonomy']): AllowanceTold {
  return { autonomy: { task_kind, rung, capped_by, forward_approval } };
}
