// What the development stack needs from the machine: found, or said what is missing and how to get it.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, readdirSync, statfsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { busyProblem, holderOf } from './lock.mjs';
import { artifactsPresent } from './artifacts.mjs';
import { defaultDataDir, root } from './paths.mjs';

/** Apicurio 3.3 is compiled for 21; Kafka 4.3 would do with 17. */
export const JAVA_MAJOR_MIN = 21;
export const NODE_MAJOR_MIN = 20;
export const MAVEN_VERSION_MIN = [3, 6];
/** Jars, npm packages, Maven's own repository and a day of data; with everything fetched only the data. */
const DISK_COLD_BYTES_MIN = 2_000_000_000;
const DISK_WARM_BYTES_MIN = 500_000_000;

/**
 * Reads the major version out of `java -version`, or out of the `release` file of a JDK.
 *
 * @param {string} text
 * @returns {number | null} 8 for "1.8.0_392", 21 for "21.0.5" and "21-ea"; null when there is no version in it
 */
export function javaMajor(text) {
  const found = /(?:version\s+"|JAVA_VERSION="|openjdk\s+)(\d+)(?:\.(\d+))?/.exec(text);
  if (found === null) return null;
  const first = Number(found[1]);
  return first === 1 && found[2] !== undefined ? Number(found[2]) : first;
}

/**
 * Finds a Java that is new enough: JAVA_HOME first, then PATH, then the usual places.
 *
 * @param {{minimum?: number, env?: NodeJS.ProcessEnv, candidates?: readonly string[]}} [options]
 * @returns {{java: {bin: string, home: string, major: number} | null, seen: readonly {bin: string, major: number | null}[]}}
 */
export function findJava(options = {}) {
  const minimum = options.minimum ?? JAVA_MAJOR_MIN;
  const seen = [];
  for (const bin of options.candidates ?? javaCandidates(options.env ?? process.env)) {
    if (seen.some((one) => one.bin === bin) || !isExecutable(bin)) continue;
    const major = versionOfJava(bin);
    seen.push({ bin, major });
    if (major !== null && major >= minimum) return { java: { bin, home: dirname(dirname(bin)), major }, seen };
  }
  return { java: null, seen };
}

/** Every place where a Java may be, in the order in which they are tried. */
function javaCandidates(env) {
  const inHome = (home) => join(home, 'bin', 'java');
  const below = (folder, inside = '') => list(folder).map((name) => inHome(join(folder, name, inside)));
  const mac = join('Contents', 'Home');
  return [
    ...(env.JAVA_HOME ? [inHome(env.JAVA_HOME)] : []),
    ...(env.PATH ?? '')
      .split(delimiter)
      .filter(Boolean)
      .map((folder) => join(folder, 'java')),
    ...[
      '/usr/lib/jvm',
      '/usr/lib64/jvm',
      '/usr/java',
      '/opt/java',
      '/opt/jdk',
      join(homedir(), '.sdkman/candidates/java'),
      join(homedir(), '.jdks'),
    ].flatMap((folder) => below(folder)),
    ...['/Library/Java/JavaVirtualMachines', join(homedir(), 'Library/Java/JavaVirtualMachines')].flatMap((folder) =>
      below(folder, mac),
    ),
    ...['/opt/homebrew/opt', '/usr/local/opt'].flatMap((folder) =>
      list(folder)
        .filter((name) => name.startsWith('openjdk'))
        .map((name) => inHome(join(folder, name))),
    ),
  ];
}

function versionOfJava(bin) {
  const release = join(dirname(dirname(bin)), 'release');
  if (existsSync(release)) {
    const major = javaMajor(readFileSync(release, 'utf8'));
    if (major !== null) return major;
  }
  const asked = spawnSync(bin, ['-version'], { encoding: 'utf8', timeout: 20_000 });
  return javaMajor(`${asked.stderr ?? ''}${asked.stdout ?? ''}`);
}

/** @returns {string | null} the `mvn` that would be run */
export function findMaven(env = process.env) {
  const folders = [env.MAVEN_HOME, env.M2_HOME].filter(Boolean).map((home) => join(home, 'bin'));
  return (
    [...folders, ...(env.PATH ?? '').split(delimiter).filter(Boolean)]
      .map((folder) => join(folder, 'mvn'))
      .find(isExecutable) ?? null
  );
}

/**
 * Reads the version out of `mvn -v`.
 *
 * @param {string} text
 * @returns {readonly [number, number] | null}
 */
export function mavenVersion(text) {
  const found = /Apache Maven (\d+)\.(\d+)/.exec(text);
  return found === null ? null : [Number(found[1]), Number(found[2])];
}

/**
 * Looks at everything the stack needs and reports all that is wrong at once.
 *
 * @param {{dataDir?: string, env?: NodeJS.ProcessEnv, nodeVersion?: string}} [options]
 * @returns {readonly {code: string, message: string, remedy: string}[]} empty when all is well
 */
