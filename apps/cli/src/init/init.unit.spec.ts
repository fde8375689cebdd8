// What `recourse init` lays out, without installing it: that it runs is test/e2e/guide.e2e.spec.ts's to show.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { desk } from '../desk.testing.js';

const ARCHIVES = ['recourse-kernel-0.1.0.tgz', 'recourse-sdk-0.1.0.tgz'];

let scratch = '';
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'recourse-init-'));
  mkdirSync(join(scratch, 'sdk'));
  for (const name of ARCHIVES) writeFileSync(join(scratch, 'sdk', name), '');
});
afterEach(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const atDesk = () => desk(() => undefined, { folder: scratch, environment: {} });
const read = (name: string): string => readFileSync(join(scratch, 'My Agent', name), 'utf8');

describe('recourse init', () => {
  it('lays out an agent, its tool, a worker and contracts that pass the linter, where the stack is and how the SDK is installed', async () => {
    const { call, out } = atDesk();
    expect(await call('init', 'My Agent', '--sdk', 'sdk')).toBe(0);
    expect(out()).toMatch(/called-off\.ts[^]*Next, here: +npx recourse contract register .*My Agent\/contracts/u);
    expect(out()).toMatch(/agent\.ts[^]*contracts\/rooms\.book_room\.json[^]*rooms\.ts[^]*worker\.ts/);
    expect(JSON.parse(read('package.json'))).toMatchObject({
      name: 'my-agent',
      type: 'module',
      dependencies: {
        '@recourse/kernel': `file:${join(scratch, 'sdk', 'recourse-kernel-0.1.0.tgz')}`,
        '@recourse/sdk': `file:${join(scratch, 'sdk', 'recourse-sdk-0.1.0.tgz')}`,
      },
      scripts: { agent: expect.stringContaining('--env-file=.env') },
    });
    expect(read('.env')).toMatch(/^RECOURSE_DATA_DIR=".*\.recourse\/data"\n$/);
    expect(read('.gitignore').split('\n')).toEqual(expect.arrayContaining(['node_modules/', '.env']));
    const lint = atDesk();
    expect(await lint.call('contract', 'lint', join('My Agent', 'contracts'))).toBe(0);
  });

  it('touches nothing where something is, and says how the SDK is packed where it is not', async () => {
    const full = atDesk();
    expect(await full.call('init', 'sdk', '--sdk', 'sdk')).toBe(64);
    expect(full.note()).toContain('FOLDER_NOT_EMPTY');
    expect(readdirSync(join(scratch, 'sdk')).sort()).toEqual(ARCHIVES);
    writeFileSync(join(scratch, 'plain'), 'x');
    const file = atDesk();
    expect(await file.call('init', 'plain', '--sdk', 'sdk')).toBe(64);
    expect(file.note()).toMatch(/^FOLDER_NOT_EMPTY: .*plain is a file/u);
    rmSync(join(scratch, 'plain'));
    const unpacked = atDesk();
    expect(await unpacked.call('init', 'new', '--sdk', 'nowhere')).toBe(64);
    expect(unpacked.note()).toMatch(/SDK_NOT_PACKED[^]*npm run pack:sdk/);
    expect(readdirSync(scratch)).toEqual(['sdk']);
  });

  it.each([
    ['below a file', 'plain/agent'],
    ['where nobody may make a folder', '/proc/recourse-agent'],
  ])('%s says that it cannot write there, and ends', async (_, folder) => {
    writeFileSync(join(scratch, 'plain'), 'x');
    const { call, note } = atDesk();
    expect(await call('init', folder, '--sdk', 'sdk')).toBe(64);
    expect(note()).toMatch(/^FOLDER_UNWRITABLE: [^]*What to do: Name a folder you may write to\.$/u);
    expect(readdirSync(scratch).sort()).toEqual(['plain', 'sdk']);
  });
});
