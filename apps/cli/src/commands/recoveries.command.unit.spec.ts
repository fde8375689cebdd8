import { describe, expect, it } from '@jest/globals';
import { desk } from '../desk.testing.js';
import type { Respond } from '../desk.testing.js';
import { EXIT_CODES } from '../problem.js';

const RECOVERY = { recovery_id: 'rec_1', tenant: 'acme', run_id: 'run 1', phase: 'open' };

describe('a recovery that is shown', () => {
  /** A service with these recoveries, which gives those that were asked for. */
  const served =
    (recoveries: readonly object[]): Respond =>
    ({ pathname, path }) => {
      const asked = new URL(path, 'http://recoveries.test').searchParams;
      const wanted = (row: object): boolean =>
        ['recovery_id', 'run_id', 'tenant'].every(
          (name) => !asked.has(name) || Object.entries(row).some(([n, value]) => n === name && value === asked.get(n)),
        );
      if (pathname === '/v1/recoveries') return Response.json({ items: recoveries.filter(wanted), next_cursor: null });
      return pathname === '/v1/steps'
        ? Response.json({ items: [{ step_id: 'step_1' }], next_cursor: null })
        : Response.json({ code: 'NOT_FOUND', detail: 'no step under this name' }, { status: 404 });
    };

  it.each([
    ['rec_1', ['/v1/recoveries?recovery_id=rec_1&limit=2']],
    ['run 1', ['/v1/recoveries?recovery_id=run+1&limit=2', '/v1/recoveries?run_id=run+1&limit=2']],
  ])('is asked for by its name, however many there are: %s', async (id, asked) => {
    const { call, out, paths } = desk(served([RECOVERY]));
    expect(await call('recoveries', 'show', id)).toBe(0);
    expect(out()).toMatch(/rec_1[^]*step_1/u);
    expect(paths().slice(1)).toEqual([...asked, '/v1/steps?run_id=run+1&tenant=acme&limit=500']);
  });

  it('is none under a name that nobody has', async () => {
    const { call, note } = desk(served([RECOVERY]));
    expect(await call('recoveries', 'show', 'run-2')).toBe(EXIT_CODES.refused.code);
    expect(note()).toContain('neither a step, a recovery nor a run with one is called run-2');
  });

  it('is none of several tenants by chance: the tenant is to be named', async () => {
    const { call, out, note } = desk(served([RECOVERY, { ...RECOVERY, recovery_id: 'rec_2', tenant: 'globex' }]));
    expect(await call('recoveries', 'show', 'run 1')).toBe(EXIT_CODES.usage.code);
    expect(note()).toMatch(/^TENANT_AMBIGUOUS[^]*--tenant/u);
    expect(await call('--tenant', 'globex', 'recoveries', 'show', 'run 1')).toBe(0);
    expect(out()).toContain('rec_2');
  });
});

describe('a glass that is broken', () => {
  const DIGEST = 'ab'.repeat(32);
  const sends: unknown[] = [];
  const served: Respond = ({ pathname, body }) => {
    if (pathname === '/v1/reviews/step_1')
      return Response.json({ step_id: 'step_1', action_digest: DIGEST, reason: 'FACT_CHANGED' });
    sends.push([pathname, body]);
    return Response.json({ step_id: 'step_1' });
  };

  it('is shown what it lets go, asked for, and sent with the digest that was shown', async () => {
    const glass = ['recoveries', 'break-glass', 'step_1', '--minutes', '5', '--reason', 'fire'] as const;
    const { call, note } = desk(served);
    expect(await call(...glass)).toBe(EXIT_CODES.usage.code);
    expect(note()).toMatch(/FACT_CHANGED[^]*CONFIRMATION_NEEDED/u);
    expect(await call(...glass, '--yes', '--digest', 'cd'.repeat(32))).toBe(EXIT_CODES.refused.code);
    expect(note()).toContain('DIGEST_MISMATCH');
    expect(sends).toEqual([]);
    expect(await call(...glass, '--yes', '--digest', DIGEST)).toBe(0);
    expect(sends).toEqual([
      ['/v1/steps/step_1/break-glass', { action_digest: DIGEST, valid_ms: 300_000, reason: 'fire' }],
    ]);
  });
});
