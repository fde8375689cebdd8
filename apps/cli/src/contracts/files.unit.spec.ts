import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { desk, table } from '../desk.testing.js';
import { EXIT_CODES } from '../problem.js';

const folder = mkdtempSync(join(tmpdir(), 'recourse-files-'));
writeFileSync(join(folder, 'empty.yaml'), '');
writeFileSync(join(folder, 'remarks.yaml'), '# nothing yet\n');
writeFileSync(join(folder, 'contract.yaml'), 'name: payments.get_refund\n');
mkdirSync(join(folder, 'bare'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

it.each([
  ['contract register', 'empty.yaml', 'contracts'],
  ['contract register contract.yaml', 'empty.yaml', 'contracts'],
  ['contract register', 'bare', 'contracts'],
  ['contract lint', 'remarks.yaml', 'contracts'],
  ['entry register charter', 'empty.yaml', 'entries'],
  ['entry register charter', 'none.yaml', 'entries'],
])('%s refuses %s, where nothing stands, says what to name, and asks nobody', async (command, name, what) => {
  const { call, asked, out, note } = desk(table({}), { folder });
  expect(await call(...command.split(' '), name)).toBe(EXIT_CODES.usage.code);
  expect([asked, out()]).toEqual([[], '']);
  expect(note()).toMatch(/^FILE_UNREADABLE: .*(?:it holds no documents|ENOENT)/);
  expect(note()).toContain(`Name files or folders with ${what} as YAML or JSON.`);
});

it('a file that holds no document, or several, is not the one that is asked for', async () => {
  const { call, note } = desk(table({}), { folder });
  expect(await call('eval', 'empty.yaml')).toBe(EXIT_CODES.usage.code);
  expect(note()).toMatch(/FILE_UNREADABLE: .*no documents, and one[^]*Name a file that holds one document/);
});
