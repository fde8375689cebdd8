// A file of signed heads, as an auditor keeps it for years.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { constants } from 'node:buffer';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { headsText, parseVerifier } from '@recourse/audit';
import type { NoteKey } from '@recourse/audit';
import { auditorKey, headsInFile, sameAmong, startsOfSigned } from './heads.js';
import { AUDITOR_KEY, writeSignedDump } from './signed-dump.testing.js';

let folder: string;
let file: string;
let key: NoteKey;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-heads-'));
  file = join(folder, 'heads.notes');
  key = auditorKey(AUDITOR_KEY, '');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('a file of signed heads', () => {
  it('is read a piece at a time, also where it is longer than any text may be', async () => {
    const heads = await writeSignedDump(join(folder, 'dump'), { sizes: [1, 2, 3] });
    writeFileSync(file, headsText(heads));
    // A hole: it takes no room.
    truncateSync(file, constants.MAX_STRING_LENGTH + 1);
    expect([...headsInFile(file, key)].map(({ size }) => size)).toEqual([1, 2, 3]);
  }, 60_000);

  it('brings no head that the log of heads has, and each that it lacks', async () => {
    const heads = await writeSignedDump(join(folder, 'dump'), { sizes: [1, 2, 3] });
    const others = await writeSignedDump(join(folder, 'other'), { sizes: [2, 4], mark: 1 });
    writeFileSync(file, headsText([...heads, ...others]));
    const same = sameAmong(heads.slice(0, 2));
    const lacked = [...headsInFile(file, key)].filter((head) => same(head) === undefined);
    expect(lacked.map(({ note }) => note)).toEqual([heads[2], ...others].map((head) => head?.note));
  });

  it('begins behind the last head of each log, without the others', async () => {
    writeFileSync(file, headsText(await writeSignedDump(join(folder, 'dump'), { sizes: [1, 2, 3] })));
    const starts = [...startsOfSigned(headsInFile(file, key))];
    expect(starts.map(([name, { seq }]) => [name, seq])).toEqual([['recourse.budgets/0', 3]]);
  });

  it('is refused where the key signed none of it, and where it is not there', () => {
    const stranger = parseVerifier(AUDITOR_KEY) ?? key;
    writeFileSync(file, 'nothing\n');
    expect(() => [...headsInFile(file, stranger)]).toThrow(expect.objectContaining({ code: 'FILE_UNREADABLE' }));
    const gone = join(folder, 'gone.notes');
    expect(() => [...headsInFile(gone, key)]).toThrow(expect.objectContaining({ code: 'FILE_UNREADABLE' }));
  });
});
