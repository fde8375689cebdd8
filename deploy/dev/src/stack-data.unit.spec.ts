import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keptCluster, layoutOf, markComplete, wipeData } from './stack-data.js';
import type { Layout } from './stack-data.js';

let layout: Layout;

beforeEach(() => {
  layout = layoutOf(mkdtempSync(join(tmpdir(), 'recourse-wipe-')));
});
afterEach(() => {
  rmSync(layout.dataDir, { recursive: true, force: true });
});

describe('a data directory that is wiped', () => {
  it('keeps nothing of what its programs remember of records that are gone', () => {
    const positions = join(layout.programs, 'loyalty', 'positions');
    for (const folder of [layout.kafka, layout.registry, positions]) mkdirSync(folder, { recursive: true });
    writeFileSync(layout.completeFile, '{}');
    wipeData(layout);
    for (const gone of [layout.completeFile, layout.kafka, layout.registry, layout.programs])
      expect([gone, existsSync(gone)]).toEqual([gone, false]);
  });

  it('keeps its secrets: who they were given to goes on', () => {
    const secrets = join(layout.dataDir, 'secrets');
    mkdirSync(secrets);
    wipeData(layout);
    expect(existsSync(secrets)).toBe(true);
  });
});

describe('a data directory that is complete', () => {
  it.each([
    [true, false, 'with'],
    [false, true, 'without'],
  ])('whose logs were begun signed: %s, is not gone on with as %s', (begun, wanted, word) => {
    const postgres = { user: 'u', password: 'p', dataDir: join(layout.dataDir, 'postgres') };
    for (const folder of [layout.kafka, layout.registry, postgres.dataDir]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(layout.dataDir, 'stack.json'), JSON.stringify({ postgres }));
    markComplete(layout, 'cluster', begun);
    expect(keptCluster(layout, begun)).toBe('cluster');
    expect(() => keptCluster(layout, wanted)).toThrow(`Start ${word} --secure`);
  });
});
