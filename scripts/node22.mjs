// npm run test:node22: the SDK's examples and the packed SDK on the oldest Node they promise, fetched once into .cache/.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootstrap, main } from './lib/bootstrap.mjs';
import { lastLine } from './lib/counts.mjs';
import { root } from './lib/paths.mjs';

const MAJOR = 22;
/** Programs of the examples; each ends by itself, without a broker, a model or a key. */
const EXAMPLES = [
  'sdk-function/dist/function.main.js',
  'sdk-mcp/dist/mcp.main.js',
  'sdk-ai/dist/ai.main.js',
  'sdk-agents/dist/agents.main.js',
  'resumable-agent/dist/story.main.js',
];

await main(async () => {
  await bootstrap({ stack: false });
  const node = nodeOf(MAJOR);
  const scratch = mkdtempSync(join(tmpdir(), 'recourse-node22-'));
  try {
    const crash = join(root, 'examples', 'sdk-function', 'dist', 'crash.main.js');
    const runs = [...EXAMPLES.map((path) => [join(root, 'examples', path)]), [crash, scratch], [crash, scratch]].map(
      (args) => [node, args],
    );
    const failed = [...runs, [process.execPath, [join(root, 'scripts', 'pack.mjs'), '--node', node]]].filter(
      ([command, args]) => !passes(command, args),
    );
    console.log(lastLine({ passed: runs.length + 1 - failed.length, failed: failed.length }));
    return failed.length > 0 ? 1 : 0;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

function passes(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8', timeout: 300_000 });
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${args.map((arg) => arg.replace(`${root}/`, '')).join(' ')}`);
  if (status !== 0) console.log(`${stdout}${stderr}`.slice(-2_000));
  return status === 0;
}

/** The newest Node of a major version, from the package that carries its binary. */
function nodeOf(major) {
  const folder = join(root, '.cache', `node${String(major)}`);
  const node = join(folder, 'package', 'bin', 'node');
  if (existsSync(node)) return node;
  mkdirSync(folder, { recursive: true });
  const name = `node-${process.platform}-${process.arch}@${String(major)}`;
  const packed = spawnSync('npm', ['pack', name, '--pack-destination', folder], { cwd: folder, encoding: 'utf8' });
  const archive = readdirSync(folder).find((file) => file.endsWith('.tgz'));
  if (packed.status !== 0 || archive === undefined)
    throw new Error(`${name} could not be fetched: ${packed.stderr.slice(-500)}`);
  const unpacked = spawnSync('tar', ['-xzf', archive], { cwd: folder, encoding: 'utf8' });
  if (unpacked.status !== 0) throw new Error(unpacked.stderr);
  rmSync(join(folder, archive));
  return node;
}
