// The images' commands as processes: each program with exactly the command and environment of its container file, its secrets in
// files, as a user who owns nothing. Containers are not to be had where the suites run; what an image adds is a root of its own.
//
// What differs: /run/secrets is a folder of the run, and a port is chosen on the loopback address.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { choosePorts, createDatabase, startTestStack } from '@recourse/dev-stack';
import type { DevStack } from '@recourse/dev-stack';
import { Client } from 'pg';
import { root } from '../../scripts/lib/paths.mjs';
import { AUDITING, containerStages, PROGRAMS, stageOf } from '../deploy/containers.testing.js';
import type { ProgramName } from '../deploy/containers.testing.js';
import { until } from './system.testing.js';

const SECRETS = '/run/secrets';
const KEYRING = '/run/keyring';
const KEPT = '/var/lib/recourse';
const ROLES = join(root, 'deploy', 'helm', 'recourse', 'files', 'roles.sh');
/** Each has a database and a role of its own. */
const OWNERS = [...PROGRAMS, 'keys'] as const;
const STOPS_WITHIN_MS = 10_000;
const READY_WITHIN_MS = 90_000;
const stages = containerStages();
/** Only root can become somebody else; whoever is not root is nobody enough. */
const isRoot = process.getuid?.() === 0;
const hasPsql = spawnSync('psql', ['--version']).status === 0;

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  readonly said: () => string;
  /** Exit code, or the signal it died of. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

let stack: DevStack;
let folder: string;
let issuer: { readonly url: string; readonly close: () => Promise<unknown> };
const running = new Map<ProgramName, Running>();

const databaseOf = (owner: string): string => `recourse_${owner.replaceAll('-', '_')}`;
const passwordOf = (owner: string): string => readFileSync(join(folder, 'postgres', `${owner}.password`), 'utf8');
const addressOf = (owner: string): string => {
  const { host, port } = stack.postgres;
  return `postgres://${databaseOf(owner)}@${host}:${String(port)}/${databaseOf(owner)}`;
};

/** Starts what an image would start. */
function start(
  target: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  secrets = folder,
): ChildProcess {
  const stage = stageOf(stages, target);
  const [command = '', ...rest] = [...stage.entrypoint, ...(args.length > 0 ? args : stage.cmd)];
  const [uid = 0, gid = 0] = (stage.user ?? '').split(':').map(Number);
  const given = { ...stage.env, ...env };
  const placed = Object.entries(given).map(([name, value]) => [
    name,
    value
      .replace(SECRETS, secrets)
      .replace(KEYRING, join(folder, 'keyring'))
      .replace(KEPT, join(folder, 'kept', target)),
  ]);
  return spawn(command, rest, {
    cwd: root,
    // An image holds no data of a development stack; this checkout may, and only its owner can read it.
    env: {
      ...Object.fromEntries(placed),
      PATH: join(root, 'node_modules', '.bin'),
      INIT_CWD: folder,
      npm_config_local_prefix: root,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(isRoot ? { uid, gid } : {}),
  });
}

function watched(child: ChildProcess, url = ''): Running {
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => {
      resolve(signal ?? code);
    });
  });
  return { child, url, said: () => said, ended };
}

/** What deploy/compose and the chart tell a program beside what its image has. */
function told(program: ProgramName, port: number): Readonly<Record<string, string>> {
  const people = 'https://recourse.example.org';
  return {
    RECOURSE_KAFKA_BROKERS: stack.kafka.brokers.join(','),
    RECOURSE_REGISTRY_URL: stack.registryUrl,
    RECOURSE_LOG_ID: 'containers',
    RECOURSE_DATABASE_URL: addressOf(program),
    RECOURSE_JWT_ISSUER: 'https://id.example.org',
    RECOURSE_JWT_AUDIENCE: 'recourse',
    RECOURSE_JWKS_URL: issuer.url,
    RECOURSE_HTTP_HOST: '127.0.0.1',
    RECOURSE_HTTP_PORT: String(port),
    ...(program === 'notifier'
      ? { RECOURSE_LEDGER_URL: people, RECOURSE_RECOVERIES_URL: people, RECOURSE_BUDGET_URL: people }
      : { RECOURSE_KEY_STORE_URL: addressOf('keys') }),
  };
}

