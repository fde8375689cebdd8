// The lanes of proof are one table: what people read of it, and what runs them, says the same.
import { describe, expect, it } from '@jest/globals';
import { JEST_SUITES, specsNamed } from '../../scripts/lib/suites.mjs';
import {
  argumentsOf,
  commandOf,
  LANES,
  lanesOf,
  lanesTable,
  leftOutOf,
  ON_REQUEST,
  turnOf,
  whenLate,
} from '../../scripts/lib/lanes.mjs';
import type { LaneSet } from '../../scripts/lib/lanes.mjs';
import { filesBelow, textOf } from './tree.testing.js';

const SCRIPTS = (JSON.parse(textOf('package.json')) as { readonly scripts: Readonly<Record<string, string>> }).scripts;
const namesIn = (set: LaneSet): readonly string[] => lanesOf(set).map(({ name }) => name);
const scriptOf = (command: string): string => /^npm run (\S+)/.exec(command)?.[1] ?? '';

describe('the lanes', () => {
  it('stand in docs/proof.md as they run', () => {
    expect(textOf('docs/proof.md')).toContain(`${lanesTable()}\n`);
  });

  it.each(LANES.map((lane) => [lane.name, lane] as const))('%s can be run alone as it is written', (_name, lane) => {
    const script = SCRIPTS[scriptOf(lane.command)];
    expect(script).toBe(['node', `scripts/${lane.script}`, ...(lane.kind === undefined ? [] : [lane.kind])].join(' '));
  });

  it('of npm test run in .ci/run as well, and those of .ci/run in npm run test:all', () => {
    expect(namesIn('ci')).toEqual(expect.arrayContaining([...namesIn('test')]));
    expect(namesIn('all')).toEqual(LANES.map(({ name }) => name));
  });

  it('hold every suite that Jest runs, by themselves or in verify', () => {
    const verify = textOf('scripts/verify.mjs');
    const left = Object.keys(JEST_SUITES).filter(
      (kind) => !LANES.some((lane) => lane.kind === kind) && !verify.includes(`script('jest.mjs', '${kind}')`),
    );
    expect(left).toEqual([]);
  });

  it('are run by the script that each set names', () => {
    expect(SCRIPTS['test']).toBe('node scripts/test.mjs');
    expect(SCRIPTS['test:all']).toBe('node scripts/test.mjs --set all');
    expect(textOf('.ci/run')).toContain('node scripts/test.mjs --set ci ');
  });
});

describe('a run', () => {
  it('of npm test names each lane that it leaves out or shortens, with the command for all of it', () => {
    const said = leftOutOf('test').join('\n');
    expect(said).toContain('npm run test:all');
    const shortened = LANES.filter((lane) => lane.test?.join(' ') !== lane.all?.join(' '));
    expect(shortened.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['crash', 'simulation', 'mutants', 'matrix', 'breaks']),
    );
    for (const lane of shortened) expect(said).toContain(commandOf(lane, 'all'));
  });

  it('of everything names only what has to be asked for', () => {
    expect(leftOutOf('all').join('\n')).not.toContain('test:all');
    for (const { command } of ON_REQUEST) expect(leftOutOf('all').join('\n')).toContain(command);
  });

  it('of .ci/run does less once it is late, says so with the command for all of it, and does all of the rest', () => {
    const at = (minutes: number, set: LaneSet = 'ci', turn: 1 | 2 = 1): readonly (readonly unknown[])[] =>
      LANES.flatMap((lane) => {
        const late = whenLate(lane, set, minutes, turn);
        return late === null
          ? []
          : [[lane.name, late.lane === null ? 'left out' : commandOf(late.lane, 'ci'), late.why]];
      });
    const why = (command: string, minutes: number): string =>
      `${String(minutes)} minutes had passed; all of it: ${command}`;
    const samples = (minutes: number) => [
      ['simulation', 'left out', why('npm run simulate -- --seeds 1..400', minutes)],
      ['mutants', 'left out', why('npm run simulate -- --mutants --events 150', minutes)],
      ['seeds', 'left out', why('npm run simulate -- --seeds 401..800 --events 100', minutes)],
      ['breaks', 'left out', why('npm run breaks', minutes)],
    ];
    const shorter = (minutes: number) => [
      ['integration', 'npm run test:integration -- --shard=1/2', why('npm run test:integration', minutes)],
      ['e2e', 'npm run test:e2e -- story cli', why('npm run test:e2e', minutes)],
      ['console', 'npm run test:console -- decide', why('npm run test:console', minutes)],
    ];
    expect(at(41.6)).toEqual([
      ...shorter(42),
      ['crash', 'npm run test:crash -- --quick', why('npm run test:crash', 42)],
      ...samples(42),
    ]);
    expect(at(56.6)).toEqual([
      ...shorter(57),
      ['deploy', 'left out', why('npm run test:deploy', 57)],
      ['crash', 'left out', why('npm run test:crash', 57)],
      ['interop', 'left out', why('npm run test:interop', 57)],
      ...samples(57),
    ]);
    expect(at(39.9, 'ci', 2)).toEqual([
      ['integration', 'npm run test:integration -- --shard=2/2', why('npm run test:integration', 40)],
    ]);
    expect([at(10.9), at(1_000, 'all'), at(1_000, 'test')]).toEqual([[], [], []]);
  });

  it('leaves out the one half of integration at one commit, and the other at the next', () => {
    expect(['0a', 'f1', '9c', '7d', ''].map(turnOf)).toEqual([1, 2, 1, 2, 2]);
  });

  it('of a lane gets its own arguments before those of the set', () => {
    const mutants = LANES.find(({ name }) => name === 'mutants');
    const crash = LANES.find(({ name }) => name === 'crash');
    expect(argumentsOf(mutants!, 'ci').slice(1)).toEqual(['--mutants', '--events', '150']);
    expect(argumentsOf(crash!, 'test').slice(1)).toEqual(['--quick']);
    expect(commandOf(crash!, 'test')).toBe('npm run test:crash -- --quick');
  });

  it('on request is a script of ours', () => {
    for (const { command } of ON_REQUEST)
      expect(filesBelow('scripts')).toContain((SCRIPTS[scriptOf(command)] ?? '').replace('node ', ''));
  });
});

describe('a suite', () => {
  const specs = ['/tree/libs/chain/src/head.unit.spec.ts', '/tree/apps/cli/src/order.unit.spec.ts'];

  it('runs whole, or the specs that a part of a path names', () => {
    expect(specsNamed(specs, [])).toEqual(specs);
    expect(specsNamed(specs, ['libs/chain', 'nowhere'])).toEqual([specs[0]]);
    expect(specsNamed([], [])).toEqual([]);
  });

  it('of which a name fits nothing has not passed: it ends with 1', () => {
    expect(specsNamed(specs, ['libs/chian'])).toBeNull();
    expect(textOf('scripts/jest.mjs')).toMatch(/if \(specs === null\) \{\s+console\.error\(.*\s+return 1;/u);
  });
});
