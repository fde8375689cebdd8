// The launcher as a user runs it, in one data directory: both endings of the story, and a provider that lies.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const ROOT = process.cwd();
const NODE = join(ROOT, 'node_modules', '.bin', 'node');
const LAUNCH_MS = 480_000;

const SIGNED = /held {4}heads signed by the auditor and the witness cover all [1-9]\d* records of the logs/;
let dataDir = '';

beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'recourse-e2e-story-'));
});
afterAll(() => {
  rmSync(dataDir, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs the launcher without a terminal until it ends. */
function launch(...args: readonly string[]): Promise<Ended> {
  const flags = [
    '--enable-source-maps',
    '--disable-warning=TimeoutNegativeWarning',
    '--disable-warning=ExperimentalWarning',
  ];
  const child = spawn(
    NODE,
    [...flags, join(ROOT, 'deploy', 'dev', 'dist', 'demo.main.js'), '--once', '--data-dir', dataDir, ...args],
    { stdio: ['ignore', 'pipe', 'pipe'], env: withoutJest() },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ code, output });
    });
  });
}

/** The environment without what Jest and the suite's own stack put there. */
function withoutJest(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !name.startsWith('JEST_') && !name.startsWith('RECOURSE_') && name !== 'NODE_OPTIONS' && name !== 'NODE_ENV',
    ),
  );
}

describe('the launcher with --once', () => {
  it(
    'plays the drifted refund to a compensation that was verified, and exits 0',
    async () => {
      const { code, output } = await launch();
      expect(output).toContain('Anybody on this machine may write to the broker');
      expect(output).toContain('held    the ledger says compensated');
      expect(output).toContain('debited INR 500.00 before the call');
      expect(output).toContain('held    the debt was debited before the call, under the ceiling of the run');
      expect(output).toContain('held    the debt was refunded after the verified compensation');
      expect(output).toContain("INR 0.00 of the run's ceiling of INR 5000.00 are used");
      expect(output).toMatch(SIGNED);
      expect(output).toMatch(/audit verify --auditor-key \S+auditor\.vkey/);
      expect(output).toMatch(/All \d+ checks held\./);
      expect(code).toBe(0);
    },
    LAUNCH_MS,
  );

  it(
    'plays it where Kafka and the registry ask who somebody is, and says so',
    async () => {
      // Signed from the first record or not at all: what was begun open is not gone on with.
      const refused = await launch('--secure');
      expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('were begun without signatures')]);
      const { code, output } = await launch('--secure', '--data-dir', join(dataDir, 'secure'));
      expect(output).toContain('Secure: Kafka knows each service and program by a password');
      expect(output).toMatch(SIGNED);
      // What was undone counted once another worker had looked at it.
      expect(readdirSync(join(dataDir, 'secure', 'example', 'worker-observer', 'positions'))).not.toEqual([]);
      expect(output).toMatch(/All \d+ checks held\./);
      expect(code).toBe(0);
    },
    LAUNCH_MS,
  );

  it(
    'plays the ending where the window had closed, and exits 0',
    async () => {
      const { code, output } = await launch('--scenario', 'window-closed');
      expect(output).toContain('manual_resolution_required');
      expect(output).toContain('held    the provider was not asked to reverse');
      expect(output).toContain('held    the debt of what was not undone stands');
      expect(code).toBe(0);
    },
    LAUNCH_MS,
  );

  it(
    'notices a provider that answers 200 and undoes nothing, and exits 1',
    async () => {
      const { code, output } = await launch('--break', 'phantom-undo');
      expect(output).toContain('BROKEN  the ledger says compensated');
      expect(code).toBe(1);
    },
    LAUNCH_MS,
  );

  it('prints its options and starts nothing when asked for help', async () => {
    const { code, output } = await launch('--help');
    expect(output).toContain('--scenario');
    expect(code).toBe(0);
  });
});
