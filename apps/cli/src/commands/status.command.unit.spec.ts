import { describe, expect, it } from '@jest/globals';
import { desk } from '../desk.testing.js';
import { EXIT_CODES } from '../problem.js';

interface Loop {
  readonly state: string;
  readonly problem?: string;
}

/** Services of which each has one partition; `said` replaces what one of them answers, undefined for none. */
function stack(said: Readonly<Record<string, object | undefined>> = {}, parked: readonly object[] = []) {
  const ready = (log: string, { state, problem }: Loop = { state: 'ready' }) => ({
    service: log,
    logs: [log],
    ready: state === 'ready',
    detail: { problem: null, loops: [{ log, partition: 0, state, seq: 9, projectedSeq: 7, owedSince: null, problem }] },
  });
  return desk(({ host, pathname }) => {
    const name = host.split('.')[0] ?? '';
    if (pathname === '/v1/workers') return said['workers'] === undefined ? undefined : Response.json(said['workers']);
    if (pathname === '/v1/parked') return Response.json({ items: name === 'ledger' ? parked : [] });
    if (name in said && said[name] === undefined) return undefined;
    return Response.json(said[name] ?? ready(name));
  });
}

describe('the status of an installation', () => {
  it('has a line for each partition of each service, and ends well where all are ready', async () => {
    const { call, out } = stack();
    expect(await call('status')).toBe(0);
    for (const [name, host] of Object.entries({ contracts: 'contracts', ledger: 'ledger', budgets: 'budget' }))
      expect(out()).toMatch(new RegExp(`^${name} +ready +${host} +0 +9 +7 +- +-$`, 'mu'));
    expect(out()).not.toContain('parked');
  });

  it('names what is in the way of one that is not ready, and of one that does not answer', async () => {
    const { call, out } = stack({
      ledger: { ready: false, detail: { in_the_way: { code: 'DATABASE_UNAVAILABLE', detail: 'no answer' } } },
      recoveries: {
        ready: false,
        detail: {
          problem: 'BROKER_UNAVAILABLE: no answer',
          loops: [
            { log: 'l', partition: 3, state: 'halted', seq: 1, projectedSeq: 1, problem: 'LOG_CUT: 4 are missing' },
          ],
        },
      },
      budget: undefined,
    });
    expect(await call('status')).toBe(EXIT_CODES.unavailable.code);
    expect(out()).toMatch(/^ledger +not ready .*DATABASE_UNAVAILABLE: no answer$/mu);
    expect(out()).toMatch(/^recoveries +not ready .*BROKER_UNAVAILABLE: no answer$/mu);
    expect(out()).toMatch(/^recoveries +halted +l +3 .*LOG_CUT: 4 are missing$/mu);
    expect(out()).toMatch(/^budgets +not ready .*SERVICE_UNREACHABLE$/mu);
    for (const code of ['DATABASE_UNAVAILABLE', 'BROKER_UNAVAILABLE', 'LOG_CUT', 'SERVICE_UNREACHABLE'])
      expect(out().split(`What to do about ${code}: `)).toHaveLength(2);
  });

  /** An orchestrator that has one of the two partitions of its log. */
  const half = (others: readonly string[] | null, loops: readonly Loop[] = [{ state: 'ready' }]) => ({
    ready: true,
    detail: {
      problem: null,
      partitions: { 'recourse.recoveries': 2 },
      others,
      loops: loops.map((loop, partition) => ({ log: 'recourse.recoveries', partition, seq: 9, ...loop })),
    },
  });

  it.each([
    ['named', ['orchestrator-b'], "another instance's (orchestrator-b); its state"],
    ['not known', null, "another instance's; its state"],
  ])(
    'says of a partition that another instance has, which is %s, that its state is not known here',
    async (_how, others, said) => {
      const { call, out } = stack({ recoveries: half(others) });
      expect(await call('status')).toBe(0);
      expect(out()).toMatch(/^recoveries +not known here +recourse\.recoveries +1 /mu);
      expect(out()).toContain(
        `Partition 1 of recourse.recoveries is ${said} is not known here. What to do: ask that instance, with its address in --recoveries-url.`,
      );
    },
  );

  it('says of a partition that another instance has what waits for it by its rows', async () => {
    const rows = { log: 'recourse.recoveries', partition: 1, seq: 40, decided_at: 0, unread: 52 };
    const { call, out } = stack({ recoveries: { ...half(['orchestrator-b']), elsewhere: [rows] } });
    expect(await call('status')).toBe(0);
    expect(out()).toMatch(/^recoveries +not known here +recourse\.recoveries +1 +40 /mu);
    expect(out()).toContain(
      'is not known here; by its rows 52 records wait for it, and it decided last at 1970-01-01 00:00:00Z. What',
    );
  });

  it('ends badly where a partition is of no instance, though all that answer are ready', async () => {
    const { call, out } = stack({ recoveries: half([]) });
    expect(await call('status')).toBe(EXIT_CODES.unavailable.code);
    expect(out()).toContain("Partition 1 of recourse.recoveries is nobody's");
  });

  it('says nothing of other instances where the one that answers has every partition', async () => {
    const { call, out } = stack({ recoveries: half(['orchestrator-b'], [{ state: 'ready' }, { state: 'ready' }]) });
    expect(await call('status')).toBe(0);
    expect(out()).not.toContain('not known here');
  });

  it('tells of a notifier that does not read on, though it answers', async () => {
    const loops = [{ log: 'l', partition: 0, state: 'waiting', projectedSeq: 4, problem: 'REGISTRY_UNAVAILABLE' }];
    const { call, out } = stack({ notifier: { service: 'notifier', ready: false, detail: { loops } } });
    expect(await call('status', '--notifier-url', 'http://notifier.test')).toBe(EXIT_CODES.unavailable.code);
    expect(out()).toMatch(/^notifier +waiting +l +0 .*REGISTRY_UNAVAILABLE$/mu);
  });

  it('tells of a notifier whose logs are read, and that sends nothing', async () => {
    const loops = [{ log: 'l', partition: 0, state: 'ready', projectedSeq: 4, problem: null }];
    const in_the_way = { code: 'DATABASE_UNAVAILABLE', detail: 'ops: no answer' };
    const { call, out } = stack({ notifier: { service: 'notifier', ready: false, detail: { loops, in_the_way } } });
    expect(await call('status', '--notifier-url', 'http://notifier.test')).toBe(EXIT_CODES.unavailable.code);
    expect(out()).toMatch(/^notifier +not ready .*DATABASE_UNAVAILABLE: ops: no answer$/mu);
  });

  it('says when the auditor signed last, as the notifier has read it', async () => {
    const { call, out } = stack({
      notifier: { service: 'notifier', ready: true, detail: { loops: [], heads_signed_at: 0 } },
    });
    await call('status', '--notifier-url', 'http://notifier.test');
    expect(out()).toContain('The auditor signed what is new in the logs last at 1970-01-01 00:00:00Z.');
  });

  it('counts parked records, since nobody is told of them otherwise', async () => {
    const { call, out } = stack({}, [{ parked_id: 'p1' }]);
    expect(await call('status')).toBe(0);
    expect(out()).toContain('1 parked record waits, too: recourse parked list');
  });

  it('tells of workers that do not answer, and where to read on', async () => {
    const items = [
      { tenant: 'acme', adapter: 'mail', asked: 4, silent: 3, oldest_at: 0 },
      { tenant: 'acme', adapter: 'crm', asked: 2, silent: 0, oldest_at: 0 },
    ];
    const { call, out } = stack({ workers: { items, more: false, keys: null } });
    expect(await call('status')).toBe(0);
    expect(out()).toContain('3 calls were not answered in time by the workers of mail. What to do: recourse workers');
  });
});

