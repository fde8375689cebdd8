// npm run test:interop: the suites in Python, in a virtual environment of their own, against a real stack; they also run the
// producer in Java, and clients in Go where Go is installed.
//
// The only thing that needs Python (3.11 or newer) and a Java compiler. The last line is `N passed, N failed`.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrap, main } from './lib/bootstrap.mjs';
import { lastLine, settleCounts } from './lib/counts.mjs';
import { cacheDir, pinnedNode, root } from './lib/paths.mjs';
import { step } from './lib/progress.mjs';
import { findJava, findMaven } from './lib/prerequisites.mjs';
import { CommandFailed, runQuiet } from './lib/run.mjs';
import { runTee } from './lib/tee.mjs';
import { withTestStack } from './lib/test-stack.mjs';

const PYTHON_MIN = [3, 11];
const suite = join(root, 'test', 'interop');
const venv = join(cacheDir, 'venv');
const python = join(venv, 'bin', 'python');
const results = join(cacheDir, 'results', 'interop.xml');

await main(async () => {
  await bootstrap();
  await step('preparing Python', prepareVenv);
  const java = await step('building the producer in Java', buildJavaProducer);
  const clients = await step('building the clients in Go', buildGoClients);
  mkdirSync(join(results, '..'), { recursive: true });
  rmSync(results, { force: true });
  const args = [
    '-m',
    'pytest',
    suite,
    '-q',
    '-p',
    'no:cacheprovider',
    `--junitxml=${results}`,
    ...process.argv.slice(2).filter((arg) => arg !== '--'),
  ];
  const { code } = await withTestStack(() =>
    withSystem((system) =>
      runTee(python, args, {
        env: {
          ...process.env,
          RECOURSE_TEST_SYSTEM: system,
          RECOURSE_TEST_JAVA: JSON.stringify(java),
          RECOURSE_TEST_CLIENTS: JSON.stringify(clients),
          PYTHONDONTWRITEBYTECODE: '1',
        },
      }),
    ),
  );
  console.log(`\n${lastLine(settleCounts(junitCounts(), code))}`);
  return code;
});

/** Runs the work beside the services and the example's processes; hands over where they are, as JSON. */
async function withSystem(work) {
  const child = spawn(pinnedNode, [join(root, 'deploy', 'dev', 'dist', 'system.main.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => {
    child.once('exit', resolve);
  });
  const system = await step(
    'starting the services',
    () =>
      new Promise((resolve, reject) => {
        let told = '';
        child.stdout.on('data', (chunk) => {
          told += chunk;
          if (told.includes('\n')) resolve(told.slice(0, told.indexOf('\n')));
        });
        child.once('exit', (code) => {
          reject(new Error(`the services did not start (exit ${code}); their logs are printed above`));
        });
      }),
  );
  try {
    return await work(system);
  } finally {
    child.stdin.end();
    await ended;
  }
}

/** Makes the virtual environment once per requirements file and Python; the marker is written last. */
async function prepareVenv(say) {
  const base = findPython();
  const requirements = join(suite, 'requirements.txt');
  const marker = join(venv, '.complete');
  const digest = createHash('sha256')
    .update(`${base.bin} ${base.version}\n`)
    .update(readFileSync(requirements))
    .digest('hex');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === digest) return;
  rmSync(venv, { recursive: true, force: true });
  try {
    await runQuiet(base.bin, ['-m', 'venv', venv], { onLine: say });
    await runQuiet(python, ['-m', 'pip', 'install', '--disable-pip-version-check', '-r', requirements], {
      onLine: say,
    });
  } catch (cause) {
    if (!(cause instanceof CommandFailed)) throw cause;
    throw new Error(
      `The Python environment could not be made. On Debian the venv module is a package of its own: apt install python3-venv.\n${cause.output.trim()}`,
    );
  }
  writeFileSync(marker, digest);
}

/** Builds examples/java-producer with Maven; answers with the command that runs it. A second try, because repositories have bad moments. */
async function buildJavaProducer(say) {
  const { java } = findJava();
  const mvn = findMaven();
  const into = join(cacheDir, 'java-producer');
  const args = [
    '-q',
    '-B',
    '-f',
    join(root, 'examples', 'java-producer', 'pom.xml'),
    `-Dbuild.into=${into}`,
    'package',
  ];
  const build = () => runQuiet(mvn, args, { onLine: say, env: { ...process.env, JAVA_HOME: java.home } });
  try {
    await build().catch(build);
  } catch (cause) {
    if (!(cause instanceof CommandFailed)) throw cause;
    throw new Error(
      `The producer in Java could not be built. A JRE alone has no compiler: install a JDK, for instance apt install openjdk-21-jdk-headless.\n${cause.output.trim()}`,
    );
  }
  return [java.bin, '-jar', join(into, 'java-producer.jar')];
}

/** Builds test/interop/clients; answers with the command that runs it, or null where Go is not installed: its tests say so. */
async function buildGoClients(say) {
  if (spawnSync('go', ['version']).status !== 0) return null;
  const into = join(cacheDir, 'go-clients');
  const cwd = join(suite, 'clients');
  await runQuiet('go', ['build', '-o', into, '.'], { onLine: say, cwd });
  return [into];
}

function findPython() {
  const [wantedMajor, wantedMinor] = PYTHON_MIN;
  const seen = [];
  for (const bin of ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python']) {
    const asked = spawnSync(bin, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], { encoding: 'utf8' });
    if (asked.status !== 0) continue;
    const version = asked.stdout.trim();
    const [major, minor] = version.split('.').map(Number);
    if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return { bin, version };
    seen.push(`${bin} is ${version}`);
  }
  throw new Error(
    `npm run test:interop needs Python ${PYTHON_MIN.join('.')} or newer (${seen.join(', ') || 'found none'}). Install it, for instance apt install python3 python3-venv.`,
  );
}

function junitCounts() {
  if (!existsSync(results)) return null;
  const attribute = (name) =>
    Number(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(readFileSync(results, 'utf8'))?.[1] ?? 0);
  const failed = attribute('failures') + attribute('errors');
  return { passed: attribute('tests') - failed - attribute('skipped'), failed };
}
