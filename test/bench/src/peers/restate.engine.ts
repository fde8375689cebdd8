// Restate: its server, a service with one durable step per effect, and a driver over its HTTP ingress.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { choosePorts } from '@recourse/dev-stack';
import { until } from '../waits.js';
import { openHelper } from '../worker-process.js';
import type { Loaded } from './closed-loop.js';
import type { Cell } from './drive.js';
import { endChild } from './end-child.js';
import type { Engine, Ground, RunningEngine } from './engine.js';
import { PEERS_FOLDER, peerVersion } from './peer-modules.js';

const READY_WITHIN_MS = 60_000;
const POLL_MS = 200;
const SERVER = join(
  PEERS_FOLDER,
  `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
);

export interface RestateTask {
  readonly port: number;
  readonly toolPort: number;
}
type Ports = Readonly<Record<'ingress' | 'admin' | 'fabric' | 'service', number>>;

export const restate: Engine = {
  name: 'restate',
  needsKafka: false,
  settings: () =>
    `server ${peerVersion('@restatedev/restate-server')}, SDK ${peerVersion('@restatedev/restate-sdk')}; one node, defaults: write-ahead log flushed to disk for each batch; service over HTTP/2, callers over its HTTP ingress`,
  missing: () => (existsSync(SERVER) ? null : `no server of it was installed for ${process.platform} ${process.arch}`),
  with: withRestate,
};

async function withRestate<T>({ bench, toolPort }: Ground, work: (running: RunningEngine) => Promise<T>): Promise<T> {
  const ports: Ports = await choosePorts(['ingress', 'admin', 'fabric', 'service']);
  const service = await openHelper<never, never, { readonly gatePort: number }>('./peers/restate-service.main.js', {
    port: ports.service,
    toolPort,
  } satisfies RestateTask);
  const server = startServer(join(bench.folder, 'restate'), ports);
  try {
    await until('Restate', () => register(ports), { withinMs: READY_WITHIN_MS, pollMs: POLL_MS });
    const driver = await openHelper<Cell, Loaded>('./peers/restate-driver.main.js', { port: ports.ingress });
    try {
      return await work({
        driver,
        gatePorts: { http: toolPort, memory: service.ready.gatePort },
        pids: { server: server.pid ?? null, worker: service.pid },
      });
    } finally {
      await driver.close();
    }
  } finally {
    await endChild(server);
    await service.close();
  }
}

function startServer(folder: string, ports: Ports): ChildProcess {
  mkdirSync(folder, { recursive: true });
  const log = openSync(join(folder, 'server.log'), 'a');
  const at = (port: number): string => `127.0.0.1:${String(port)}`;
  const server = spawn(SERVER, ['--no-logo'], {
    cwd: folder,
    stdio: ['ignore', log, log],
    env: {
      ...process.env,
      RESTATE_BASE_DIR: folder,
      RESTATE_NODE_NAME: 'bench',
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_BIND_ADDRESS: at(ports.fabric),
      RESTATE_ADVERTISED_ADDRESS: `http://${at(ports.fabric)}`,
      RESTATE_INGRESS__BIND_ADDRESS: at(ports.ingress),
      RESTATE_ADMIN__BIND_ADDRESS: at(ports.admin),
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_LOG_FILTER: 'warn',
      DO_NOT_TRACK: '1',
    },
  });
  closeSync(log);
  return server;
}

/** Tells the server of the service; false while it does not answer. */
async function register({ admin, service }: Ports): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${String(admin)}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri: `http://127.0.0.1:${String(service)}`, force: true }),
  }).catch(() => null);
  return response?.ok === true;
}
