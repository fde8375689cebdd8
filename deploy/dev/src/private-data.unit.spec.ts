import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeData, forOthers, isOwn, makePrivately } from './private-data.js';
import { layoutOf } from './stack-data.js';
import type { Layout } from './stack-data.js';

let umask: number;
let parent: string;
let layout: Layout;
const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

beforeEach(() => {
  umask = process.umask(0o022);
  parent = mkdtempSync(join(tmpdir(), 'recourse-private-'));
  chmodSync(parent, 0o755);
  layout = layoutOf(join(parent, 'data'));
});
afterEach(() => {
  process.umask(umask);
  rmSync(parent, { recursive: true, force: true });
});

/** As an earlier version left it: anybody may read. */
function leftOpen(): void {
  for (const folder of [layout.dataDir, layout.logDir, layout.kafka, layout.registry, layout.programs]) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
  }
  writeFileSync(layout.completeFile, '{}', { mode: 0o644 });
}

describe('a data directory', () => {
  it.each([
    ['an ordinary user', false, '700'],
    ['root, whose PostgreSQL has an account that must get through', true, '711'],
  ])('of %s is closed to others, also one that was left open', (_who, isRoot, mode) => {
    leftOpen();
    closeData(layout, isRoot);
    const { dataDir, logDir, kafka, registry, programs, completeFile } = layout;
    expect([dataDir, logDir, kafka, registry, programs, completeFile].map(modeOf)).toEqual([
      mode,
      ...['700', '700', '700', '700', '600'],
    ]);
  });

  it('is not opened where others could not get to it before', () => {
    leftOpen();
    chmodSync(layout.dataDir, 0o700);
    closeData(layout, true);
    expect(modeOf(layout.dataDir)).toBe('700');
  });

  it('is believed where its owner alone writes to it', () => {
    leftOpen();
    expect(isOwn(layout.dataDir)).toBe(true);
    chmodSync(layout.dataDir, 0o775);
    expect(isOwn(layout.dataDir)).toBe(false);
    expect([isOwn(layout.completeFile), isOwn(join(parent, 'none'))]).toEqual([false, false]);
    symlinkSync(parent, join(parent, 'link'));
    expect([isOwn(parent), isOwn(join(parent, 'link'))]).toEqual([true, false]);
  });

  it('is left as it is where everybody shares it', () => {
    leftOpen();
    chmodSync(layout.dataDir, 0o1777);
    closeData(layout, false);
    expect([layout.dataDir, layout.kafka].map(modeOf)).toEqual(['1777', '700']);
  });

  it('gets no file that others read, and way for the programs of another account alone', () => {
    makePrivately(layout.dataDir);
    const made = (name: string): string => {
      const folder = join(layout.dataDir, name);
      mkdirSync(folder);
      writeFileSync(join(folder, 'segment'), '');
      return `${modeOf(folder)} ${modeOf(join(folder, 'segment'))}`;
    };
    expect([made('kafka'), forOthers(() => made('programs')), made('registry')]).toEqual([
      '700 600',
      '755 644',
      '700 600',
    ]);
  });
});
