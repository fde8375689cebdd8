// npm test: from nothing to a verdict. Verify, then everything on real Kafka, registry and PostgreSQL.
//
//   --only a,b   only these suites
//
// The last line is `N passed, N failed`, summed over all suites; the exit code is 0 only if nothing failed.
import { join } from 'node:path';
import { bootstrap, main } from './lib/bootstrap.mjs';
import { countsIn, jestCounts, lastLine, settleCounts, sumCounts } from './lib/counts.mjs';
import { failuresIn } from './lib/failures.mjs';
import { pinnedNode, root } from './lib/paths.mjs';
import { table } from './lib/table.mjs';
import { runTee } from './lib/tee.mjs';
import { withTestStack } from './lib/test-stack.mjs';

const script = (name, ...args) => [join(root, 'scripts', name), ...args];

/** `kind`: counts come from Jest's results, else from the last line the suite prints. */
const SUITES = [
  { name: 'verify', args: script('verify.mjs') },
  { name: 'integration', args: script('jest.mjs', 'integration'), kind: 'integration' },
  { name: 'e2e', args: script('jest.mjs', 'e2e'), kind: 'e2e', ownStack: true },
  { name: 'crash', args: script('crash.mjs'), ownStack: true },
  // Every two of point, action and process; all three on request: npm run test:crash -- --matrix whole.
  { name: 'matrix', args: script('crash.mjs', '--matrix'), ownStack: true },
  // More seeds in .ci/run, and on request: npm run simulate -- --seeds A..B.
  { name: 'simulation', args: script('simulate.mjs', '--seeds', '1..400'), ownStack: true },
  { name: 'mutants', args: script('simulate.mjs', '--mutants', '--events', '150'), ownStack: true },
  // All of them on request: npm run breaks.
  { name: 'breaks', args: script('breaks.mjs', '--changed'), ownStack: true },
];

await main(async () => {
  const suites = chosen(process.argv.slice(2));
  await bootstrap();
  const sharing = suites.filter((suite) => suite.ownStack !== true);
  const alone = suites.filter((suite) => suite.ownStack === true);
  // The shared stack is gone before the suites that bring their own: two cores carry one.
  const done = [...(sharing.length > 0 ? await withTestStack(() => runAll(sharing)) : []), ...(await runAll(alone))];
  console.log(
    `\n${table(
      ['suite', 'passed', 'failed', 'seconds'],
      done.map(({ name, passed, failed, seconds }) => [name, passed, failed, seconds]),
    )}\n`,
  );
  for (const { name, failed, output } of done)
    if (failed > 0) console.log(`##### what failed in ${name}\n${failuresIn(output)}\n`);
  const sum = sumCounts(done);
  console.log(lastLine(sum));
  return sum.failed > 0 ? 1 : 0;
});

async function runAll(suites) {
  const done = [];
  for (const suite of suites) done.push(await runSuite(suite));
  return done;
}

async function runSuite({ name, args, kind }) {
  console.log(`\n##### ${name}`);
  const startedAt = performance.now();
  const { code, output } = await runTee(pinnedNode, args);
  const counted = kind === undefined ? countsIn(output) : jestCounts(kind);
  return { name, ...settleCounts(counted, code), output, seconds: Math.round((performance.now() - startedAt) / 1000) };
}

function chosen(args) {
  const at = args.indexOf('--only');
  if (at < 0) return SUITES;
  const names = (args[at + 1] ?? '').split(',');
  const unknown = names.filter((name) => !SUITES.some((suite) => suite.name === name));
  if (unknown.length > 0)
    throw new Error(`--only ${names.join(',')}: choose from ${SUITES.map((suite) => suite.name).join(', ')}`);
  return SUITES.filter((suite) => names.includes(suite.name));
}
