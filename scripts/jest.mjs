// node scripts/jest.mjs <kind> [part of a path ...] [--jest-option=value ...]: one suite on Jest.
// The specs are chosen by suffix (docs/design/style.md, section 8), and by the parts of paths when there are any.
//
// Results also go to .cache/results/<kind>.json, where `npm test` sums them up.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrap, main } from './lib/bootstrap.mjs';
import { prepareClusterTools } from './lib/cluster-tools.mjs';
import { cacheDir, root } from './lib/paths.mjs';
import { runNode } from './lib/run.mjs';
import { JEST_SUITES, specsNamed, specsOf } from './lib/suites.mjs';
import { withTestStack } from './lib/test-stack.mjs';

await main(async () => {
  const [kind, ...args] = process.argv.slice(2);
  const suite = JEST_SUITES[kind];
  if (suite === undefined)
    throw new Error(
      `usage: node scripts/jest.mjs <${Object.keys(JEST_SUITES).join(' | ')}> [part of a path ...] [--jest-option=value ...]`,
    );
  await bootstrap({ stack: suite.stack !== 'none' });
  const parts = args.filter((arg) => !arg.startsWith('-'));
  const specs = specsNamed(specsOf(kind), parts);
  if (specs === null) {
    console.error(`${kind}: no spec fits ${parts.join(', ')}`);
    return 1;
  }
  const results = join(cacheDir, 'results', `${kind}.json`);
  mkdirSync(join(results, '..'), { recursive: true });
  rmSync(results, { force: true });
  if (specs.length === 0) {
    console.log(`${kind}: no specs`);
    writeFileSync(results, JSON.stringify({ numPassedTests: 0, numFailedTests: 0, numFailedTestSuites: 0 }));
    return 0;
  }
  if (suite.tools === 'cluster') await prepareClusterTools();
  const options = args.filter((arg) => arg.startsWith('--') && arg !== '--');
  const run = () => runNode(jestArguments(suite, results, options, specs), { leadsGroup: true });
  const code = suite.stack === 'shared' ? await withTestStack(run) : await run();
  return existsSync(results) ? code : code || 1;
});

function jestArguments(suite, results, options, specs) {
  return [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    join(root, 'node_modules', 'jest', 'bin', 'jest.js'),
    '--config',
    join(root, 'jest.config.mjs'),
    '--json',
    '--outputFile',
    results,
    `--maxWorkers=${suite.workers}`,
    // Broker and database clients may linger for a while after the last spec; the verdict is in by then. Two specs side by
    // side share the cores with the servers of both, and a machine may be four times as slow as the one next to it: the
    // time-out is there for what hangs, and says nothing about speed.
    ...(suite.stack === 'none' ? [] : ['--forceExit', '--testTimeout=240000']),
    ...options,
    '--runTestsByPath',
    ...specs,
  ];
}
