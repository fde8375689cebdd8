// The chart as a cluster would get it: rendered, read by the schemas of Kubernetes, Strimzi and the Prometheus operator, and held
// to what docs/guides/deploy.md says. There is no cluster here; nothing of it is applied.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { AccessRule } from '@recourse/kafka';
import { clusterPlanIn, differencesOf } from '@recourse/service/provision';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { clusterTools, KUBERNETES } from '../../scripts/lib/cluster-tools.mjs';
import { root } from '../../scripts/lib/paths.mjs';
import { filesBelow, textOf } from '../architecture/tree.testing.js';
import { AUDITING, containerStages, PROGRAMS, stageOf } from './containers.testing.js';
import { requiredOf, variablesOf } from './programs.testing.js';

const CHART = join(root, 'deploy', 'helm', 'recourse');
const EXAMPLE = join(root, 'deploy', 'check', 'values.yaml');
const OLDEST = KUBERNETES[0] ?? '';
const OWN_SCHEMAS = join(root, 'deploy', 'check', 'schemas', '{{ .ResourceKind }}{{ .KindSuffix }}.json');
const tools = clusterTools();
const scratch = mkdtempSync(join(tmpdir(), 'recourse-chart-'));
afterAll(() => {
  rmSync(scratch, { recursive: true });
});

interface Ran {
  readonly status: number | null;
  readonly out: string;
}
function run(program: string, args: readonly string[], input?: string): Ran {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    cwd: root,
    input,
    env: { HOME: scratch },
  });
  return { status, out: `${stdout}${stderr}` };
}

type Values = Readonly<Record<string, unknown>>;
let written = 0;
/** Renders the example's values with some changed, as a release of the name in the namespace of that name. */
function render(changed: Values = {}, release = 'recourse'): Ran {
  written += 1;
  const file = join(scratch, `values-${String(written)}.yaml`);
  writeFileSync(file, stringify(changed));
  return run(tools.helm, [
    'template',
    release,
    CHART,
    '-n',
    release,
    '--kube-version',
    OLDEST,
    '-f',
    EXAMPLE,
    '-f',
    file,
  ]);
}

interface Container {
  readonly imagePullPolicy?: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly resources: { readonly requests: object; readonly limits: object };
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}
interface Probe {
  readonly httpGet: { readonly path: string };
}
interface Pod {
  readonly automountServiceAccountToken: boolean;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly containers: readonly [Container];
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly volumes: readonly {
    readonly name: string;
    readonly projected?: {
      readonly defaultMode: number;
      readonly sources: readonly { readonly secret?: { readonly name: string | null } }[];
    };
  }[];
}
interface Claim {
  readonly metadata: { readonly name: string };
}
interface Acl {
  readonly resource: { readonly type: string; readonly name: string; readonly patternType: string };
  readonly operations: readonly string[];
}
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly strategy: { readonly type: string };
    readonly template: { readonly spec: Pod };
    readonly authorization: { readonly acls: readonly Acl[] };
    readonly quotas?: Readonly<Record<string, number>>;
    readonly podManagementPolicy?: string;
    readonly podMetricsEndpoints?: readonly { readonly relabelings: unknown }[];
    readonly volumeClaimTemplates: readonly Claim[];
    readonly persistentVolumeClaimRetentionPolicy: unknown;
    readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly policyTypes: readonly string[];
    readonly ingress?: unknown;
    readonly egress?: unknown;
    readonly maxUnavailable: number;
    readonly partitions: number;
    readonly replicas: number;
    readonly config: Readonly<Record<string, string>>;
    readonly groups: unknown;
    readonly selector?: { readonly matchExpressions?: unknown };
  };
}
/** What a cluster would be given. */
function manifests({ out, status }: Ran): readonly Manifest[] {
  if (status !== 0) throw new Error(out);
  // Its shape is what kubeconform checks below.
  return parseAllDocuments(out).flatMap((document) =>
    document.contents === null ? [] : [document.toJS() as Manifest],
  );
}

const whole = render();
const rendered = manifests(whole);
const ofKind = (kind: string): readonly Manifest[] => rendered.filter((manifest) => manifest.kind === kind);
const named = (kind: string, name: string): Manifest => {
  const found = ofKind(kind).find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
};
const podOf = (manifest: Manifest): Pod => manifest.spec.template.spec;