export function checkPrerequisites(options = {}) {
  const env = options.env ?? process.env;
  const dataDir = options.dataDir ?? defaultDataDir;
  const fetched = artifactsPresent();
  const { java, seen } = findJava({ env });
  return [
    ...checkPlatform(),
    ...checkNode(options.nodeVersion ?? process.versions.node),
    ...(java === null ? [javaProblem(seen)] : []),
    ...(fetched ? [] : checkMaven(env, java)),
    ...checkDisk(
      dataDir,
      fetched && existsSync(join(root, 'node_modules')) ? DISK_WARM_BYTES_MIN : DISK_COLD_BYTES_MIN,
    ),
    ...checkDataDir(dataDir),
  ];
}

/** One problem as a person reads it. */
export const describeProblem = (problem) => `${problem.message}\n    remedy: ${problem.remedy}`;

function checkPlatform() {
  const known = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];
  const here = `${process.platform}-${process.arch}`;
  return known.includes(here)
    ? []
    : [
        {
          code: 'PLATFORM',
          message: `The development stack has no PostgreSQL for ${here}.`,
          remedy: `Run it on one of ${known.join(', ')} (on Windows inside WSL 2).`,
        },
      ];
}

function checkNode(version) {
  const major = Number(version.split('.')[0]);
  return major >= NODE_MAJOR_MIN
    ? []
    : [
        {
          code: 'NODE',
          message: `Node ${version} is too old to install the project: ${NODE_MAJOR_MIN} or newer is needed.`,
          remedy:
            'Install a current Node from your package manager or nodejs.org; Node 24 for the services comes with npm ci.',
        },
      ];
}

function javaProblem(seen) {
  const found = seen.filter((one) => one.major !== null).map((one) => `Java ${one.major} at ${one.bin}`);
  return {
    code: 'JAVA',
    message: `No Java ${JAVA_MAJOR_MIN} or newer was found (the schema registry needs it). ${found.length > 0 ? `Found only: ${found.join(', ')}.` : 'Found none at all.'}`,
    remedy: `Install a JDK or JRE ${JAVA_MAJOR_MIN}+ (Debian: apt install openjdk-21-jre-headless, macOS: brew install openjdk@21), or set JAVA_HOME to one. Looked in JAVA_HOME, PATH, /usr/lib/jvm and the usual places.`,
  };
}

function checkMaven(env, java) {
  const wanted = MAVEN_VERSION_MIN.join('.');
  const remedy = `Install Maven ${wanted} or newer (Debian: apt install maven, macOS: brew install maven). It is needed only once, to fetch Kafka and the registry.`;
  const mvn = findMaven(env);
  if (mvn === null) return [{ code: 'MAVEN', message: 'Maven (mvn) was not found in MAVEN_HOME or PATH.', remedy }];
  if (java === null) return [];
  const asked = spawnSync(mvn, ['-v'], { encoding: 'utf8', timeout: 30_000, env: { ...env, JAVA_HOME: java.home } });
  const version = mavenVersion(asked.stdout ?? '');
  if (version === null)
    return [
      {
        code: 'MAVEN',
        message: `${mvn} -v does not answer with a version: ${(asked.stderr || asked.stdout || String(asked.error ?? '')).trim().slice(0, 300)}`,
        remedy,
      },
    ];
  const [major, minor] = version;
  const old = major < MAVEN_VERSION_MIN[0] || (major === MAVEN_VERSION_MIN[0] && minor < MAVEN_VERSION_MIN[1]);
  return old
    ? [
        {
          code: 'MAVEN',
          message: `Maven ${major}.${minor} at ${mvn} is too old: ${wanted} or newer is needed.`,
          remedy,
        },
      ]
    : [];
}

function checkDisk(dataDir, bytesMin) {
  const problems = [];
  for (const folder of new Set([existingParent(root), existingParent(dataDir)])) {
    const { bavail, bsize } = statfsSync(folder);
    const free = bavail * bsize;
    if (free < bytesMin) {
      problems.push({
        code: 'DISK',
        message: `Only ${Math.floor(free / 1e6)} MB are free on the disk of ${folder}; ${Math.floor(bytesMin / 1e6)} MB are needed.`,
        remedy: 'Free some space, or choose another place for the data with --data-dir <directory>.',
      });
    }
  }
  return problems;
}

function checkDataDir(dataDir) {
  const holder = holderOf(dataDir);
  if (holder !== null) return [busyProblem(dataDir, holder)];
  try {
    makeFolder(dataDir);
    accessSync(dataDir, constants.W_OK);
    return [];
  } catch (cause) {
    return [
      {
        code: 'DATA_DIR',
        message: `The data directory ${dataDir} cannot be written (${cause.code}).`,
        remedy: 'Make it writable for this user, or choose another one with --data-dir <directory>.',
      },
    ];
  }
}

/** Level by level: Node's own recursive mkdir never returns for a place like /proc/x that exists and takes no folders. */
function makeFolder(path) {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}

function existingParent(path) {
  return existsSync(path) ? path : existingParent(dirname(path));
}

function list(folder) {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
