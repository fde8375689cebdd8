// Rows of outcomes: one a piece of work, summed when somebody asks.
import { row } from '@recourse/event-log';
import type { Change, Fold } from '@recourse/event-log';
import type { Debit } from '@recourse/messages';
import { isMoney } from '../rules/budget/bounds.decisions.js';
import type { Outcome } from '../rules/outcomes/outcome.messages.js';
import { told } from './autonomy.rows.js';

const outcomes = row<Outcome>({
  kind: 'outcome',
  table: 'outcomes',
  group: ({ outcome_id }) => outcome_id,
  key: ({ outcome_id }) => outcome_id,
  columns: {
    outcome_id: 'text',
    tenant: 'text',
    agent_id: 'text',
    workflow_id: 'text',
    run_id: 'text',
    intent: 'text',
    version: 'text',
    trusted: 'boolean',
    cost_minor: 'bigint',
    cost_currency: 'text',
    total_tokens: 'bigint',
    retry_tokens: 'bigint',
    eval_tokens: 'bigint',
    cache_lookups: 'bigint',
    cache_hits: 'bigint',
    succeeded: 'boolean',
    converted: 'boolean',
    deflected: 'boolean',
    csat_permille: 'bigint',
    revenue_minor: 'bigint',
    revenue_currency: 'text',
    ended_at: 'bigint',
  },
  indexes: [
    ['tenant', 'ended_at'],
    ['tenant', 'workflow_id', 'ended_at'],
    ['tenant', 'agent_id'],
    ['tenant', 'run_id'],
    ['tenant', 'intent'],
    ['tenant', 'version'],
  ],
});

/** What a compensation was debited: the cost of a recovery. */
interface RecoveryCost {
  readonly reservation_id: string;
  readonly tenant: string;
  readonly run_id: string;
  /** Minor units. */
  readonly amount_minor: number;
  readonly currency: string;
}

const recoveryCosts = row<RecoveryCost>({
  kind: 'recovery_cost',
  table: 'recovery_costs',
  group: ({ reservation_id }) => reservation_id,
  key: ({ currency }) => currency,
  columns: { tenant: 'text', run_id: 'text', amount_minor: 'bigint', currency: 'text' },
  indexes: [['tenant', 'run_id']],
});

export const OUTCOME_ROWS = [outcomes, recoveryCosts];

type Debited = Pick<RecoveryCost, 'reservation_id' | 'tenant' | 'run_id'> & { readonly debits: readonly Debit[] };

/** What a recovery cost: what its compensation was debited in all, in place of what was known of that. */
export function recoveryCosted({ reservation_id, tenant, run_id, debits }: Debited): readonly Change[] {
  return debits
    .filter(isMoney)
    .map(({ currency, debit_minor: amount_minor }) =>
      recoveryCosts.put({ reservation_id, tenant, run_id, amount_minor, currency }),
    );
}

/** An outcome that counts. */
export const outcomeCounted: Fold<'recourse.budgets', 'OutcomeCounted'> = (body) => {
  const { content_hash, cost, revenue, ...said } = body;
  return [
    outcomes.put({
      ...said,
      cost_minor: cost?.amount_minor ?? null,
      cost_currency: cost?.currency ?? null,
      revenue_minor: revenue?.amount_minor ?? null,
      revenue_currency: revenue?.currency ?? null,
    }),
    told(said.outcome_id, content_hash),
  ];
};
