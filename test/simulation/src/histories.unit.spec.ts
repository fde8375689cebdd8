// test/histories: whatever a version wrote folds to what it folded to then.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { root } from '../../../scripts/lib/paths.mjs';
import { foldHistory, statesIn } from './histories.js';

const HISTORIES = join(root, 'test', 'histories');
const VERSIONS = readdirSync(HISTORIES).sort();
const copy = mkdtempSync(join(tmpdir(), 'recourse-history-'));
afterAll(() => {
  rmSync(copy, { recursive: true, force: true });
});

describe('a recorded history', () => {
  it('is there of this version, with a log of every service', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
    expect(VERSIONS).toContain(version);
    const states = statesIn(join(HISTORIES, version));
    expect([...new Set(states.filter(({ rows }) => rows > 0).map(({ log }) => log))]).toEqual([
      'recourse.assumptions',
      'recourse.budgets',
      'recourse.contracts',
      'recourse.mutations',
      'recourse.recoveries',
    ]);
  });

  it.each(VERSIONS)('of version %s folds to the states it folded to then', async (version) => {
    const folder = join(HISTORIES, version);
    expect(await foldHistory(folder)).toEqual(statesIn(folder));
  });

  it('that lost its last records folds to another state', async () => {
    const [version = ''] = VERSIONS;
    cpSync(join(HISTORIES, version), copy, { recursive: true });
    const file = join(copy, 'recourse.mutations-0.jsonl');
    writeFileSync(file, readFileSync(file, 'utf8').trimEnd().split('\n').slice(0, -8).join('\n'));
    const differing = (await foldHistory(copy)).filter(
      (state, at) => state.state_hash !== statesIn(copy)[at]?.state_hash,
    );
    expect(differing.map(({ log, partition }) => `${log}/${partition}`)).toEqual(['recourse.mutations/0']);
  });
});
