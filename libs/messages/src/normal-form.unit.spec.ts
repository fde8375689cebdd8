import { describe, expect, it } from '@jest/globals';
import { avroType } from './avro-types.js';
import { SCHEMAS, TOPICS } from './generated/index.js';
import { normalFormOf } from './writers.js';

const NOTHING: ReadonlySet<string> = new Set();
const logs = (TOPICS as readonly { readonly kind: string; readonly records: readonly string[] }[])
  .filter(({ kind }) => kind !== 'wire')
  .flatMap(({ records }) => records);
const recordsOfLogs = [...new Set(logs)].map(
  (name) => [name, avroType((SCHEMAS as Readonly<Record<string, string>>)[name] ?? '')] as const,
);
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('the normal form of a body', () => {
  it.each(recordsOfLogs)('of %s is what its decoder reads', (_name, type) => {
    const normalForm = normalFormOf(type);
    expect(normalForm).not.toBeNull();
    for (let n = 0; n < 30; n += 1) {
      const body = type.random() as object;
      expect(plain(normalForm?.(body, NOTHING))).toEqual(plain(type.fromBuffer(type.toBuffer(body))));
    }
  });

  const type = avroType(
    JSON.stringify({
      type: 'record',
      name: 'Probe',
      fields: [
        { name: 'text', type: 'string' },
        { name: 'count', type: 'long' },
        { name: 'maybe', type: ['null', 'string'], default: null },
        {
          name: 'inner',
          type: {
            type: 'record',
            name: 'Inner',
            fields: [{ name: 'list', type: { type: 'array', items: 'string' }, default: [] }],
          },
        },
      ],
    }),
  );

  it('mends what encoding mends: absent fields, minus zero, fields nobody declared', () => {
    const body = { text: 'ab', count: -0, inner: {}, stray: 1 };
    const read = normalFormOf(type)?.(body, NOTHING);
    expect(plain(read)).toEqual(plain(type.fromBuffer(type.toBuffer(body))));
    expect(Object.is(read?.['count'], 0)).toBe(true);
    expect(read).not.toHaveProperty('stray');
  });

  it('leaves text with a lone surrogate to the decoder', () => {
    expect(normalFormOf(type)?.({ text: 'a\uD800b', count: 1, inner: {} }, NOTHING)).toBeNull();
  });

  it('leaves out what it is told to', () => {
    expect(Object.keys(normalFormOf(type)?.({ text: 'a', count: 1, inner: {} }, new Set(['count'])) ?? {})).toEqual([
      'text',
      'maybe',
      'inner',
    ]);
  });

  it('does not exist where a union has several kinds', () => {
    expect(
      normalFormOf(
        avroType(
          JSON.stringify({ type: 'record', name: 'Mixed', fields: [{ name: 'either', type: ['string', 'long'] }] }),
        ),
      ),
    ).toBeNull();
  });
});
