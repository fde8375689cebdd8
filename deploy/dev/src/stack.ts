// The development stack: Kafka, schema registry and PostgreSQL on this machine, without containers.
//
// Boundary: owns the data directory, its lock and its state file, the three servers and their lives. What runs on top
// (topics, databases, services) is provision.ts and processes.ts.
//
// Invariants
//   I1. One live launcher per data directory.
//   I2. Kafka, registry and PostgreSQL data are wiped together or not at all: schema ids live in Kafka's records.
//   I3. `complete.json` is written after all three answered for the first time; without it the data is made anew.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { takeLock } from '../../../scripts/lib/lock.mjs';
import { fetchArtifacts } from '../../../scripts/lib/maven.mjs';
import { findJava, JAVA_MAJOR_MIN, type Java } from '../../../scripts/lib/prerequisites.mjs';
import type { Artifacts } from '../../../scripts/lib/artifacts.mjs';
import { superviseChild, type SupervisedChild } from './child.js';
import { archiveFile, makeArchive } from './java-archive.js';
import { brokerPlan, brokerTraining, formatBroker, newClusterId, type BrokerPlace } from './kafka-broker.js';
import { choosePorts, PORT_NAMES, type StackPorts } from './ports.js';
import { serverAccount } from './postgres-binaries.js';
import {
  initServer,
  newPassword,
  serverFolder,
  serverPlan,
  SUPERUSER,
  type PostgresAddress,
  type ServerPlace,
} from './postgres-server.js';
import { registryPlan, registryTraining, registryUrl, type RegistryPlace } from './schema-registry.js';
import { EMPTY_STATE, killLeftovers, readState, StateBook } from './state-file.js';

export type PartName = 'kafka' | 'registry' | 'postgres';

export interface StackOptions {
  readonly dataDir: string;
  readonly onProgress?: (line: string) => void;
  /** Wipe the data of an earlier run first. */
  readonly reset?: boolean;
  /** Wished ports; another is taken when one is not free. */
  readonly ports?: Partial<StackPorts>;
  /** More settings for PostgreSQL, for instance `fsync: 'off'`. */
  readonly postgresSettings?: Readonly<Record<string, string>>;
  /** A server ended that nobody asked to end. */
  readonly onPartExit?: (part: PartName, how: string) => void;
  /** SIGINT, SIGTERM and SIGHUP stop the stack and end the process. Default true; a launcher with an order of its own says false. */
  readonly handleSignals?: boolean;
}

/** How clients reach a stack: plain data, so that it can be handed to another process. */
export interface StackFacts {
  readonly kafka: { readonly brokers: readonly string[]; readonly clusterId: string };
  /** Base address including `/apis/ccompat/v7`. */
  readonly registryUrl: string;
  readonly postgres: PostgresAddress;
}

export interface DevStack extends StackFacts {
  readonly dataDir: string;
  readonly logDir: string;
  readonly ports: StackPorts;
  readonly pids: Readonly<Record<PartName, number | null>>;
  /** The state file, for those who start more children on top. */
  readonly book: StateBook;
  /** From the call of startStack until all three answered. */
  readonly readyMs: number;
  /** Sends a signal to one server and everything it started; SIGKILL resolves when it is gone. */
  kill(part: PartName, signal: NodeJS.Signals): Promise<void>;
  /** Stops the server if it runs and starts it again, on the same port and data; resolves when it answers. */
  restart(part: PartName): Promise<void>;
  /** Starts a server that was killed; resolves when it answers. */
  start(part: PartName): Promise<void>;
  stop(): Promise<void>;
}

interface Layout {
  readonly dataDir: string;
  readonly logDir: string;
  readonly kafka: string;
  readonly registry: string;
  readonly completeFile: string;
}

/**
 * Starts all three servers in parallel and resolves when each of them answered a real request.
 *
 * Errors: DataDirectoryBusy when a live launcher holds the directory; else the failing server's reason and log lines.
 */
export async function startStack(options: StackOptions): Promise<DevStack> {
  const startedAt = performance.now();
  const say = options.onProgress ?? (() => undefined);
  const layout = layoutOf(resolve(options.dataDir));
  const release = takeLock(layout.dataDir);
  try {
    await killLeftovers(layout.dataDir, say);
    if (options.reset === true) wipeData(layout);
    const book = new StateBook(layout.dataDir, readState(layout.dataDir));
    const servers = await prepare(layout, options, book, say);
    const stack = new Running(servers, layout, book, release, startedAt);
    if (options.handleSignals !== false) stopOnSignals(stack);
    await stack.startAll(say);
    return stack;
  } catch (cause) {
    release();
    throw cause;
  }
}