/** Gives the keys of an issuer: without any a program lets nobody in, and is not ready. */
async function issuing(): Promise<typeof issuer> {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' }];
  const server = createServer((_request, reply) => reply.end(JSON.stringify({ keys })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${String(port)}/jwks.json`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

async function provisioned(...args: readonly string[]): Promise<string> {
  const env = { RECOURSE_KAFKA_BROKERS: stack.kafka.brokers.join(','), RECOURSE_REGISTRY_URL: stack.registryUrl };
  const cli = watched(start('cli', ['cluster', ...args], env));
  expect([await cli.ended, cli.said()]).toEqual([0, expect.any(String)]);
  return cli.said();
}

/** By the script that Compose and the chart run, twice, where psql is installed; elsewhere as the development stack makes them. */
async function makeDatabases(): Promise<void> {
  if (!hasPsql) {
    for (const owner of OWNERS) await createDatabase(stack, databaseOf(owner), databaseOf(owner), passwordOf(owner));
    return;
  }
  for (let time = 1; time <= 2; time += 1) {
    const made = makeRoles('containers');
    if (made.status !== 0) throw new Error(made.stderr);
  }
}

function makeRoles(logId: string): { readonly status: number | null; readonly stderr: string } {
  const { host, port, user, password } = stack.postgres;
  const adminFile = join(folder, 'postgres', 'superuser.password');
  writeFileSync(adminFile, password, { mode: 0o600 });
  const env = {
    PATH: process.env['PATH'],
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    RECOURSE_ADMIN_PASSWORD_FILE: adminFile,
    RECOURSE_PASSWORDS: join(folder, 'postgres'),
    RECOURSE_LOG_ID: logId,
  };
  return spawnSync('sh', [ROLES], { env, encoding: 'utf8' });
}

async function asRole(owner: string, database: string, ask: string): Promise<readonly unknown[]> {
  const { host, port } = stack.postgres;
  const client = new Client({
    host,
    port,
    user: databaseOf(owner),
    password: passwordOf(owner),
    database: databaseOf(database),
  });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(ask)).rows;
  } finally {
    await client.end();
  }
}

beforeAll(async () => {
  issuer = await issuing();
  stack = await startTestStack();
  folder = mkdtempSync(join(tmpdir(), 'recourse-containers-'));
  chmodSync(folder, 0o755);
  const made = spawnSync('sh', [join(root, 'deploy', 'compose', 'secrets.sh'), folder], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
  await makeDatabases();
}, 300_000);

afterAll(async () => {
  await issuer.close();
  for (const { child } of running.values()) child.kill('SIGKILL');
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

describe('an installation', () => {
  it('has secrets that nobody but the user of the image and its group may open, and keeps them', () => {
    const files = PROGRAMS.flatMap((program) => [join(folder, program, 'database.password')]);
    const before = files.map((file) => readFileSync(file, 'utf8'));
    expect(files.map((file) => statSync(file).mode & 0o777)).toEqual(files.map(() => 0o440));
    expect(spawnSync('sh', [join(root, 'deploy', 'compose', 'secrets.sh'), folder]).status).toBe(0);
    expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(before);
  });

  it('has a role for each program that makes no others, and a database to which nobody else may connect', async () => {
    const rights =
      'SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls FROM pg_roles WHERE rolname = current_user';
    const none = {
      rolsuper: false,
      rolcreatedb: false,
      rolcreaterole: false,
      rolreplication: false,
      rolbypassrls: false,
    };
    for (const owner of OWNERS) {
      expect(await asRole(owner, owner, rights)).toEqual([none]);
      for (const other of OWNERS.filter((one) => one !== owner))
        await expect(asRole(owner, other, 'SELECT 1')).rejects.toMatchObject({ code: '42501' });
    }
  });

  it('keeps its roles and databases where another log asks for the same', () => {
    const refused = expect.objectContaining({ status: 3, stderr: expect.stringContaining('that of another log') });
    // Nothing but psql runs the script.
    expect(hasPsql ? makeRoles('another') : null).toEqual(hasPsql ? refused : null);
  });

  it('is given topics and schemas by the command line of its image, which keeps what is there', async () => {
    const topics = [
      'make-topics',
      '--partitions',
      '2',
      '--replication-factor',
      '1',
      '--adapters',
      'payments,mail',
    ] as const;
    expect(await provisioned(...topics)).toMatch(/18 topics made, 0 were there/);
    expect(await provisioned(...topics)).toMatch(/0 topics made, 18 were there/);
    expect(await provisioned('make-schemas', '--adapters', 'payments,mail')).toMatch(
      /schemas of 18 topics are registered/,
    );
  }, 180_000);
});

describe.each(PROGRAMS)('the image of %s', (program) => {
  it('is refused a secret that others may open, by name and code', async () => {
    const open = mkdtempSync(join(tmpdir(), 'recourse-open-'));
    try {
      cpSync(join(folder, program), open, { recursive: true });
      chmodSync(open, 0o755);
      for (const name of ['database.password']) {
        const path = join(open, name);
        rmSync(path);
        copyFileSync(join(folder, program, name), path);
        chmodSync(path, 0o644);
      }
      const started = watched(start(program, [], told(program, 0), open));
      expect(await started.ended).toBe(1);
      expect(started.said()).toMatch(/CONFIG_INVALID[\s\S]*RECOURSE_DATABASE_PASSWORD_FILE[\s\S]*chmod o-rwx/);
    } finally {
      rmSync(open, { recursive: true });
    }
  });

  it('is ready, as somebody who may write nothing', async () => {
    const { [program]: port } = await choosePorts([program]);
    const url = `http://127.0.0.1:${String(port)}`;
    const started = watched(start(program, [], told(program, port), join(folder, program)), url);
    running.set(program, started);
    const probe = async (route: string): Promise<true | null> =>
      (await fetch(`${url}/health/${route}`)).ok ? true : null;
    await until(`${program} to be ready; it said ${started.said()}`, () => probe('ready'), READY_WITHIN_MS);
    expect(await probe('live')).toBe(true);
    expect(await probe('startup')).toBe(true);
    const status = existsSync('/proc') ? readFileSync(`/proc/${String(started.child.pid)}/status`, 'utf8') : '';
    if (isRoot && status !== '') expect(status).toMatch(/^Uid:\t10001\t10001\t10001\t10001$/m);
  }, 120_000);

  it('answers with metrics that alerts are written on', async () => {
    const { url } = running.get(program) ?? { url: '' };
    expect(await (await fetch(`${url}/metrics`)).text()).toContain(`recourse_ready{service="${program}"} 1`);
  });

  it(
    'ends with 0 when it is told to stop, in time',
    async () => {
      const { child, ended } = running.get(program) ?? {};
      const late = new Promise<string>((resolve) => void setTimeout(resolve, STOPS_WITHIN_MS, 'still there').unref());
      child?.kill('SIGTERM');
      expect(await Promise.race([ended, late])).toBe(0);
    },
    STOPS_WITHIN_MS + 5_000,
  );
});

