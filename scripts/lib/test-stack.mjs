// A stack for as long as some work runs, handed to its child processes through the environment.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { step } from './progress.mjs';
import { root } from './paths.mjs';

export const TEST_STACK_VARIABLE = 'RECOURSE_TEST_STACK';

/**
 * Runs the work with RECOURSE_TEST_STACK in the environment. A stack that is named there already is used and left alone.
 *
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withTestStack(work) {
  if (process.env[TEST_STACK_VARIABLE]) return work();
  const { startTestStack, factsOf } = await import(pathToFileURL(join(root, 'deploy', 'dev', 'dist', 'index.js')).href);
  const stack = await step('starting Kafka, registry and PostgreSQL for the tests', (say) =>
    startTestStack({ onProgress: say }),
  );
  process.env[TEST_STACK_VARIABLE] = JSON.stringify(factsOf(stack));
  try {
    return await work();
  } finally {
    delete process.env[TEST_STACK_VARIABLE];
    await stack.stop();
  }
}
