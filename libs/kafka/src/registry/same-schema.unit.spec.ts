import { describe, expect, it } from '@jest/globals';
import { isSameSchema } from './same-schema.js';

const hash = { type: 'fixed', name: 'recourse.common.Hash', size: 32 };
const fields = [
  { name: 'hash', type: hash },
  { name: 'more', type: { type: 'array', items: 'recourse.common.Hash' }, default: [] },
  { name: 'note', type: ['null', { type: 'map', values: { type: 'long', logicalType: 'timestamp-millis' } }] },
];
const written = JSON.stringify({ type: 'record', name: 'recourse.log.Read', fields });

describe('two texts of a schema', () => {
  it.each([
    ['with namespaces beside the names', 'Hash', 'recourse.common', 'recourse.common.Hash'],
    ['with names in full', 'recourse.common.Hash', undefined, 'recourse.common.Hash'],
  ])('are one %s', (_how, name, namespace, items) => {
    const given = {
      fields: [
        { type: { name, namespace, size: 32, type: 'fixed' }, name: 'hash' },
        { ...fields[1], type: { type: 'array', items } },
        fields[2],
      ],
      type: 'record',
      namespace: 'recourse.log',
      name: 'Read',
    };
    expect(isSameSchema(JSON.stringify(given, null, 1), written)).toBe(true);
  });

  it('takes a name without a namespace from the schema around it', () => {
    const around = (type: unknown): string =>
      JSON.stringify({ type: 'record', name: 'a.b.C', fields: [{ name: 'd', type }] });
    const inner = { type: 'enum', symbols: ['X'] };
    expect(isSameSchema(around({ ...inner, name: 'E' }), around({ ...inner, name: 'a.b.E' }))).toBe(true);
    expect(isSameSchema(around({ ...inner, name: 'E' }), around({ ...inner, name: 'E', namespace: 'a' }))).toBe(false);
  });

  it.each([
    ['another namespace', { type: 'record', name: 'Read', namespace: 'recourse', fields }],
    [
      'another default',
      { type: 'record', name: 'recourse.log.Read', fields: [fields[0], { ...fields[1], default: ['x'] }, fields[2]] },
    ],
    ['another order of fields', { type: 'record', name: 'recourse.log.Read', fields: fields.toReversed() }],
  ])('are two with %s', (_what, other) => {
    expect(isSameSchema(JSON.stringify(other), written)).toBe(false);
  });
});
