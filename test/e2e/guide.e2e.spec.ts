// docs/guides/guard-a-tool.md, sections 1 to 5, as a newcomer does them: from an empty folder to an effect that was undone, by the clock.
//
// Every command of their shell blocks runs in its order and as it stands, but for the folder of the project, and every
// TypeScript block is code of the project. The stack's data lies where RECOURSE_DATA_DIR says.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const ROOT = process.cwd();
const WITHIN_MS = 600_000;
const NAMED_FOLDER = '../room-agent';
const guide = readFileSync(join(ROOT, 'docs/guides/guard-a-tool.md'), 'utf8');
const [ON_A_STACK = ''] = guide.split(/^## 6\./m);

function blocksOf(language: string): readonly string[] {
  return [...ON_A_STACK.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, block]) => block ?? '',
  );
}
const commands = blocksOf('sh')
  .flatMap((block) => block.split('\n'))
  .filter((line) => line.trim() !== '');

/** What each command has to show. One that `stays` goes on in a terminal of its own. */
const SHOWS: readonly { readonly of: RegExp; readonly shows: RegExp; readonly stays?: true }[] = [
  { of: /npm start$/, shows: /All \d+ checks held\.[\s\S]*Press Ctrl-C to stop everything/, stays: true },
  { of: /^npm run pack:sdk$/, shows: /they are in .*release/ },
  { of: /^npx recourse init /, shows: /agent\.ts[\s\S]*worker\.ts/ },
  { of: /^npx recourse contract register /, shows: /rooms\.book_room/ },
  { of: /^cd /, shows: /^$/ },
  { of: /^npm install$/, shows: /added \d+ packages/ },
  { of: /^npm run check$/, shows: /tsc/ },
  { of: /^npm run agent$/, shows: /"kind": "succeeded"/ },
  { of: /^npm run worker$/, shows: /The worker of rooms is ready/, stays: true },
  { of: /^npm run undo /, shows: /"outcome": "undone"/ },
  { of: /^npm run called-off$/, shows: /Meeting 7 is called off/ },
];

let scratch = '';
let project = '';
let folder = ROOT;
const variables: Record<string, string> = {};
const running: ChildProcess[] = [];
const startedAt = performance.now();

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'recourse-guide-'));
  project = join(scratch, 'room-agent');
});
afterAll(async () => {
  for (const child of running.reverse()) await stopped(child);
  rmSync(scratch, { recursive: true, force: true });
}, 60_000);

/** A shell as a newcomer has it: nothing of Jest, nothing of another stack, and the Node of the repository. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(JEST_|RECOURSE_|npm_)/.test(name) && !['NODE_OPTIONS', 'NODE_ENV', 'INIT_CWD'].includes(name),
  );
  const PATH = `${join(ROOT, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`;
  return { ...Object.fromEntries(kept), PATH, RECOURSE_DATA_DIR: join(scratch, 'data'), ...variables };
}

/** Runs a command until it ends, or until one that stays has shown what it has to. */
async function run(
  command: string,
  shows: RegExp,
  stays: boolean,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn('sh', ['-c', command], {
    cwd: folder,
    env: environment(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (stays) running.push(child);
  let output = '';
  return new Promise((ended, failed) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8');
        if (stays && shows.test(output)) ended({ code: 0, output });
      });
    child.once('error', failed);
    child.once('close', (code) => {
      ended({ code, output });
    });
  });
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const over = new Promise((ended) => child.once('close', ended));
  process.kill(-child.pid, 'SIGINT');
  await over;
}

const bookings = (): readonly { readonly status?: string }[] =>
  JSON.parse(readFileSync(join(project, 'rooms.json'), 'utf8')) as readonly { readonly status?: string }[]; // what rooms.ts writes

describe('the guide "Guard a tool of your own", on a stack', () => {
  it('has commands, all of them known', () => {
    expect(commands.filter((command) => !SHOWS.some(({ of }) => of.test(command)))).toEqual([]);
    expect(SHOWS.filter(({ of }) => !commands.some((command) => of.test(command)))).toEqual([]);
  });

  it.each(commands.map((command, at) => [at + 1, command] as const))(
    'runs command %i: %s',
    async (_at, command) => {
      const expected = SHOWS.find(({ of }) => of.test(command));
      const named = command.replace(NAMED_FOLDER, project);
      if (named.startsWith('cd ')) {
        folder = resolve(folder, named.slice('cd '.length));
        expect(existsSync(folder)).toBe(true);
        return;
      }
      const { code, output } = await run(named, expected?.shows ?? /$^/, expected?.stays === true);
      expect({ code, output }).toMatchObject({ code: 0, output: expect.stringMatching(expected?.shows ?? /$^/) });
      const [, runId] = /"runId": "([^"]+)"/.exec(output) ?? [];
      if (runId !== undefined) {
        variables['RUN'] = runId;
        expect(bookings().at(-1)).toMatchObject({ room: 'Ada', status: 'booked' });
      }
    },
    WITHIN_MS,
  );

  it('ends with a world that was put right, in less than ten minutes', async () => {
    for (let waitedMs = 0; bookings().some(({ status }) => status === 'booked') && waitedMs < 60_000; waitedMs += 200)
      await pause(200);
    const tookMs = performance.now() - startedAt;
    process.stdout.write(`the guide took ${(tookMs / 1_000).toFixed(0)} s, from nothing to undone\n`);
    expect(bookings()).toMatchObject([
      { room: 'Ada', status: 'cancelled' },
      { room: 'Ada', status: 'cancelled' },
    ]);
    expect(tookMs).toBeLessThan(WITHIN_MS);
  }, 70_000);

  it('quotes code of the project', () => {
    const code = readdirSync(project)
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(project, name), 'utf8'))
      .join('\n');
    expect(blocksOf('ts').length).toBeGreaterThan(2);
    expect(blocksOf('ts').filter((block) => !code.includes(block))).toEqual([]);
  });
});