/** What secrets.sh wrote for Compose. */
function environmentIn(name: string): Readonly<Record<string, string>> {
  const text = readFileSync(join(folder, `${name}.env`), 'utf8').trim();
  const at = text.indexOf('=');
  return { [text.slice(0, at)]: text.slice(at + 1) };
}

describe('the images of auditor and witness', () => {
  it('are ready with the keys that the installation made, each knows that of the other, and end with 0', async () => {
    const ports = await choosePorts(AUDITING);
    const urlOf = (name: (typeof AUDITING)[number]): string => `http://127.0.0.1:${String(ports[name])}`;
    const listens = (name: (typeof AUDITING)[number]) => ({
      RECOURSE_HTTP_HOST: '127.0.0.1',
      RECOURSE_HTTP_PORT: String(ports[name]),
    });
    for (const name of AUDITING) {
      mkdirSync(join(folder, 'kept', name), { recursive: true });
      if (isRoot) chownSync(join(folder, 'kept', name), 10_001, 10_001);
    }
    const asked = environmentIn('auditor')['RECOURSE_AUDITOR_WITNESSES'] ?? '';
    const started = {
      witness: watched(
        start('witness', [], { ...listens('witness'), ...environmentIn('witness') }, join(folder, 'witness')),
      ),
      auditor: watched(
        start(
          'auditor',
          [],
          {
            ...listens('auditor'),
            RECOURSE_KAFKA_BROKERS: stack.kafka.brokers.join(','),
            RECOURSE_REGISTRY_URL: stack.registryUrl,
            RECOURSE_LOG_ID: 'containers',
            RECOURSE_AUDITOR_WITNESSES: asked.replace('http://witness:8080', urlOf('witness')),
          },
          join(folder, 'auditor'),
        ),
      ),
    };
    try {
      for (const name of ['witness', 'auditor'] as const)
        await until(
          `${name} to be ready; it said ${started[name].said()}`,
          async () => ((await fetch(`${urlOf(name)}/health/ready`)).ok ? true : null),
          READY_WITHIN_MS,
        );
      // What secrets.sh computes of a key in a shell is what the program itself says of it.
      for (const name of AUDITING) {
        const key = readFileSync(join(folder, `${name}.vkey`), 'utf8').trim();
        expect([name, started[name].said()]).toEqual([name, expect.stringContaining(`"verifier_key":"${key}"`)]);
      }
      for (const { child, ended } of Object.values(started)) {
        child.kill('SIGTERM');
        expect(await ended).toBe(0);
      }
    } finally {
      for (const { child } of Object.values(started)) child.kill('SIGKILL');
    }
  }, 180_000);
});