describe('the chart', () => {
  it('has nothing that Helm warns of', () => {
    const { status, out } = run(tools.helm, ['lint', '--strict', '--kube-version', OLDEST, CHART, '-f', EXAMPLE]);
    expect([status, out]).toEqual([0, expect.stringContaining('0 chart(s) failed')]);
  });

  it.each(KUBERNETES)(
    'is made of resources that Kubernetes %s, Strimzi and the Prometheus operator know, to the last field',
    (version) => {
      const places = [join(tools.schemas, version, '{{ .ResourceKind }}{{ .KindSuffix }}.json'), OWN_SCHEMAS];
      const where = places.flatMap((place) => ['-schema-location', place]);
      const check = (text: string): Ran =>
        run(tools.kubeconform, ['-strict', '-summary', '-kubernetes-version', version, ...where], text);
      const { status, out } = check(whole.out);
      expect([status, out]).toEqual([
        0,
        expect.stringContaining(`Valid: ${String(rendered.length)}, Invalid: 0, Errors: 0, Skipped: 0`),
      ]);
      expect(check(whole.out.replaceAll('readOnlyRootFilesystem', 'readOnlyRoot')).status).toBe(1);
    },
  );

  it.each([
    ['no id of the logs', { logId: '' }, 'logId'],
    ['a tag that moves', { image: { tag: 'latest' } }, 'tag'],
    ['two copies of a topic', { strimzi: { replicas: 2 } }, 'replicas'],
    ['keys of the issuer in the clear', { issuer: { jwksUrl: 'http://id.example.org' } }, 'jwksUrl'],
    [
      'a secret among the variables',
      { programs: { notifier: { env: { RECOURSE_DATABASE_PASSWORD: 'x' } } } },
      'RECOURSE_DATABASE_PASSWORD',
    ],
    ['a worker of an adapter that has no topic', { strimzi: { workers: [{ name: 'w', adapters: ['crm'] }] } }, 'crm'],
    ['brokers that neither it nor Strimzi names', { strimzi: { enabled: false } }, 'kafka.brokers'],
    ['more copies in step than there are', { strimzi: { minInSyncReplicas: 4 } }, 'minInSyncReplicas'],
    ['a witness of no auditor', { witness: { auditors: [] } }, 'auditors'],
    ['an address of a witness without its key', { auditor: { witnesses: ['http://witness'] } }, 'witnesses'],
    ['a word that nobody reads', { replicas: 3 }, 'replicas'],
  ])('is refused with %s, and says where', (_what, values, says) => {
    const { status, out } = render(values);
    expect([status, out]).toEqual([1, expect.stringContaining(says)]);
  });

  it.each([
    ['topics and users that somebody else makes', { strimzi: { enabled: false }, kafka: { brokers: ['kafka:9093'] } }],
    ['nobody who watches, and no policies', { monitoring: { enabled: false }, networkPolicy: { enabled: false } }],
    ['no auditor and no witness', { auditor: { enabled: false }, witness: { enabled: false } }],
    ['a witness alone, for the auditor of somebody else', { auditor: { enabled: false } }],
    ['databases that somebody else makes', { postgres: { provision: { enabled: false } } }],
  ])('renders with %s', (_what, values) => {
    const { out } = render(values);
    const where = [
      '-schema-location',
      join(tools.schemas, OLDEST, '{{ .ResourceKind }}{{ .KindSuffix }}.json'),
      '-schema-location',
      OWN_SCHEMAS,
    ];
    expect(run(tools.kubeconform, ['-strict', '-kubernetes-version', OLDEST, ...where], out)).toEqual({
      status: 0,
      out: '',
    });
  });
});

