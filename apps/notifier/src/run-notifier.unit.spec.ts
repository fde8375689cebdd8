// A notifier whose database, brokers and registry answer nobody: it listens, and says what it waits for.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@recourse/config';
import { CONFIG } from './config.js';
import { listen } from './run-notifier.js';
import type { ListeningNotifier } from './run-notifier.js';

/** Nobody listens there. */
const NOBODY = '127.0.0.1:1';

let folder: string;
let notifier: ListeningNotifier;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-notifier-'));
  const [webhooks, keys] = [join(folder, 'webhooks.json'), join(folder, 'jwks.json')];
  writeFileSync(webhooks, JSON.stringify({ endpoints: [] }), { mode: 0o600 });
  writeFileSync(keys, JSON.stringify({ keys: [{ kty: 'OKP' }] }));
  const environment = {
    RECOURSE_WIRES: 'open',
    RECOURSE_DATABASE_URL: `postgres://notifier:none@${NOBODY}/notifier`,
    RECOURSE_KAFKA_BROKERS: NOBODY,
    RECOURSE_REGISTRY_URL: `http://${NOBODY}`,
    RECOURSE_LOG_ID: 'log-1',
    RECOURSE_HTTP_PORT: '0',
    RECOURSE_LOG_LEVEL: 'silent',
    RECOURSE_WEBHOOKS_FILE: webhooks,
    RECOURSE_JWKS_FILE: keys,
    RECOURSE_JWT_ISSUER: 'https://issuer.example',
    RECOURSE_JWT_AUDIENCE: 'recourse',
    RECOURSE_LEDGER_URL: 'https://ledger.example',
    RECOURSE_RECOVERIES_URL: 'https://recoveries.example',
    RECOURSE_BUDGET_URL: 'https://budget.example',
  };
  notifier = await listen(loadConfig(CONFIG, environment));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const statusOf = async (path: string): Promise<number> =>
  (await notifier.app.inject({ method: 'GET', url: path })).statusCode;

describe('a notifier that waits for its database', () => {
  it('is alive and not ready, has not started, and tells its metrics', async () => {
    const starting = notifier.start();
    const paths = ['/health/live', '/health/ready', '/health/startup', '/metrics'];
    expect(await Promise.all(paths.map(statusOf))).toEqual([200, 503, 503, 200]);
    await notifier.stop();
    await starting;
  });
});
