import { describe, expect, it } from '@jest/globals';
import { desk, table } from '../desk.testing.js';
import { EXIT_CODES } from '../problem.js';
import { describeEscalation } from './budgets.command.js';

const ESCALATION = {
  escalation_id: 'esc_1',
  tenant: 'acme',
  run_id: 'run-1',
  about: 'ceiling',
  exceeded: [
    {
      scope: 'run',
      scope_id: 'run-1',
      measure: 'debt',
      currency: 'EUR',
      window: 'life',
      used_minor: 10_000,
      asked_minor: 120_000,
      ceiling_minor: 100_000,
    },
  ],
  debits: [
    { currency: 'EUR', value_minor: 1_200_000, debit_minor: 120_000 },
    { currency: 'comms', value_minor: 1_000, debit_minor: 100 },
  ],
  requested_by: 'svc:agent',
  owner: 'role:approver',
  deadline_at: 60_000,
  phase: 'open',
  action_digest: 'ab'.repeat(32),
};

describe('budgets', () => {
  it('list what would exceed a ceiling, and let it through or not, with the reason', async () => {
    const { call, asked, out } = desk(
      table({
        '/v1/escalations': { items: [ESCALATION], next_cursor: null },
        '/v1/escalations/esc_1': ESCALATION,
        '/v1/escalations/esc_1/decide': { escalation_id: 'esc_1' },
      }),
    );
    expect(await call('budgets', 'escalations', '--run', 'run-1')).toBe(0);
    expect(out()).toMatch(
      /esc_1 +acme +run-1 +ceiling +debt of run run-1.*1200\.00.* svc:agent +role:approver .* open$/,
    );
    expect(asked[0]?.path).toBe('/v1/escalations?run_id=run-1&phase=open&limit=500');
    expect(await call('budgets', 'approve', 'esc_1', '--yes', '--reason', 'agreed with sales')).toBe(0);
    expect(await call('budgets', 'deny', 'esc_1', '--yes', '--reason', 'too much')).toBe(0);
    const { action_digest } = ESCALATION;
    const sent = { raise_once: false, action_digest, tenant: 'acme' };
    expect(asked.filter(({ method }) => method === 'POST').map(({ path, body }) => [path, body])).toEqual([
      ['/v1/escalations/esc_1/decide', { ...sent, approved: true, reason: 'agreed with sales' }],
      ['/v1/escalations/esc_1/decide', { ...sent, approved: false, reason: 'too much' }],
    ]);
  });

  it('decide exactly what was read: it is shown and asked about, and another digest is sent to nobody', async () => {
    const answers = {
      '/v1/escalations/esc_1': ESCALATION,
      '/v1/escalations/esc_1/decide': { escalation_id: 'esc_1' },
    };
    const approve = ['budgets', 'approve', 'esc_1', '--reason', 'agreed'];
    const sent = ({ asked }: ReturnType<typeof desk>) => asked.filter(({ method }) => method === 'POST').length;
    const [yes, no, nobody] = [
      desk(table(answers), { said: 'y' }),
      desk(table(answers), { said: 'n' }),
      desk(table(answers)),
    ];
    expect([await yes.call(...approve), sent(yes)]).toEqual([0, 1]);
    expect(yes.note()).toContain('debt of run run-1: 100.00 EUR used, would be 1300.00 EUR of 1000.00 EUR');
    expect(yes.questions).toEqual([`Let exactly this through (digest ${'ab'.repeat(6)}…)? [y/N] `]);
    expect([await no.call(...approve), sent(no)]).not.toEqual([0, 1]);
    expect(sent(no)).toBe(0);
    expect(await nobody.call(...approve)).not.toBe(0);
    expect(await nobody.call(...approve, '--yes', '--digest', 'cd'.repeat(32))).not.toBe(0);
    expect(nobody.note()).toContain('DIGEST_MISMATCH');
    expect(sent(nobody)).toBe(0);
    expect(await nobody.call(...approve, '--yes', '--digest', 'AB'.repeat(32))).toBe(0);
    expect(sent(nobody)).toBe(1);
  });

  it('raise a ceiling once, for an escalation alone, and list by how much it is higher', async () => {
    const budget = { scope: 'run', scope_id: 'run-1', currency: 'EUR', used_minor: 150_00, ceiling_minor: 100_00 };
    const { call, asked, out } = desk(
      table({
        '/v1/escalations/esc_1': ESCALATION,
        '/v1/escalations/esc_1/decide': { escalation_id: 'esc_1' },
        '/v1/budgets': { items: [{ ...budget, raised_minor: 60_00 }], next_cursor: null },
      }),
    );
    expect(await call('budgets', 'raise-once', 'esc_1', '-y', '--reason', 'a large customer')).toBe(0);
    const { action_digest } = ESCALATION;
    expect(asked[1]?.body).toEqual({
      approved: true,
      raise_once: true,
      reason: 'a large customer',
      action_digest,
      tenant: 'acme',
    });
    expect(await call('budgets', 'list')).toBe(0);
    expect(out()).toMatch(/150\.00 EUR +100\.00 EUR \+ 60\.00 EUR/);
  });

  it('say of an escalation which names read alike', async () => {
    const { call, out } = desk(
      table({
        '/v1/escalations/esc_1': { ...ESCALATION, lookalikes: [['1nes', 'ines']] },
        '/v1/escalations/esc_1/uses': { items: [] },
      }),
    );
    expect(await call('budgets', 'show', 'esc_1')).toBe(0);
    expect(out()).toContain('different people, whose names read alike: 1nes, ines');
    expect(out()).toContain('12000.00 EUR (debt 1200.00 EUR), 1 comms (debt 0.1 comms)');
    expect(out()).toContain('debt of run run-1: 100.00 EUR used, would be 1300.00 EUR of 1000.00 EUR');
  });

  it('say of an overrun that it was reserved in the name of another', async () => {
    const exceeded = [{ scope: 'agent', scope_id: 'agent-9', measure: 'name', currency: '', window: 'life' }];
    const { call, out } = desk(
      table({ '/v1/escalations/esc_1': { ...ESCALATION, exceeded }, '/v1/escalations/esc_1/uses': { items: [] } }),
    );
    expect(await call('budgets', 'show', 'esc_1')).toBe(0);
    expect(out()).toContain('agent-9 acted under what was reserved in the name of another');
  });

  it('say of a call that it stands for something else, so that no cap counts it', async () => {
    const exceeded = [{ scope: 'capability', scope_id: 'wire.send', measure: 'name', currency: '', window: 'life' }];
    const { call, out } = desk(
      table({ '/v1/escalations/esc_1': { ...ESCALATION, exceeded }, '/v1/escalations/esc_1/uses': { items: [] } }),
    );
    expect(await call('budgets', 'show', 'esc_1')).toBe(0);
    expect(out()).toContain('wire.send under what stands for something else: no cap counts it');
  });

  const placed = ['--scope', 'agent', '--scope-id', 'a', '--ceiling', '1200', '--currency', 'EUR'];

  it('say at once whom a raise is proposed to, and look for no other outcome', async () => {
    const proposed = { escalation_id: 'esc_1', ceiling_minor: 1200, from_minor: 100 };
    const { call, asked, out } = desk(({ pathname }) =>
      pathname === '/v1/budgets/move' ? Response.json(proposed, { status: 202 }) : undefined,
    );
    expect(await call('budgets', 'move', ...placed, '--reason', 'sale')).toBe(0);
    expect(asked).toHaveLength(1);
    expect(out()).toMatch(/escalation_id +esc_1/);
  });

  it.each([
    ['open', ['--tenant', 'acme'], { tenant: 'acme' }],
    ['move', ['--tenant', 'acme', '--reason', 'sale'], { tenant: 'acme' }],
    ['open', [], {}],
    ['move', ['--tenant', '*', '--reason', 'sale'], {}],
  ])('%s with %j say whose ceiling it is: a token for all tenants does not', async (verb, more, named) => {
    const { call, asked } = desk(table({ '/v1/budgets': {}, '/v1/budgets/move': {} }));
    expect(await call('budgets', verb, ...placed, ...more)).toBe(0);
    const { tenant, scope_id } = asked[0]?.body as { readonly tenant?: string; readonly scope_id: string }; // what was sent
    expect({ scope_id, ...(tenant === undefined ? {} : { tenant }) }).toEqual({ scope_id: 'a', ...named });
  });

  it('say for all tenants whose ceiling of the platform it is: the tenant that it is over', async () => {
    for (const more of [[], ['--tenant', '*']]) {
      const { call, asked } = desk(table({ '/v1/budgets': {} }));
      const place = ['--scope', 'platform', '--scope-id', 'acme', '--ceiling', '1200', '--currency', 'EUR'];
      expect(await call('budgets', 'open', ...place, ...more)).toBe(0);
      expect(asked[0]?.body).toMatchObject({ tenant: 'acme', scope: 'platform', scope_id: 'acme' });
    }
  });

  it('say of an instant that is none what it must be, and take one in either form', async () => {
    const { call, asked, note } = desk(table({ '/v1/budgets/move': {} }));
    const until = (instant: string) => call('budgets', 'move', ...placed, '--reason', 'sale', '--until', instant);
    expect(await until('tomorrow')).toBe(EXIT_CODES.usage.code);
    expect([asked, note()]).toEqual([[], expect.stringContaining('It must be an instant such as ')]);
    expect(note()).not.toContain('AMOUNT');
    for (const instant of ['2030-05-02T00:00:00Z', '1903910400000']) expect(await until(instant)).toBe(0);
    expect(asked.map(({ body }) => body)).toEqual(Array(2).fill(expect.objectContaining({ until: 1_903_910_400_000 })));
  });

  it('tell of a ceiling that would be raised where it stood when that was asked: it may have moved since', () => {
    const place = { scope: 'run', scope_id: 'run-1', measure: 'debt', currency: 'EUR', until: null };
    expect(describeEscalation({ proposal: { ...place, from_minor: 30_000, ceiling_minor: 50_000 } })).toContain(
      'debt of run run-1: to 500.00 EUR, asked for when it stood at 300.00 EUR',
    );
  });

  it('set a ceiling in minor units, and nothing else', async () => {
    const { call, asked, note } = desk(table({ '/v1/budgets': { scope: 'run' } }));
    const ceiling = (minor: string) =>
      call('budgets', 'open', '--scope', 'run', '--scope-id', 'run-1', '--ceiling', minor, '--currency', 'EUR');
    expect(await ceiling('12.00')).toBe(64);
    expect([asked, note()]).toEqual([[], expect.stringContaining('AMOUNT_INVALID')]);
    expect(await ceiling('1200')).toBe(0);
    expect(asked[0]?.body).toEqual({
      scope: 'run',
      scope_id: 'run-1',
      ceiling_minor: 1200,
      currency: 'EUR',
      measure: 'debt',
      window: 'life',
      refunds: 'net',
    });
  });
});