describe('the workers of an installation', () => {
  const keys = [
    { key_id: 'k-1', acts: true, observes: false, adapters: ['mail'], tenants: ['*'], valid_until: 0 },
    { key_id: 'k-2', acts: false, observes: true, adapters: ['*'], tenants: ['acme'], valid_until: null },
  ];

  it('are shown with what waits for them, who is silent and whose keys work', async () => {
    const items = [{ tenant: 'acme', adapter: 'mail', asked: 4, silent: 1, oldest_at: 0 }];
    const { call, out } = stack({ workers: { items, more: false, keys } });
    expect(await call('workers')).toBe(0);
    expect(out()).toMatch(/^mail +acme +4 +1 +1970-01-01 00:00:00Z$/mu);
    expect(out()).toContain('1 call was not answered in time by the workers of mail. Look whether a worker');
    expect(out()).toMatch(/^k-1 +yes +no +mail +all +1970-01-01 00:00:00Z$/mu);
    expect(out()).toMatch(/^k-2 +no +yes +all +acme +it is revoked$/mu);
  });

  it('say so where nothing is asked, and where anybody may work', async () => {
    const { call, out } = stack({ workers: { items: [], more: false, keys: null } });
    expect(await call('workers')).toBe(0);
    expect(out()).toContain('Nothing is asked of any worker now.');
    expect(out()).toContain('any process may work');
  });

  it('say so where no key works', async () => {
    const { call, out } = stack({ workers: { items: [], more: false, keys: [] } });
    expect(await call('workers')).toBe(0);
    expect(out()).toContain('No key of a worker is valid now');
  });
});
