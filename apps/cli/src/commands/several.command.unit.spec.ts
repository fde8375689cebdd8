import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import { desk } from '../desk.testing.js';
import type { Asked, Desk, Respond } from '../desk.testing.js';
import { EXIT_CODES } from '../problem.js';

const FACT = 'orders/7#delivered';
const OPEN = { phase: 'awaiting_approval', may: ['approve', 'deny'], missing: [], time_left_ms: 60_000 };

/** A review item under this id. */
function item(id: string, more: Doc = {}): Doc {
  return {
    step_id: id,
    tenant: 'acme',
    run_id: 'run-1',
    reason: 'HIGH_IMPACT',
    action: { capability: 'payments.issue_refund', value: { amount_minor: 50_000, currency: 'INR' } },
    resource: { subject_ref: 'orders/7' },
    compensation: { capability: 'payments.reverse_refund' },
    facts: { now: { ref: FACT }, changed: [], reaffirmed: null },
    approvals: { given: [], required: 1 },
    action_digest: `${id}-digest`,
    ...OPEN,
    ...more,
  };
}

/** An orchestrator with these items; `decide` answers what is said of one. */
function orchestrator(
  items: readonly Doc[],
  decide: (asked: Asked) => Response | undefined = () => Response.json({ status: 'accepted' }),
): Respond {
  return (asked) => {
    const { method, pathname, path } = asked;
    if (method === 'POST') return decide(asked);
    const [, id] = /^\/v1\/reviews\/(.+)$/u.exec(pathname) ?? [];
    const found = items.find((one) => one['step_id'] === id);
    if (found !== undefined) return Response.json(found);
    const phase = new URL(path, 'http://recoveries.test').searchParams.get('state');
    const rows = items
      .filter((one) => one['listed_as'] === phase || (one['listed_as'] === undefined && one['phase'] === phase))
      .map((one) => ({
        step_id: one['step_id'],
        tenant: one['tenant'],
        reason: one['reason'],
        run_id: one['run_id'],
        mutation_id: one['mutation_id'],
        evidence: { ref: (one['facts'] as { now: Doc }).now['ref'], root: one['root'] ?? null },
        execution: { capability: (one['action'] as Doc)['capability'] },
      }));
    return Response.json({ items: rows, next_cursor: null });
  };
}

/** A clock that is two seconds on whenever it is read. */
function ticking(): () => number {
  let now = 0;
  return () => (now += 2_000);
}

const sent = ({ asked }: Desk): readonly Asked[] => asked.filter(({ method }) => method === 'POST');
const digestIn = (text: string): string => /digest\s+([0-9a-f]{64})/u.exec(text)?.[1] ?? '';

