import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { reconcile } from './wire.file.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const entry = join(root, 'examples/sdk-function/dist/crash.main.js');
let directory = '';

// Built by whoever runs the suite: two specs that build at once would read each other's half-written files.
beforeAll(() => {
  expect(existsSync(entry)).toBe(true);
});
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'recourse-guard-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** Starts the call, and kills its process the moment the tool has taken effect. */
async function killedBetweenIntentAndOutcome(): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, [entry, directory, 'hang'], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.on('data', (chunk: Buffer) => {
    if (chunk.toString().includes('called')) child.kill('SIGKILL');
  });
  return new Promise((resolve) => {
    child.on('exit', (_code, signal) => {
      resolve(signal);
    });
  });
}

interface Answer {
  readonly kind: string;
  readonly error_kind: string | null;
  readonly mutation_refs: readonly string[];
}

function startedAgain(): Answer {
  const { stdout } = spawnSync(process.execPath, [entry, directory], { encoding: 'utf8' });
  // The example prints its answer on its last line.
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Answer;
}

const linesOf = (name: string): readonly string[] =>
  existsSync(join(directory, name)) ? readFileSync(join(directory, name), 'utf8').trim().split('\n') : [];
const told = (): readonly string[] =>
  linesOf('wire.jsonl').map((line) => (JSON.parse(line) as { readonly type: string }).type);

describe('a process killed between intent and outcome', () => {
  it('leaves its intent on the wire, and no outcome', async () => {
    expect(await killedBetweenIntentAndOutcome()).toBe('SIGKILL');
    expect(told()).toEqual(['planned']);
    expect(linesOf('effects.txt')).toHaveLength(1);
  });

  it('does not call again when it is started again: nobody knows yet how the call ended', async () => {
    await killedBetweenIntentAndOutcome();
    const first = startedAgain();
    expect([first, startedAgain()]).toMatchObject([
      { kind: 'uncertain', error_kind: 'RECONCILIATION_PENDING' },
      { kind: 'uncertain' },
    ]);
    expect([told(), linesOf('effects.txt').length]).toEqual([['planned'], 1]);
  });

  it('goes by its claim where the record has not heard of the intent', async () => {
    await killedBetweenIntentAndOutcome();
    rmSync(join(directory, 'wire.jsonl'));
    expect(startedAgain()).toMatchObject({ kind: 'uncertain', error_kind: 'RECONCILIATION_PENDING' });
    expect(linesOf('effects.txt')).toHaveLength(1);
  });

  it('finds the effect once reconciliation has', async () => {
    await killedBetweenIntentAndOutcome();
    const [mutation = ''] = startedAgain().mutation_refs;
    await reconcile(join(directory, 'wire.jsonl'), mutation, 'succeeded');
    expect(startedAgain()).toMatchObject({ kind: 'succeeded', mutation_refs: [mutation] });
    expect(linesOf('effects.txt')).toHaveLength(1);
  });

  it('calls again, once, when reconciliation says that nothing happened', async () => {
    await killedBetweenIntentAndOutcome();
    const [mutation = ''] = startedAgain().mutation_refs;
    await reconcile(join(directory, 'wire.jsonl'), mutation, 'failed');
    expect(startedAgain()).toMatchObject({ kind: 'succeeded' });
    expect(startedAgain()).toMatchObject({ kind: 'succeeded' });
    expect(linesOf('effects.txt')).toHaveLength(2);
    expect(told()).toEqual(['planned', 'reconciled', 'planned', 'executed']);
  });
});