/** Deletes the data of Kafka, registry and PostgreSQL together. Errors: DataDirectoryBusy. */
export async function wipe(dataDir: string): Promise<void> {
  const layout = layoutOf(resolve(dataDir));
  const release = takeLock(layout.dataDir);
  try {
    await killLeftovers(layout.dataDir, () => undefined);
    wipeData(layout);
  } finally {
    release();
  }
}

/** Java and the fetched programs. Errors: what is missing, with the remedy. */
export async function findTools(
  say: (line: string) => void,
): Promise<{ readonly java: Java; readonly artifacts: Artifacts }> {
  const { java } = findJava();
  if (java === null)
    throw new Error(`No Java ${String(JAVA_MAJOR_MIN)} or newer was found; install one or set JAVA_HOME.`);
  return { java, artifacts: await fetchArtifacts(say) };
}

interface Servers {
  readonly facts: StackFacts;
  readonly ports: StackPorts;
  readonly children: Readonly<Record<PartName, SupervisedChild>>;
  /** Makes empty data for one server; nothing when the data is complete. */
  readonly create: Readonly<Record<PartName, () => Promise<void>>>;
}

async function prepare(
  layout: Layout,
  options: StackOptions,
  book: StateBook,
  say: (line: string) => void,
): Promise<Servers> {
  const { java, artifacts } = await findTools(say);
  await Promise.all([
    makeArchive('Kafka', archiveFile(artifacts.kafka, java), brokerTraining(artifacts.kafka, java), book, say),
    makeArchive(
      'the registry',
      archiveFile(artifacts.registry, java),
      registryTraining(artifacts.registry, java),
      book,
      say,
    ),
  ]);
  const complete = keptCluster(layout);
  if (complete === null) wipeData(layout);
  const clusterId = complete ?? newClusterId();
  const account = serverAccount();
  const ports = await choosePorts(PORT_NAMES, { ...book.state.ports, ...options.ports });
  const kept = complete === null ? null : book.state.postgres;
  const address: PostgresAddress = {
    host: '127.0.0.1',
    port: ports.postgres,
    user: SUPERUSER,
    password: kept?.password ?? newPassword(),
  };
  const folder = kept?.dataDir ?? serverFolder(layout.dataDir, account);
  book.update({ ports, clusterId, postgres: { user: address.user, password: address.password, dataDir: folder } });

  const log = (name: PartName): string => join(layout.logDir, `${name}.log`);
  const broker: BrokerPlace = { jars: artifacts.kafka, java, folder: layout.kafka, logFile: log('kafka'), ports };
  const registry: RegistryPlace = {
    app: artifacts.registry,
    java,
    folder: layout.registry,
    logFile: log('registry'),
    ports,
  };
  const server: ServerPlace = { account, folder, logFile: log('postgres'), address };
  const onExit = (name: string, how: string): void => {
    // Only the three plans below are supervised with this callback.
    options.onPartExit?.(name as PartName, how);
  };
  const unlessKept = (make: () => Promise<void>) => async (): Promise<void> => {
    if (complete === null) await make();
  };
  return {
    facts: {
      kafka: { brokers: [`127.0.0.1:${String(ports.kafka)}`], clusterId },
      registryUrl: registryUrl(ports.registry),
      postgres: address,
    },
    ports,
    children: {
      kafka: superviseChild(brokerPlan(broker, clusterId), book, onExit),
      registry: superviseChild(registryPlan(registry), book, onExit),
      postgres: superviseChild(serverPlan(server, options.postgresSettings), book, onExit),
    },
    create: {
      kafka: unlessKept(() => formatBroker(broker, clusterId)),
      registry: () => Promise.resolve(),
      postgres: unlessKept(() => initServer(server)),
    },
  };
}

class Running implements DevStack {
  #stopping: Promise<void> | null = null;
  #readyMs = 0;

  constructor(
    private readonly servers: Servers,
    private readonly layout: Layout,
    readonly book: StateBook,
    private readonly release: () => void,
    private readonly startedAt: number,
  ) {}

