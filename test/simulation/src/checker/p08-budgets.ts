// P8: no reservation exceeds a ceiling; what nobody reserved is debited in full. Counted anew from the log alone.
import { CLASS_WEIGHTS, weighted } from '@recourse/contract';
import type { Money } from '@recourse/messages';
import { contractsOf } from '../contracts.js';
import { broken, groupBy, nested, number, ofType, text } from './history.js';
import type { Fields, History, LogRecord } from './history.js';

const BUDGETS = 'recourse.budgets';

export function checkBudgets(history: History): void {
  for (const partition of [0, 1])
    checkCeilings(
      history,
      (history.logs[BUDGETS] ?? []).filter((record) => record.partition === partition),
    );
  checkDebits(history);
}

interface Scope {
  used: number;
  ceiling: number | null;
}

function checkCeilings(history: History, records: readonly LogRecord[]): void {
  const scopes = new Map<string, Scope>();
  const held = new Map<string, number>();
  const scope = (name: string): Scope => {
    const found = scopes.get(name) ?? { used: 0, ceiling: null };
    scopes.set(name, found);
    return found;
  };
  const scopesOf = (body: Fields): readonly Scope[] => [
    scope(`run ${text(body, 'tenant')} ${text(body, 'run_id')}`),
    scope(`tenant ${text(body, 'tenant')}`),
  ];
  const count = (body: Fields, delta: number): void => {
    for (const one of scopesOf(body)) one.used += delta;
    held.set(text(body, 'reservation_id'), (held.get(text(body, 'reservation_id')) ?? 0) + delta);
  };
  const fits = (body: Fields, debit: number, seq: number): void => {
    for (const { used, ceiling } of scopesOf(body)) {
      if (ceiling === null || used + debit <= ceiling) continue;
      const sum = `${String(used)} + ${String(debit)} > ${String(ceiling)}`;
      broken(history, 'P8', 'ceiling', `reservation ${text(body, 'reservation_id')} at ${String(seq)}: ${sum}`);
    }
  };
  for (const { type, body, seq } of records) {
    const debit = number(nested(body, 'debit'), 'amount_minor');
    switch (type) {
      case 'BudgetOpened':
        scope(
          body['scope'] === 'tenant'
            ? `tenant ${text(body, 'tenant')}`
            : `run ${text(body, 'tenant')} ${text(body, 'scope_id')}`,
        ).ceiling = number(body, 'ceiling_minor');
        break;
      case 'BudgetReserved':
      case 'BudgetDebited':
        fits(body, debit, seq);
        count(body, debit);
        break;
      case 'EscalationDecided':
        if (body['approved'] === true) count(body, debit);
        break;
      case 'BudgetSettled':
        count(body, debit - (held.get(text(body, 'reservation_id')) ?? 0));
        break;
      case 'BudgetOverrun':
        count(body, debit);
        break;
      case 'BudgetReleased':
      case 'BudgetRefunded':
        count(body, -debit);
        break;
      default:
    }
  }
}

/** Every execution that took effect is debited at what it cost, reserved or not; so is every compensation. */
function checkDebits(history: History): void {
  const contracts = new Map(
    contractsOf(history.world.options.profile.terms).map(({ digest, contract }) => [digest.toString('hex'), contract]),
  );
  const debits = groupBy(ofType(history, BUDGETS, 'BudgetSettled', 'BudgetOverrun', 'BudgetDebited'), ({ body }) =>
    text(body, 'mutation_id'),
  );
  const costs = (id: string, value: unknown, weight: number): void => {
    if (value === null) return;
    const due = weighted(value as Money, weight).amount_minor; // Money or null
    const debited = (debits.get(id) ?? []).reduce(
      (sum, record) => sum + number(nested(record.body, 'debit'), 'amount_minor'),
      0,
    );
    if (debited !== due)
      broken(history, 'P8', 'debited', `${id} costs ${String(due)} and was debited ${String(debited)}`);
  };
  for (const { body } of ofType(history, 'recourse.mutations', 'MutationRecorded')) {
    if (body['execution_state'] !== 'succeeded' || body['terms'] === null) continue;
    const contract = contracts.get((nested(body, 'terms')['contract_digest'] as Buffer).toString('hex'));
    costs(
      text(body, 'mutation_id'),
      nested(body, 'execution')['value'],
      contract?.debt_weight ?? CLASS_WEIGHTS.compensable,
    );
  }
  for (const { body } of ofType(history, 'recourse.mutations', 'CompensationsExecuted'))
    if (body['execution_state'] === 'succeeded')
      costs(text(body, 'compensation_id'), body['value'], CLASS_WEIGHTS.irreversible);
}
