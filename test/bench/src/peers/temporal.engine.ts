// Temporal: its server on PostgreSQL, a worker whose activities are the steps, and a client. Measured where the server was built.
import { execFile, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { choosePorts, createDatabase } from '@recourse/dev-stack';
import type { StackFacts } from '@recourse/dev-stack';
import { openHelper } from '../worker-process.js';
import type { Loaded } from './closed-loop.js';
import type { Cell } from './drive.js';
import { endChild } from './end-child.js';
import type { Engine, Ground, RunningEngine } from './engine.js';
import { installPeers, PEERS_FOLDER } from './peer-modules.js';
import { TEMPORAL_DATABASES, TEMPORAL_SERVICES, temporalConfig, temporalDynamicConfig } from './temporal-config.js';
import type { TemporalPorts } from './temporal-config.js';

const SERVER = join(PEERS_FOLDER, 'bin', 'server');
const SQL_TOOL = join(PEERS_FOLDER, 'bin', 'sql');
/** Its store keeps ports as two octets with a sign. */
const PORTS = { from: 20_000, count: 12_000 } as const;

export interface TemporalTask {
  readonly address: string;
  readonly toolPort: number;
  readonly folder: string;
}

export const temporal: Engine = {
  name: 'temporal',
  needsKafka: false,
  settings: () =>
    'all its services in one process, on PostgreSQL with fsync on; one activity per step, rate limits lifted; callers over gRPC',
  missing: () => (existsSync(SERVER) && existsSync(SQL_TOOL) ? null : 'its server was not built (docs/benchmarks.md)'),
  with: withTemporal,
};

async function withTemporal<T>(ground: Ground, work: (running: RunningEngine) => Promise<T>): Promise<T> {
  const { bench, stack, toolPort } = ground;
  await installPeers('temporal');
  await makeSchemas(bench.stack);
  const ports = await temporalPorts();
  const folder = join(bench.folder, 'temporal');
  const server = startServer(bench.stack, ports, folder);
  const task: TemporalTask = { address: `127.0.0.1:${String(ports.frontend.rpc)}`, toolPort, folder };
  try {
    const worker = await openHelper<never, never, { readonly gatePort: number }>(
      './peers/temporal-worker.main.js',
      task,
    );
    try {
      const driver = await openHelper<Cell, Loaded>('./peers/temporal-driver.main.js', task);
      try {
        return await work({
          driver,
          gatePorts: { http: toolPort, memory: worker.ready.gatePort },
          pids: { server: server.pid ?? null, postgres: stack.pids.postgres, worker: worker.pid },
        });
      } finally {
        await driver.close();
      }
    } finally {
      await worker.close();
    }
  } finally {
    await endChild(server);
  }
}

async function temporalPorts(): Promise<TemporalPorts> {
  const names = TEMPORAL_SERVICES.flatMap((name) => [`${name} rpc`, `${name} membership`]);
  const first = PORTS.from + Math.floor(Math.random() * PORTS.count);
  const found = await choosePorts(names, Object.fromEntries(names.map((name, index) => [name, first + index])));
  const portOf = (name: string): number => found[name] ?? 0;
  const of = (name: string) => ({ rpc: portOf(`${name} rpc`), membership: portOf(`${name} membership`) });
  return { frontend: of('frontend'), history: of('history'), matching: of('matching'), worker: of('worker') };
}

/** Both schemas, from those in its SQL tool. Errors: the tool's own output. */
async function makeSchemas(stack: StackFacts): Promise<void> {
  const { host, port, user, password } = stack.postgres;
  for (const [schema, database] of [
    ['temporal', TEMPORAL_DATABASES.main],
    ['visibility', TEMPORAL_DATABASES.visibility],
  ] as const) {
    await createDatabase(stack, database, database, 'bench');
    const at = ['--plugin', 'postgres12_pgx', '--endpoint', host, '--port', String(port), '--user', user];
    const reach = [...at, '--password', password, '--database', database];
    await promisify(execFile)(SQL_TOOL, [...reach, 'setup-schema', '--version', '0.0']);
    await promisify(execFile)(SQL_TOOL, [...reach, 'update-schema', '--schema-name', `postgresql/v12/${schema}`]);
  }
}

function startServer({ postgres }: StackFacts, ports: TemporalPorts, folder: string) {
  mkdirSync(folder, { recursive: true });
  const dynamicFile = join(folder, 'dynamic.yaml');
  writeFileSync(dynamicFile, temporalDynamicConfig());
  writeFileSync(join(folder, 'bench.yaml'), temporalConfig(postgres, ports, dynamicFile), { mode: 0o600 });
  const log = openSync(join(folder, 'server.log'), 'a');
  const args = ['--root', folder, '--config', '.', '--env', 'bench', 'start'];
  const server = spawn(SERVER, args, { cwd: folder, stdio: ['ignore', log, log] });
  closeSync(log);
  return server;
}