describe('a pod', () => {
  const pods = [...ofKind('Deployment'), ...ofKind('StatefulSet'), ...ofKind('Job')].map(
    (manifest) => [manifest.metadata.name, podOf(manifest)] as const,
  );

  it.each(pods)(
    '%s runs as nobody, writes nothing below its root, has no more rights, no token and a limit',
    (_name, pod) => {
      const [container] = pod.containers;
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container.resources).toMatchObject({ requests: { cpu: expect.anything(), memory: expect.anything() } });
      expect(container.resources).toMatchObject({ limits: { memory: expect.anything() } });
    },
  );

  it.each(pods)('%s fetches its image as the values say, also one that runs before the others', (_name, pod) => {
    expect(pod.imagePullSecrets).toEqual([{ name: 'registry' }]);
    expect(pod.containers.map(({ imagePullPolicy }) => imagePullPolicy)).toEqual(['IfNotPresent']);
  });

  it.each(PROGRAMS)(
    '%s is told what it needs, nothing it does not read, and its secrets in files that others cannot open',
    (program) => {
      const pod = podOf(named('Deployment', `recourse-${program}`));
      const env = new Map(pod.containers[0].env?.map(({ name, value }) => [name, value]));
      const { env: ofImage } = stageOf(containerStages(), program);
      expect(requiredOf(program).filter((name) => !env.has(name) && ofImage[name] === undefined)).toEqual([]);
      expect([...env.keys()].filter((name) => !variablesOf(program).all.includes(name))).toEqual([]);
      expect([...env.values()].join('\n')).not.toMatch(/:\/\/[^/@\s]+:[^/@\s]+@/);
      expect(pod.volumes.find(({ name }) => name === 'secrets')?.projected?.defaultMode).toBe(0o440);
    },
  );

  it.each(PROGRAMS)('%s is asked on routes that it has, and may be moved one at a time', (program) => {
    const [{ startupProbe, livenessProbe, readinessProbe }] = podOf(
      named('Deployment', `recourse-${program}`),
    ).containers;
    const routes = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet.path);
    expect(routes).toEqual(['/health/live', '/health/live', '/health/ready']);
    const controller = textOf('libs/service/src/inbound/http/health.controller.ts');
    for (const route of routes) expect(controller).toContain(`@Get('${(route ?? '').slice(1)}')`);
    expect(named('PodDisruptionBudget', `recourse-${program}`).spec.maxUnavailable).toBe(1);
  });
});

describe('databases', () => {
  const jobOf = (values: Values): Pod => {
    const found = manifests(render(values)).find(
      ({ kind, metadata }) => kind === 'Job' && metadata.name === 'recourse-postgres-roles',
    );
    if (found === undefined) throw new Error('no job makes roles');
    return podOf(found);
  };
  const told = (pod: Pod): Readonly<Record<string, string | undefined>> =>
    Object.fromEntries((pod.containers[0].env ?? []).map(({ name, value }) => [name, value]));

  it('of another installation on the same server have names of their own, for whoever makes them and whoever uses them', () => {
    const values = { postgres: { prefix: 'blue' }, logId: 'blue-1' };
    expect(told(jobOf(values))).toMatchObject({ RECOURSE_DATABASE_PREFIX: 'blue', RECOURSE_LOG_ID: 'blue-1' });
    const ledger = manifests(render(values)).find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'recourse-mutation-ledger',
    );
    const env = ledger === undefined ? {} : told(podOf(ledger));
    for (const [variable, owner] of Object.entries({
      RECOURSE_DATABASE_URL: 'mutation_ledger',
      RECOURSE_KEY_STORE_URL: 'keys',
    }))
      expect(env[variable]).toContain(`postgres://blue_${owner}@postgres.databases.svc:5432/blue_${owner}?`);
  });

  it('are reached by whoever makes them as by programs: with the authority that the address names, or with none', () => {
    const authority = { PGSSLMODE: 'verify-full', PGSSLROOTCERT: '/run/secrets/postgres-ca.crt' };
    expect(told(jobOf({}))).toMatchObject(authority);
    const bare = jobOf({ postgres: { caSecret: '', parameters: 'sslmode=require' } });
    expect(told(bare)).toMatchObject({ PGSSLMODE: 'require' });
    expect(told(bare)).not.toHaveProperty('PGSSLROOTCERT');
    const secrets = bare.volumes.flatMap(({ projected }) => projected?.sources ?? []).map(({ secret }) => secret?.name);
    expect(secrets).toEqual(['recourse-postgres-passwords', 'recourse-postgres-admin']);
  });
});