  get kafka(): StackFacts['kafka'] {
    return this.servers.facts.kafka;
  }
  get registryUrl(): string {
    return this.servers.facts.registryUrl;
  }
  get postgres(): PostgresAddress {
    return this.servers.facts.postgres;
  }
  get ports(): StackPorts {
    return this.servers.ports;
  }
  get dataDir(): string {
    return this.layout.dataDir;
  }
  get logDir(): string {
    return this.layout.logDir;
  }
  get readyMs(): number {
    return this.#readyMs;
  }

  get pids(): Readonly<Record<PartName, number | null>> {
    const { kafka, registry, postgres } = this.servers.children;
    return { kafka: kafka.pid, registry: registry.pid, postgres: postgres.pid };
  }

  async startAll(say: (line: string) => void): Promise<void> {
    let firstFailure: { readonly cause: unknown } | null = null;
    await Promise.all(
      PARTS.map(async (part) => {
        try {
          await this.servers.create[part]();
          await this.servers.children[part].start();
          say(`${part} answers (${((performance.now() - this.startedAt) / 1000).toFixed(1)} s)`);
        } catch (cause) {
          // The others are stopped before they are ready and fail too: the first failure is the reason.
          firstFailure ??= { cause };
          await this.#stopChildren();
        }
      }),
    );
    await this.#refuse(firstFailure);
    writeFileSync(this.layout.completeFile, JSON.stringify({ clusterId: this.kafka.clusterId }));
    this.#readyMs = performance.now() - this.startedAt;
  }

  async #refuse(failure: { readonly cause: unknown } | null): Promise<void> {
    if (failure === null) return;
    await this.stop();
    throw failure.cause;
  }

  kill(part: PartName, signal: NodeJS.Signals): Promise<void> {
    return this.servers.children[part].kill(signal);
  }

  async restart(part: PartName): Promise<void> {
    await this.servers.children[part].stop();
    await this.start(part);
  }

  start(part: PartName): Promise<void> {
    return this.servers.children[part].start();
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stopChildren().then(() => {
      this.book.close();
      this.release();
    });
    return this.#stopping;
  }

  async #stopChildren(): Promise<void> {
    await Promise.all(PARTS.map((part) => this.servers.children[part].stop()));
  }
}

const PARTS = ['kafka', 'registry', 'postgres'] as const satisfies readonly PartName[];

function stopOnSignals(stack: DevStack): void {
  let isStopping = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // The exit handler kills what a stop could not end, and everything when somebody is in a hurry.
      const end = (): never => process.exit(signal === 'SIGINT' ? 130 : 143);
      if (isStopping) end();
      isStopping = true;
      void stack.stop().finally(end);
    });
  }
}

function layoutOf(dataDir: string): Layout {
  return {
    dataDir,
    logDir: join(dataDir, 'logs'),
    kafka: join(dataDir, 'kafka'),
    registry: join(dataDir, 'registry'),
    completeFile: join(dataDir, 'complete.json'),
  };
}

/** Cluster id of complete data, null when the data was never complete. Errors: when a part of complete data is missing. */
function keptCluster(layout: Layout): string | null {
  if (!existsSync(layout.completeFile)) return null;
  // Written by startAll, whole.
  const { clusterId } = JSON.parse(readFileSync(layout.completeFile, 'utf8')) as { readonly clusterId: string };
  const postgres = readState(layout.dataDir).postgres?.dataDir;
  const missing = [layout.kafka, layout.registry, ...(postgres === undefined ? ['stack.json'] : [postgres])].filter(
    (folder) => !existsSync(folder),
  );
  if (missing.length > 0)
    throw new Error(
      `The data in ${layout.dataDir} is not whole: ${missing.join(', ')} is gone. Kafka, registry and PostgreSQL belong together; start with --reset to begin anew.`,
    );
  return clusterId;
}

function wipeData(layout: Layout): void {
  const state = readState(layout.dataDir);
  // First the mark, so that a wipe cut short is taken up again.
  rmSync(layout.completeFile, { force: true });
  for (const folder of [
    layout.kafka,
    layout.registry,
    layout.logDir,
    join(layout.dataDir, 'postgres'),
    ...(state.postgres === null ? [] : [state.postgres.dataDir]),
  ]) {
    rmSync(folder, { recursive: true, force: true });
  }
  mkdirSync(layout.logDir, { recursive: true });
  if (existsSync(join(layout.dataDir, 'stack.json')))
    new StateBook(layout.dataDir, { ...EMPTY_STATE, ports: state.ports }).close();
}
