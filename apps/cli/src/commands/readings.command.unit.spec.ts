import { describe, expect, it } from '@jest/globals';
import { desk, table } from '../desk.testing.js';

const reading = (id: string, more: object): object => ({
  reading_id: id,
  tenant: 'acme',
  reader: 'asha',
  roles: ['payload_reader'],
  route: `GET /v1/mutations/${id}`,
  things: [`mutation/${id}`],
  subjects: ['guest/7'],
  payload_count: 3,
  read_at: 1_000,
  ...more,
});
const LISTS = table({
  'GET /v1/readings': {
    items: [
      reading('m1', {}),
      reading('m2', { read_at: 2_000, subjects: ['guest/8'], things: ['mutation/m2', 'mutation/m3'] }),
    ],
    next_cursor: null,
  },
});

describe('readings of payloads', () => {
  it('are listed from every service, the newest first: who, what, of whom, when and by which route', async () => {
    const at = desk(LISTS);
    expect(await at.call('audit', 'readings', '--tenant', 'acme')).toBe(0);
    expect(at.paths().filter((path) => path.startsWith('/v1/readings'))).toHaveLength(4);
    expect(at.out()).toMatch(
      /1970-01-01 00:00:02Z +asha +acme +mutation\/m2 and 1 more +guest\/8 +3 +GET \/v1\/mutations\/m2/,
    );
    expect(at.out().indexOf('mutation/m2')).toBeLessThan(at.out().indexOf('mutation/m1'));
  });

  it('are asked for by reader, and narrowed to what they are about', async () => {
    const at = desk(LISTS);
    await at.call('audit', 'readings', '--by', 'asha', '--about', 'm3');
    expect(at.asked[0]?.path).toContain('reader=asha');
    expect(at.out()).toContain('mutation/m2');
    expect(at.out()).not.toContain('mutation/m1');
    await at.call('audit', 'readings', '--about', 'guest/7');
    expect(at.out()).toContain('mutation/m1');
  });
});
