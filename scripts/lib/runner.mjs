// The runners of simulation, bench and crash runs: build, then hand over to the built program on Node 24.
import { join } from 'node:path';
import { bootstrap, main } from './bootstrap.mjs';
import { root } from './paths.mjs';
import { runNode } from './run.mjs';

/**
 * Runs a program of `test/<folder>/dist` with the arguments of this process.
 *
 * @param {string} folder
 * @param {{stack: boolean, program?: string}} needs whether Kafka, registry and PostgreSQL have to be there; `main.js` unless told
 */
export function runBuilt(folder, needs) {
  return main(async () => {
    await bootstrap({ stack: needs.stack });
    const args = process.argv.slice(2).filter((arg) => arg !== '--');
    return runNode(['--enable-source-maps', join(root, 'test', folder, 'dist', needs.program ?? 'main.js'), ...args]);
  });
}
