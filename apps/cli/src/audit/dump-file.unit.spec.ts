// Lines of a dump: what is read without a parser is what a parser would read, and damage is told by its line.
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { recordsIn, schemasIn } from './dump-file.js';
import type { DumpedRecord } from './dump-file.js';
import { linesOf, linesWith } from './lines.js';

const folder = mkdtempSync(join(tmpdir(), 'recourse-dump-file-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const path = join(folder, 'log-0.jsonl');

function read(...lines: readonly string[]): {
  readonly records: readonly DumpedRecord[];
  readonly damaged: readonly number[];
} {
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  const damaged: number[] = [];
  return { records: [...recordsIn(path, (line) => damaged.push(line))], damaged };
}

const bytes = fc.uint8Array({ maxLength: 60 }).map((octets) => Buffer.from(octets).toString('base64'));
const record = fc.record(
  { offset: fc.maxSafeNat(), key: fc.option(bytes), value: fc.option(bytes), signature: fc.string({ unit: 'binary' }) },
  { requiredKeys: ['offset', 'key', 'value'], noNullPrototype: true },
);

/** A record as dumps are written. */
const at = (offset: number): string => `{"record":{"offset":${String(offset)},"key":"QQ==","value":"QQ=="}}`;

describe('records of a dump', () => {
  it('are read alike in the form in which dumps are written and in every other form of the same JSON', () => {
    fc.assert(
      fc.property(record, (one) => {
        const line = JSON.stringify({ record: one });
        const other = JSON.stringify({ record: one }, null, ' ').replaceAll('\n', ' ');
        const [written, anyhow] = [read(line), read(other)];
        expect(written.records).toHaveLength(1);
        expect(anyhow).toEqual(written);
        expect(written.damaged).toEqual([]);
      }),
    );
  });

  it.each([
    ['is no JSON', '{"record":{"offset":1,"key":"QQ==","value":"QQ=="}'],
    ['has an offset that is no number', '{"record":{"offset":x,"key":"QQ==","value":"QQ=="}}'],
    ['has an offset with a zero before it', '{"record":{"offset":01,"key":"QQ==","value":"QQ=="}}'],
    ['has an offset below zero', '{"record":{"offset":-1,"key":"QQ==","value":"QQ=="}}'],
    ['has base64 of another form for the same bytes', '{"record":{"offset":1,"key":"QR==","value":"QQ=="}}'],
    ['has a value that is no base64', '{"record":{"offset":1,"key":"QQ==","value":"Q!=="}}'],
    [
      'has a control octet in its signature',
      '{"record":{"offset":1,"key":"QQ==","value":"QQ==","signature":"\u0001"}}',
    ],
    ['has a key and no value', '{"record":{"offset":1,"key":"QQ=="}}'],
  ])('are told as damaged where one %s', (_what, line) => {
    const { records, damaged } = read(at(0), line, at(2));
    expect([records.length, damaged]).toEqual([2, [2]]);
  });

  it('are told as damaged where their offsets do not increase, and taken by nobody', () => {
    const { records, damaged } = read(at(0), at(4), at(2), at(4), at(5), at(0));
    expect([records.map(({ offset }) => offset), damaged]).toEqual([
      [0, 4, 5],
      [3, 4, 6],
    ]);
  });
});

describe('schemas of a dump', () => {
  it('are found wherever they stand, at the first line, the last and between records', async () => {
    const line = (id: number): string => JSON.stringify({ schema: { id, text: `"text ${id}"` } });
    writeFileSync(
      path,
      [line(1), '{"record":{"offset":0,"key":"{\\"schema\\"","value":null}}', line(2), line(3)].join('\n'),
    );
    const source = schemasIn(path);
    expect(await Promise.all([1, 2, 3].map((id) => source.schemaById(id)))).toEqual([
      '"text 1"',
      '"text 2"',
      '"text 3"',
    ]);
    await expect(source.schemaById(4)).rejects.toMatchObject({ code: 'UNKNOWN_SCHEMA' });
  });
});

describe('lines of a file', () => {
  it('are none where one is longer than any record', () => {
    writeFileSync(path, '');
    truncateSync(path, 65 * 2 ** 20);
    expect(() => [...linesOf(path)]).toThrow(expect.objectContaining({ code: 'DUMP_UNREADABLE' }));
  });

  it('come whole, however long they are and wherever a read ends', () => {
    const lines = [`{"schema"${'é'.repeat(1_200_000)}`, '', ...Array.from({ length: 3_000 }, (_, n) => 'ü'.repeat(n))];
    for (const end of ['', '\n']) {
      writeFileSync(path, `${lines.join('\n')}${end}`);
      expect([...linesOf(path)]).toEqual(lines);
      expect([...linesWith(path, '{"schema"')]).toEqual([lines[0]]);
    }
  });
});
