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
