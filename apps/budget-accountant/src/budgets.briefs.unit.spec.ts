// Whoever decides about money is told what the run was for and what to work from where it must be undone by hand (C8, C55).
import { describe, expect, it } from '@jest/globals';
import { entryView } from '@recourse/contract';
import { fact, harness, memoryView, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { budgetsCore } from './core.js';
import { command, INR, OBJECTIVE, open, recorded, refundView, reserve, RUN } from './budgets.testing.js';

const LETTERS = { mode: 'manual_runbook', reason: 'a letter', runbook: 'letters.md', accepted_by: null };

describe.each(WAYS)('a question about money, $way', ({ isRebuilt }) => {
  const { view, digest } = refundView();
  const start = (): CoreHarness =>
    harness(budgetsCore(), { isRebuilt, views: { contracts: view, entries: memoryView(entryView) } }).when(
      open('run', 100),
      1,
    );
  const briefs = (run: CoreHarness): readonly unknown[] => run.rows('escalation').map(({ doc }) => doc['brief']);
  const asked = (amount_minor: number, objective: string | null) =>
    command('ReserveBudget', {
      run_id: RUN,
      effect_key: 'a',
      capability: 'payments.issue_refund',
      values: [{ amount_minor, currency: INR }],
      subject_ref: 'order/1',
      objective,
    });

  it('says of a ceiling what the run is for, and how the contract has it undone', () => {
    const compensation = { mode: 'approval_required', accepted_by: null };
    const run = start().when(asked(6_000, OBJECTIVE), 2);
    run.then(fact('BudgetEscalated'));
    expect(briefs(run)).toMatchObject([{ objective: OBJECTIVE, compensation, missing: [] }]);
  });

  it.each([[null], [' ']])('asks nobody to let more be spent for nothing in particular: %p', (objective) => {
    const run = start().when(asked(6_000, objective), 2);
    run.thenNothing().thenAnswer({ httpStatus: 422, code: 'OBJECTIVE_MISSING' });
    run.when(asked(0, objective), 3).then(fact('BudgetReserved', { brief: { missing: ['objective'] } }));
  });

  it('says of what nobody reserved what its record says, and names what is lacking', () => {
    const told = start().when(recorded('a', 600, { digest, objective: OBJECTIVE, compensation: LETTERS }), 2);
    expect(briefs(told)).toEqual([{ objective: OBJECTIVE, compensation: LETTERS, missing: [] }]);
    const bare = start().when(recorded('a', 600), 2);
    expect(briefs(bare)).toEqual([{ objective: null, compensation: null, missing: ['objective', 'runbook'] }]);
  });

  it('says of a reservation nobody used what was said when it was made', () => {
    const run = start().when(reserve('a', 10), 2);
    run.whenDue(run.rows('reservation')[0]?.dueAt ?? 0).then(fact('BudgetOverdue', { about: 'unsettled' }));
    expect(briefs(run)).toEqual([{ objective: OBJECTIVE, compensation: null, missing: ['runbook'] }]);
  });
});
