// A service that is configured wrongly says everything that is wrong, at once, and ends.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = process.cwd();
const SERVICES = ['contract-registry', 'mutation-ledger', 'recovery-orchestrator', 'budget-accountant'];
const WRONG = {
  RECOURSE_KAFKA_BROKERS: 'no port',
  RECOURSE_DATABASE_URL: 'mysql://user:secret@127.0.0.1/x',
  RECOURSE_HTTP_PORT: '70000',
  RECOURSE_PATIENCE_MS: 'soon',
  RECOURSE_LOG_LEVEL: 'loud',
  RECOURSE_TYPO: '1',
};
const MISSING = [
  'RECOURSE_REGISTRY_URL',
  'RECOURSE_LOG_ID',
  'RECOURSE_JWT_ISSUER',
  'RECOURSE_JWT_AUDIENCE',
  'RECOURSE_EDGE_KEY_FILE',
];

describe.each(SERVICES)('%s with a bad environment', (service) => {
  const { status, stderr } = spawnSync(
    join(ROOT, 'node_modules', '.bin', 'node'),
    [join(ROOT, 'apps', service, 'dist', 'main.js')],
    { env: { PATH: process.env['PATH'] ?? '', ...WRONG }, encoding: 'utf8', timeout: 30_000 },
  );

  it('ends with exit code 1', () => {
    expect(status).toBe(1);
  });

  it.each([...Object.keys(WRONG), ...MISSING])('names %s', (variable) => {
    expect(stderr).toContain(variable);
  });

  it('shows no password', () => {
    expect(stderr).not.toContain('secret@');
  });
});

/** Good values for all of them; nothing of what they name is there. */
const NOWHERE = 'http://127.0.0.1:1';
const secretFile = join(mkdtempSync(join(tmpdir(), 'recourse-config-')), 'key');
writeFileSync(secretFile, Buffer.alloc(32, 1).toString('base64'), { mode: 0o600 });
const GOOD = {
  RECOURSE_KAFKA_BROKERS: '127.0.0.1:1',
  RECOURSE_REGISTRY_URL: NOWHERE,
  RECOURSE_LOG_ID: 'spec',
  RECOURSE_WIRES: 'open',
  RECOURSE_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  RECOURSE_HTTP_PORT: '0',
  RECOURSE_KEY_STORE_URL: 'postgres://nobody@127.0.0.1:1/keys',
  RECOURSE_JWKS_URL: NOWHERE,
  RECOURSE_JWT_ISSUER: 'spec',
  RECOURSE_JWT_AUDIENCE: 'spec',
  RECOURSE_EDGE_KEY_FILE: secretFile,
};
const LEASES = { RECOURSE_LEASE_KEY_FILE: secretFile };
const OF_SERVICE: Readonly<Record<string, object>> = { 'mutation-ledger': LEASES, 'recovery-orchestrator': LEASES };

describe.each(SERVICES)('%s with a variable it does not read', (service) => {
  it('says so where its logs are read, with a code, before anything else', async () => {
    const child = spawn(join(ROOT, 'node_modules', '.bin', 'node'), [join(ROOT, 'apps', service, 'dist', 'main.js')], {
      env: { PATH: process.env['PATH'] ?? '', ...GOOD, ...OF_SERVICE[service], RECOURSE_PATIENCE: '5' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
    const first = await new Promise<string>((resolve) => {
      child.stdout.once('data', (chunk: Buffer) => {
        resolve(chunk.toString());
      });
      child.once('exit', () => {
        resolve(said.join(''));
      });
    });
    child.kill('SIGKILL');
    expect(JSON.parse(first.split('\n')[0] ?? '')).toMatchObject({
      level: 40,
      service,
      code: 'CONFIG_UNKNOWN',
      variable: 'RECOURSE_PATIENCE',
    });
  });
});
