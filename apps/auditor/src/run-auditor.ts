// Puts the auditor together from its configuration, and runs it until it is told to stop.
//
// Boundary: the only place where its real parts meet: Kafka, registry, files, witnesses.
import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  HashTree,
  headsText,
  NodeFiles,
  noteSigner,
  notesIn,
  parseVerifier,
  textPieces,
  verifierText,
} from '@recourse/audit';
import { accessOf, createKafka, createSchemaRegistry, NewsBell, signingFrom } from '@recourse/kafka';
import type { Kafka, RawReader } from '@recourse/kafka';
import { Failure, stopOnSignal, systemClock } from '@recourse/kernel';
import { createCodecs, lossReader, ownerOfLog } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { createLogger, Metrics } from '@recourse/telemetry';
import type { Logger } from '@recourse/telemetry';
import { AuditorHost } from './auditor-host.js';
import type { OpenedAuditor } from './auditor-host.js';
import { Auditor } from './auditor.js';
import type { AuditorOptions } from './auditor.js';
import { HeadBook } from './book/head-book.js';
import type { AuditorConfig } from './config.js';
import { followedTopics } from './followed-topics.js';
import { LogFollower } from './follower/log-follower.js';
import type { FollowedPartition } from './follower/followed-partition.js';
import { WireFollower } from './follower/wire-follower.js';
import { healthServer } from './http/health.js';
import { witnessClient } from './witness/witness.http.js';
import type { Witness } from './witness/cosigners.js';

const NAME = 'auditor';
const WITNESS_TIMEOUT_MS = 3_000;
/** How long one question for news waits at the broker. */
const NEWS_WAIT_MS = 1_000;
const HEADS = 'heads.notes';

/** Answers, says that it is not ready, and follows once its cluster is there. Errors: what no retry helps against. */
export async function startAuditor(config: AuditorConfig): Promise<void> {
  const stopsBy = stopOnSignal();
  const logger = createLogger({ service: NAME, instance: '1', level: config.logLevel });
  const signer = noteSigner(config.keyName, 'log', config.key);
  const witnesses = witnessesOf(config.witnesses);
  const host = new AuditorHost({ open: () => openedAuditor(config, { signer, witnesses, logger }), logger });
  const metrics = new Metrics({ service: NAME });
  metrics.collectProcess();
  const server = healthServer(host, metrics).listen(config.httpPort, config.httpHost);
  stopsBy(async () => {
    server.close();
    await host.stop();
  });
  await host.start();
}

type Kept = Pick<AuditorOptions, 'signer' | 'witnesses'> & { readonly logger: Logger };

/** Errors: Failure(TOPIC_MISSING); those of the cluster. */
async function openedAuditor(config: AuditorConfig, kept: Kept): Promise<OpenedAuditor> {
  const { signer, logger } = kept;
  const kafka = kafkaOf(config, logger);
  const codecs = createCodecs(createSchemaRegistry({ url: config.registryUrl }));
  const book = new HeadBook({ kafka, codecs, logId: config.logId, key: signer.key, now: () => systemClock.now() });
  const counts = await countsOf(kafka);
  const reader = await kafka.rawReader();
  const partitions = partitionsOf(config, { counts, reader, codecs, book });
  const bell = new NewsBell({ kafka, positions: () => [book, ...partitions], waitMs: NEWS_WAIT_MS });
  const auditor = auditorOf(config, { ...kept, partitions, book, news: () => bell.heard() });
  return {
    auditor,
    prepare: async () => {
      const path = join(config.folder, HEADS);
      await auditor.prepare(notesIn(existsSync(path) ? textPieces(path) : []));
      logger.info({ verifier_key: verifierText(signer.key), partitions: partitions.length }, 'following the logs');
    },
    interrupt: async () => {
      await Promise.all([bell.close(), reader.close()]);
    },
    close: async () => {
      await book.close();
      for (const { tree } of partitions) tree.close();
    },
  };
}