describe('several steps that are decided about at once', () => {
  const OTHERS = [
    item('s3', { facts: { now: { ref: 'orders/8#delivered' }, changed: [], reaffirmed: null } }),
    item('s4', { action: { capability: 'mail.send', value: null } }),
    item('s5', { reason: 'POLICY' }),
  ];

  it('are shown to a person as one table with its sum, asked about once, and each decided by its own digest', async () => {
    const at = desk(orchestrator([item('s1'), item('s2'), ...OTHERS]), { said: 'y' });
    const narrowed = ['--fact', FACT, '--capability', 'payments.issue_refund', '--why', 'HIGH_IMPACT'];
    expect(await at.call('recoveries', 'approve-all', ...narrowed, '--reason', 'the parcel left')).toBe(0);
    expect(at.questions).toEqual(['Approve exactly these 2 steps? [y/N] ']);
    expect(at.note()).toMatch(/STEP[^]*s1[^]*s2[^]*steps\s+2[^]*value\s+1000\.00 INR/u);
    expect(sent(at).map(({ pathname, body }) => [pathname, body])).toEqual([
      ['/v1/steps/s1/approve', { action_digest: 's1-digest', reason: 'the parcel left' }],
      ['/v1/steps/s2/approve', { action_digest: 's2-digest', reason: 'the parcel left' }],
    ]);
    expect(at.out()).toBe('2 of 2 done');
  });

  it.each(['run-1', 'mut-1', 'rb-1'])('are what fell with one, in other runs too: %s', async (root) => {
    const of = { rollback_id: 'rb-1', run_id: 'run-1', mutation_id: 'mut-1' };
    const items = [
      item('s1', { mutation_id: 'mut-1', root: { ...of } }),
      item('s2', { run_id: 'run-2', mutation_id: 'mut-2', root: of }),
      item('s3', {
        run_id: 'run-3',
        mutation_id: 'mut-3',
        root: { ...of, rollback_id: 'rb-3', run_id: 'r', mutation_id: 'm' },
      }),
    ];
    const at = desk(orchestrator(items), { said: 'y' });
    expect(await at.call('recoveries', 'approve-all', '--root', root, '--reason', 'seen')).toBe(0);
    expect(sent(at).map(({ pathname }) => pathname)).toEqual(['/v1/steps/s1/approve', '/v1/steps/s2/approve']);
  });

  it('are left alone where the person says no', async () => {
    const at = desk(orchestrator([item('s1')]), { said: 'n' });
    expect(await at.call('recoveries', 'deny-all', '--reason', 'no')).toBe(EXIT_CODES.declined.code);
    expect(sent(at)).toEqual([]);
  });

  it('are decided about by a script only as the set that it was shown', async () => {
    const items = [item('s1'), item('s2')];
    const at = desk(orchestrator(items));
    expect(await at.call('recoveries', 'approve-all', '--preview')).toBe(0);
    const digest = digestIn(at.out());
    const decide = (...more: readonly string[]): Promise<number> =>
      at.call('recoveries', 'approve-all', '--reason', 'seen', ...more);
    expect(await decide()).toBe(EXIT_CODES.usage.code);
    expect(await decide('--yes')).toBe(EXIT_CODES.usage.code);
    expect(at.note()).toMatch(/CONFIRMATION_NEEDED[^]*DIGEST_NEEDED[^]*--preview/u);
    items.push(item('s9'));
    expect(await decide('--yes', '--digest', digest)).toBe(EXIT_CODES.refused.code);
    expect(at.note()).toContain('DIGEST_MISMATCH: the set has the digest');
    expect(sent(at)).toEqual([]);
    items.pop();
    expect(await decide('--yes', '--digest', digest.toUpperCase())).toBe(0);
    expect(sent(at)).toHaveLength(2);
  });

  it('are no longer that set once the action of one has changed, or for another verb', async () => {
    const at = (items: readonly Doc[]): Desk => desk(orchestrator(items));
    const digests = await Promise.all(
      [
        { desk: at([item('s1')]), verb: 'approve-all' },
        { desk: at([item('s1', { action_digest: 'other' })]), verb: 'approve-all' },
        { desk: at([item('s1')]), verb: 'deny-all' },
      ].map(async ({ desk: one, verb }) => {
        await one.call('recoveries', verb, '--preview');
        return digestIn(one.out());
      }),
    );
    expect(digests.every((digest) => digest.length === 64)).toBe(true);
    expect(new Set(digests).size).toBe(3);
  });

  it('are without those that somebody has to read alone, which are named', async () => {
    const changed = { now: { ref: FACT }, changed: ['status'], reaffirmed: null };
    const holds = { now: { ref: FACT }, changed: [], reaffirmed: { source: 'warehouse' } };
    const at = desk(
      orchestrator([
        item('s1'),
        item('unready', { may: ['deny'], missing: ['objective'] }),
        item('late', { may: ['deny'], time_left_ms: 0 }),
        item('gone', { phase: 'approved', listed_as: 'awaiting_approval' }),
        item('sealed', { may: ['deny'] }),
        item('changed', { facts: changed }),
        item('holds', { facts: holds }),
      ]),
    );
    expect(await at.call('--json', 'recoveries', 'approve-all', '--preview')).toBe(0);
    const { items, left_out: left } = JSON.parse(at.out()) as { items: Doc[]; left_out: Doc[] };
    expect(items.map(({ step_id }) => step_id)).toEqual(['s1']);
    expect(left.map(({ step_id, code }) => [step_id, code])).toEqual([
      ['unready', 'ITEM_NOT_READY'],
      ['late', 'WINDOW_CLOSED'],
      ['gone', 'STEP_WRONG_PHASE'],
      ['sealed', 'ITEM_NOT_READY'],
      ['changed', 'FACT_CHANGED'],
      ['holds', 'FACT_CHANGED'],
    ]);
  });

  it('can all be refused, whatever changed', async () => {
    const changed = { now: { ref: FACT }, changed: ['status'], reaffirmed: null };
    const at = desk(orchestrator([item('s1', { facts: changed })]), { said: 'y' });
    expect(await at.call('recoveries', 'deny-all', '--reason', 'no')).toBe(0);
    expect(sent(at)).toHaveLength(1);
  });

  it('are tried again where a person was given them', async () => {
    const manual = { phase: 'manual', may: ['retry', 'resolve'], reason: 'COMPENSATION_FAILED' };
    const at = desk(orchestrator([item('s1', manual), item('s2')]), { said: 'yes' });
    expect(await at.call('recoveries', 'retry-all', '--why', 'COMPENSATION_FAILED', '--reason', 'mended')).toBe(0);
    expect(sent(at).map(({ pathname, body }) => [pathname, body])).toEqual([
      ['/v1/steps/s1/retry', { reason: 'mended' }],
    ]);
  });

  it('are told apart where some are refused', async () => {
    const refuse = ({ pathname }: Asked): Response =>
      pathname.includes('s2')
        ? Response.json({ code: 'SAME_APPROVER', detail: 'you have agreed' }, { status: 409 })
        : Response.json({ status: 'accepted' });
    const at = desk(orchestrator([item('s1'), item('s2')], refuse), { said: 'y' });
    expect(await at.call('recoveries', 'approve-all', '--reason', 'seen')).toBe(EXIT_CODES.partly.code);
    expect(at.out()).toMatch(/s2\s+refused\s+SAME_APPROVER\s+you have agreed[^]*1 of 2 done/u);
    const none = desk(orchestrator([item('s2')], refuse), { said: 'y' });
    expect(await none.call('recoveries', 'approve-all', '--reason', 'seen')).toBe(EXIT_CODES.refused.code);
  });

  it('are sent no more once the service is out of reach, and again under the same keys', async () => {
    const items = Array.from({ length: 40 }, (_, at) => item(`s${String(at)}`));
    const at = desk(
      orchestrator(items, () => undefined),
      { said: 'y' },
    );
    const call = (): Promise<number> =>
      at.call('recoveries', 'approve-all', '--reason', 'seen', '--idempotency-key', 'night');
    expect(await call()).toBe(EXIT_CODES.unavailable.code);
    expect(at.note()).toContain('send it with --idempotency-key night: nothing is done twice');
    expect(at.out()).toMatch(/unknown\s+SERVICE_UNREACHABLE[^]*not_sent/u);
    const keys = new Set(sent(at).map(({ key }) => key));
    expect(keys.size).toBeLessThan(items.length);
    await call();
    expect(new Set(sent(at).map(({ key }) => key))).toEqual(keys);
  });

  it('are sent no more where the service does not get to them, and say under which key', async () => {
    const items = Array.from({ length: 40 }, (_, at) => item(`s${String(at)}`));
    const clock = { ...systemClock, sleep: () => Promise.resolve(), monotonic: ticking() };
    const taken = (): Response => Response.json({ status: 'pending' }, { status: 202 });
    const at = desk(orchestrator(items, taken), { said: 'y', clock });
    expect(await at.call('recoveries', 'approve-all', '--reason', 'seen')).toBe(EXIT_CODES.pending.code);
    expect(at.out()).toMatch(/pending\s+OUTCOME_PENDING[^]*not_sent/u);
    expect(at.note()).toMatch(/send it with --idempotency-key \S+: nothing is done twice/u);
  });

  it('are not those of a digest where none of them is left', async () => {
    const items = [item('s1')];
    const at = desk(orchestrator(items));
    await at.call('recoveries', 'approve-all', '--preview');
    const digest = digestIn(at.out());
    items.splice(0, 1, item('s1', { may: ['deny'], time_left_ms: 0 }));
    const decide = (...more: readonly string[]): Promise<number> =>
      at.call('recoveries', 'approve-all', '--reason', 'seen', '--yes', '--digest', digest, ...more);
    expect(await decide()).toBe(EXIT_CODES.refused.code);
    expect(await decide('--fact', 'mistyped')).toBe(EXIT_CODES.refused.code);
    expect(sent(at)).toEqual([]);
  });

  it('are as many as were asked for, however many before them are left out', async () => {
    const late = { may: ['deny'], time_left_ms: 0 };
    const at = desk(orchestrator([item('l1', late), item('l2', late), item('s1'), item('s2'), item('s3')]), {
      said: 'y',
    });
    expect(await at.call('recoveries', 'approve-all', '--limit', '2', '--reason', 'seen')).toBe(0);
    expect(sent(at).map(({ pathname }) => pathname)).toEqual(['/v1/steps/s1/approve', '/v1/steps/s2/approve']);
    expect(at.note()).toContain('others fit, too');
  });

  it.each(['--run', '--root', '--fact', '--capability', '--why'])(
    'are not everything where a name is empty: %s',
    async (option) => {
      const at = desk(orchestrator([item('s1')]), { said: 'y' });
      expect(await at.call('recoveries', 'approve-all', option, ' ', '--reason', 'seen')).toBe(EXIT_CODES.usage.code);
      expect(at.asked).toEqual([]);
    },
  );

  it('are none where nothing fits: nobody is asked', async () => {
    const at = desk(orchestrator([item('s1')]), { said: 'y' });
    expect(await at.call('recoveries', 'approve-all', '--fact', 'nobody/1#x', '--reason', 'seen')).toBe(0);
    expect([at.out(), at.questions]).toEqual(['none', []]);
  });
});
