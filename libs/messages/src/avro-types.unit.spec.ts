import { describe, expect, it } from '@jest/globals';
import { avroType, ITEMS_MAX, UnrecognizedSymbol } from './avro-types.js';

const schemaOf = (symbols: readonly string[]): string =>
  JSON.stringify({
    type: 'record',
    name: 'Answer',
    fields: [
      {
        name: 'verdict',
        type: { type: 'enum', name: 'Verdict', symbols: [...symbols, 'unrecognized'], default: 'unrecognized' },
      },
    ],
  });
const older = avroType(schemaOf(['yes', 'no']));
const newer = avroType(schemaOf(['yes', 'no', 'perhaps']));
const read = (bytes: Buffer): unknown => older.decode(bytes, 0, older.createResolver(newer)).value;

describe('a symbol of a newer schema', () => {
  it('is refused and not taken for its default', () => {
    expect(() => read(newer.toBuffer({ verdict: 'perhaps' }))).toThrow(UnrecognizedSymbol);
  });

  it('does not stand in the way of the symbols both know', () => {
    expect(read(newer.toBuffer({ verdict: 'no' }))).toEqual({ verdict: 'no' });
  });

  it('may not be written by its stand-in either', () => {
    expect(() => older.fromBuffer(older.toBuffer({ verdict: 'unrecognized' }))).toThrow(UnrecognizedSymbol);
  });
});

describe('items of arrays and maps', () => {
  const type = avroType(
    JSON.stringify({
      type: 'record',
      name: 'Lists',
      fields: [
        { name: 'names', type: { type: 'array', items: 'string' } },
        { name: 'by_name', type: { type: 'map', values: 'string' } },
      ],
    }),
  );
  /** So many empty strings, and then one name. */
  const bytesOf = (count: number): Buffer =>
    type.toBuffer({ names: Array<string>(count).fill(''), by_name: { a: '' } });

  it('are refused in one value beyond what is read, whatever few bytes they take', () => {
    expect(() => type.fromBuffer(bytesOf(ITEMS_MAX))).toThrow(/100001 items; 100000 are read/);
    expect(() => type.fromBuffer(bytesOf(20 * ITEMS_MAX))).toThrow(/2000000 items; 100000 are read/);
    const other = type.createResolver(avroType(JSON.stringify(type.schema())));
    expect(() => type.fromBuffer(bytesOf(ITEMS_MAX), other)).toThrow(/100001 items/);
  });

  it('are read up to there, in each value anew', () => {
    const most = bytesOf(ITEMS_MAX - 1);
    for (let n = 0; n < 2; n += 1) expect(type.fromBuffer(most)).toMatchObject({ by_name: { a: '' } });
  });
});
