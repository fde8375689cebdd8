// What is wrong with the files that say who is let in, while a program runs.
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { tokenCheck } from './token-check.js';

const KEYS = JSON.stringify({ keys: [{ kty: 'OKP' }] });
const folder = mkdtempSync(join(tmpdir(), 'recourse-tokens-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

let writes = 0;
/** A moment that no other write here has. */
function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  writes += 1;
  utimesSync(path, 1_000_000_000 + writes, 1_000_000_000 + writes);
  return path;
}

it.each([
  ['a directory', 'people.json', 'DIRECTORY_UNAVAILABLE'],
  ['the keys of an issuer', 'jwks.json', 'ISSUER_UNAVAILABLE'],
])('a file of %s that breaks is in the way, and told once, before anybody asks', (_what, broken, code) => {
  const said: unknown[] = [];
  const files = { jwksFile: write('jwks.json', KEYS), directoryFile: write('people.json', '{"u-1": ["olga"]}') };
  const { trouble, close } = tokenCheck(
    { jwtIssuer: 'urn:issuer', jwtAudience: 'recourse', jwksUrl: undefined, ...files },
    {
      warn: (facts: unknown) => {
        said.push(facts);
      },
    },
  );
  expect(trouble()).toBeNull();
  write(broken, '{"keys": []');
  expect([trouble(), trouble()]).toMatchObject([{ code }, { code }]);
  expect(said).toMatchObject([{ code, detail: expect.stringContaining(broken) }]);
  write(broken, broken === 'jwks.json' ? KEYS : '{}');
  expect(trouble()).toBeNull();
  close();
});
