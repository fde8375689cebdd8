// Kafka 4.3: KRaft nodes that are broker and controller, one of them unless more are asked for.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Java } from '../../../scripts/lib/prerequisites.mjs';
import { archiveFile, archiveFlags, type TrainingRun } from './java-archive.js';
import type { ChildPlan } from './child.js';
import { fetchClusterMetadata, hasCoordinator } from './kafka-metadata.js';
import type { BrokerAddress, BrokerUser } from './kafka-metadata.js';
import { choosePorts } from './ports.js';

export interface BrokerPlace {
  readonly jars: string;
  readonly java: Java;
  /** Holds `data/`, `kafka.properties` and `log4j2.properties`. */
  readonly folder: string;
  readonly logFile: string;
  readonly ports: { readonly kafka: number; readonly controller: number };
  /** Its place among several; without it there is one node. */
  readonly member?: ClusterMember;
  /** The stack's own user, where the broker asks everybody who they are. */
  readonly owner?: BrokerUser;
  /** Beside or instead of those below, for instance `log.flush.interval.messages: '1'`. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface ClusterMember {
  /** From 1. */
  readonly id: number;
  /** Controller ports of all nodes, in the order of their ids. */
  readonly controllers: readonly number[];
}

/** Making empty data takes a second or two; on a machine that is busy with other work, a minute. */
const CREATE_WITHIN_MS = 120_000;
// Long enough for a busy two-core machine; a broker that never opens its port is killed and tried again.
const READY_WITHIN_MS = 45_000;
const STOP_WITHIN_MS = 10_000;

/** A cluster id as Kafka makes them: 16 random bytes, base64url without padding, never starting with a dash. */
export function newClusterId(): string {
  const id = randomBytes(16).toString('base64url');
  return id.startsWith('-') ? newClusterId() : id;
}

/** Formats the data folder for a new cluster. Errors: the tool's own output. */
export async function formatBroker(place: BrokerPlace, clusterId: string): Promise<void> {
  rmSync(join(place.folder, 'data'), { recursive: true, force: true });
  const config = writeConfig(place);
  const args = [
    ...jvmFlags(place),
    '-XX:TieredStopAtLevel=1',
    '-cp',
    `${place.jars}/*`,
    'kafka.tools.StorageTool',
    'format',
    // Several nodes know each other by their settings from the first start on.
    ...(place.member === undefined ? ['--standalone'] : []),
    '-t',
    clusterId,
    '-c',
    config,
  ];
  try {
    await promisify(execFile)(place.java.bin, args, { timeout: CREATE_WITHIN_MS });
  } catch (cause) {
    // execFile rejects with an Error that carries both streams.
    const { stdout, stderr, message } = cause as Error & { stdout?: string; stderr?: string };
    throw new Error(`could not format Kafka's storage: ${message}\n${stdout ?? ''}${stderr ?? ''}`, { cause });
  }
}

/** How the broker is run. It is ready when it answers with the cluster id that was formatted, knows itself alive, and groups can be joined. */
export function brokerPlan(
  place: BrokerPlace,
  clusterId: string,
  settings: Readonly<Record<string, string>> = {},
): ChildPlan {
  const flags = archiveFlags(archiveFile(place.jars, place.java));
  const broker = addressOf(place);
  return planWith({ ...place, settings }, flags, async () => {
    const seen = await fetchClusterMetadata(broker);
    return (
      seen.clusterId === clusterId &&
      seen.brokers.includes(`127.0.0.1:${String(place.ports.kafka)}`) &&
      hasCoordinator(broker)
    );
  });
}

/** A broker on throw-away data, for making the class archive. */
export function brokerTraining(jars: string, java: Java): TrainingRun {
  return async (folder, flags) => {
    const ports = await choosePorts(['kafka', 'controller']);
    const place: BrokerPlace = { jars, java, folder, logFile: join(folder, 'kafka.log'), ports };
    await formatBroker(place, newClusterId());
    return {
      ...planWith(
        place,
        flags,
        async () =>
          (await fetchClusterMetadata(addressOf(place))).brokers.length > 0 && hasCoordinator(addressOf(place)),
      ),
      triesMax: 1,
      stopWithinMs: 60_000,
    };
  };
}

function planWith(place: BrokerPlace, flags: readonly string[], probe: () => Promise<boolean>): ChildPlan {
  return {
    name: brokerName(place.member?.id ?? 1),
    logFile: place.logFile,
    command: () => ({
      file: place.java.bin,
      args: [...jvmFlags(place), ...flags, '-cp', `${place.jars}/*`, 'kafka.Kafka', writeConfig(place)],
      cwd: place.folder,
    }),
    probe,
    readyWithinMs: READY_WITHIN_MS,
    stopSignal: 'SIGTERM',
    stopWithinMs: STOP_WITHIN_MS,
  };
}

/** `kafka` for the first node, `kafka-2` for the second. */
export function brokerName(id: number): string {
  return id === 1 ? 'kafka' : `kafka-${String(id)}`;
}

function addressOf({ ports, owner }: BrokerPlace): BrokerAddress {
  return { port: ports.kafka, user: owner ?? null };
}

function jvmFlags(place: BrokerPlace): readonly string[] {
  return [
    '-Xmx256m',
    '-XX:+UseSerialGC',
    '-Djava.net.preferIPv4Stack=true',
    `-Dlog4j2.configurationFile=${join(place.folder, 'log4j2.properties')}`,
  ];
}

