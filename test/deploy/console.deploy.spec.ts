// The console as a cluster and one host would get it: rendered, and held to what docs/guides/deploy.md says.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { clusterTools, KUBERNETES } from '../../scripts/lib/cluster-tools.mjs';
import { root } from '../../scripts/lib/paths.mjs';
import { CONFIG } from '../../apps/console/src/config.js';
import { textOf } from '../architecture/tree.testing.js';
import { containerStages, stageOf } from './containers.testing.js';

const CHART = join(root, 'deploy', 'helm', 'recourse');
const EXAMPLE = join(root, 'deploy', 'check', 'values.yaml');
const OLDEST = KUBERNETES[0] ?? '';
const tools = clusterTools();
const scratch = mkdtempSync(join(tmpdir(), 'recourse-console-chart-'));
afterAll(() => {
  rmSync(scratch, { recursive: true });
});

type Doc = Readonly<Record<string, unknown>>;
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Doc;
}

/** The console as an installation would have it, with everything on; the example has none. */
const CONSOLE = {
  enabled: true,
  url: 'https://recourse.example.org',
  oidc: {
    discoveryUrl: 'https://id.example.org/.well-known/openid-configuration',
    secret: 'recourse-console',
  },
  ingress: { enabled: true, className: 'nginx' },
  clients: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }],
};

let written = 0;
function render(console: Doc = {}): { readonly status: number | null; readonly out: string } {
  written += 1;
  const file = join(scratch, `values-${String(written)}.yaml`);
  writeFileSync(file, stringify({ console: { ...CONSOLE, ...console } }));
  const { status, stdout, stderr } = spawnSync(
    tools.helm,
    ['template', 'recourse', CHART, '-n', 'recourse', '--kube-version', OLDEST, '-f', EXAMPLE, '-f', file],
    { encoding: 'utf8', cwd: root, env: { HOME: scratch } },
  );
  return { status, out: `${stdout}${stderr}` };
}

function manifests(console: Doc = {}): readonly Manifest[] {
  const { status, out } = render(console);
  if (status !== 0) throw new Error(out);
  const all = parseAllDocuments(out).flatMap((document) =>
    document.contents === null ? [] : [document.toJS() as Manifest],
  ); // chart.deploy.spec checks their shape
  return all.filter(({ metadata }) => metadata.name.startsWith('recourse-console'));
}

const rendered = manifests();
const named = (kind: string, name = 'recourse-console'): Doc => {
  const found = rendered.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found.spec;
};

interface Pod {
  readonly containers: readonly [{ readonly env: readonly { readonly name: string; readonly value: string }[] } & Doc];
  readonly volumes: readonly { readonly name: string; readonly projected?: { readonly defaultMode: number } }[];
}
const podOf = (deployment: Doc): Pod => (deployment['template'] as { readonly spec: Pod }).spec; // of a Deployment
const variables = Object.values(CONFIG);
const required = variables
  .filter(({ fallback, isOptional }) => fallback === null && !isOptional)
  .map(({ name }) => name);
const known: readonly string[] = variables.map(({ name }) => name);
const image = stageOf(containerStages(), 'console');

