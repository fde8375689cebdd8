import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { earlierVersion } from './earlier-version.js';

const folder = mkdtempSync(join(tmpdir(), 'recourse-earlier-'));
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the version an upgrade begins with', () => {
  it('is a folder with a built checkout as it is', () => {
    mkdirSync(join(folder, 'apps/mutation-ledger/dist'), { recursive: true });
    writeFileSync(join(folder, 'apps/mutation-ledger/dist/main.js'), '');
    const said: string[] = [];
    expect(earlierVersion(folder, (line) => said.push(line))).toBe(folder);
    expect(said).toEqual([]);
  });

  it('is refused by name where git knows no such commit and no folder is built, before anything is fetched', () => {
    const said: string[] = [];
    for (const from of ['v99.0.0', folder])
      expect(() => earlierVersion(from, (line) => said.push(line))).toThrow(
        `--upgrade ${from}: no commit of this repository, and no folder with a built checkout`,
      );
    expect(said).toEqual([]);
  });
});
