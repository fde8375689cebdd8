// The lanes of proof are one table: what people read of it, and what runs them, says the same.
import { describe, expect, it } from '@jest/globals';
import { JEST_SUITES, specsNamed } from '../../scripts/lib/suites.mjs';
import {
  argumentsOf,
  commandOf,
  inTurn,
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
    const at = (minutes: number, set: LaneSet = 'ci', turn = 1): readonly (readonly unknown[])[] =>
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
    const part = (of: string, minutes: number) => [
      'integration',
      `npm run test:integration -- --shard=${of}`,
      why('npm run test:integration', minutes),
    ];
    expect(at(27.6)).toEqual([
      part('1/5', 28),
      ['e2e', 'npm run test:e2e -- story cli', why('npm run test:e2e', 28)],
      ['console', 'npm run test:console -- decide', why('npm run test:console', 28)],
      ['crash', 'npm run test:crash -- --quick', why('npm run test:crash', 28)],
      ...samples(28),
    ]);
    expect(at(35.6)).toEqual([
      part('1/5', 36),
      ['e2e', 'left out', why('npm run test:e2e', 36)],
      ['console', 'left out', why('npm run test:console', 36)],
      ['deploy', 'left out', why('npm run test:deploy', 36)],
      ['crash', 'left out', why('npm run test:crash', 36)],
      ['interop', 'left out', why('npm run test:interop', 36)],
      ...samples(36),
    ]);
    expect([at(12.9, 'ci', 3), at(25.9, 'ci', 4)]).toEqual([[part('1/2', 13)], [part('4/5', 26)]]);
    expect([at(8.9), at(1_000, 'all'), at(1_000, 'test')]).toEqual([[], [], []]);
  });

  it('of .ci/run begins with another lane at another commit, so that no lane is always left out', () => {
    expect(['00', 'ab0b', '02', '71', '04', ''].map(turnOf)).toEqual([1, 2, 3, 4, 5, 1]);
    const alone = lanesOf('ci').filter(({ usesSharedStack }) => usesSharedStack !== true);
    const firsts = (turn: number) => inTurn(alone, 'ci', turn).map(({ name }) => name);
    const samples = ['simulation', 'mutants', 'seeds', 'breaks'];
    expect(firsts(1)).toEqual(['e2e', 'console', 'deploy', 'crash', 'interop', ...samples]);
    expect(firsts(2)).toEqual(['console', 'deploy', 'crash', 'interop', 'e2e', ...samples]);
    expect(firsts(5)).toEqual(['interop', 'e2e', 'console', 'deploy', 'crash', ...samples]);
    expect(inTurn(alone, 'all', 4)).toEqual(alone);
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
