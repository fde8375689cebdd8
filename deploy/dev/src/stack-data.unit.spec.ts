import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keptCluster, layoutOf, markComplete, refuseForeign, wipeData } from './stack-data.js';
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

describe('a folder that no stack began', () => {
  it.each(['kafka', 'registry', 'example', 'logs', 'postgres'])(
    'is left as it is: a start says that it holds %s',
    (name) => {
      const own = join(layout.dataDir, name);
      mkdirSync(own);
      refuseForeign(layout);
      writeFileSync(join(own, 'of-somebody'), '');
      expect(() => {
        refuseForeign(layout);
      }).toThrow(`would delete what is in ${own}.`);
    },
  );

  it('is one that a stack began as soon as it has its state, or its mark', () => {
    mkdirSync(join(layout.logDir, 'kafka'), { recursive: true });
    const [state, mark] = [join(layout.dataDir, 'stack.json'), layout.completeFile];
    for (const [file, text] of [
      [state, JSON.stringify({ ports: {}, children: [] })],
      [mark, '{}'],
    ] as const) {
      writeFileSync(file, text);
      expect(() => {
        refuseForeign(layout);
      }).not.toThrow();
      rmSync(file);
    }
    writeFileSync(state, '{"name": "of somebody"}');
    expect(() => {
      refuseForeign(layout);
    }).toThrow('would delete what is in');
  });
});

describe('a data directory that is complete', () => {
  it('is marked once, and whole: a start changes nothing of it, and leaves nothing beside it', () => {
    markComplete(layout, 'cluster');
    const before = statSync(layout.completeFile).ino;
    markComplete(layout, 'cluster');
    expect(statSync(layout.completeFile).ino).toBe(before);
    expect(readdirSync(layout.dataDir)).toEqual(['complete.json']);
  });

  it('whose mark is torn is told with what it said', () => {
    writeFileSync(join(layout.dataDir, 'stack.json'), JSON.stringify({ clusterId: 'cluster' }));
    writeFileSync(layout.completeFile, '');
    expect(() => keptCluster(layout)).toThrow(
      'complete.json is torn. The data is whole if a stack ran on it: write {"clusterId":"cluster","signed":false}',
    );
  });

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
