// test/histories: whatever a version wrote folds to what it folded to then.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { root } from '../../../scripts/lib/paths.mjs';
import { foldedOtherwise, foldHistory, foldUntil, statesIn, typesIn } from './histories.js';

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

  it.each(VERSIONS)(
    'of version %s has a record of each checkpoint, trigger, rollback and answer of a consumer (E29)',
    async (version) => {
      const types = await Promise.all(
        [0, 1].map((partition) => typesIn(join(HISTORIES, version), 'recourse.mutations', partition)),
      );
      expect(types.flat()).toEqual(
        expect.arrayContaining([
          'CheckpointRecorded',
          'TriggerHeld',
          'MutationsFell',
          'CheckpointRolledBack',
          'CompensationsExecuted',
          'ConsumerAcknowledged',
        ]),
      );
    },
  );

  it.each(VERSIONS)('of version %s gives the state before a rollback and the state after it (E30)', async (version) => {
    const folder = join(HISTORIES, version);
    const before = (await typesIn(folder, 'recourse.mutations', 0)).indexOf('MutationsFell');
    expect(before).toBeGreaterThan(0);
    const at = (seq: number): ReturnType<typeof foldUntil> => foldUntil(folder, 'recourse.mutations', 0, seq);
    const [one, other, after] = [await at(before), await at(before), await at(before + 1)];
    expect([one.seq, after.seq]).toEqual([before, before + 1]);
    expect(other).toEqual(one);
    expect(after.state_hash).not.toBe(one.state_hash);
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

  it('that leaves other rows needs another edition of them', () => {
    const [version = ''] = VERSIONS;
    const states = statesIn(join(HISTORIES, version));
    const moved = (edition: number) =>
      states.map((one) => (one.log === 'recourse.budgets' ? { ...one, edition, state_hash: 'other' } : one));
    const { edition = 0 } = states.find(({ log }) => log === 'recourse.budgets') ?? {};
    expect(foldedOtherwise(states, states)).toEqual([]);
    expect(foldedOtherwise(states, moved(edition))).toEqual(['recourse.budgets']);
    expect(foldedOtherwise(states, moved(edition + 1))).toEqual([]);
  });
});
