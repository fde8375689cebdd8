// The ceilings of docs/guides/ceilings.md, set as the page sets them, and actions under them.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { contractView, entryView } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import { fact, harness, memoryView } from '@recourse/testing';
import { budgetsCore } from './core.js';
import { command } from './budgets.testing.js';

const LINES = readFileSync('docs/guides/ceilings.md', 'utf8')
  .split('\n')
  .filter((line) => /^(?:npx )?recourse budgets (?:open|move) /.test(line));

const ANSWERS = readFileSync('docs/guides/ceilings.md', 'utf8')
  .split('\n')
  .flatMap((line) => /^(?:npx )?recourse budgets (approve|raise-once|deny) "\$ESCALATION"/.exec(line)?.[1] ?? []);

/** A line of the page as the command it sends. */
function sent(line: string): RecordInput {
  const said = new Map(
    [...line.matchAll(/--([a-z-]+) ("[^"]*"|\S+)/g)].map(([, name = '', value = '']) => [name, value]),
  );
  const until = said.get('until');
  const place = { scope: said.get('scope'), scope_id: said.get('scope-id'), currency: said.get('currency') };
  const bound = {
    measure: said.get('measure') ?? 'debt',
    window: said.get('window') ?? 'life',
    ceiling_minor: Number(said.get('ceiling')),
  };
  return line.includes(' open ')
    ? command('OpenBudget', { ...place, ...bound, refunds: said.get('refunds') ?? 'net' }, { principal: 'bruno' })
    : command(
        'MoveCeiling',
        { ...place, ...bound, until: until === undefined ? null : Date.parse(until), reason: 'because' },
        { principal: 'bruno' },
      );
}

const spend = (effect: string, values: readonly object[]) =>
  command('ReserveBudget', {
    run_id: 'run-7',
    effect_key: effect,
    capability: 'wire.send_money',
    agent_id: 'agent-7',
    values,
  });
const rupees = (amount_minor: number) => ({ amount_minor, currency: 'INR' });

describe('the page on ceilings', () => {
  const opened = () =>
    LINES.filter((line) => line.includes(' open ')).reduce(
      (run, line) => run.when(sent(line), 1).then(fact('BudgetOpened')),
      harness(budgetsCore(), { views: { contracts: memoryView(contractView), entries: memoryView(entryView) } }),
    );

  it('sets ceilings that hold, in each unit', () => {
    expect(LINES).toHaveLength(7);
    opened()
      .when(spend('a', [rupees(200_000), { amount_minor: 1_000, currency: 'comms' }]), 2)
      .then(fact('BudgetReserved'))
      .when(spend('b', [rupees(1)]), 3)
      .then(fact('BudgetEscalated', { exceeded: [{ scope: 'agent', window: 'day', used_minor: 200_000 }] }))
      .when(spend('c', [{ amount_minor: 1_000, currency: 'comms' }]), 4)
      .then(fact('BudgetEscalated', { exceeded: [{ scope: 'run', measure: 'value', currency: 'comms' }] }));
  });

  it('lowers one at once, and proposes to raise it', () => {
    const [lower = '', raise = ''] = LINES.filter((line) => line.includes(' move '));
    opened()
      .when(sent(lower), 2)
      .then(fact('CeilingMoved', { from_minor: 900_000, ceiling_minor: 400_000 }))
      .when(sent(raise), 3)
      .then(fact('CeilingProposed', { from_minor: 400_000, ceiling_minor: 800_000 }));
  });

  it('answers an escalation in each of the three ways', () => {
    expect(ANSWERS).toEqual(['approve', 'raise-once', 'deny']);
    for (const answer of ANSWERS) {
      const asked = opened()
        .when(spend('a', [rupees(200_001)]), 2)
        .then(fact('BudgetEscalated'));
      const [id] = asked.rows('escalation').map(({ doc }) => doc['escalation_id']);
      const word = {
        escalation_id: id,
        approved: answer !== 'deny',
        raise_once: answer === 'raise-once',
        reason: 'so',
      };
      asked.when(command('DecideEscalation', word, { principal: 'dana' }), 3);
      expect(asked.rows('reservation').map(({ doc }) => doc['phase'])).toEqual([
        answer === 'deny' ? 'denied' : 'reserved',
      ]);
      asked
        .when(spend('b', [rupees(200_000)]), 4)
        .then(fact(answer === 'approve' ? 'BudgetEscalated' : 'BudgetReserved'));
    }
  });
});
