import { describe, expect, it } from '@jest/globals';
import { desk, table } from '../desk.testing.js';
import { exposureOf } from './exposure.js';

const ROW = {
  tenant: 'acme',
  capability: 'payments.issue_refund',
  contract_digest: 'aa',
  currency: 'INR',
  open: 3,
  recovering: 0,
  beyond: 2,
  expired: 1,
  uncertain: 1,
  settled: 4,
  happened: 9,
  contradicted: 3,
  open_minor: 700_000,
  recovering_minor: null,
  beyond_minor: 150_000,
  uncertain_minor: 90_000,
  closes_first_at: 3_600_000,
};
const BARE = {
  ...ROW,
  capability: 'mail.send',
  contract_digest: null,
  currency: null,
  open: 0,
  open_minor: null,
  beyond_minor: null,
  happened: 0,
  contradicted: 0,
  closes_first_at: null,
};
const OBSERVED = {
  tenant: 'acme',
  capability: 'payments.issue_refund',
  compensated: 4,
  automatic: 1,
  manual: 2,
  open: 1,
  not_needed: 0,
  attempts: 6,
  mean_ms: 950,
  max_ms: 65_000,
};
const CONTRACT = {
  name: 'payments.issue_refund',
  digest: 'aa',
  contract: { recovery_cost: { time_ms: 60_000, value: { amount_minor: 2_500, currency: 'INR' } } },
};
const REASON = {
  tenant: 'acme',
  capability: 'mail.send',
  reason: 'OUTCOME_UNKNOWN',
  times: 4,
  ended: 10,
  share: 0.4,
  is_unprovable: true,
};
const DENIED = { ...REASON, reason: 'DENIED', times: 1, share: 0.1, is_unprovable: false };
const MANUAL = {
  items: [REASON, DENIED],
  more: true,
  pointed_out: [{ tenant: 'acme', capability: 'mail.send', unprovable: 4, ended: 10, share: 0.4 }],
};
const EXPOSED = { as_of: 60_000, items: [ROW, BARE], more: false };

const services = (answers: Readonly<Record<string, object>>) => desk(table(answers));
const ALL = {
  '/v1/reports/exposure': EXPOSED,
  '/v1/reports/recoveries': { items: [OBSERVED], more: false },
  '/v1/contracts': { items: [CONTRACT], next_cursor: null },
  '/v1/reports/manual-reasons': MANUAL,
};