function auditorOf(
  config: AuditorConfig,
  { logger, ...parts }: Kept & Pick<AuditorOptions, 'partitions' | 'book' | 'news'>,
): Auditor {
  mkdirSync(config.folder, { recursive: true, mode: 0o700 });
  return new Auditor({
    ...parts,
    keep: (heads) => {
      appendFileSync(join(config.folder, HEADS), headsText(heads), { mode: 0o600 });
    },
    everyRecords: config.everyRecords,
    everyMs: config.everyMs,
    clock: systemClock,
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
    onTrouble: (what, cause) => {
      logger.warn({ what, err: cause }, 'an operation failed and is tried again');
    },
    onAlarm: ({ id, kind, topic, partition, seq, offset }) => {
      logger.error({ alarm_id: id, finding: kind, topic, partition, seq, offset }, 'a log is other than it should be');
    },
  });
}

function kafkaOf(config: AuditorConfig, logger: Logger): Kafka {
  const {
    wires,
    keyringFile,
    signingKeyFile,
    signingKeyId,
    kafkaUser: user,
    kafkaPassword: password,
    kafkaCa: ca,
  } = config;
  const signing = signingFrom(
    { wires, keyringFile, signingKeyFile, signingKeyId },
    {
      service: NAME,
      ownerOf: ownerOfLog,
      clock: systemClock,
      onTrouble: (cause) => {
        logger.warn({ err: cause }, 'the keyring cannot be read; the last one holds');
      },
    },
  );
  return createKafka({ brokers: config.brokers, clientId: NAME, signing, ...accessOf({ user, password, ca }) });
}

interface Parts {
  readonly counts: ReadonlyMap<string, number>;
  readonly reader: RawReader;
  readonly codecs: Codecs;
  readonly book: HeadBook;
}

/** Partitions of each topic that is followed. Errors: Failure(TOPIC_MISSING); those of the cluster. */
async function countsOf(kafka: Kafka): Promise<ReadonlyMap<string, number>> {
  const admin = await kafka.admin();
  try {
    const counts = new Map<string, number>();
    for (const { topic } of followedTopics()) {
      const count = await admin.partitionCount(topic);
      if (count === null) throw new Failure('TOPIC_MISSING', `${topic} is not there`);
      counts.set(topic, count);
    }
    return counts;
  } finally {
    await admin.close();
  }
}

/** One follower per partition of what is there. */
function partitionsOf(
  { logId, folder, voidsPermilleMax }: AuditorConfig,
  { counts, reader, codecs, book }: Parts,
): readonly FollowedPartition[] {
  return followedTopics().flatMap(({ topic, isLog }) => {
    const partitionCount = counts.get(topic) ?? 0;
    return Array.from({ length: partitionCount }, (_, partition): FollowedPartition => {
      const tree = new HashTree(new NodeFiles(join(folder, 'trees'), `${topic}-${partition}`));
      const common = { reader, logId, topic, partition, tree, signed: () => book.signed({ topic, partition }) };
      return isLog
        ? new LogFollower({ ...common, codecs, partitionCount, lossIn: lossReader(codecs), voidsPermilleMax })
        : new WireFollower(common);
    });
  });
}

/** `<verifier key>=<address>`, with commas; a verifier key may end in `=` itself. Errors: Failure(CONFIG_INVALID). */
function witnessesOf(text: string | undefined): readonly Witness[] {
  return (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const at = entry.lastIndexOf('=http');
      const key = parseVerifier(entry.slice(0, at));
      if (at < 0 || key === null)
        throw new Failure('CONFIG_INVALID', `RECOURSE_AUDITOR_WITNESSES: ${entry} is no <verifier key>=<address>`);
      return witnessClient({ url: entry.slice(at + 1), key, fetch, timeoutMs: WITNESS_TIMEOUT_MS });
    });
}
