import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  canonicalRow,
  columnValue,
  compareText,
  decodeDoc,
  docBytes,
  encodeDoc,
  partedBytes,
  restBytes,
} from './row-codec.js';
import type { Doc, Row } from './service-core.js';

const leaf = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.constant(null),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
);
const name = fc.oneof(fc.string(), fc.constantFrom('$b', '$$b', '$', 'b', '__proto__', 'constructor'));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const doc = fc.dictionary(name, value, { maxKeys: 5, noNullPrototype: true });
const rowOf = (own: Doc): Row => ({ kind: 'k', group: 'g', key: 'x', dueAt: null, doc: own });

describe('a doc', () => {
  it('comes back as it was, whatever its members are called', () => {
    fc.assert(
      fc.property(doc, (own) => {
        const again = decodeDoc(encodeDoc(own));
        expect(again).toEqual(own);
        expect(canonicalRow(rowOf(again))).toBe(canonicalRow(rowOf(own)));
      }),
    );
  });

  it('is the text that JSON.stringify writes, but for bytes', () => {
    const json = fc.jsonValue({ depthSize: 'small', stringUnit: 'binary' });
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), json, { noNullPrototype: true }), (own) => {
        fc.pre(!JSON.stringify(own).includes('"$'));
        expect(docBytes(own).toString('utf8')).toBe(JSON.stringify(own));
      }),
    );
    const odd = {
      a: undefined,
      b: [undefined, Number.NaN],
      c: '"',
      d: '\\',
      e: '\u0000\u007f\u2028',
      f: '\ud800',
      g: -0,
      h: 1e300,
    };
    expect(docBytes(odd).toString('utf8')).toBe(JSON.stringify(odd));
  });

  it('is written as it is beside others that share members with it', () => {
    const members = fc.uniqueArray(doc, { minLength: 1, maxLength: 3 });
    const places = fc.array(fc.record({ a: fc.nat(2), b: fc.nat(2) }), { minLength: 3, maxLength: 12 });
    fc.assert(
      fc.property(members, places, (shared, picked) => {
        const docs = picked.map(({ a, b }) => ({ a: shared[a % shared.length], n: a, b: shared[b % shared.length] }));
        for (const { a, n, b } of docs) {
          const { lasting, rest } = partedBytes(['a'], { a, n, b });
          expect([decodeDoc(lasting), decodeDoc(rest)]).toEqual([{ a }, { n, b }]);
          expect(decodeDoc(docBytes({ b, a }))).toEqual({ b, a });
        }
      }),
    );
  });

  it('is written whole however long its names, texts and bytes are', () => {
    const lengths = [0, 1, 2, 3, 199, 200, 201, 40_000];
    for (const length of lengths)
      for (const unit of ['x', '"', '\u0000', 'é', '\u{1f600}']) {
        const own = { [unit.repeat(length)]: [unit.repeat(length), Buffer.alloc(length, unit)], last: 1 };
        expect(decodeDoc(encodeDoc(own))).toEqual(own);
      }
  });

  it('is parted into lasting members and others, and is whole again', () => {
    fc.assert(
      fc.property(doc, fc.array(name), (own, lasting) => {
        const { lasting: kept, rest } = partedBytes(lasting, own);
        expect({ ...decodeDoc(rest), ...decodeDoc(kept) }).toEqual(own);
        expect(Object.keys(JSON.parse(kept.toString('utf8')) as object).length).toBe(
          Object.keys(own).filter((member) => lasting.includes(member)).length,
        );
        expect(Buffer.from(restBytes(lasting, own))).toEqual(Buffer.from(partedBytes(lasting, own).rest));
      }),
    );
  });

  it('is not changed by being written', () => {
    const own = Object.freeze({ $b: 'x', bytes: Buffer.from('x'), list: Object.freeze([Buffer.from('y'), 1]) });
    encodeDoc(own);
    expect(own).toEqual({ $b: 'x', bytes: Buffer.from('x'), list: [Buffer.from('y'), 1] });
  });

  it('takes no other kinds of values', () => {
    for (const odd of [1n, () => 1, Symbol('x')]) expect(() => encodeDoc({ odd })).toThrow(TypeError);
  });
});

describe('text', () => {
  it('is ordered as its UTF-8 bytes are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(Math.sign(compareText(a, b))).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
      }),
    );
  });
});

describe('a column', () => {
  const column = (type: 'text' | 'bigint', of: string | number) => ({ name: 'c', type, of: () => of });

  it('holds text that a database can take and index', () => {
    expect(columnValue(column('text', 'a\0b'), rowOf({}))).toBe('a\uFFFDb');
    expect(columnValue(column('text', 'x'.repeat(10_000)), rowOf({}))).toHaveLength(200);
  });

  it('holds a sum that grew past what counts exactly as the largest that does, so that nothing else waits for it', () => {
    expect(columnValue(column('bigint', 2 ** 54), rowOf({}))).toBe(Number.MAX_SAFE_INTEGER);
    expect(columnValue(column('bigint', -(2 ** 54)), rowOf({}))).toBe(-Number.MAX_SAFE_INTEGER);
  });

  it('is a bug when it answers with another type than it declares', () => {
    expect(() => columnValue(column('bigint', 'x'), rowOf({}))).toThrow(/declared bigint/);
    expect(() => columnValue(column('bigint', 1.5), rowOf({}))).toThrow(/declared bigint/);
  });
});
