// npm run verify: the quick gate. Independent steps two at a time; a step's output is shown only when it fails.
import { join } from 'node:path';
import { bootstrap, main } from './lib/bootstrap.mjs';
import { jestCounts, lastLine, settleCounts, sumCounts } from './lib/counts.mjs';
import { root } from './lib/paths.mjs';
import { step } from './lib/progress.mjs';
import { table } from './lib/table.mjs';
import { runTee } from './lib/tee.mjs';
import { withTestStack } from './lib/test-stack.mjs';

const STEPS_AT_ONCE = 2;
const bin = (name) => join(root, 'node_modules', '.bin', name);
const script = (name) => join(root, 'scripts', name);
const node = bin('node');

/** In this order, so that the long ones start early. `kind`: counts come from Jest's results. */
const STEPS = [
  { name: 'simulation', command: [node, script('jest.mjs'), 'simulation'], kind: 'simulation' },
  { name: 'types', command: [node, bin('tsc'), '--noEmit', '-p', 'tsconfig.json'] },
  { name: 'lint', command: [node, bin('eslint'), '--max-warnings', '0', '.'] },
  { name: 'contract', command: [node, script('jest.mjs'), 'contract'], kind: 'contract' },
  { name: 'unit and tidy', command: [node, script('jest.mjs'), 'unit'], kind: 'unit' },
  {
    name: 'boundaries',
    command: [
      node,
      bin('depcruise'),
      '--config',
      '.dependency-cruiser.cjs',
      'libs',
      'apps',
      'deploy',
      'examples',
      'test',
    ],
  },
  { name: 'unused code', command: [node, bin('knip')] },
  { name: 'generated files', command: [node, script('generate.mjs'), '--check'] },
  { name: 'reference pages', command: [node, script('reference.mjs'), '--check'] },
];

await main(async () => {
  await bootstrap();
  const only = chosen(process.argv.slice(2));
  const steps = STEPS.filter((one) => only === null || only.includes(one.name.split(' ')[0]));
  const done = await withStackIfNeeded(steps, () =>
    step(`verifying: ${steps.map((one) => one.name).join(', ')}`, (say) => runAll(steps, say)),
  );
  for (const { name, failed, output } of done)
    if (failed > 0) console.log(`\n=== ${name} failed ===\n${output.trimEnd()}`);
  const rows = done.map(({ name, passed, failed, seconds }) => [
    name,
    failed > 0 ? 'FAILED' : 'ok',
    passed,
    failed,
    seconds,
  ]);
  console.log(`\n${table(['step', 'status', 'passed', 'failed', 'seconds'], rows)}\n`);
  const sum = sumCounts(done);
  console.log(lastLine(sum));
  return sum.failed > 0 ? 1 : 0;
});

/** One stack for the contract specs, started before the steps so that it is not fought over. */
function withStackIfNeeded(steps, work) {
  return steps.some((one) => one.name === 'contract') ? withTestStack(work) : work();
}

async function runAll(steps, say) {
  const waiting = [...steps];
  const done = new Map();
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      done.set(next.name, await runStep(next));
      const { failed, seconds } = done.get(next.name);
      say(`${next.name}: ${failed > 0 ? 'FAILED' : 'ok'} (${seconds} s)`);
    }
  };
  await Promise.all(Array.from({ length: STEPS_AT_ONCE }, worker));
  return steps.map((one) => done.get(one.name));
}

async function runStep({ name, command: [file, ...args], kind }) {
  const startedAt = performance.now();
  const { code, output } = await runTee(file, args, { quiet: true, env: { ...process.env, FORCE_COLOR: '0' } });
  const counts = settleCounts(kind === undefined ? null : jestCounts(kind), code);
  return { name, ...counts, output, seconds: Math.round((performance.now() - startedAt) / 100) / 10 };
}

function chosen(args) {
  const at = args.indexOf('--only');
  return at < 0 ? null : (args[at + 1] ?? '').split(',');
}