function writeConfig(place: BrokerPlace): string {
  mkdirSync(place.folder, { recursive: true });
  const file = join(place.folder, 'kafka.properties');
  writeFileSync(
    file,
    `${Object.entries({
      ...brokerConfig(place),
      ...(place.member === undefined ? loneConfig(place) : memberConfig(place.member)),
      ...(place.owner === undefined ? {} : secureConfig(place, place.owner)),
      ...place.settings,
    })
      .map(([name, value]) => `${name}=${value}`)
      .join('\n')}\n`,
    { mode: 0o600 },
  );
  // One that was there keeps its mode, and now may hold a password.
  chmodSync(file, 0o600);
  writeFileSync(join(place.folder, 'log4j2.properties'), LOG4J);
  return file;
}

/**
 * The broker's configuration.
 *
 * Source: docs/design/stack.md. Short broker sessions bring a killed broker back in 2–3 s rather than 12; topics are made from
 * schemas/topics.json only.
 */
export function brokerConfig(place: Pick<BrokerPlace, 'folder' | 'ports'>): Readonly<Record<string, string>> {
  const broker = `PLAINTEXT://127.0.0.1:${String(place.ports.kafka)}`;
  const controller = `CONTROLLER://127.0.0.1:${String(place.ports.controller)}`;
  return {
    'process.roles': 'broker,controller',
    listeners: `${broker},${controller}`,
    'advertised.listeners': `${broker},${controller}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'log.dirs': join(place.folder, 'data'),
    'auto.create.topics.enable': 'false',
    'broker.session.timeout.ms': '1000',
    'broker.heartbeat.interval.ms': '200',
    'group.initial.rebalance.delay.ms': '0',
    'group.min.session.timeout.ms': '500',
    'offsets.topic.num.partitions': '4',
    'transaction.state.log.num.partitions': '4',
    'share.coordinator.state.topic.num.partitions': '1',
    'log.cleaner.dedupe.buffer.size': '4194304',
    'num.network.threads': '2',
    'num.io.threads': '4',
  };
}

/** What a node is told beside that is alone: it votes for itself, and there is one copy of everything. */
export function loneConfig({ ports }: Pick<BrokerPlace, 'ports'>): Readonly<Record<string, string>> {
  return {
    'node.id': '1',
    'controller.quorum.bootstrap.servers': `127.0.0.1:${String(ports.controller)}`,
    ...copiesConfig(1),
  };
}

/**
 * What one of several nodes is told beside: who votes, and that no record counts before a majority has it.
 *
 * Source: docs/design/stack.md. A node that lags never leads, since it would drop what was acknowledged; a follower that does not
 * fetch for two seconds is waited for no longer, so that a paused one does not hold up every append for half a minute.
 */
export function memberConfig({ id, controllers }: ClusterMember): Readonly<Record<string, string>> {
  return {
    'node.id': String(id),
    'controller.quorum.voters': controllers.map((port, at) => `${String(at + 1)}@127.0.0.1:${String(port)}`).join(','),
    'controller.quorum.election.timeout.ms': '500',
    'controller.quorum.fetch.timeout.ms': '1000',
    'unclean.leader.election.enable': 'false',
    'replica.lag.time.max.ms': '2000',
    ...copiesConfig(controllers.length),
  };
}

/** How many nodes keep everything, and how many of them must have a record before it counts: a majority. */
function copiesConfig(nodes: number): Readonly<Record<string, string>> {
  const copies = String(nodes);
  const majority = String(Math.floor(nodes / 2) + 1);
  return {
    'default.replication.factor': copies,
    'offsets.topic.replication.factor': copies,
    'transaction.state.log.replication.factor': copies,
    'transaction.state.log.min.isr': majority,
    'share.coordinator.state.topic.replication.factor': copies,
    'share.coordinator.state.topic.min.isr': majority,
    'min.insync.replicas': majority,
  };
}

/**
 * What a broker is told beside, so that it asks everybody who they are and holds them to rules of access.
 *
 * Clients are known by SCRAM-SHA-512. The stack itself, as broker towards its controller and as who makes users and rules,
 * has PLAIN and this file: somebody has to be there before there are users. Nobody else is above the rules.
 */
export function secureConfig(
  { ports }: Pick<BrokerPlace, 'ports'>,
  { name, password }: BrokerUser,
): Readonly<Record<string, string>> {
  const plain = `org.apache.kafka.common.security.plain.PlainLoginModule required username="${name}" password="${password}" user_${name}="${password}";`;
  const [clients, controller] = [
    `CLIENTS://127.0.0.1:${String(ports.kafka)}`,
    `CONTROLLER://127.0.0.1:${String(ports.controller)}`,
  ];
  return {
    listeners: `${clients},${controller}`,
    'advertised.listeners': `${clients},${controller}`,
    'listener.security.protocol.map': 'CLIENTS:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT',
    'inter.broker.listener.name': 'CLIENTS',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'sasl.mechanism.controller.protocol': 'PLAIN',
    'listener.name.clients.sasl.enabled.mechanisms': 'SCRAM-SHA-512,PLAIN',
    'listener.name.clients.scram-sha-512.sasl.jaas.config':
      'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    'listener.name.clients.plain.sasl.jaas.config': plain,
    'listener.name.controller.sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.controller.plain.sasl.jaas.config': plain,
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': `User:${name}`,
    'allow.everyone.if.no.acl.found': 'false',
  };
}

const LOG4J = `status=warn
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{ISO8601} %p %m (%c{1})%n
rootLogger.level=warn
rootLogger.appenderRef.out.ref=out
`;
