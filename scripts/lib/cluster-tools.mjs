// helm, kubeconform and promtool, built from the sources that deploy/check/go.mod pins, and the schemas of Kubernetes.
//
// Boundary: fetches and builds once per content of those files, below .recourse/tools; what they check is the deploy suite's.
// No containers and no cluster: the tools read files.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { keepDir, root } from './paths.mjs';
import { step } from './progress.mjs';
import { CommandFailed, runQuiet } from './run.mjs';

const PINS = join(root, 'deploy', 'check');
const GO_MIN = [1, 26];
const PROGRAMS = {
  helm: 'helm.sh/helm/v3/cmd/helm',
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform',
  promtool: 'github.com/prometheus/prometheus/cmd/promtool',
};
/** Discovery of targets in a dozen clouds is most of promtool, and nothing of what it checks. */
const BUILD_TAGS = 'remove_all_sd';
/** The oldest and the newest Kubernetes that the chart is checked against; the package has them all. */
export const KUBERNETES = ['1.31.0', '1.37.0'];

/** Where the tools and schemas are, or will be. */
export function clusterTools() {
  const folder = join(keepDir, 'tools', digestOf(['go.mod', 'go.sum', 'requirements.txt', 'unpack_schemas.py']));
  return {
    folder,
    helm: join(folder, 'helm'),
    kubeconform: join(folder, 'kubeconform'),
    promtool: join(folder, 'promtool'),
    schemas: join(folder, 'schemas'),
  };
}

/** Builds and fetches what is missing. Errors: what cannot be had, and what to install. */
export async function prepareClusterTools() {
  const { folder } = clusterTools();
  if (existsSync(folder)) return;
  const unfinished = `${folder}.part`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  await step('building helm, kubeconform and promtool (some minutes, once)', (say) => build(unfinished, say));
  await step('fetching the schemas of Kubernetes', (say) => fetchSchemas(unfinished, say));
  renameSync(unfinished, folder);
}

async function build(into, say) {
  refuseOldGo();
  try {
    await runQuiet(
      'go',
      [
        'build',
        '-mod=readonly',
        '-trimpath',
        '-ldflags=-s -w',
        `-tags=${BUILD_TAGS}`,
        '-o',
        into,
        ...Object.values(PROGRAMS),
      ],
      { cwd: PINS, onLine: say, env: { ...process.env, GOFLAGS: '', GOTOOLCHAIN: 'local', CGO_ENABLED: '0' } },
    );
  } catch (cause) {
    throw unavailable(
      'helm, kubeconform and promtool could not be built from the Go modules in deploy/check/go.mod.',
      cause,
    );
  }
}

function refuseOldGo() {
  const wanted = GO_MIN.join('.');
  const remedy = `The deploy suite builds its tools with Go ${wanted} or newer: install it (Debian: apt install golang, or a newer one from the Go project), then run it again.`;
  const { status, stdout } = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`No Go was found. ${remedy}`);
  const [major, minor] = stdout.trim().replace('go', '').split('.').map(Number);
  if (major < GO_MIN[0] || (major === GO_MIN[0] && minor < GO_MIN[1]))
    throw new Error(`Go is ${stdout.trim()}. ${remedy}`);
}

/** The package is a zip of JSON files; Python is needed for nothing else. */
async function fetchSchemas(into, say) {
  const folder = join(into, 'schemas');
  const pip = ['-m', 'pip', 'download', '--disable-pip-version-check', '--no-deps', '--require-hashes'];
  try {
    await runQuiet('python3', [...pip, '-r', join(PINS, 'requirements.txt'), '-d', folder], { onLine: say });
    const archive = readdirSync(folder).find((name) => name.endsWith('.whl'));
    await runQuiet('python3', [join(PINS, 'unpack_schemas.py'), join(folder, archive ?? ''), folder, ...KUBERNETES]);
    rmSync(join(folder, archive ?? ''));
  } catch (cause) {
    throw unavailable(
      'The schemas of Kubernetes (kubernetes-validate from PyPI) could not be fetched with python3 and pip.',
      cause,
    );
  }
}

function unavailable(what, cause) {
  return cause instanceof CommandFailed ? new Error(`${what}\n${cause.output.trim().slice(-2_000)}`) : cause;
}

function digestOf(names) {
  const digest = createHash('sha256');
  for (const name of names) digest.update(readFileSync(join(PINS, name)));
  return digest.digest('hex').slice(0, 16);
}