describe.each(AUDITING)('the pod of %s', (program) => {
  const { spec } = named('StatefulSet', `recourse-${program}`);
  const pod = podOf(named('StatefulSet', `recourse-${program}`));
  const [{ env = [], startupProbe, livenessProbe, readinessProbe }] = pod.containers;

  it('is told what it needs and nothing it does not read, with its secrets in files that others cannot open', () => {
    const names = env.map(({ name }) => name);
    const { env: ofImage } = stageOf(containerStages(), program);
    expect(requiredOf(program).filter((name) => !names.includes(name) && ofImage[name] === undefined)).toEqual([]);
    expect(names.filter((name) => !variablesOf(program).all.includes(name))).toEqual([]);
    expect(pod.volumes.find(({ name }) => name === 'secrets')?.projected?.defaultMode).toBe(0o440);
  });

  it('is one alone, is asked how it is, and keeps what it signed when the chart goes', () => {
    expect([spec.replicas, spec.podManagementPolicy]).toEqual([1, 'Parallel']);
    const routes = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet.path);
    expect(routes).toEqual(['/health/startup', '/health/live', '/health/ready']);
    expect(spec.volumeClaimTemplates.map(({ metadata }) => metadata.name)).toEqual(['kept']);
    expect(spec.persistentVolumeClaimRetentionPolicy).toEqual({ whenDeleted: 'Retain', whenScaled: 'Retain' });
  });
});

describe('an upgrade', () => {
  const strategies = (values: Values): ReadonlySet<string> =>
    new Set(
      manifests(render(values))
        .filter(({ kind }) => kind === 'Deployment')
        .map(({ spec }) => spec.strategy.type),
    );

  it('brings a new instance before an old one goes, and lets all go first where rows change their shape', () => {
    expect(strategies({})).toEqual(new Set(['RollingUpdate']));
    expect(strategies({ rollout: 'recreate' })).toEqual(new Set(['Recreate']));
  });
});

describe('the network', () => {
  it('lets nothing in and nothing out that no policy names', () => {
    const { spec } = named('NetworkPolicy', 'recourse-closed');
    expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
    expect([spec.ingress, spec.egress]).toEqual([undefined, undefined]);
    const everything = { 'app.kubernetes.io/part-of': 'recourse', 'app.kubernetes.io/instance': 'recourse' };
    expect(spec.podSelector.matchLabels).toEqual(everything);
  });

  it('lets nobody in where nobody is named, but the auditor to its witness', () => {
    const closed = manifests(render({ networkPolicy: { clients: [], monitoring: [] } }));
    const policies = closed.filter(({ kind, spec }) => kind === 'NetworkPolicy' && spec.ingress !== undefined);
    expect(policies.map(({ metadata }) => metadata.name)).toEqual(['recourse-witness']);
    const auditor = { podSelector: { matchLabels: expect.objectContaining({ 'app.kubernetes.io/name': 'auditor' }) } };
    expect(policies[0]?.spec.ingress).toEqual([{ ports: [{ protocol: 'TCP', port: 8080 }], from: [auditor] }]);
  });

  it('lets a witness ask nobody', () => {
    expect(named('NetworkPolicy', 'recourse-out').spec.podSelector).toMatchObject({
      matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'NotIn', values: ['witness'] }],
    });
  });
});

/** What Strimzi makes of a rule. */
function ruleOf(user: string, { type, name }: Acl['resource'], operation: string): AccessRule {
  const inCapitals = (word: string): string => word.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
  return {
    principal: `User:${user}`,
    host: '*',
    permission: 'ALLOW',
    pattern: 'LITERAL',
    // The chart says what Kafka knows: kubeconform checks it above.
    operation: inCapitals(operation) as AccessRule['operation'],
    resource: inCapitals(type) as AccessRule['resource'],
    name: type === 'cluster' ? 'kafka-cluster' : name,
  };
}

