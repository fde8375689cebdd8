// A service that is configured wrongly says everything that is wrong, at once, and ends.
import { spawnSync } from 'node:child_process';
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
