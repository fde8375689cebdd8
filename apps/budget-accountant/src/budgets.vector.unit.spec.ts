// What an action may leave behind, in every unit at once: money, messages, commitments, disclosures, and what binds in law.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { contractBody, contractDigest, contractView, entryView, parseContract } from '@recourse/contract';
import { fact, harness, memoryView, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { budgetsCore } from './core.js';
import { changed, command, decide, INR, owes, recorded, releaseOf, RUN, TENANT } from './budgets.testing.js';

const MINOR = 1_000;
const view = memoryView(contractView);
function registered(name: string, changes: object = {}): { readonly digest: Buffer } {
  const json = JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as object; // a contract is a JSON object
  const read = parseContract(JSON.stringify({ ...json, ...changes }));
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const body = contractBody(read.contract);
  const digest = contractDigest(body);
  view.append(
    read.contract.name,
    fact('ContractRegistered', { name: read.contract.name, version: 1, tenant: '*', digest, body }),
  );
  return { digest };
}
const { digest: REFUND } = registered('payments.issue_refund');
registered('mail.send_message', { blast_radius: { scope: 'single_subject' } });
registered('travel.book_trip', { name: 'travel.hold_trip', debt_weight: undefined, blast_radius: undefined });
registered('flags.set_flag', {
  name: 'flags.set_all',
  blast_radius: { max_calls_per_run: 2, max_subjects_per_run: 1, scope: 'tenant' },
});
const { digest: MAILS } = registered('payments.issue_refund', {
  name: 'payments.mail_refund',
  consequence: { money: 'args.amount_minor * args.parcels', comms: 'args.messages', exposure: 'result.shown' },
});

interface Asking {
  readonly capability?: string;
  readonly subject?: string | null;
  readonly reach?: string;
  readonly agent?: string;
}

const ask = (effect: string, values: Readonly<Record<string, number>>, more: Asking = {}) =>
  command('ReserveBudget', {
    run_id: RUN,
    effect_key: effect,
    capability: more.capability ?? 'wire.send_money',
    agent_id: more.agent ?? 'agent-7',
    values: Object.entries(values).map(([currency, amount_minor]) => ({ currency, amount_minor })),
    subject_ref: more.subject === undefined ? 'order/1' : more.subject,
    reach: more.reach ?? null,
  });
const ceiling = (scope: string, currency: string, ceiling_minor: number, more: object = {}) =>
  command('OpenBudget', {
    scope,
    scope_id: { run: RUN, agent: 'agent-7' }[scope] ?? TENANT,
    currency,
    ceiling_minor,
    ...more,
  });
const counted = (accountant: CoreHarness, scope: string, currency: string, window = 'life') =>
  accountant
    .rows('budget')
    .find(({ doc }) => doc['scope'] === scope && doc['currency'] === currency && doc['window'] === window)?.doc;

describe.each(WAYS)('the consequence of an action, $way', ({ isRebuilt }) => {
  const start = () => harness(budgetsCore(), { isRebuilt, views: { contracts: view, entries: memoryView(entryView) } });

  it('is reserved in every unit by one command and one decision, and settled by one answer (D11)', () => {
    const accountant = start()
      .when(ask('a', { INR: 500, comms: MINOR, commitments: 2 * MINOR }), 1)
      .then(
        fact('BudgetReserved', {
          debits: [...owes(500), ...owes(MINOR, 'comms'), ...owes(2 * MINOR, 'commitments')],
          agent_id: 'agent-7',
        }),
      )
      .when(
        recorded('a', null, {
          consequence: [
            { amount_minor: 400, currency: INR },
            { amount_minor: MINOR, currency: 'comms' },
            { amount_minor: 0, currency: 'commitments' },
          ],
        }),
        2,
      )
      .then(fact('BudgetSettled', { debits: [...owes(400), ...owes(MINOR, 'comms'), ...owes(0, 'commitments')] }));
    for (const scope of ['run', 'agent', 'tenant'])
      expect(['INR', 'comms', 'commitments'].map((unit) => counted(accountant, scope, unit)?.['used_minor'])).toEqual([
        400,
        MINOR,
        0,
      ]);
  });

  it('that one unit forbids is reserved in none (A83)', () => {
    const accountant = start()
      .when(ceiling('tenant', 'comms', 0), 1)
      .when(ask('a', { INR: 500, comms: MINOR }), 2)
      .then(fact('BudgetEscalated', { exceeded: [{ scope: 'tenant', currency: 'comms', ceiling_minor: 0 }] }));
    expect(counted(accountant, 'run', INR)).toBeUndefined();
    accountant.when(decide('a', true), 3);
    expect([counted(accountant, 'run', INR), counted(accountant, 'tenant', 'comms')]).toMatchObject([
      { used_minor: 500 },
      { used_minor: MINOR },
    ]);
  });

  it('names the cap it would exceed, and what is used of it, whenever it is asked for (A28)', () => {
    const over = {
      scope: 'capability',
      scope_id: 'flags.set_all',
      measure: 'subjects',
      used_minor: 1,
      ceiling_minor: 1,
    };
    const asked = () => ask('b', {}, { capability: 'flags.set_all', subject: 'order/2', reach: 'tenant' });
    start()
      .when(ask('a', {}, { capability: 'flags.set_all', reach: 'tenant' }), 1)
      .when(asked(), 2)
      .thenAnswer({ httpStatus: 202, body: { phase: 'escalated', exceeded: [over] } })
      .when(asked(), 3)
      .thenNothing()
      .thenAnswer({ httpStatus: 202, body: { phase: 'escalated', exceeded: [over] } });
  });

  it.each(['comms', 'commitments'])('counts %s in wholes: the second of one escalates (A79, A80)', (unit) => {
    start()
      .when(ceiling('run', unit, MINOR, { measure: 'value' }), 1)
      .when(ask('a', { [unit]: MINOR }, { capability: 'travel.hold_trip' }), 2)
      .then(fact('BudgetReserved'))
      .when(ask('b', { [unit]: MINOR }, { capability: 'travel.hold_trip' }), 3)
      .then(fact('BudgetEscalated', { exceeded: [{ measure: 'value', used_minor: MINOR, asked_minor: MINOR }] }));
  });

  it('weighs 0.1 where it can be compensated, 0 where it is reversible, 1 where it is neither, in each unit (A74, D12)', () => {
    const debts = (capability: string) =>
      start()
        .when(ask('a', { commitments: MINOR, comms: MINOR }, { capability }), 1)
        .records()
        .map(({ body }) => body['debits']);
    const weighing = (debt: number) => [[...owes(debt, 'commitments', MINOR), ...owes(debt, 'comms', MINOR)]];
    expect(debts('travel.hold_trip')).toEqual(weighing(100));
    expect(debts('flags.set_all')).toEqual(weighing(0));
    expect(debts('mail.send_message')).toEqual(weighing(MINOR));
  });

  it('of a compensable effect weighs at least what its recovery costs (A77)', () => {
    start()
      .when(ask('a', { INR: 10_000 }, { capability: 'payments.issue_refund' }), 1)
      .then(fact('BudgetReserved', { debits: owes(2_500, INR, 10_000) }));
  });

  it("that binds in law is a person's, whatever the ceiling (A82)", () => {
    start()
      .when(ceiling('run', 'regulatory', 10), 1)
      .when(ask('a', { regulatory: 1 }), 2)
      .then(fact('BudgetEscalated', { exceeded: [{ measure: 'regulatory', ceiling_minor: 0 }] }))
      .when(decide('a', true), 3)
      .then(fact('EscalationDecided', { debits: owes(1, 'regulatory') }));
  });

  it("counts at its agent across runs, and at nobody else's", () => {
    start()
      .when(ceiling('agent', INR, 500), 1)
      .when(ask('a', { INR: 500 }), 2)
      .when(ask('b', { INR: 1 }), 3)
      .then(fact('BudgetEscalated', { exceeded: [{ scope: 'agent', scope_id: 'agent-7' }] }))
      .when(ask('c', { INR: 1 }, { agent: 'agent-8' }), 4)
      .then(fact('BudgetReserved'));
  });

  it.each([
    [{ INR: -1 }, 'AMOUNT_INVALID'],
    [{ INR: 1.5 }, 'AMOUNT_INVALID'],
    [{ INR: Number.MAX_SAFE_INTEGER + 1 }, 'AMOUNT_INVALID'],
    [{ rupee: 1 }, 'CURRENCY_INVALID'],
    [{ goodwill: 1 }, 'CURRENCY_INVALID'],
  ])('of %j is refused', (values, code) => {
    start().when(ask('a', values), 1).thenNothing().thenAnswer({ httpStatus: 422, code });
  });

  it('too large to be counted with what stands is refused', () => {
    const most = (Number.MAX_SAFE_INTEGER - 1) / 10;
    const desk = start();
    for (let at = 0; at < 9; at += 1) desk.when(ask(`a${String(at)}`, { INR: most }), 1).then(fact('BudgetReserved'));
    desk
      .when(ask('b', { INR: most }), 2)
      .thenNothing()
      .thenAnswer({ code: 'AMOUNT_INVALID' });
  });
});

describe.each(WAYS)('value that a run moves, $way', ({ isRebuilt }) => {
  const start = () => harness(budgetsCore(), { isRebuilt, views: { contracts: view, entries: memoryView(entryView) } });
  const refundOf = (effect: string, amount: number) =>
    recorded(effect, amount, { digest: REFUND, capability: 'payments.issue_refund', subject: 'order/1' });

  it('passes at its ceiling and escalates a minor unit above, however little of it is debt (A78, A89)', () => {
    const accountant = start()
      .when(ceiling('run', INR, 500_000, { measure: 'value' }), 1)
      .when(ask('a', { INR: 500_000 }, { capability: 'travel.hold_trip' }), 2)
      .then(fact('BudgetReserved', { debits: owes(50_000, INR, 500_000) }));
    for (let at = 0; at < 9; at += 1)
      accountant
        .when(ask(`more-${String(at)}`, { INR: 500_000 }, { capability: 'travel.hold_trip' }), 3)
        .then(fact('BudgetEscalated', { exceeded: [{ scope: 'run', measure: 'value', used_minor: 500_000 }] }));
    start()
      .when(ceiling('run', INR, 500_000, { measure: 'value' }), 1)
      .when(ask('a', { INR: 500_001 }, { capability: 'travel.hold_trip' }), 2)
      .then(fact('BudgetEscalated', { exceeded: [{ asked_minor: 500_001, ceiling_minor: 500_000 }] }));
  });

  it.each([
    ['net', fact('BudgetReserved')],
    ['gross', fact('BudgetEscalated', { exceeded: [{ measure: 'value', used_minor: 500_000 }] })],
  ] as const)('and a compensation took back frees a ceiling that is %s accordingly', (refunds, then) => {
    start()
      .when(ceiling('tenant', INR, 500_000, { measure: 'value', refunds }), 1)
      .when(refundOf('a', 500_000), 2)
      .when(decide('a', true), 3)
      .when(changed('a', 'compensation_verified'), 4)
      .then(fact('BudgetRefunded', { members: [{ debits: owes(50_000, INR, 500_000) }] }))
      .when(ask('b', { INR: 1 }), 5)
      .then(then);
  });

  it('is counted within each hour where its ceiling is one of an hour', () => {
    const hour = 3_600_000;
    const accountant = start()
      .when(ceiling('run', INR, 500, { window: 'hour' }), 1)
      .when(ask('a', { INR: 500 }), 2)
      .when(ask('b', { INR: 1 }), hour - 1)
      .then(fact('BudgetEscalated', { exceeded: [{ window: 'hour', used_minor: 500 }] }))
      .when(ask('c', { INR: 500 }), hour)
      .then(fact('BudgetReserved'))
      .when(releaseOf('a'), hour + 1)
      .then(fact('BudgetReleased'));
    // What an earlier hour held frees nothing of this one.
    expect(counted(accountant, 'run', INR, 'hour')).toMatchObject({ used_minor: 500, window_at: hour });
    expect(counted(accountant, 'run', INR)).toMatchObject({ used_minor: 500 });
  });

  describe('of which an erasure left nothing to read', () => {
    const capability = 'payments.mail_refund';
    const erased = () => recorded('a', null, { digest: MAILS, capability, subject: 'order/1', consequence: [] });
    const held = { INR: 84_000, comms: 5 * MINOR };
    const unread = { scope: 'run', scope_id: RUN, measure: 'unread' };

    it('counts as what was reserved, one of what only its answer told, and a person is asked how much it was', () => {
      const accountant = start()
        .when(ask('a', held, { capability }), 1)
        .when(erased(), 2)
        .then(fact('BudgetSettled'), fact('BudgetOverrun', { exceeded: [unread] }));
      const used = ['INR', 'comms', 'exposure'].map((unit) => counted(accountant, 'run', unit)?.['used_minor']);
      expect(used).toEqual([8_400, MINOR / 2, 1]);
    });

    it('counts one of each unit that its contract counts where nobody had reserved it', () => {
      start()
        .when(erased(), 2)
        .then(
          fact('BudgetOverrun', {
            exceeded: [unread, { currency: 'exposure', asked_minor: 1 }],
            debits: [
              { currency: 'comms', value_minor: MINOR },
              { currency: 'exposure', value_minor: 1 },
            ],
          }),
        );
    });

    it('counts none of what its arguments told, and was reserved as none', () => {
      const accountant = start()
        .when(ask('a', { INR: 84_000 }, { capability }), 1)
        .when(erased(), 2);
      expect(counted(accountant, 'run', 'comms')).toBeUndefined();
    });
  });

  it('is bounded by the platform beside the tenant, who loosens nothing', () => {
    start()
      .when(ask('a', { INR: 300 }), 1)
      .when(ceiling('platform', INR, 500, {}), 2)
      .then(fact('BudgetOpened', { scope: 'platform' }))
      .when(ceiling('tenant', INR, 900), 3)
      .when(ask('b', { INR: 201 }), 4)
      .then(fact('BudgetEscalated', { exceeded: [{ scope: 'platform', used_minor: 300 }] }))
      .when(
        command(
          'OpenBudget',
          { scope: 'platform', scope_id: TENANT, currency: 'USD', ceiling_minor: 1 },
          { roles: ['budget_owner'] },
        ),
        5,
      )
      .thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' });
  });
});

describe.each(WAYS)('a cap of a contract on one run, $way (A28, A56)', ({ isRebuilt }) => {
  const start = () => harness(budgetsCore(), { isRebuilt, views: { contracts: view, entries: memoryView(entryView) } });
  const refundIs = (effect: string, amount: number, more: Asking = {}) =>
    ask(effect, { INR: amount }, { capability: 'payments.issue_refund', ...more });
  const over = (measure: string, used_minor: number, asked_minor: number, ceiling_minor: number) =>
    fact('BudgetEscalated', {
      exceeded: [
        { scope: 'capability', scope_id: 'payments.issue_refund', measure, used_minor, asked_minor, ceiling_minor },
      ],
    });

  it('on value passes at 5,000.00 and escalates at 5,000.01 (D5)', () => {
    start().when(refundIs('a', 500_000), 1).then(fact('BudgetReserved'));
    start()
      .when(refundIs('a', 500_001), 1)
      .then(over('value', 0, 500_001, 500_000));
  });

  it('on calls escalates the second, and adds nothing until a person agrees (D5)', () => {
    const accountant = start()
      .when(refundIs('a', 100), 1)
      .when(refundIs('b', 100), 2)
      .then(over('calls', 1, 1, 1));
    expect(accountant.rows('run_capability')[0]?.doc).toMatchObject({ calls: 1, subjects: 1, moved: { INR: 100 } });
    accountant.when(decide('b', true), 3);
    expect(accountant.rows('run_capability')[0]?.doc).toMatchObject({ calls: 2, subjects: 1, moved: { INR: 200 } });
  });

  it('is free again for a call that was given back', () => {
    start()
      .when(refundIs('a', 100), 1)
      .when(releaseOf('a'), 2)
      .when(refundIs('b', 500_000, { subject: 'order/2' }), 3)
      .then(fact('BudgetReserved'));
  });

  it('on subjects counts each once', () => {
    const of = (effect: string, subject: string) => ask(effect, {}, { capability: 'flags.set_all', subject });
    start().when(of('a', 'flag/1'), 1).when(of('b', 'flag/1'), 2).then(fact('BudgetReserved'));
    start()
      .when(of('a', 'flag/1'), 1)
      .when(of('b', 'flag/2'), 2)
      .then(fact('BudgetEscalated', { exceeded: [{ measure: 'subjects', used_minor: 1, ceiling_minor: 1 }] }));
  });

  it.each([
    ['says that it reaches the tenant', { reach: 'tenant' }],
    ['names no subject, where it is to name one', { subject: null }],
  ])('on scope escalates a call that %s', (_what, more) => {
    start()
      .when(refundIs('a', 100, more), 1)
      .then(over('scope', 0, 1, 0));
  });

  it('in another currency compares nothing, so it lets nothing through', () => {
    start()
      .when(ask('a', { USD: 1 }, { capability: 'payments.issue_refund' }), 1)
      .then(fact('BudgetEscalated', { exceeded: [{ measure: 'value', currency: 'USD', ceiling_minor: 0 }] }));
  });

  it('counts what nobody reserved, and asks a person about what is over it', () => {
    const done = (effect: string) =>
      recorded(effect, 400_000, { digest: REFUND, capability: 'payments.issue_refund', subject: 'order/1' });
    start()
      .when(done('a'), 1)
      .when(done('b'), 2)
      .then(
        fact('BudgetOverrun', {
          exceeded: [
            { measure: 'calls', used_minor: 1 },
            { measure: 'value', used_minor: 400_000 },
          ],
        }),
      );
  });
});

describe.each(WAYS)('a run in which something happened that nobody reserved, $way (P8)', ({ isRebuilt }) => {
  it('reserves nothing more until a person has let it stand', () => {
    harness(budgetsCore(), { isRebuilt, views: { contracts: view, entries: memoryView(entryView) } })
      .when(recorded('a', 600), 1)
      .then(fact('BudgetOverrun', { debits: owes(600) }))
      .when(ask('b', { INR: 1 }), 2)
      .then(fact('BudgetEscalated', { exceeded: [{ scope: 'run', measure: 'overrun', used_minor: 1 }] }))
      .when(decide('a', true), 3)
      .then(fact('EscalationDecided', { debits: [] }))
      .when(ask('c', { INR: 1 }), 4)
      .then(fact('BudgetReserved'));
  });
});