describe('the console in the chart', () => {
  it.each(KUBERNETES)('is made of resources that Kubernetes %s knows, to the last field', (version) => {
    const places = [join(tools.schemas, version, '{{ .ResourceKind }}{{ .KindSuffix }}.json')];
    const own = rendered.map((manifest) => stringify(manifest)).join('---\n');
    const { status, stdout } = spawnSync(
      tools.kubeconform,
      ['-strict', '-summary', '-kubernetes-version', version, '-schema-location', places.join()],
      { encoding: 'utf8', cwd: root, input: own, env: { HOME: scratch } },
    );
    expect([status, stdout]).toEqual([0, expect.stringContaining(`Valid: ${String(rendered.length)}, Invalid: 0`)]);
  });

  it('runs as nobody, writes nothing below its root, has no more rights, no token and a limit', () => {
    const pod = podOf(named('Deployment'));
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(pod.containers[0]).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      resources: { limits: { memory: expect.anything() as unknown } },
    });
  });

  it('is told what it needs, nothing it does not read, and its secret in a file that others cannot open', () => {
    const { containers, volumes } = podOf(named('Deployment'));
    const env = new Map(containers[0].env.map(({ name, value }) => [name, value]));
    expect(required.filter((name) => !env.has(name) && image.env[name] === undefined)).toEqual([]);
    expect([...env.keys()].filter((name) => !known.includes(name))).toEqual([]);
    expect(env.get('RECOURSE_OIDC_CLIENT_SECRET_FILE')).toBe('/run/secrets/client.secret');
    expect(env.get('RECOURSE_LEDGER_URL')).toBe('http://recourse-mutation-ledger');
    expect(volumes.find(({ name }) => name === 'secrets')?.projected?.defaultMode).toBe(0o440);
  });

  it('runs once, since its sessions are in its memory, and is asked on a route that it has', () => {
    expect(named('Deployment')['replicas']).toBe(1);
    expect(podOf(named('Deployment')).containers[0]).toMatchObject({
      startupProbe: { httpGet: { path: '/health' } },
      livenessProbe: { httpGet: { path: '/health' } },
      readinessProbe: { httpGet: { path: '/health' } },
    });
    expect(textOf('apps/console/src/console.ts')).toContain("app.get('/health'");
  });

  it('is reached under its own address by TLS, and by whom its policy names', () => {
    expect(named('Ingress')).toMatchObject({
      tls: [{ hosts: ['recourse.example.org'], secretName: 'recourse-console-tls' }],
      rules: [{ host: 'recourse.example.org' }],
    });
    expect(named('NetworkPolicy')).toMatchObject({ policyTypes: ['Ingress'] });
    expect(
      manifests({ clients: [] })
        .filter(({ metadata }) => metadata.name === 'recourse-console')
        .map(({ kind }) => kind),
    ).not.toContain('NetworkPolicy');
  });

  it('reaches the edges of the services and nothing else inside, and they let it in', () => {
    const to = ['budget-accountant', 'contract-registry', 'mutation-ledger', 'notifier', 'recovery-orchestrator'];
    const peer = (name: string): object => ({
      podSelector: { matchLabels: expect.objectContaining({ 'app.kubernetes.io/name': name }) as object },
    });
    expect(named('NetworkPolicy', 'recourse-console-out')).toMatchObject({
      egress: [{ ports: [{ port: 8080 }], to: to.map(peer) }],
    });
    expect(named('NetworkPolicy', 'recourse-console-edges')).toMatchObject({
      podSelector: { matchExpressions: [{ operator: 'In', values: to }] },
      ingress: [{ from: [peer('console')] }],
    });
  });

  it.each([
    ['an address without TLS', { url: 'http://recourse.example.org' }, 'url'],
    ['an issuer without TLS', { oidc: { discoveryUrl: 'http://id.example.org' } }, 'discoveryUrl'],
    ['a scope that signs nobody in', { oidc: { scope: 'profile' } }, 'scope'],
  ])('is refused with %s', (_what, values, says) => {
    const { status, out } = render(values);
    expect([status, out]).toEqual([1, expect.stringContaining(says)]);
  });

  it('is not there unless somebody asks for it', () => {
    expect(manifests({ enabled: false })).toEqual([]);
  });
});

describe('the console elsewhere', () => {
  it('starts as nobody, without a shell between, and is asked whether it lives by a route that it has', () => {
    expect(image.user).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/);
    expect([image.cmd[0], image.cmd.at(-1)]).toEqual(['node', 'apps/console/dist/main.js']);
    expect(image.healthcheck).toContain('/health');
  });

  it('on one host is told what it needs, and is on no network with broker and databases', () => {
    const { services } = parse(textOf('deploy/compose/compose.yaml'), { merge: true }) as {
      readonly services: Readonly<Record<string, { readonly environment: Doc; readonly networks: readonly string[] }>>;
    };
    const { environment = {}, networks } = services['console'] ?? {};
    const given = { ...image.env, ...environment };
    expect(required.filter((name) => !(name in given))).toEqual([]);
    expect(Object.keys(environment).filter((name) => !known.includes(name))).toEqual([]);
    expect(networks).toEqual(['edge']);
  });
});
