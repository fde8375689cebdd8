// Runs the sections of docs/guides/guard-a-tool.md that need no stack: every command of their shell blocks, in order, and every
// line of their TypeScript blocks is code of the example. The sections on a stack are test/e2e/guide.e2e.spec.ts's. Every line
// of the README's TypeScript is code of the project that the guide lays out.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const guide = readFileSync(join(root, 'docs/guides/guard-a-tool.md'), 'utf8');
/** Section 6 and those after it. */
const withoutStack = guide.slice(guide.indexOf('## 6.'));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const directory = mkdtempSync(join(tmpdir(), 'recourse-guide-'));
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

function blocksOf(language: string, page = withoutStack): readonly string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`(\\w+)\n([\\s\\S]*?)^\`\`\``, 'gm'))]
    .filter((block) => block[1] === language)
    .map((block) => block[2] ?? '');
}

const commands = blocksOf('sh')
  .flatMap((block) => block.split('\n'))
  .filter((line) => line.trim() !== '');

/** What each command has to show; a command that is not here is not expected in the guide. */
const SHOWS: readonly (readonly [RegExp, RegExp])[] = [
  [/^npm run build$/, /build: \d+ files compiled/],
  [/contract lint/, /inventory\.reserve_stock|would register|reserve-stock\.json/],
  [/contract answer/, /Can it be undone\?\s+to an equivalent state: inventory\.release_stock/],
  [/function\.main\.js observe/, /"troubles": \[[^\]]*ARGS_INVALID/],
  [/function\.main\.js enforce/, /"kind": "refused"/],
  [/crash\.main\.js/, /"kind":"succeeded"/],
  [/mcp\.main\.js/, /CONTRACT_MISSING/],
  [/ai\.main\.js/, /"text": "Labelled\."/],
  [/agents\.main\.js/, /"text": "Sent\."/],
];

function run(command: string): { readonly status: number | null; readonly output: string } {
  const PATH = `${join(root, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, PATH, DIRECTORY: directory },
  });
  return { status, output: `${stdout}${stderr}` };
}

describe('the guide "Guard a tool of your own"', () => {
  it('has commands, all of them known', () => {
    expect(commands.length).toBeGreaterThanOrEqual(SHOWS.length);
    expect(commands.filter((command) => !SHOWS.some(([of]) => of.test(command)))).toEqual([]);
  });

  it.each(commands.map((command, at) => [at + 1, command] as const))('runs command %i: %s', (_at, command) => {
    const { status, output } = run(command);
    expect({ status, output }).toMatchObject({ status: 0 });
    expect(output).toMatch(SHOWS.find(([of]) => of.test(command))?.[1] ?? /$^/);
  });

  it('quotes code that is there', () => {
    for (const [page, file] of [
      [withoutStack, 'examples/sdk-function/src/function.example.ts'],
      [readme, 'apps/cli/template/agent.ts'],
    ] as const) {
      const code = readFileSync(join(root, file), 'utf8');
      expect(blocksOf('ts', page).length).toBeGreaterThan(0);
      expect(blocksOf('ts', page).filter((block) => !code.includes(block))).toEqual([]);
    }
  });

  it('names only what the package exports', () => {
    const index = readFileSync(join(root, 'libs/sdk/src/index.ts'), 'utf8');
    const named = [
      ...withoutStack.matchAll(
        /`((?:guard(?=[A-Z])|connect|Memory|Http|File|tool|release|memory|create|verdict)[A-Za-z]+)(?:\([a-z]*\))?`/g,
      ),
    ].map((match) => match[1] ?? '');
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !new RegExp(`\\b${name}\\b`).test(index))).toEqual([]);
  });
});
