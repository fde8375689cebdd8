// npm run release -- <major | minor | patch | 1.2.3>: makes a release of this tree, up to what only a person should do.
//
//   --dry-run   says what it would do, and packs the archives all the same
//
// All packages of the tree have one version. The script sets it in every manifest and in the lockfile, gives the changelog's
// entries their heading, and packs and tries out the SDK with the packages it stands on (scripts/pack.mjs) into
// .cache/release/. Then it prints the commands that commit, tag and publish; it runs none of them.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { bootstrap, main } from './lib/bootstrap.mjs';
import { cacheDir, pinnedNode, root } from './lib/paths.mjs';
import { PUBLISHED } from './lib/published.mjs';
import { nextVersion, releaseNotes, withVersion } from './lib/release.mjs';
import { runNode } from './lib/run.mjs';

const out = join(cacheDir, 'release');
const read = (path) => readFileSync(join(root, path), 'utf8');

await main(async () => {
  const args = process.argv.slice(2).filter((arg) => arg !== '--');
  const isDry = args.includes('--dry-run');
  const wish = args.find((arg) => !arg.startsWith('-'));
  if (wish === undefined)
    throw new Error('which version? npm run release -- <major | minor | patch | 1.2.3> [--dry-run]');
  const version = nextVersion(JSON.parse(read('package.json')).version, wish);
  const { changelog, notes } = releaseNotes(read('CHANGELOG.md'), version, new Date().toISOString().slice(0, 10));
  if (!isDry) refuseChanges();
  await bootstrap({ stack: false });
  if (!isDry) write(version, changelog);
  const code = await packInto(out);
  if (code !== 0) return code;
  console.log(`\n${version}\n\n${notes}\n\n${isDry ? 'A dry run: nothing was changed.' : nextSteps(version)}`);
  return 0;
});

/** What is not committed would be released without anybody having looked at it. */
function refuseChanges() {
  const { stdout, status } = spawnSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error('this is no git checkout; release from one');
  if (stdout.trim() !== '') throw new Error(`commit or put away these changes first:\n${stdout.trimEnd()}`);
}

function write(version, changelog) {
  for (const path of ['package.json', 'package-lock.json', ...manifests()])
    writeFileSync(join(root, path), `${JSON.stringify(withVersion(JSON.parse(read(path)), version), null, 2)}\n`);
  writeFileSync(join(root, 'CHANGELOG.md'), changelog);
}

/** Manifests of the workspaces, as the lockfile lists them. */
function manifests() {
  return Object.keys(JSON.parse(read('package-lock.json')).packages)
    .filter((path) => path !== '' && !path.includes('node_modules'))
    .map((path) => `${path}/package.json`)
    .filter((path) => existsSync(join(root, path)));
}

function packInto(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return runNode([join(root, 'scripts', 'pack.mjs'), '--node', pinnedNode, '--out', folder]);
}

/** Leaves first, so that nobody installs a package whose dependencies are not there yet. */
function nextSteps(version) {
  const archives = readdirSync(out);
  const ordered = PUBLISHED.map((name) => archives.find((archive) => archive.includes(`-${name}-`)));
  return [
    'Look at the changes, then:',
    `  git commit -am "Release ${version}"`,
    `  git tag -a v${version} -m "Release ${version}"`,
    '  git push --follow-tags',
    ...ordered.map((archive) => `  npm publish --access public .cache/release/${archive}`),
  ].join('\n');
}
