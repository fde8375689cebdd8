// start: `npm start` on a machine that has everything already: from the command to all services ready.
//
// The command is the real one, scripts/start.mjs --once on a data directory of its own, so that its checks of installation
// and build are in the figure; it then plays the story, which is the gate. The first run prepares the directory.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../../scripts/lib/paths.mjs';
import { say } from './bench-stack.js';
import type { Measured } from './report.js';
import { median } from './rounds.js';

/** Last line before the story: every process has answered its health address. */
const READY = /^\s*done: starting \d+ processes/m;
const RUN_WITHIN_MS = 180_000;

export interface StartSize {
  readonly rounds: number;
}
export const START_FULL: StartSize = { rounds: 3 };
export const START_QUICK: StartSize = { rounds: 1 };

interface Start {
  readonly readyMs: number;
  readonly exitCode: number;
}

export async function benchStart({ rounds }: StartSize): Promise<Measured> {
  const dataDir = mkdtempSync(join(tmpdir(), 'recourse-bench-start-'));
  try {
    say('first start, which prepares the data directory');
    const first = await startOnce(dataDir);
    const warm: Start[] = [];
    for (let round = 0; round < rounds; round += 1) {
      say(`warm start ${String(round + 1)} of ${String(rounds)}`);
      warm.push(await startOnce(dataDir));
    }
    return {
      figures: {
        warm_ready_s: median(warm.map(({ readyMs }) => readyMs)) / 1_000,
        start_first_ready_s: first.readyMs / 1_000,
      },
      ratios: { start_warm_vs_first: median(warm.map(({ readyMs }) => readyMs)) / first.readyMs },
      counts: { start_rounds: rounds },
      gates: {
        start_story_held: [first, ...warm].every(({ exitCode }) => exitCode === 0),
        start_became_ready: warm.every(({ readyMs }) => Number.isFinite(readyMs)),
      },
      notes: [
        'start: three servers, four services, the issuer and the example start side by side on the same cores; first means an empty data directory with jars and packages there',
      ],
    };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function startOnce(dataDir: string): Promise<Start> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(root, 'scripts', 'start.mjs'), '--once', '--data-dir', dataDir], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const giveUp = setTimeout(() => {
    child.kill('SIGTERM');
  }, RUN_WITHIN_MS);
  let output = '';
  let readyMs = NaN;
  const take = (chunk: Buffer): void => {
    output += chunk.toString('utf8');
    if (Number.isNaN(readyMs) && READY.test(output)) readyMs = performance.now() - startedAt;
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(giveUp);
      if (code !== 0) process.stderr.write(output.slice(-2_000));
      resolve({ readyMs, exitCode: code ?? 1 });
    });
  });
}
