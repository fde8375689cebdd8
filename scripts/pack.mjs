// npm run pack:sdk: packs the SDK and the packages it stands on, as somebody else would install them, and tries them out.
//
// Each package is laid out as it is published: compiled code, declarations, and a manifest whose types and dependencies hold
// outside this tree. The archives are unpacked into an empty project, type-checked there and run, and kept.
//
//   node scripts/pack.mjs [--node <path of another node>] [--out <folder, default .cache/release>]
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { bootstrap, main } from './lib/bootstrap.mjs';
import { importsOf, isPublished, PUBLISHED } from './lib/published.mjs';
import { cacheDir, pinnedNode, root } from './lib/paths.mjs';
import { step } from './lib/progress.mjs';

const at = (name) => process.argv[process.argv.indexOf(name) + 1];
const option = (name, otherwise) => (process.argv.includes(name) ? at(name) : otherwise);
const EXTERNALS = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies;

/** A program as somebody else writes it. */
const USE = `import { guard, ManualClock, MemoryProducer } from '@recourse/sdk';
import type { ForwardTool, GuardedResult, GuardOptions } from '@recourse/sdk';
import { parseContract } from '@recourse/contract';

const parsed = parseContract(JSON.stringify({ name: 'notes.get_note', owner: 'notes', effect: 'A note is read.', impact: 'read', approval_mode: 'read_only', args_schema: { type: 'object' }, result_schema: { type: 'object' } }));
if (!parsed.ok) throw new Error('the contract does not parse');
const tool: ForwardTool = { execute: () => Promise.resolve({ id: 'n1' }) };
const options: GuardOptions = { contract: parsed.contract, contractDigest: Buffer.alloc(32), mode: 'enforce', producer: new MemoryProducer(), clock: new ManualClock(0) };
const result: GuardedResult = await guard(tool, options)({ run: { tenant: 't', runId: 'r', agentId: 'a', initiator: null, objective: 'read a note' }, stepId: 's', args: {}, target: null, assumptionRefs: [] });
if (result.kind !== 'succeeded') throw new Error(result.kind);
console.log(process.version, result.kind);
`;

await main(async () => {
  await bootstrap({ stack: false });
  const work = mkdtempSync(join(tmpdir(), 'recourse-pack-'));
  try {
    const out = resolve(option('--out', join(cacheDir, 'release')));
    mkdirSync(out, { recursive: true });
    for (const old of readdirSync(out)) if (/^recourse-.*\.tgz$/.test(old)) rmSync(join(out, old));
    await step('making declarations', () => declare(join(work, 'types')));
    const archives = await step(`packing ${PUBLISHED.length} packages`, async (say) => {
      const packed = [];
      for (const name of PUBLISHED) {
        packed.push(await pack(name, work, out));
        say(`${packed.length} of ${PUBLISHED.length}: @recourse/${name}`);
      }
      return packed;
    });
    const told = await step('trying the archives out in an empty project', () =>
      tryOut(archives, join(work, 'project'), option('--node', pinnedNode)),
    );
    process.stdout.write(told);
    console.log(`packed: ${archives.map((archive) => relative(out, archive)).join(', ')}`);
    console.log(`they are in ${out}. In a project: npm install ${join(out, 'recourse-*.tgz')}`);
    console.log('or let `npx recourse init <folder>` lay one out that installs them.');
    return 0;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
});

/** Declarations of every published package. */
async function declare(types) {
  const config = join(root, '.cache', 'tsconfig.pack.json');
  mkdirSync(dirname(config), { recursive: true });
  const sources = PUBLISHED.map((name) => `../libs/${name}/src/**/*.ts`);
  writeFileSync(
    config,
    JSON.stringify({
      extends: '../tsconfig.json',
      compilerOptions: {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        incremental: false,
        tsBuildInfoFile: null,
        rootDir: '../libs',
        outDir: types,
      },
      include: sources,
      exclude: [
        '../libs/*/src/**/*.spec.ts',
        '../libs/*/src/**/*.testing.ts',
        '../libs/*/src/**/*.contract.ts',
        '../node_modules',
      ],
    }),
  );
  await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', config], root);
}

/** Lays a package out and packs it; the path of the archive. */
async function pack(name, work, out) {
  const staged = join(work, 'staged', name);
  const from = join(root, 'libs', name);
  cpSync(join(from, 'dist'), join(staged, 'dist'), { recursive: true, filter: isPublished });
  cpSync(join(work, 'types', name, 'src'), join(staged, 'dist'), { recursive: true, filter: isPublished });
  cpSync(join(root, 'LICENSE'), join(staged, 'LICENSE'));
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(manifestOf(name, join(staged, 'dist')), null, 2)}\n`);
  const listed = JSON.parse(await run('npm', ['pack', '--json', '--pack-destination', out], staged));
  return join(out, (Array.isArray(listed) ? listed[0] : Object.values(listed)[0]).filename);
}

/** The manifest as others read it: types beside the code, and what the code and its types import. */
function manifestOf(name, dist) {
  const manifest = JSON.parse(readFileSync(join(root, 'libs', name, 'package.json'), 'utf8'));
  delete manifest.private;
  const wanted = [...importsOf(dist)].filter((one) => one !== manifest.name).sort();
  const dependencies = Object.fromEntries(
    wanted.map((one) => [one, one.startsWith('@recourse/') ? manifest.version : EXTERNALS[one]]),
  );
  for (const [one, version] of Object.entries(dependencies))
    if (version === undefined) throw new Error(`${name} imports ${one}, which package.json does not name`);
  return {
    ...manifest,
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    types: './dist/index.d.ts',
    dependencies,
  };
}

/** Installs the archives where nothing of this tree is, checks the types and runs; what the program printed. */
async function tryOut(archives, project, node) {
  const modules = join(project, 'node_modules');
  mkdirSync(join(modules, '@recourse'), { recursive: true });
  for (const [index, archive] of archives.entries()) {
    const folder = join(modules, '@recourse', PUBLISHED[index]);
    mkdirSync(folder);
    await run('tar', ['-xzf', archive, '-C', folder, '--strip-components=1'], project);
  }
  // What npm would fetch is here already.
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@recourse' && !name.startsWith('.') && !existsSync(join(modules, name)))
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  writeFileSync(join(project, 'use.ts'), USE);
  await run(
    process.execPath,
    [
      join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
      '--strict',
      '--skipLibCheck',
      'false',
      '--noUnusedLocals',
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--types',
      'node',
      'use.ts',
    ],
    project,
  );
  return run(node, ['use.js'], project);
}

function run(command, args, cwd) {
  return new Promise((done, reject) => {
    execFile(command, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      const said = `${stdout}${stderr}`.slice(-4_000);
      if (error === null) done(stdout);
      else reject(new Error(`${command} ${args.slice(0, 2).join(' ')}: ${said === '' ? error.message : said}`));
    });
  });
}