describe('topics and users', () => {
  const may = (operation: string, topic: string): readonly string[] =>
    ofKind('KafkaUser')
      .filter(({ spec }) =>
        spec.authorization.acls.some(
          ({ resource, operations }) =>
            resource.type === 'topic' && resource.name === topic && operations.includes(operation),
        ),
      )
      .map(({ metadata }) => metadata.name);

  it('have three copies each, follow no copy that lacks some of it, and stay when the chart goes', () => {
    expect(ofKind('KafkaTopic').length).toBeGreaterThan(14);
    for (const { spec, metadata } of ofKind('KafkaTopic')) {
      expect(spec.replicas).toBe(3);
      expect(spec.config).toMatchObject({ 'min.insync.replicas': '2', 'unclean.leader.election.enable': 'false' });
      expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    }
  });

  it('let only its owner write a log', () => {
    const owners = {
      'recourse.contracts': 'contract-registry',
      'recourse.assumptions': 'mutation-ledger',
      'recourse.mutations': 'mutation-ledger',
      'recourse.rollback-notifications': 'mutation-ledger',
      'recourse.recoveries': 'recovery-orchestrator',
      'recourse.budgets': 'budget-accountant',
      'recourse.signed-heads': 'auditor',
    };
    for (const [log, owner] of Object.entries(owners))
      expect([log, may('Write', log)]).toEqual([log, [`recourse-${owner}-kafka`]]);
  });

  it('let only the worker of its adapter read a request topic', () => {
    expect(may('Read', 'recourse.tool-requests.payments')).toEqual(['payments-worker', 'payments-eye']);
    expect(may('Read', 'recourse.tool-requests.mail')).toEqual(['mail-worker']);
    expect(may('Write', 'recourse.tool-requests.mail')).toEqual([
      'recourse-mutation-ledger-kafka',
      'recourse-recovery-orchestrator-kafka',
    ]);
  });

  it('name each topic and group in full, and give nobody more than reading, writing and looking', () => {
    const acls = ofKind('KafkaUser').flatMap(({ spec }) => spec.authorization.acls);
    expect(
      acls.filter(
        ({ resource: { type, name, patternType } }) =>
          type !== 'cluster' && (patternType !== 'literal' || name === '*'),
      ),
    ).toEqual([]);
    expect(new Set(acls.flatMap(({ operations }) => operations))).toEqual(
      new Set(['Read', 'Write', 'Describe', 'DescribeConfigs']),
    );
    expect(new Set(acls.map(({ resource }) => resource.type))).toEqual(
      new Set(['topic', 'group', 'transactionalId', 'cluster']),
    );
  });

  it('hold those outside to what a broker gives each, and neither services nor who checks', () => {
    const outside = ['refund-agent', 'payments-worker', 'payments-eye', 'mail-worker', 'loyalty', 'judge'];
    const quotas = { producerByteRate: 4_194_304, consumerByteRate: 33_554_432, requestPercentage: 50 };
    const held = ofKind('KafkaUser').filter(({ spec }) => spec.quotas !== undefined);
    expect(held.map(({ metadata }) => metadata.name).sort()).toEqual([...outside].sort());
    expect(held.map(({ spec }) => spec.quotas)).toEqual(outside.map(() => quotas));
    const free = manifests(render({ strimzi: { quotas: null } })).filter(({ kind }) => kind === 'KafkaUser');
    expect(free.filter(({ spec }) => spec.quotas !== undefined)).toEqual([]);
  });

  it('are as the plan says that the chart leaves for whoever checks them', () => {
    const { data = {} } = named('ConfigMap', 'recourse-cluster-plan');
    const plan = clusterPlanIn(JSON.parse(data['cluster.json'] ?? ''));
    expect(plan.users).toHaveLength(ofKind('KafkaUser').length);
    const topics = ofKind('KafkaTopic').map(({ metadata: { name }, spec: { partitions, replicas, config } }) => ({
      name,
      partitions,
      replicationFactor: replicas,
      config,
    }));
    const access = ofKind('KafkaUser').flatMap(({ metadata, spec: { authorization } }) =>
      authorization.acls.flatMap(({ resource, operations }) =>
        operations.map((operation) => ruleOf(metadata.name, resource, operation)),
      ),
    );
    expect(access.length).toBeGreaterThan(100);
    const found = differencesOf(plan, { topics, access, subjects: new Map() });
    expect(found.filter(({ code }) => code !== 'SUBJECT_MISSING')).toEqual([]);
  });

  it('give a group to one user alone', () => {
    const groups = ofKind('KafkaUser').flatMap(({ spec }) =>
      spec.authorization.acls.filter(({ resource }) => resource.type === 'group').map(({ resource }) => resource.name),
    );
    expect(groups).toHaveLength(new Set(groups).size);
    expect(groups).toEqual(expect.arrayContaining(['recourse.mutation-ledger', 'payments-workers', 'loyalty']));
    expect(groups.filter((name) => name.endsWith('-observers'))).toEqual(['payments-observers']);
  });
});

