// The report of outcomes: sums over their rows, and what they mean.
//
// Boundary: reads the projection and nothing else; never writes, never waits for the loop.
import { limitTo, Queries } from '@recourse/service';
import type { Limited } from '@recourse/service';
import { costed, ratiosOf } from '../rules/outcomes/outcome.decisions.js';
import type { CostedMoney, OutcomeMoney, OutcomeRatios, OutcomeSums } from '../rules/outcomes/outcome.messages.js';
import { outcomeMoneyQuery, outcomeSumsQuery } from './outcome-statements.js';
import type { OutcomeFilter } from './outcome-statements.js';

interface Group {
  readonly tenant: string;
  readonly workflow_id: string;
  readonly intent: string | null;
  readonly version: string | null;
}

/** What came of the work of a workflow, for one intent and version. */
export interface ReportedOutcomes extends Group, OutcomeSums, OutcomeRatios {
  /** By currency. */
  readonly money: readonly CostedMoney[];
}

export class OutcomeQueries extends Queries {
  /** The most frequent group first. */
  async outcomes(filter: OutcomeFilter, limit: number): Promise<Limited<ReportedOutcomes>> {
    return this.atOnce(async (ask) => {
      const sums = await ask<Group & OutcomeSums>('sum outcomes', outcomeSumsQuery(filter, limit));
      const money = await ask<Group & OutcomeMoney>('sum money of outcomes', outcomeMoneyQuery(filter));
      return limitTo(reported(sums, money), limit);
    });
  }
}

/** Puts the money of each group beside its counts. */
export function reported(
  sums: readonly (Group & OutcomeSums)[],
  money: readonly (Group & OutcomeMoney)[],
): readonly ReportedOutcomes[] {
  const byGroup = Map.groupBy(money, keyOf);
  return sums.map((group) => ({
    ...group,
    ...ratiosOf(group),
    money: (byGroup.get(keyOf(group)) ?? []).map(({ currency, cost_minor, revenue_minor, recovery_cost_minor }) =>
      costed({ currency, cost_minor, revenue_minor, recovery_cost_minor }, group.trusted),
    ),
  }));
}

function keyOf({ tenant, workflow_id, intent, version }: Group): string {
  return JSON.stringify([tenant, workflow_id, intent, version]);
}
