// What an image installs, without a container: the commands of its stage on a copy of what the build leaves, and every program
// begun from there. Nothing is mocked: npm fetches what the lock file names.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { root } from '../../scripts/lib/paths.mjs';
import { AUDITING, containerStages, PROGRAMS, stageOf } from './containers.testing.js';

const INSTALLS_WITHIN_MS = 300_000;
const BILL = 'sbom.cdx.json';
const stages = containerStages();
const app = mkdtempSync(join(tmpdir(), 'recourse-installed-'));

/** What COPY brings: manifests, and of each package what it runs. */
function copyBuilt(): void {
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(root, file), join(app, file));
  for (const folder of ['libs', 'apps'])
    for (const name of readdirSync(join(root, folder)))
      for (const part of ['package.json', 'dist', 'node_modules']) {
        const from = join(root, folder, name, part);
        if (existsSync(from)) cpSync(from, join(app, folder, name, part), { recursive: true });
      }
}

beforeAll(() => {
  copyBuilt();
  for (const command of stageOf(stages, 'installed').run) {
    const { status, stderr } = spawnSync('sh', ['-c', command], { cwd: app, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${command}\n${stderr}`);
  }
}, INSTALLS_WITHIN_MS);

afterAll(() => {
  rmSync(app, { recursive: true, force: true });
});

describe('what an image installs', () => {
  it('has a bill of what is inside, and of nothing else', () => {
    const { components } = JSON.parse(readFileSync(join(app, BILL), 'utf8')) as {
      readonly components: readonly { readonly name: string }[];
    };
    const named = components.map(({ name }) => name);
    expect(named).toEqual(expect.arrayContaining(['service', 'console', 'pg', 'fastify']));
    expect(named.filter((name) => ['jest', 'vite', 'typescript', 'eslint'].includes(name))).toEqual([]);
  });

  it.each([...PROGRAMS, ...AUDITING])('has all that %s runs on: it begins, and asks for its variables', (program) => {
    const [command = '', ...args] = stageOf(stages, program).cmd;
    const { status, stderr, stdout } = spawnSync(command, args, { cwd: app, encoding: 'utf8', env: pathAlone() });
    expect([status, `${stdout}${stderr}`]).toEqual([expect.any(Number), expect.stringContaining('CONFIG_INVALID')]);
  });

  it('has all that the command line runs on', () => {
    const { entrypoint, cmd } = stageOf(stages, 'cli');
    const [command = '', ...args] = [...entrypoint, ...cmd];
    const { status, stdout } = spawnSync(command, args, { cwd: app, encoding: 'utf8', env: pathAlone() });
    expect([status, stdout]).toEqual([0, expect.stringContaining('Usage: recourse')]);
  });
});

/** Nothing but where programs are found, and `node` is the one that the image has: that of this process, whatever else is installed. */
function pathAlone(): NodeJS.ProcessEnv {
  return { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) };
}