describe('alerts', () => {
  it('are fed by each program that has metrics, and by nobody who has none', () => {
    const all = manifests(render());
    const named = all.find(({ kind }) => kind === 'PodMonitor')?.spec.selector?.matchExpressions ?? [];
    expect(named).toEqual([{ key: 'app.kubernetes.io/name', operator: 'NotIn', values: ['witness', 'console'] }]);
    const without = ['apps/auditor/src/witness', 'apps/console/src'].flatMap((folder) =>
      filesBelow(folder).filter((path) => !path.endsWith('.spec.ts') && textOf(path).includes("'/metrics'")),
    );
    expect(without).toEqual([]);
  });

  it('are rules that Prometheus reads', () => {
    const { status, out } = run(tools.promtool, ['check', 'rules', 'deploy/helm/recourse/files/alerts.yaml']);
    expect([status, out]).toEqual([0, expect.stringMatching(/SUCCESS: \d+ rules found/)]);
  });

  it('fire when they should, and not before', () => {
    const { status, out } = run(tools.promtool, ['test', 'rules', 'deploy/check/alerts.test.yaml']);
    expect([status, out]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });

  it('miss no signature where the installation has no auditor', () => {
    const alertsIn = ({ out }: Ran): readonly string[] => out.match(/(?<=- alert: )\w+/g) ?? [];
    const all = alertsIn(whole);
    expect(all).toContain('RecourseHeadsOld');
    expect(alertsIn(render({ auditor: { enabled: false } }))).toEqual(all.filter((one) => one !== 'RecourseHeadsOld'));
  });

  it('of one release are about its own targets, also where another under the same Prometheus is well', () => {
    const files = ['blue', 'green'].map((release) => {
      const all = manifests(render({}, release));
      const specOf = (wanted: string): Manifest['spec'] | undefined => all.find(({ kind }) => kind === wanted)?.spec;
      expect(specOf('PodMonitor')?.podMetricsEndpoints?.map(({ relabelings }) => relabelings)).toEqual([
        [{ targetLabel: 'recourse_release', replacement: `${release}/${release}` }],
      ]);
      const file = join(scratch, `alerts-${release}.yaml`);
      writeFileSync(file, stringify(specOf('PrometheusRule')));
      return file;
    });
    const ready = (release: string, values: string): object => ({
      series: `recourse_ready{recourse_release="${release}/${release}",service="mutation-ledger",pod="${release}"}`,
      values,
    });
    const firing = (alert: string, service: string, release: string): object => ({
      expr: `count(ALERTS{alertname="${alert}",alertstate="firing",service="${service}",recourse_release=~"${release}"})`,
      eval_time: '20m',
      exp_samples: [{ labels: '{}', value: 1 }],
    });
    const test = {
      interval: '1m',
      input_series: [ready('blue', '0x30'), ready('green', '1x30')],
      promql_expr_test: [
        firing('RecourseNotReady', 'mutation-ledger', 'blue/blue'),
        firing('RecourseNotReady', 'mutation-ledger', '.*'),
        firing('RecourseAbsent', 'notifier', 'blue/blue'),
        firing('RecourseAbsent', 'notifier', 'green/green'),
      ],
    };
    const rules = join(scratch, 'releases.test.yaml');
    writeFileSync(rules, stringify({ rule_files: files, evaluation_interval: '1m', tests: [test] }));
    const { status, out } = run(tools.promtool, ['test', 'rules', rules]);
    expect([status, out]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });

  it('reach the cluster as they stand, with runbooks where they are published, and so does the dashboard', () => {
    const alerts = textOf('deploy/helm/recourse/files/alerts.yaml');
    const published = alerts
      .replaceAll('https://runbooks.invalid/runbooks.md', 'https://docs.example.org/runbooks.md')
      .replaceAll('recourse_release=""', 'recourse_release="recourse/recourse"')
      .replaceAll("recourse_release: ''", 'recourse_release: recourse/recourse');
    expect(named('PrometheusRule', 'recourse').spec).toEqual(parse(published));
    const dashboard = textOf('deploy/helm/recourse/files/dashboard.json');
    expect(named('ConfigMap', 'recourse-dashboard').data).toEqual({ 'recourse.json': dashboard });
  });
});
