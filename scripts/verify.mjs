// npm run verify: the gate before a merge. Independent steps two at a time; a step's output is shown only when it fails.
//
//   --only a,b   only the steps whose names begin with these words
import { bootstrap, main } from './lib/bootstrap.mjs';
import { formatCheck, runGate, script, tool } from './lib/gate.mjs';
import { withTestStack } from './lib/test-stack.mjs';

/** In this order, so that the long ones start early. */
const STEPS = [
  { name: 'simulation', command: script('jest.mjs', 'simulation'), kind: 'simulation' },
  // A few of the lane `simulation`: what changes the rows of a core is seen here, not only on CI.
  { name: 'seeds', command: script('simulate.mjs', '--seeds', '1..10') },
  { name: 'types', command: tool('tsc', '--noEmit', '-p', 'tsconfig.json') },
  { name: 'page types', command: tool('tsc', '--noEmit', '-p', 'apps/console/tsconfig.json') },
  // Every file, without the cache of `npm run check`: what a file imports may have changed its types.
  { name: 'lint', command: tool('eslint', '--max-warnings', '0', '.') },
  { name: 'contract', command: script('jest.mjs', 'contract'), kind: 'contract' },
  { name: 'unit and tidy', command: script('jest.mjs', 'unit'), kind: 'unit' },
  { name: 'format', command: formatCheck() },
  {
    name: 'boundaries',
    command: tool('depcruise', '--config', '.dependency-cruiser.cjs', 'libs', 'apps', 'deploy', 'examples', 'test'),
  },
  { name: 'unused code', command: tool('knip') },
  { name: 'generated files', command: script('generate.mjs', '--check') },
  { name: 'reference pages', command: script('reference.mjs', '--check') },
];

await main(async () => {
  await bootstrap();
  const only = chosen(process.argv.slice(2));
  const steps = STEPS.filter((one) => only === null || only.includes(one.name.split(' ')[0]));
  return withStackIfNeeded(steps, () => runGate('verify', steps, { isWhole: only === null }));
});

/** One stack for the contract specs, started before the steps so that it is not fought over. */
function withStackIfNeeded(steps, work) {
  return steps.some((one) => one.name === 'contract') ? withTestStack(work) : work();
}

function chosen(args) {
  const at = args.indexOf('--only');
  if (at < 0) return null;
  const words = (args[at + 1] ?? '').split(',');
  const known = STEPS.map((one) => one.name.split(' ')[0]);
  const unknown = words.filter((word) => !known.includes(word));
  if (unknown.length > 0) throw new Error(`--only ${words.join(',')}: choose from ${known.join(', ')}`);
  return words;
}
