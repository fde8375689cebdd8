// The script that makes roles and databases, with a psql that keeps what it is told instead of doing it. The real one, against a
// real server, is test/integration/containers.integration.spec.ts.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { root } from '../../scripts/lib/paths.mjs';
import { textOf } from './tree.testing.js';

const ROLES = join(root, 'deploy', 'helm', 'recourse', 'files', 'roles.sh');
const folder = mkdtempSync(join(tmpdir(), 'recourse-roles-'));
const asked = join(folder, 'asked');

beforeAll(() => {
  writeFileSync(join(folder, 'psql'), `#!/bin/sh\n{ echo "psql $*"; cat; } >>'${asked}'\n`);
  chmodSync(join(folder, 'psql'), 0o755);
  for (const program of ['notifier', 'keys']) writeFileSync(join(folder, `${program}.password`), 'x');
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function run(env: Readonly<Record<string, string>>): { readonly status: number | null; readonly said: string } {
  writeFileSync(asked, '');
  const { status, stderr } = spawnSync('sh', [ROLES], {
    encoding: 'utf8',
    env: {
      PATH: `${folder}:${process.env['PATH'] ?? ''}`,
      RECOURSE_PASSWORDS: folder,
      RECOURSE_PROGRAMS: 'notifier keys',
      ...env,
    },
  });
  return { status, said: status === 0 ? readFileSync(asked, 'utf8') : stderr };
}

/** Where each stands in a text; none may be missing. */
function places(text: string, parts: readonly string[]): readonly number[] {
  return parts.map((part) => {
    expect(text).toContain(part);
    return text.indexOf(part);
  });
}

describe('the script that makes roles and databases', () => {
  it('asks whose a database is before it touches the role of it, and marks it as that of its log', () => {
    const { status, said } = run({ RECOURSE_LOG_ID: 'prod-1' });
    expect([status, said]).toEqual([0, expect.stringContaining('--set mark=recourse log prod-1')]);
    const at = places(said, [
      'RAISE EXCEPTION',
      'CREATE ROLE',
      'ALTER ROLE',
      'COMMENT ON DATABASE :"name" IS :\'mark\'',
    ]);
    expect(at).toEqual([...at].sort((one, other) => one - other));
  });

  it('makes nothing where nobody says of which log it is', () => {
    expect(run({})).toEqual({ status: 2, said: expect.stringContaining('RECOURSE_LOG_ID') });
  });

  it('gives each its name by the prefix of the installation', () => {
    const names = (env: Readonly<Record<string, string>>): readonly (string | undefined)[] =>
      [...run({ RECOURSE_LOG_ID: 'prod-1', ...env }).said.matchAll(/--set name=(\S+)/g)].map(([, name]) => name);
    expect(names({})).toEqual(['recourse_notifier', 'recourse_keys']);
    expect(names({ RECOURSE_DATABASE_PREFIX: 'blue' })).toEqual(['blue_notifier', 'blue_keys']);
  });

  it('lets a role have as many connections as it is told', () => {
    expect(run({ RECOURSE_LOG_ID: 'prod-1' }).said).toContain('--set connections=100 ');
    const { said } = run({ RECOURSE_LOG_ID: 'prod-1', RECOURSE_CONNECTIONS_MAX: '40' });
    expect(said).toContain('--set connections=40 ');
    expect(said).toContain('CONNECTION LIMIT :connections ');
  });

  it('is told of which log it is on one host too', () => {
    const { services } = parse(textOf('deploy/compose/compose.yaml'), { merge: true }) as {
      readonly services: Readonly<Record<string, { readonly environment?: Readonly<Record<string, string>> }>>;
    };
    const told = services['roles']?.environment?.['RECOURSE_LOG_ID'];
    expect(told).toBe(services['notifier']?.environment?.['RECOURSE_LOG_ID']);
    expect(told).toContain('RECOURSE_LOG_ID');
  });
});
