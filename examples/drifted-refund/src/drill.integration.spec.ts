// The drill of the example against its own provider, as processes: the command line as an operator calls it (C80).
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DrillReport } from '@recourse/sdk';
import { CONTRACTS, ISSUE_REFUND } from './common/contracts.js';
import { ask } from './common/http.js';

const dist = join(import.meta.dirname, '..', 'dist');
const cli = join(import.meta.dirname, '..', '..', '..', 'apps', 'cli', 'bin', 'recourse.mjs');
let directory = '';
let provider: ChildProcess | undefined;
let providerUrl = '';
let registry: Server;
let registryUrl = '';

// Built by whoever runs the suite: two specs that build at once would read each other's half-written files.
beforeAll(async () => {
  expect(existsSync(join(dist, 'drill.js'))).toBe(true);
  directory = mkdtempSync(join(tmpdir(), 'recourse-drill-'));
  const child = spawn(process.execPath, [join(dist, 'payment-provider.main.js')], {
    env: { ...process.env, PORT: '0', DATA_DIR: directory },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  provider = child;
  const port = await new Promise<number>((listening) => {
    child.stdout.on('data', (chunk: Buffer) => {
      listening((JSON.parse(chunk.toString()) as { readonly listening: number }).listening);
    });
  });
  providerUrl = `http://127.0.0.1:${String(port)}`;
  // A registry in which the contracts of the example stand.
  const items = CONTRACTS.map((contract) => ({
    name: contract.name,
    version: 1,
    tenant: '*',
    contract: { ...contract, version: 1 },
  }));
  registry = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ items, next_cursor: null }));
  });
  await new Promise<void>((resolve) => {
    registry.listen(0, '127.0.0.1', resolve);
  });
  registryUrl = `http://127.0.0.1:${String((registry.address() as AddressInfo).port)}`; // it listens on a port
}, 60_000);
afterAll(() => {
  provider?.kill('SIGKILL');
  registry.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly note: string;
}

function drill(...more: readonly string[]): Promise<Ended> {
  const env: NodeJS.ProcessEnv = { PATH: process.env['PATH'], PROVIDER_URL: providerUrl };
  const args = [cli, '--contracts-url', registryUrl, '--token', 'none', '--tenant', 'demo', ...more];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env, cwd: directory }, (error, out, note) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, note });
    });
  });
}

const MODULE = ['--module', join(dist, 'drill.js')] as const;
const fail = (mode: string, times: number): Promise<unknown> =>
  ask(`${providerUrl}/faults`, { method: 'POST', body: { mode, times } });
/** What is not clean of the first refund that is drilled: faults strike no further than it. */
const unclean = (out: string): readonly unknown[] =>
  (JSON.parse(out) as DrillReport).findings
    .filter(({ capability, verdict }) => capability === ISSUE_REFUND && verdict !== 'clean')
    .map(({ path, drift, verdict }) => [path, drift ?? verdict]);

describe('recourse drill payments', () => {
  it('exercises both refunds and finds nothing; the report is added to a file', async () => {
    const { code, out, note } = await drill('drill', 'payments', ...MODULE, '--id', 'one', '--out', 'drills.jsonl');
    expect({ code, note }).toEqual({ code: 0, note: '' });
    expect(out).toMatch(
      /^CAPABILITY +PATH +CALLED +VERDICT[^]*payments\.issue_refund +undo +payments\.reverse_refund +clean[^]*Every path is as its contract says\. one,/,
    );
    expect(JSON.parse(readFileSync(join(directory, 'drills.jsonl'), 'utf8'))).toMatchObject({
      adapter: 'payments',
      drill_id: 'one',
      verdict: 'clean',
    });
    const { body } = await ask(`${providerUrl}/effects`);
    expect((body['effects'] as readonly { readonly kind: string }[]).map(({ kind }) => kind)).toEqual([
      'refund',
      'reversal',
      'refund',
      'reversal',
    ]);
  }, 60_000);

  it.each([
    [
      'permission',
      'forbidden',
      [
        ['undo', 'permission'],
        ['verify', 'not_run'],
        ['repeat', 'not_run'],
        ['look_back', 'not_run'],
      ],
    ],
    ['schema', 'renamed_field', [['undo', 'schema']]],
    [
      'behaviour',
      'phantom_undo',
      [
        ['verify', 'behaviour'],
        ['repeat', 'behaviour'],
        ['look_back', 'behaviour'],
      ],
    ],
  ])(
    'exits with 1 on drift of %s',
    async (_kind, mode, paths) => {
      await fail(mode, mode === 'phantom_undo' ? 2 : 1);
      const { code, out } = await drill('drill', 'payments', ...MODULE, '--json');
      await fail('none', 0);
      expect(code).toBe(1);
      expect(unclean(out)).toEqual(paths);
    },
    60_000,
  );

  it('exits with 4 when the provider does not answer: nothing is known, and nothing is called clean', async () => {
    await fail('error_500', 4);
    const { code, out } = await drill('drill', 'payments', ...MODULE, '--json');
    await fail('none', 0);
    expect([code, (JSON.parse(out) as DrillReport).verdict]).toEqual([4, 'not_run']);
  }, 60_000);

  it.each([
    ['a module that is not there', ['drill', 'payments', '--module', 'none.mjs'], 'KIT_UNREADABLE'],
    ['the kit of another adapter', ['drill', 'tickets', ...MODULE], 'ADAPTER_UNKNOWN'],
  ])(
    'exits with 64 for %s',
    async (_case, args, problem) => {
      const { code, note } = await drill(...args);
      expect([code, note.startsWith(`${problem}:`)]).toEqual([64, true]);
    },
    60_000,
  );
});
