// The three servers of a stack: which programs, ports, passwords and data each is started with.
import { join } from 'node:path';
import { fetchArtifacts } from '../../../scripts/lib/maven.mjs';
import { findJava, JAVA_MAJOR_MIN, type Java } from '../../../scripts/lib/prerequisites.mjs';
import type { Artifacts } from '../../../scripts/lib/artifacts.mjs';
import { superviseChild, type ChildPlan, type SupervisedChild } from './child.js';
import { archiveFile, makeArchive } from './java-archive.js';
import { brokerPlan, brokerTraining, formatBroker, newClusterId, type BrokerPlace } from './kafka-broker.js';
import { choosePorts, PORT_NAMES, type StackPorts } from './ports.js';
import { serverAccount, type Account } from './postgres-binaries.js';
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
import { OWNER, passwordFileOf, passwordOf } from './secrets.js';
import { keptCluster, wipeData, type Layout } from './stack-data.js';
import type { StateBook } from './state-file.js';

export const PARTS = ['kafka', 'registry', 'postgres'] as const;
export type PartName = (typeof PARTS)[number];

export interface ServerOptions {
  /** Kafka and registry ask who somebody is, and hold them to rules. Default false: anybody on this machine may do anything. */
  readonly secure?: boolean;
  /** Wished ports; another is taken when one is not free. */
  readonly ports?: Partial<StackPorts>;
  /** More settings for PostgreSQL, for instance `fsync: 'off'`. */
  readonly postgresSettings?: Readonly<Record<string, string>>;
  /** More settings for Kafka, for instance `'log.flush.interval.messages': '1'`. */
  readonly kafkaSettings?: Readonly<Record<string, string>>;
  /** A server ended that nobody asked to end. */
  readonly onPartExit?: (part: PartName, how: string) => void;
}

/** How clients reach a stack: plain data, so that it can be handed to another process. */
export interface StackFacts {
  readonly kafka: { readonly brokers: readonly string[]; readonly clusterId: string };
  /** Base address including `/apis/ccompat/v7`. */
  readonly registryUrl: string;
  readonly postgres: PostgresAddress;
  /** Of a secure stack: the user above the rules, who makes the others, and writes to the registry. Null: nobody is asked. */
  readonly owner: StackOwner | null;
}

export interface StackOwner {
  readonly name: string;
  readonly passwordFile: string;
}

interface Tools {
  readonly java: Java;
  readonly artifacts: Artifacts;
}

/** Java and the fetched programs. Errors: what is missing, with the remedy. */
async function findTools(say: (line: string) => void): Promise<Tools> {
  const { java } = findJava();
  if (java === null)
    throw new Error(`No Java ${String(JAVA_MAJOR_MIN)} or newer was found; install one or set JAVA_HOME.`);
  return { java, artifacts: await fetchArtifacts(say) };
}

export interface Servers {
  readonly facts: StackFacts;
  readonly ports: StackPorts;
  readonly children: Readonly<Record<PartName, SupervisedChild>>;
  /** Makes empty data for one server; nothing when the data is complete. */
  readonly create: Readonly<Record<PartName, () => Promise<void>>>;
}

/** What distinguishes this stack from others: kept with its data. */
interface Identity {
  readonly clusterId: string;
  readonly ports: StackPorts;
  readonly postgres: PostgresAddress;
  readonly postgresFolder: string;
  /** False: the servers' data has to be made. */
  readonly isKept: boolean;
}

/** Finds the programs, decides ports and data, and plans the servers. Errors: what is missing, with the remedy. */
export async function prepare(
  layout: Layout,
  options: ServerOptions,
  book: StateBook,
  say: (line: string) => void,
): Promise<Servers> {
  const tools = await findTools(say);
  await makeArchives(tools, book, say);
  const account = serverAccount();
  const identity = await identify(layout, options, book, account);
  return serversOf(tools, layout, { identity, account, options, book });
}

/** Class archives make the two Java servers start in a third of the time. */
async function makeArchives({ java, artifacts }: Tools, book: StateBook, say: (line: string) => void): Promise<void> {
  const { kafka, registry } = artifacts;
  await Promise.all([
    makeArchive('Kafka', archiveFile(kafka, java), brokerTraining(kafka, java), book, say),
    makeArchive('the registry', archiveFile(registry, java), registryTraining(registry, java), book, say),
  ]);
}

async function identify(
  layout: Layout,
  options: ServerOptions,
  book: StateBook,
  account: Account | null,
): Promise<Identity> {
  const cluster = keptCluster(layout, options.secure);
  if (cluster === null) wipeData(layout);
  const clusterId = cluster ?? newClusterId();
  const ports = await choosePorts(PORT_NAMES, { ...book.state.ports, ...options.ports });
  const kept = cluster === null ? null : book.state.postgres;
  const password = kept?.password ?? newPassword();
  const postgresFolder = kept?.dataDir ?? serverFolder(layout.dataDir, account);
  book.update({ ports, clusterId, postgres: { user: SUPERUSER, password, dataDir: postgresFolder } });
  const postgres = { host: '127.0.0.1', port: ports.postgres, user: SUPERUSER, password };
  return { clusterId, ports, postgres, postgresFolder, isKept: cluster !== null };
}

interface Planning {
  readonly identity: Identity;
  readonly account: Account | null;
  readonly options: ServerOptions;
  readonly book: StateBook;
}

function serversOf(
  { java, artifacts }: Tools,
  { dataDir, kafka, registry, logDir }: Layout,
  { identity: { clusterId, ports, postgres, postgresFolder, isKept }, account, options, book }: Planning,
): Servers {
  const logFile = (name: PartName): string => join(logDir, `${name}.log`);
  const secrets = join(dataDir, 'secrets');
  const owned = options.secure === true ? { owner: { name: OWNER, password: passwordOf(secrets, OWNER) } } : {};
  const common = { java, ports, ...owned };
  const broker: BrokerPlace = { ...common, jars: artifacts.kafka, folder: kafka, logFile: logFile('kafka') };
  const schemas: RegistryPlace = { ...common, app: artifacts.registry, folder: registry, logFile: logFile('registry') };
  const server: ServerPlace = { account, folder: postgresFolder, logFile: logFile('postgres'), address: postgres };
  const supervise = (part: PartName, plan: ChildPlan): SupervisedChild =>
    superviseChild(plan, book, (_name, how) => options.onPartExit?.(part, how));
  const unlessKept = (make: () => Promise<void>) => (): Promise<void> => (isKept ? Promise.resolve() : make());
  return {
    facts: {
      kafka: { brokers: [`127.0.0.1:${String(ports.kafka)}`], clusterId },
      registryUrl: registryUrl(ports.registry),
      postgres,
      owner: options.secure === true ? { name: OWNER, passwordFile: passwordFileOf(secrets, OWNER) } : null,
    },
    ports,
    children: {
      kafka: supervise('kafka', brokerPlan(broker, clusterId, options.kafkaSettings)),
      registry: supervise('registry', registryPlan(schemas)),
      postgres: supervise('postgres', serverPlan(server, options.postgresSettings)),
    },
    create: {
      kafka: unlessKept(() => formatBroker(broker, clusterId)),
      registry: () => Promise.resolve(),
      postgres: unlessKept(() => initServer(server)),
    },
  };
}
