// Sums of amounts as large as a record can say: nobody else is stopped, nothing that was counted is forgotten, and all can be written.
import { describe, expect, it } from '@jest/globals';
import { entryView } from '@recourse/contract';
import { MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { fact, harness, memoryView, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { budgetsCore, BUDGETS_LOG } from './core.js';
import { changed, command, INR, open, recorded, refundView, releaseOf, reserve, TENANT } from './budgets.testing.js';

/** The largest sum that a record can say. */
const MOST = Number.MAX_SAFE_INTEGER - 1;
/** The largest amount that is counted: ten of them are that sum. */
const LARGE = MOST / 10;
const TEN = Array.from({ length: 10 }, (_, at) => `x${String(at)}`);
const REFUND = { digest: refundView().digest, capability: 'payments.issue_refund' };

describe.each(WAYS)('amounts as large as a record can say, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness =>
    harness(budgetsCore(), {
      isRebuilt,
      views: { contracts: refundView().view, entries: memoryView(entryView) },
    });
  const budgetOf = (desk: CoreHarness, currency = INR) =>
    desk.rows('budget').find(({ doc }) => doc['scope'] === 'tenant' && doc['currency'] === currency)?.doc;

  describe('in the sums that all tenants of a partition share', () => {
    const most = (effect: string, tenant: string) => recorded(effect, LARGE, { tenant, expiresAt: 3_600_000_000 });
    const sums = (desk: CoreHarness): readonly number[] => [
      ...desk.rows('debt_closing').flatMap(({ doc }) => [doc['debit_minor'], doc['value_minor']].map(Number)),
      ...desk
        .rows('debt_total')
        .flatMap(({ doc }) => Object.values(doc['units'] as Readonly<Record<string, Readonly<Record<string, number>>>>)) // by unit
        .flatMap((unit) => Object.values(unit)),
    ];

    it('stay what a row can hold, whatever is counted and taken back: no tenant stops another', () => {
      const desk = start();
      const effects = Array.from({ length: 20 }, (_, at) => `e${String(at)}`);
      for (const effect of effects) {
        desk.when(most(effect, TENANT), 2);
        expect(sums(desk).filter((sum) => !Number.isSafeInteger(sum))).toEqual([]);
      }
      expect(Math.max(...sums(desk))).toBe(MOST);
      for (const effect of effects) {
        desk.when(changed(effect, 'compensation_verified'), 3);
        expect(sums(desk).filter((sum) => !Number.isSafeInteger(sum))).toEqual([]);
      }
      expect(Math.min(...sums(desk))).toBe(0);
    });
  });

  describe('that one agent reserved or moved', () => {
    const OTHER = { principal: 'agent-9', roles: ['agent'] };
    const other = (amount: number) => reserve('z', amount, { who: OTHER });

    it.each([
      ['was reserved', TEN.map((effect) => reserve(effect, effect === 'x9' ? LARGE - 1 : LARGE, { currency: 'XTS' }))],
      ['was moved', TEN.map((effect) => recorded(effect, LARGE, { currency: 'XTS' }))],
    ])('in one unit, stop nobody in another: what %s', (_how, inputs) => {
      const desk = start();
      for (const input of inputs) desk.when(input, 1);
      desk
        .when(
          command(
            'ReserveBudget',
            {
              run_id: 'run_9',
              effect_key: 'z',
              capability: 'wire.send_money',
              values: [{ amount_minor: 50, currency: INR }],
            },
            OTHER,
          ),
          2,
        )
        .then(fact('BudgetReserved'));
    });

    it('are refused where they could not be told from more, and asked about where more is used than can be told', () => {
      const held = start();
      for (const effect of TEN) held.when(reserve(effect, effect === 'x9' ? LARGE - 1 : LARGE), 1);
      held
        .then(fact('BudgetReserved'))
        .when(other(50), 2)
        .thenAnswer({ httpStatus: 422, code: 'AMOUNT_INVALID' })
        .when(releaseOf('x9'), 3)
        .when(other(50), 4)
        .then(fact('BudgetReserved'));
      const full = start().when(open('tenant', 1_000), 1);
      for (const effect of TEN) full.when(recorded(effect, LARGE), 2);
      full.when(other(50), 3).then(
        fact('BudgetEscalated', {
          exceeded: [
            { scope: 'run', measure: 'overrun' },
            { scope: 'tenant', used_minor: MOST },
          ],
        }),
      );
    });
  });

  it('are not forgotten where they add up to more than can be told: what was moved beside them stays used', () => {
    const desk = start()
      .when(
        command('OpenBudget', {
          scope: 'tenant',
          scope_id: TENANT,
          currency: INR,
          measure: 'value',
          ceiling_minor: 1_000,
        }),
        1,
      )
      .when(recorded('real', 900, REFUND), 2);
    for (const effect of TEN) desk.when(recorded(effect, LARGE, REFUND), 3);
    desk.when(changed(TEN, 'compensation_verified'), 4);
    expect(budgetOf(desk)).toMatchObject({ moved_minor: MOST, moved_back_minor: MOST });
  });

  describe('of one effect, larger than is counted', () => {
    const TOO_LARGE = [LARGE + 1, MOST, MOST + 1] as const;
    const opened = (): CoreHarness => start().when(open('tenant', 1_000), 1).when(recorded('real', 90), 2);
    const unread = { scope: 'run', measure: 'unread' };

    it.each(TOO_LARGE)(
      'are a person’s, and fill no sum for good: %d, under a contract or none, taken back or not',
      (amount) => {
        for (const more of [{}, REFUND]) {
          const desk = opened()
            .when(recorded('x', amount, more), 3)
            .then(fact('BudgetOverrun', { debits: [], exceeded: [unread] }))
            .when(changed('x', 'compensation_verified'), 4);
          expect(budgetOf(desk)).toMatchObject({ used_minor: 90, refunded_minor: 0 });
        }
      },
    );

    it('are a person’s also beside what can be counted, which is', () => {
      const consequence = [
        { amount_minor: MOST, currency: INR },
        { amount_minor: 40, currency: 'USD' },
      ];
      opened()
        .when(recorded('x', null, { consequence }), 3)
        .then(fact('BudgetOverrun', { debits: [{ currency: 'USD', value_minor: 40 }], exceeded: [unread] }));
    });

    it.each(TOO_LARGE)('are not reserved: %d', (amount) => {
      opened().when(reserve('x', amount), 3).thenNothing().thenAnswer({ httpStatus: 422, code: 'AMOUNT_INVALID' });
    });
  });

  it('are written in records of the log, whatever they add up to', async () => {
    const codecs = createCodecs(new MemoryRegistry().forActor('spec'));
    await codecs.prepareWriter(BUDGETS_LOG, { register: true });
    const gross = { scope: 'tenant', scope_id: TENANT, currency: INR, ceiling_minor: 1_000, refunds: 'gross' };
    const desk = start().when(command('OpenBudget', gross), 1);
    for (const input of [
      ...TEN.map((effect) => recorded(effect, LARGE)),
      changed(TEN, 'compensation_verified'),
      reserve('z', 5),
    ]) {
      for (const { type, body } of desk.when(input, 2).decision().records)
        expect(
          codecs.encode(BUDGETS_LOG, type, { ...body, seq: 1, prev_hash: Buffer.alloc(32), decided_at: 2 }).length,
        ).toBeGreaterThan(5);
    }
    expect(budgetOf(desk)).toMatchObject({ used_minor: MOST, refunded_minor: MOST });
    expect(desk.decision().records).toMatchObject([
      { type: 'BudgetEscalated', body: { exceeded: [{ measure: 'overrun' }, { scope: 'tenant', used_minor: MOST }] } },
    ]);
  });
});
