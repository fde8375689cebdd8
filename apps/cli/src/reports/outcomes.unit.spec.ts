import { describe, expect, it } from '@jest/globals';
import { desk, table } from '../desk.testing.js';

const GROUP = {
  tenant: 'acme',
  workflow_id: '=refunds, "all"',
  intent: 'refund',
  version: null,
  outcomes: 3,
  trusted: 2,
  trusted_ratio: 2 / 3,
  total_tokens: 300,
  retry_tokens: 30,
  eval_tokens: 60,
  retry_token_ratio: 0.1,
  eval_overhead_ratio: 0.2,
  cache_lookups: 0,
  cache_hits: 0,
  cache_hit_rate: null,
  success_rate: 0.5,
  conversion_rate: null,
  deflection_rate: null,
  csat: 0.75,
};
const USD = {
  currency: 'USD',
  cost_minor: 3_700,
  revenue_minor: null,
  recovery_cost_minor: 700,
  cost_per_trusted_outcome_minor: 1_850,
};
const BARE = { ...GROUP, workflow_id: 'mails', trusted: 0, money: [{ ...USD, cost_per_trusted_outcome_minor: null }] };
const TOLD = { items: [{ ...GROUP, money: [USD] }, BARE, { ...GROUP, workflow_id: 'calls', money: [] }], more: false };
const desks = () => desk(table({ '/v1/reports/outcomes': TOLD }));

describe('report outcomes', () => {
  it('shows cost per trusted outcome, ratios and results, and nothing where there is nothing to divide by (D41, D42, D66)', async () => {
    const { call, out } = desks();
    expect(await call('report', 'outcomes')).toBe(0);
    const [head, refunds, mails, calls] = out().split('\n');
    expect(head).toMatch(
      /^TENANT +WORKFLOW +INTENT +VERSION +OUTCOMES +TRUSTED +COST +PER TRUSTED +RECOVERIES +REVENUE/,
    );
    expect(refunds).toMatch(
      / 3 +2 +37\.00 USD +18\.50 USD +7\.00 USD +- +10\.0 % +20\.0 % +- +50\.0 % +- +- +75\.0 %$/,
    );
    expect(mails).toMatch(/^acme +mails +refund +- +3 +0 +37\.00 USD +- +7\.00 USD/);
    expect(calls).toMatch(/^acme +calls +refund +- +3 +2 +- +- +- +-/);
  });

  it('is comma-separated for a spreadsheet, in which nothing that was said runs', async () => {
    const { call, out } = desks();
    await call('report', 'outcomes', '--csv');
    const [head, refunds, mails] = out().split('\n');
    expect(head).toMatch(
      /^tenant,workflow_id,intent,version,outcomes,trusted,trusted_ratio,currency,cost_minor,cost_per_trusted_outcome_minor,/,
    );
    expect(refunds).toMatch(
      /^acme,"'=refunds, ""all""",refund,,3,2,0\.66\d+,USD,3700,1850,700,,300,30,60,0\.1,0\.2,0,0,,0\.5,,,0\.75$/,
    );
    expect(mails).toMatch(/^acme,mails,refund,,3,0,[\d.]+,USD,3700,,700,/);
  });

  it('says that a spreadsheet lacks groups, and does not end as done', async () => {
    const { call, out, note } = desk(table({ '/v1/reports/outcomes': { ...TOLD, more: true } }));
    expect(await call('report', 'outcomes', '--csv')).toBe(8);
    expect(out().split('\n')).toHaveLength(4);
    expect(note()).toBe('3 groups are in it, there are more: raise --limit, up to 500, or narrow what is asked for');
    const whole = desks();
    expect([await whole.call('report', 'outcomes', '--csv'), whole.note()]).toEqual([0, '']);
  });

  it.each([[['outcomes']], [['exposure']], [['manual']], [['rollbacks']]])(
    'is asked for no more rows than a service tells: %j',
    async (args) => {
      const { call, note, asked } = desks();
      expect(await call('report', ...args, '--limit', '501')).toBe(64);
      expect(note()).toContain('It must be a whole number from 1 to 500: narrow what is asked for.');
      expect(asked).toEqual([]);
    },
  );

  it('is one document for scripts, as the service says it', async () => {
    const { call, out } = desks();
    await call('report', 'outcomes', '--json');
    expect(JSON.parse(out())).toEqual(TOLD);
  });

  it('asks for a workflow, an intent, a version and a time range', async () => {
    const { call, asked } = desks();
    await call(
      'report',
      'outcomes',
      ...['--workflow', 'w', '--intent', 'i', '--release', 'v2'],
      ...['--from', '1970-01-01T00:00:01Z', '--to', '1970-01-02'],
    );
    expect(asked[0]?.path).toBe(
      '/v1/reports/outcomes?workflow_id=w&intent=i&release=v2&from=1000&to=86400000&limit=200',
    );
  });

  it.each([
    ['2030-05-01', '2030-05-01T00:00:00.000Z'],
    ['2030-05-01T10:00Z', '2030-05-01T10:00:00.000Z'],
    ['2030-05-01 10:00:00Z', '2030-05-01T10:00:00.000Z'],
    ['2030-05-01T10:00:00.5+05:30', '2030-05-01T04:30:00.500Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['1900000000000', '2030-03-17T17:46:40.000Z'],
  ])('takes %s as %s, wherever it is asked', async (text, meant) => {
    const { call, paths } = desks();
    expect(await call('report', 'outcomes', '--from', text)).toBe(0);
    expect(paths()).toEqual([`/v1/reports/outcomes?from=${String(Date.parse(meant))}&limit=200`]);
  });

  it.each([
    '2030-05-01T00:00:00',
    '2030-05-01T00:00',
    '2030-02-31',
    '2029-02-29T00:00:00Z',
    '2030-04-31T23:00:00+02:00',
    '2030-05-01T24:00:00Z',
    '2030-05-01Z',
    '2030-05',
    '2030-05-01T10:00:00+99:00',
  ])('takes %s for no instant: it names none, or another one elsewhere', async (text) => {
    const { call, note, asked } = desks();
    expect(await call('report', 'outcomes', '--from', text)).toBe(64);
    expect(note()).toContain('a day such as 2026-11-22, which begins in UTC');
    expect(asked).toEqual([]);
  });

  it('refuses an instant that is none', async () => {
    const { call, note } = desks();
    expect(await call('report', 'outcomes', '--from', 'yesterday')).toBe(64);
    expect(note()).toContain('--from');
  });
});
