// The servers of a stack: which programs, ports, passwords and data each is started with.
import { existsSync } from 'node:fs';
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
import { beginWithTemplate, makeTemplate, templateFile, templateTopics } from './schema-template.js';
import { OWNER, passwordFileOf, passwordOf } from './secrets.js';
import { keptCluster, wipeData, type Layout } from './stack-data.js';
import type { StateBook } from './state-file.js';

/** Nodes of Kafka; those beside the first are there in a stack of three. */
const NODES = ['kafka', 'kafka-2', 'kafka-3'] as const;
export type PartName = (typeof NODES)[number] | 'registry' | 'postgres';

export interface ServerOptions {
  /** Kafka and registry ask who somebody is, and hold them to rules. Default false: anybody on this machine may do anything. */
  readonly secure?: boolean;
  /** Nodes of Kafka, each broker and controller. Default 1; of three, a record counts once two have it. */
  readonly brokers?: 1 | 3;
  /** Wished ports; another is taken when one is not free. */
  readonly ports?: Partial<StackPorts>;
  /** More settings for PostgreSQL, for instance `fsync: 'off'`. */
  readonly postgresSettings?: Readonly<Record<string, string>>;
  /** More settings for Kafka, for instance `'log.flush.interval.messages': '1'`. */
  readonly kafkaSettings?: Readonly<Record<string, string>>;
  /** The registry begins with the schemas of all topics, as they were registered once. Default false. */
  readonly withSchemas?: boolean;
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
  /** Topics whose schemas its registry began with. Default: none. */
  readonly begunWith?: readonly string[];
}

export interface StackOwner {
  readonly name: string;
  readonly passwordFile: string;
}

interface NodePorts {
  readonly kafka: number;
  readonly controller: number;
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
  readonly parts: ReadonlyMap<PartName, Server>;
}

interface Server {
  readonly child: SupervisedChild;
  /** Makes empty data; nothing when the data is complete. */
  readonly create: () => Promise<void>;
}

/** What distinguishes this stack from others: kept with its data. */
interface Identity {
  readonly clusterId: string;
  readonly ports: StackPorts;
  readonly postgres: PostgresAddress;
  readonly postgresFolder: string;
  /** Of the nodes of Kafka beside the first: chosen anew at each start, since their settings are written anew. */
  readonly more: readonly NodePorts[];
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
  if (options.withSchemas === true) await makeTemplate({ app: tools.artifacts.registry, java: tools.java }, book, say);
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
  const more = await portsOfMore((options.brokers ?? 1) - 1);
  const kept = cluster === null ? null : book.state.postgres;
  const password = kept?.password ?? newPassword();
  const postgresFolder = kept?.dataDir ?? serverFolder(layout.dataDir, account);
  book.update({ ports, clusterId, postgres: { user: SUPERUSER, password, dataDir: postgresFolder } });
  const postgres = { host: '127.0.0.1', port: ports.postgres, user: SUPERUSER, password };
  return { clusterId, ports, more, postgres, postgresFolder, isKept: cluster !== null };
}

async function portsOfMore(nodes: number): Promise<readonly NodePorts[]> {
  const names = Array.from({ length: nodes }, (_, at) => [`kafka${String(at)}`, `controller${String(at)}`] as const);
  const ports = await choosePorts(names.flat());
  return names.map(([kafka, controller]) => ({ kafka: ports[kafka] ?? 0, controller: ports[controller] ?? 0 }));
}

interface Planning {
  readonly identity: Identity;
  readonly account: Account | null;
  readonly options: ServerOptions;
  readonly book: StateBook;
}

function serversOf(tools: Tools, layout: Layout, planning: Planning): Servers {
  const { identity, account, options, book } = planning;
  const { clusterId, ports, more, postgres, postgresFolder, isKept } = identity;
  const logFile = (name: PartName): string => join(layout.logDir, `${name}.log`);
  const secrets = join(layout.dataDir, 'secrets');
  const owned = options.secure === true ? { owner: { name: OWNER, password: passwordOf(secrets, OWNER) } } : {};
  const common = { java: tools.java, ports, ...owned };
  const app = tools.artifacts.registry;
  const begunWith = options.withSchemas === true && existsSync(templateFile(app)) ? templateTopics() : [];
  const schemas: RegistryPlace = { ...common, app, folder: layout.registry, logFile: logFile('registry') };
  const server: ServerPlace = { account, folder: postgresFolder, logFile: logFile('postgres'), address: postgres };
  const serverOf = (part: PartName, plan: ChildPlan, make?: () => Promise<void>): [PartName, Server] => [
    part,
    {
      child: superviseChild(plan, book, (_name, how) => options.onPartExit?.(part, how)),
      create: make === undefined || isKept ? (): Promise<void> => Promise.resolve() : make,
    },
  ];
  return {
    facts: {
      kafka: { brokers: [ports, ...more].map(({ kafka }) => `127.0.0.1:${String(kafka)}`), clusterId },
      registryUrl: registryUrl(ports.registry),
      postgres,
      begunWith,
      owner: options.secure === true ? { name: OWNER, passwordFile: passwordFileOf(secrets, OWNER) } : null,
    },
    ports,
    parts: new Map([
      ...brokersOf(tools, layout, { ports: [ports, ...more], owned }).map((broker, at) =>
        serverOf(NODES[at] ?? 'kafka', brokerPlan(broker, clusterId, options.kafkaSettings), () =>
          formatBroker(broker, clusterId),
        ),
      ),
      serverOf('registry', registryPlan(schemas), () => beginWithTemplate(app, schemas.folder, begunWith)),
      serverOf('postgres', serverPlan(server, options.postgresSettings), () => initServer(server)),
    ]),
  };
}

function brokersOf(
  { java, artifacts }: Tools,
  { kafka, logDir }: Layout,
  { ports, owned }: { readonly ports: readonly NodePorts[]; readonly owned: Pick<BrokerPlace, 'owner'> },
): readonly BrokerPlace[] {
  const controllers = ports.map(({ controller }) => controller);
  return ports.map((own, at) => ({
    java,
    jars: artifacts.kafka,
    folder: at === 0 ? kafka : join(kafka, NODES[at] ?? ''),
    logFile: join(logDir, `${NODES[at] ?? ''}.log`),
    ports: own,
    ...owned,
    ...(ports.length === 1 ? {} : { member: { id: at + 1, controllers } }),
  }));
}
