// The script that makes the secrets of an installation on one host, on a folder that is not there yet, as Compose finds it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, describe } from '@jest/globals';
import { root } from '../../scripts/lib/paths.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'recourse-secrets-'));
afterAll(() => {
  rmSync(scratch, { recursive: true });
});

describe('the secrets of an installation on one host', () => {
  const into = join(scratch, 'secrets');
  const made = spawnSync('sh', [join(root, 'deploy', 'compose', 'secrets.sh'), into], { encoding: 'utf8' });
  const modeOf = (name: string): number => statSync(join(into, name)).mode & 0o777;
  const inside = readdirSync(into, { withFileTypes: true });

  it('lie in a folder that whoever starts Compose can enter: it reads what auditor and witness are told of each other', () => {
    expect([made.status, modeOf('.')]).toEqual([0, 0o755]);
    const told = inside.filter((entry) => entry.isFile()).map(({ name }) => name);
    expect(told.sort()).toEqual(['auditor.env', 'auditor.vkey', 'witness.env', 'witness.vkey']);
    expect(new Set(told.map(modeOf))).toEqual(new Set([0o444]));
  });

  it('are each closed by a folder of their own, which nobody else enters; the keyring, of public keys, is open', () => {
    const folders = inside.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    expect(folders.length).toBeGreaterThan(8);
    expect(folders.filter((name) => (modeOf(name) & 0o007) !== 0)).toEqual(['keyring']);
  });
});