describe('report exposure', () => {
  it('shows what is open with its bounded cost, what fell, and what recoveries took beside their bound (A4)', async () => {
    const { call, out } = services(ALL);
    expect(await call('report', 'exposure')).toBe(0);
    const [head, refund, mail, , observedHead, observed] = out().split('\n');
    expect(head).toMatch(
      /^TENANT +CAPABILITY +OPEN +AT STAKE +FIRST CLOSES +COST AT MOST +FELL +UNCERTAIN +BEYOND REVERSAL +THAT STANDS$/,
    );
    expect(refund).toMatch(
      /^acme +payments\.issue_refund +3 +7000\.00 INR +1970-01-01 01:00:00Z +75\.00 INR +33\.3 % +1 +2 +1500\.00 INR$/,
    );
    expect(mail).toMatch(/^acme +mail\.send +0 +- +- +not bounded +- +1 +2 +-$/);
    expect(observedHead).toMatch(/MEAN TIME +LONGEST +TIME AT MOST$/);
    expect(observed).toMatch(/^acme +payments\.issue_refund +4 +1 +2 +1 +6 +950 ms +1 min 5 s +1 min$/);
  });

  it('tells the longest bound of however many versions of a contract', () => {
    const contracts = Array.from({ length: 200_000 }, (_, at) => ({
      ...CONTRACT,
      contract: { recovery_cost: { time_ms: at === 7 ? 60_001 : 60_000 } },
    }));
    const { recoveries } = exposureOf({ ledger: EXPOSED, recoveries: { items: [OBSERVED] }, contracts });
    expect(recoveries[0]?.['time_at_most_ms']).toBe(60_001);
  });

  it('is one document for scripts, with the declared cost of one effect and of all', async () => {
    const { call, out } = services(ALL);
    await call('report', 'exposure', '--json');
    expect(JSON.parse(out())).toMatchObject({
      as_of: 60_000,
      more: false,
      recoveries: [{ ...OBSERVED, time_at_most_ms: 60_000 }],
      exposure: [
        {
          ...ROW,
          declared_cost: { time_ms: 60_000, value: { amount_minor: 2_500, currency: 'INR' } },
          cost_at_most: { amount_minor: 7_500, currency: 'INR' },
          part_contradicted: 3 / 9,
        },
        { declared_cost: null, cost_at_most: null, part_contradicted: null },
      ],
    });
  });

  it('asks all three services for the same tenant and tool', async () => {
    const { call, asked } = services(ALL);
    await call('report', 'exposure', '--capability', 'mail.send', '--tenant', 'acme', '--limit', '7');
    expect(asked.map(({ host, path }) => `${host}${path}`).toSorted()).toEqual([
      'contracts.test/v1/contracts?name=mail.send&tenant=acme&limit=500',
      'ledger.test/v1/reports/exposure?capability=mail.send&tenant=acme&limit=7',
      'recoveries.test/v1/reports/recoveries?capability=mail.send&tenant=acme&limit=7',
    ]);
  });

  it('says that nothing is exposed, and that there is more', async () => {
    const { call, out } = services({
      ...ALL,
      '/v1/reports/exposure': { as_of: 1, items: [], more: true },
      '/v1/reports/recoveries': { items: [], more: false },
    });
    await call('report', 'exposure');
    expect(out()).toBe(
      'nothing is exposed\n\nno recovery was observed\n\nthere are more rows: raise --limit, or name a --capability',
    );
  });
});

describe('report manual', () => {
  const OF_ACTIONS = {
    items: [{ ...REASON, times: 2, share: 0.2 }],
    more: false,
    pointed_out: [{ tenant: 'acme', capability: 'sms.send', unprovable: 6, ended: 8, share: 0.75 }],
  };
  const both = (ledger: object, recoveries: object) =>
    desk(({ host }) => Response.json(host === 'ledger.test' ? ledger : recoveries));

  it('ranks tools by reason, of actions and of recoveries, and points out those that often cannot be proven (C72)', async () => {
    const { call, out } = both(OF_ACTIONS, MANUAL);
    expect(await call('report', 'manual')).toBe(0);
    const lines = out().split('\n');
    expect(lines.slice(0, 4)).toEqual([
      expect.stringMatching(/^TENANT +CAPABILITY +OF +REASON +TIMES +OF ENDED +PART +PROVABLE$/),
      expect.stringMatching(/^acme +mail\.send +recovery +OUTCOME_UNKNOWN +4 +10 +40\.0 % +no$/),
      expect.stringMatching(/^acme +mail\.send +action +OUTCOME_UNKNOWN +2 +10 +20\.0 % +no$/),
      expect.stringMatching(/^acme +mail\.send +recovery +DENIED +1 +10 +10\.0 % +yes$/),
    ]);
    expect(lines.slice(-3)).toEqual([
      expect.stringMatching(/^OFTEN NOT PROVABLE/),
      expect.stringMatching(/^sms\.send +acme +action +6 +8 +75\.0 %$/),
      expect.stringMatching(/^mail\.send +acme +recovery +4 +10 +40\.0 %$/),
    ]);
    expect(out()).toContain('raise --limit');
  });

  it('is one document for scripts', async () => {
    const { call, out } = both({ items: [], more: false, pointed_out: [] }, MANUAL);
    await call('report', 'manual', '--json');
    const of = 'recovery';
    expect(JSON.parse(out())).toEqual({
      items: MANUAL.items.map((row) => ({ of, ...row })),
      more: true,
      pointed_out: MANUAL.pointed_out.map((row) => ({ of, ...row })),
    });
  });

  it('says that nothing landed with people', async () => {
    const { call, out } = services({ '/v1/reports/manual-reasons': { items: [], more: false, pointed_out: [] } });
    await call('report', 'manual');
    expect(out()).toBe('none');
  });
});
