import { describe, expect, it } from '@jest/globals';
import { desk } from '../desk.testing.js';

describe('a record that two logs hold, since both read it', () => {
  it('is ended in the one where it is still open, and the answer names that log', async () => {
    const { call, out, asked } = desk(({ host, pathname, path }) => {
      const name = host.split('.')[0] ?? '';
      if (pathname === '/v1/status') return Response.json({ logs: [name] });
      if (pathname === '/v1/parked') {
        // Closed where it is looked for first, open in the other.
        const holds =
          { ledger: 'false', recoveries: 'true' }[name] === new URLSearchParams(path.split('?')[1]).get('open');
        return Response.json({ items: holds ? [{ parked_id: 'p1' }] : [] });
      }
      return Response.json({ command_id: 'c1', status: 'accepted' });
    });
    expect(await call('parked', 'discard', 'p1', '--reason', 'it is no record')).toBe(0);
    const told = asked.filter(({ method }) => method === 'POST').map(({ host, pathname }) => `${host}${pathname}`);
    expect(told).toEqual(['recoveries.test/v1/parked/p1/discard']);
    expect(out()).toMatch(/log\s+recoveries/u);
  });
});

describe('parked records while a service is away', () => {
  const away = desk(({ host, pathname }) => {
    if (host.startsWith('recoveries')) return undefined;
    if (pathname === '/v1/status') return Response.json({ logs: [host] });
    return Response.json({ items: host.startsWith('ledger') ? [{ parked_id: 'p1' }] : [] });
  });

  it('are those of the others, and the one that was not asked is named', async () => {
    expect(await away.call('parked', 'list')).toBe(0);
    expect(away.out()).toMatch(/p1[^]*not asked: recoveries \(SERVICE_UNREACHABLE\)/u);
  });

  it('are not said to be missing before everybody was asked', async () => {
    expect(await away.call('parked', 'discard', 'p2', '--reason', 'x')).toBe(3);
    expect(away.note()).toContain('not asked: recoveries');
  });
});

it('a list of parked records says what is wrong with each, the beginning of it where that is long', async () => {
  const detail = `/args/amount is no number: ${'9'.repeat(200)}`;
  const { call, out } = desk(({ host, pathname }) =>
    pathname === '/v1/status'
      ? Response.json({ logs: [host] })
      : Response.json({ items: host.startsWith('ledger') ? [{ parked_id: 'p1', detail }] : [] }),
  );
  expect(await call('parked', 'list')).toBe(0);
  expect(out()).toContain(`${detail.slice(0, 120)}…`);
  expect(out()).not.toContain(detail);
});
