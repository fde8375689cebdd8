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

  describe('of many things at once', () => {
    const names = (kind: string, count: number): readonly string[] =>
      Array.from({ length: count }, (_, at) => `${kind}/${String(at)}`);
    const listed = async (more: object, about = 'm1'): Promise<readonly unknown[]> => {
      const at = desk(table({ 'GET /v1/readings': { items: [reading('many', more)], next_cursor: null } }));
      expect(await at.call('audit', 'readings', '--about', about, '--json')).toBe(0);
      const { items } = JSON.parse(at.out()) as { readonly items: readonly { readonly about: unknown }[] };
      return [...new Set(items.map((item) => item.about))];
    };

    it.each<[string, object]>([
      ['by their runs alone', { things: ['run/r'], subjects: [], payload_count: 300 }],
      ['as far as a record names them', { things: names('mutation', 500), subjects: [], payload_count: 300 }],
      ['with more subjects than a record names', { things: ['run/r'], subjects: names('guest', 500) }],
    ])('may be about it, and are listed as such: named %s', async (_how, more) => {
      expect(await listed(more)).toEqual(['possible']);
    });

    it('are about what they name, and not about it where they name all', async () => {
      expect(await listed({ things: names('mutation', 500) }, '7')).toEqual(['named']);
      expect(await listed({ things: ['run/r'], subjects: [], payload_count: 3 })).toEqual([]);
      expect(await listed({ things: names('mutation', 499), payload_count: 499 })).toEqual([]);
    });

    it('say so in the list', async () => {
      const many = reading('many', { things: ['run/r'], payload_count: 300 });
      const at = desk(table({ 'GET /v1/readings': { items: [reading('m1', {}), many], next_cursor: null } }));
      await at.call('audit', 'readings', '--about', 'm1');
      expect(at.out()).toMatch(/named +1970.* mutation\/m1 /);
      expect(at.out()).toMatch(/may be +1970.* run\/r /);
    });
  });
});
