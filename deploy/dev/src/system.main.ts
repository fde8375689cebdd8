// The system of the suites in other languages: starts services and example on a stack, says where they are, and stays until told.
//
// RECOURSE_TEST_STACK names the stack (else one is started). Prints one line of JSON, `{"urls": …}`, when all are ready;
// ends at SIGTERM, SIGINT, or when its standard input closes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adaptersIn } from './adapters.js';
import { startProcesses } from './processes.js';
import { planSystem } from './system.js';
import { sharedTestStack } from './test-stack.js';

const stack = await sharedTestStack();
const dataDir = mkdtempSync(join(tmpdir(), 'recourse-system-'));
const plan = await planSystem(stack, { dataDir, adapters: adaptersIn(process.env) });
const processes = await startProcesses(plan.processes, {
  logDir: dataDir,
  onExit: (name, how) => {
    process.stderr.write(`${name} ended: ${how}\n`);
  },
});
process.stdout.write(`${JSON.stringify({ urls: plan.urls, logId: plan.logId })}\n`);

const { promise: told, resolve } = Promise.withResolvers<undefined>();
process.stdin.on('end', () => {
  resolve(undefined);
});
process.stdin.resume();
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    resolve(undefined);
  });
await told;
await processes.stop();
await stack.stop();
rmSync(dataDir, { recursive: true, force: true });
process.exit();
