// Completes package-lock.json, so that `npm ci` accepts it on every platform.
//
//   node scripts/lockfile.mjs            adds what is missing
//   node scripts/lockfile.mjs --check    exit 1 with the list of what is missing
//
// npm writes an optional package into the lockfile only when it could fetch its manifest. Packages made for other
// platforms that were out of reach at that moment are left out, and `npm ci` then refuses the lockfile for good. Their
// version is pinned by the package that asks for them, and their name says what they are for. Workspaces that were added
// by hand are entered too. Run it after every `npm install`.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib/paths.mjs';

const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const PROCESSORS = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x', 'loong64', 'mips64el', 'wasm32'];

/**
 * Reads the platform out of a package's name. Pure.
 *
 * @param {string} name for instance `@swc/core-linux-arm64-musl`
 * @returns {{os?: string[], cpu?: string[], libc?: string[]}} empty when the name says nothing
 */
export function platformOf(name) {
  const words = name.split(/[-/]/);
  const os = SYSTEMS.find((system) => words.includes(system));
  const cpu = PROCESSORS.find((processor) => words.includes(processor));
  const libc =
    os !== 'linux'
      ? undefined
      : words.some((word) => word.startsWith('musl'))
        ? 'musl'
        : words.some((word) => word.startsWith('gnu'))
          ? 'glibc'
          : undefined;
  return { ...(cpu && { cpu: [cpu] }), ...(os && { os: [os] }), ...(libc && { libc: [libc] }) };
}

/**
 * Entries of optional packages that some package asks for and the lockfile lacks. Pure.
 *
 * Shape: the version is the one asked for, without the range's sign; the entry stands where npm would look for it.
 *
 * @param {Record<string, any>} packages
 */
export function missingOptional(packages) {
  const added = {};
  for (const [path, entry] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      const version = range.replace(/^[\^~=v]+/, '');
      if (lookUp({ ...packages, ...added }, path, name) !== null) continue;
      added[`node_modules/${name}`] = { version, ...platformOf(name), ...(entry.dev && { dev: true }), optional: true };
    }
  }
  return added;
}

/** Entries of workspaces that the lockfile lacks or has with other dependencies. */
export function staleWorkspaces(packages, manifests) {
  const added = {};
  for (const { folder, manifest } of manifests) {
    const { name, version, license, dependencies, devDependencies, optionalDependencies, peerDependencies, bin } =
      manifest;
    const entry = defined({
      name,
      version,
      license,
      dependencies,
      devDependencies,
      optionalDependencies,
      peerDependencies,
      bin: binOf(bin, name),
    });
    const there = packages[folder];
    if (
      there === undefined ||
      different(there, entry, ['version', 'dependencies', 'devDependencies', 'optionalDependencies'])
    )
      added[folder] = entry;
    if (packages[`node_modules/${name}`]?.resolved !== folder)
      added[`node_modules/${name}`] = { resolved: folder, link: true };
  }
  return added;
}

const binOf = (bin, name) => (typeof bin === 'string' ? { [name.split('/').pop()]: bin } : bin);
const defined = (entry) => Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
const different = (a, b, fields) =>
  fields.some((field) => JSON.stringify(a[field] ?? null) !== JSON.stringify(b[field] ?? null));

/** Where Node would find the package seen from a path; null when nowhere. */
function lookUp(packages, path, name) {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const candidate = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (packages[candidate] !== undefined) return candidate;
    if (at === '') return null;
    if (!at.includes('/node_modules/')) at = '/node_modules/';
  }
}

function workspaces() {
  const { workspaces: patterns } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return patterns
    .flatMap((pattern) =>
      pattern.endsWith('/*')
        ? readdirSync(join(root, pattern.slice(0, -2))).map((name) => `${pattern.slice(0, -1)}${name}`)
        : [pattern],
    )
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .map((folder) => ({ folder, manifest: JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) }));
}

/** npm keeps the entries sorted by path. */
function sorted(packages) {
  return Object.fromEntries(Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
}

if (process.argv[1]?.endsWith('lockfile.mjs')) {
  const file = join(root, 'package-lock.json');
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  const links = staleWorkspaces(lock.packages, workspaces());
  const missing = { ...links, ...missingOptional({ ...lock.packages, ...links }) };
  const names = Object.keys(missing);
  if (process.argv.includes('--check')) {
    for (const name of names) console.log(`missing in package-lock.json: ${name}`);
    process.exitCode = names.length > 0 ? 1 : 0;
  } else if (names.length > 0) {
    writeFileSync(
      file,
      `${JSON.stringify({ ...lock, packages: sorted({ ...lock.packages, ...missing }) }, null, 2)}\n`,
    );
    console.log(`package-lock.json: ${names.length} entries added`);
  }
}
