// Expected harm as the projection tells it: what stands, what closes soon, and what uses the bounds of a question.
//
// Boundary: reads the projection and nothing else; never writes, never waits for the loop.
import { limitTo, Queries } from '@recourse/service';
import type { Limited } from '@recourse/service';
import type { Metrics } from '@recourse/telemetry';
import type { Escalation } from '../rules/budget/budget.messages.js';
import { harmOf } from '../rules/harm/harm.decisions.js';
import type { Closing, DeclaredCost, EffectCount, Harm, StandingDebt } from '../rules/harm/harm.messages.js';
import { usedBoundsOf, usersOf } from '../rules/harm/uses.decisions.js';
import type { UsedBound } from '../rules/harm/uses.decisions.js';
import {
  closingQuery,
  closingTotalsQuery,
  effectCountsQuery,
  OPEN_ESCALATIONS_QUERY,
  standingDebtQuery,
  STANDING_TOTALS_QUERY,
  usersQuery,
} from './harm-statements.js';
import type { HarmFilter } from './harm-statements.js';

/** Effects that are named of one bound: enough to see what fills it. */
const USERS_MAX = 10;
/** Bounds of one question that are looked into; a call exceeds a handful at the most. */
const BOUNDS_MAX = 20;

/** What a question may be about. */
const ABOUT: readonly Escalation['about'][] = ['ceiling', 'overrun', 'unsettled', 'raise'];

/** Every spelling of an agent's name under which something stands. */
export type SpellingsOf = (agent: string) => Promise<readonly string[]>;

/** What is read of a question. */
export type Question = Pick<Escalation, 'tenant' | 'run_id' | 'exceeded' | 'proposal'>;

interface User {
  /** Null of a compensation. */
  readonly mutation_id: string | null;
  /** Mutation that it took back; null where it is no compensation. */
  readonly undoes: string | null;
  readonly reservation_id: string;
  readonly run_id: string;
  readonly agent_id: string | null;
  readonly capability: string | null;
  readonly phase: string;
  /** Minor units of the bound's unit; null where it counts calls. */
  readonly amount_minor: number | null;
  /** Until when it can be taken back, epoch milliseconds; null when it cannot, and before it happened. */
  readonly expires_at: number | null;
}

/** What uses a bound, largest first. */
export interface BoundUse extends UsedBound {
  readonly used_by: readonly User[];
  /** True where there are others. */
  readonly more: boolean;
}

interface Totals {
  readonly currency: string;
  readonly reserved: number;
  /** Of what has happened and stands. */
  readonly standing: number;
}

interface ClosingTotals {
  readonly currency: string;
  readonly open: number;
  readonly hour: number;
  readonly day: number;
}

export class HarmQueries extends Queries {
  /** The most debt first. */
  async harm(filter: HarmFilter, now: number, limit: number, costOf: DeclaredCost): Promise<Limited<Harm>> {
    return this.summedAtOnce(async (ask) => {
      const standing = await ask<StandingDebt>('sum debt', standingDebtQuery(filter, now));
      const counts = await ask<EffectCount>('count effects', effectCountsQuery(filter, now));
      return limitTo(harmOf(standing, counts, costOf), limit);
    });
  }

  /** What closes soonest and most first. */
  async closing(filter: HarmFilter, now: number, limit: number): Promise<Limited<Closing>> {
    return limitTo(await this.summed<Closing>('sum what closes', closingQuery(filter, now, limit)), limit);
  }

  /** What the bounds of a question are used by, now; an agent's account has what is told under every spelling of its name. */
  async uses(question: Question, now: number, spellingsOf: SpellingsOf): Promise<readonly BoundUse[]> {
    const { tenant, run_id: runId } = question;
    const uses: BoundUse[] = [];
    for (const bound of usedBoundsOf(question).slice(0, BOUNDS_MAX)) {
      const agents = bound.scope === 'agent' ? await spellingsOf(bound.scope_id) : [];
      const query = usersQuery(tenant, usersOf(bound, { runId, agents, now }), USERS_MAX);
      const { items: used_by, more } = limitTo(await this.summed<User>('find what uses a bound', query), USERS_MAX);
      const { scope, scope_id, measure, currency, window } = bound;
      uses.push({ scope, scope_id, measure, currency, window, used_by, more });
    }
    return uses;
  }

  /** Sets what stands of all tenants. Labels are units and words, never ids. */
  async gauge(metrics: Pick<Metrics, 'set' | 'clear'>): Promise<void> {
    const now = await this.now();
    const { totals, closings, open } = await this.summedAtOnce(async (ask) => ({
      totals: await ask<Totals>('sum what stands', STANDING_TOTALS_QUERY),
      closings: await ask<ClosingTotals>('sum what closes', closingTotalsQuery(now)),
      open: await ask<{ about: string; open: number }>('count questions', OPEN_ESCALATIONS_QUERY),
    }));
    metrics.clear('debtStanding');
    metrics.clear('valueClosing');
    for (const { currency: unit, reserved, standing } of totals) {
      const closing = closings.find((one) => one.currency === unit) ?? { open: 0, hour: 0, day: 0 };
      metrics.set('debtStanding', { unit, standing: 'reserved' }, reserved);
      metrics.set('debtStanding', { unit, standing: 'open' }, closing.open);
      metrics.set('debtStanding', { unit, standing: 'beyond' }, standing - closing.open);
      metrics.set('valueClosing', { unit, within: 'hour' }, closing.hour);
      metrics.set('valueClosing', { unit, within: 'day' }, closing.day);
    }
    for (const about of ABOUT)
      metrics.set('escalationsOpen', { about }, open.find((one) => one.about === about)?.open ?? 0);
  }
}
