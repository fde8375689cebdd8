// Runs docs/guides/make-an-agent-resumable.md: every command of its shell blocks, in order, and every line of its TypeScript blocks
// is code of the example.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const guide = readFileSync(join(root, 'docs/guides/make-an-agent-resumable.md'), 'utf8');
const blocksOf = (language: string): readonly string[] =>
  [...guide.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)]
    .filter((block) => block[1] === language)
    .map((block) => block[2] ?? '');
const commands = blocksOf('sh')
  .flatMap((block) => block.split('\n'))
  .filter((line) => line.trim() !== '');

/** What each command has to show; a command that is not here is not expected in the guide. */
const SHOWS: readonly (readonly [RegExp, RegExp])[] = [
  [/^npm run build$/, /build: \d+ files compiled/],
  [
    /story\.main\.js 0$/,
    /"fell": 2,[\s\S]*"warehouse east: POLICY_REFUSED"[\s\S]*"warehouse": "west",\s+"carrier": "van"/,
  ],
  [/story\.main\.js 3$/, /"contradicted": null,\s+"fell": 0,[\s\S]*"refused": \[\],[\s\S]*"warehouse": "east"/],
];

function run(command: string): { readonly status: number | null; readonly output: string } {
  const PATH = `${join(root, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, PATH },
  });
  return { status, output: `${stdout}${stderr}` };
}

describe('the guide "Make an agent resumable"', () => {
  it('has commands, all of them known', () => {
    expect(commands).toHaveLength(SHOWS.length);
    expect(commands.filter((command) => !SHOWS.some(([of]) => of.test(command)))).toEqual([]);
  });

  it.each(commands.map((command, at) => [at + 1, command] as const))('runs command %i: %s', (_at, command) => {
    const { status, output } = run(command);
    expect({ status, output }).toMatchObject({ status: 0 });
    expect(output).toMatch(SHOWS.find(([of]) => of.test(command))?.[1] ?? /$^/);
  });

  it('quotes code that is there', () => {
    const code = ['agent.ts', 'watch.ts']
      .map((name) => readFileSync(join(root, 'examples/resumable-agent/src', name), 'utf8'))
      .join('\n');
    expect(blocksOf('ts').length).toBeGreaterThan(2);
    expect(blocksOf('ts').filter((block) => !code.includes(block))).toEqual([]);
  });

  it('names only what the package exports', () => {
    const index = readFileSync(join(root, 'libs/sdk/src/index.ts'), 'utf8');
    const named = [...guide.matchAll(/`((?:Memory|Http|create|serve|trigger|tool|Resume|resume)[A-Za-z]*)[`(]/g)].map(
      (match) => match[1] ?? '',
    );
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !new RegExp(`\\b${name}\\b`).test(index))).toEqual([]);
  });
});
