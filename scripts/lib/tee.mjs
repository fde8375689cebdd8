// Runs a program on this terminal and keeps what it printed.
import { spawn } from 'node:child_process';
import { relay } from './run.mjs';
import { root } from './paths.mjs';

/** @returns {Promise<{code: number, output: string}>} */
export function runTee(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = relay(
      spawn(command, args, { cwd: root, env: options.env ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] }),
    );
    let output = '';
    for (const [stream, sink] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      stream.on('data', (chunk) => {
        // Only the end is looked at; a simulation can print a lot.
        output = (output + chunk.toString()).slice(-200_000);
        if (options.quiet !== true) sink.write(chunk);
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
