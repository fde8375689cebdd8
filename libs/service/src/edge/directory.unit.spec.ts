import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { directoryIn } from './directory.js';

const folder = mkdtempSync(join(tmpdir(), 'recourse-directory-'));
let files = 0;
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function fileOf(text: string): string {
  files += 1;
  const path = join(folder, `${files}.json`);
  writeFileSync(path, text);
  return path;
}

/** A moment nothing else in these specs has. */
function rewrite(path: string, text: string): void {
  writeFileSync(path, text);
  utimesSync(path, 1_000_000_000 + files, 1_000_000_000 + files);
}

describe('a directory', () => {
  it('names the person behind each of their accounts, in whatever case, and no other', () => {
    const { find: directory } = directoryIn(fileOf('{"u-1": ["olga", "olga-admin"], "u-2": ["ines"]}'));
    const olga = { subject: 'u-1', accounts: ['olga', 'olga-admin'] };
    for (const account of ['olga', 'OLGA-admin', 'user:olga', 'u-1']) expect(directory(account)).toEqual(olga);
    expect(directory('ines')).toEqual({ subject: 'u-2', accounts: ['ines'] });
    expect(directory('olga-')).toEqual({ subject: 'olga-' });
  });

  it('without a file has a person for each account', () => {
    expect(directoryIn(undefined).find('olga')).toEqual({ subject: 'olga' });
  });

  it('is read again when it changes, and lets nobody in while it cannot be read', () => {
    const path = fileOf('{"u-1": ["olga"]}');
    const { find: directory, trouble } = directoryIn(path);
    expect(directory('olga')).toMatchObject({ subject: 'u-1' });
    expect(trouble()).toBeNull();
    rewrite(path, '{"u-1": ["olga"');
    expect(() => directory('olga')).toThrow(expect.objectContaining({ code: 'DIRECTORY_UNAVAILABLE' }));
    expect(() => directory('ines')).toThrow(expect.objectContaining({ code: 'DIRECTORY_UNAVAILABLE' }));
    const detail = expect.stringMatching(/^RECOURSE_DIRECTORY_FILE: .*JSON/);
    expect(trouble()).toEqual({ code: 'DIRECTORY_UNAVAILABLE', detail });
    rmSync(path);
    expect(trouble()).toMatchObject({ detail: expect.stringContaining('ENOENT') });
    files += 1;
    rewrite(path, '{"u-9": ["olga"]}');
    expect(trouble()).toBeNull();
    expect(directory('olga')).toMatchObject({ subject: 'u-9' });
  });

  it.each([
    ['an account of two people', '{"u-1": ["olga"], "u-2": ["Olga"]}', /one person's/],
    ['a person who is an account of another', '{"u-1": ["u-2"], "u-2": ["ines"]}', /one person's/],
    ['a name that is none', '{"u-1": ["ol\\u200bga"]}', /a subject is/],
    ['a person without accounts', '{"u-1": []}', /./],
    ['no map', '["olga"]', /./],
  ])('with %s is refused at start', (_what, text, message) => {
    expect(() => directoryIn(fileOf(text))).toThrow(message);
  });
});
