// Whose keys count for a process that reads logs in the place of the command line: those of the stack that was found.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { testKeys } from '@recourse/kafka';
import { OPERATOR, resolveSettings } from '../config.js';
import { desk, table } from '../desk.testing.js';
import { EXIT_CODES } from '../problem.js';
import { writeSecureStack } from '../stack.testing.js';

const keys = testKeys({ 'budget-accountant': { role: 'service', names: ['budget-accountant'] } });
const folder = mkdtempSync(join(tmpdir(), 'recourse-replay-keys-'));
const stack = join(folder, 'stack');
const keyring = writeSecureStack(stack, { keys, users: ['budget-accountant'] });
const broken = join(folder, 'broken');
writeFileSync(writeSecureStack(broken, { keys, users: [] }), '{"keys": [{"id": "a"}]}');
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const toldIn = (dataDir: string, environment: NodeJS.ProcessEnv = {}) =>
  resolveSettings({ dataDir }, environment, folder).keysTold({ user: OPERATOR });

describe('the keys that a replay is told', () => {
  it('are those of the secure development stack that was found, as for every other command', () => {
    expect(toldIn(stack)).toEqual({ wires: 'strict', keyring_file: keyring });
  });

  it('are those of the environment where it names any, and none where it says that wires are open', () => {
    expect(toldIn(broken, { RECOURSE_KEYRING_FILE: keyring })).toEqual({ wires: 'strict', keyring_file: keyring });
    expect(toldIn(stack, { RECOURSE_WIRES: 'open' })).toMatchObject({ wires: 'open' });
  });

  it('are refused where nobody can read them, before the service is asked: as by `audit verify`', async () => {
    const said: string[] = [];
    for (const command of [
      ['replay', 'recourse.budgets'],
      ['audit', 'verify'],
      ['audit', 'story', 'run-1'],
    ]) {
      const { call, note } = desk(table({}), { environment: {}, folder });
      const code = await call('--data-dir', broken, ...command);
      said.push(`${String(code)} ${note()}`);
    }
    expect(said[0]).toContain('KEYRING_INVALID: /keys/0/');
    expect(said[0]).toMatch(new RegExp(`^${String(EXIT_CODES.unavailable.code)} `));
    expect(new Set(said).size).toBe(1);
  });
});
