import { describe, expect, it } from '@jest/globals';
import { avroType, UnrecognizedSymbol } from './avro-types.js';

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
