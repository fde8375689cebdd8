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
import { createLogger } from '@recourse/telemetry';
import type { Logger } from '@recourse/telemetry';
import { Auditor } from './auditor.js';
import type { AuditorOptions, Witness } from './auditor.js';
import { HeadBook } from './book/head-book.js';
import type { AuditorConfig } from './config.js';
import { followedTopics } from './followed-topics.js';
import { LogFollower } from './follower/log-follower.js';
import type { FollowedPartition } from './follower/followed-partition.js';
import { WireFollower } from './follower/wire-follower.js';
import { healthServer } from './http/health.js';
import { witnessClient } from './witness/witness.http.js';

const NAME = 'auditor';
const WITNESS_TIMEOUT_MS = 3_000;
/** How long one question for news waits at the broker. */
const NEWS_WAIT_MS = 1_000;
const HEADS = 'heads.notes';

/** Starts the auditor. Errors: what no retry helps against. */
export async function startAuditor(config: AuditorConfig): Promise<void> {
  const stopsBy = stopOnSignal();
  const logger = createLogger({ service: NAME, instance: '1', level: config.logLevel });
  const signer = noteSigner(config.keyName, 'log', config.key);
  const kafka = kafkaOf(config, logger);
  const codecs = createCodecs(createSchemaRegistry({ url: config.registryUrl }));
  const book = new HeadBook({ kafka, codecs, logId: config.logId, key: signer.key, now: () => systemClock.now() });
  const reader = await kafka.rawReader();
  const partitions = await partitionsOf(config, { kafka, reader, codecs, book });
  const bell = new NewsBell({ kafka, positions: () => [book, ...partitions], waitMs: NEWS_WAIT_MS });
  const auditor = auditorOf(config, { partitions, book, signer, logger, news: () => bell.heard() });
  // Reading what was signed takes as long as there is much of it: meanwhile it says that it is not ready.
  const server = healthServer(auditor).listen(config.httpPort, config.httpHost);
  const kept = join(config.folder, HEADS);
  await auditor.prepare(notesIn(existsSync(kept) ? textPieces(kept) : []));
  auditor.start();
  logger.info({ verifier_key: verifierText(signer.key), partitions: partitions.length }, 'following the logs');
  stopsBy(async () => {
    server.close();
    await auditor.stop();
    await Promise.all([bell.close(), reader.close(), book.close()]);
    for (const { tree } of partitions) tree.close();
  });
}

function auditorOf(
  config: AuditorConfig,
  { logger, ...parts }: Pick<AuditorOptions, 'partitions' | 'book' | 'signer' | 'news'> & { readonly logger: Logger },
): Auditor {
  mkdirSync(config.folder, { recursive: true, mode: 0o700 });
  return new Auditor({
    ...parts,
    witnesses: witnessesOf(config.witnesses),
    keep: (heads) => {
      appendFileSync(join(config.folder, HEADS), headsText(heads), { mode: 0o600 });
    },
    everyRecords: config.everyRecords,
    everyMs: config.everyMs,
    clock: systemClock,
    sleep: quietly,
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
  readonly kafka: Kafka;
  readonly reader: RawReader;
  readonly codecs: Codecs;
  readonly book: HeadBook;
}

/** One follower per partition of what is there. Errors: Failure(TOPIC_MISSING). */
async function partitionsOf(
  { logId, folder, voidsPermilleMax }: AuditorConfig,
  { kafka, reader, codecs, book }: Parts,
): Promise<readonly FollowedPartition[]> {
  const admin = await kafka.admin();
  try {
    const followed: FollowedPartition[] = [];
    for (const { topic, isLog } of followedTopics()) {
      const partitionCount = await admin.partitionCount(topic);
      if (partitionCount === null) throw new Failure('TOPIC_MISSING', `${topic} is not there`);
      for (let partition = 0; partition < partitionCount; partition += 1) {
        const tree = new HashTree(new NodeFiles(join(folder, 'trees'), `${topic}-${partition}`));
        const common = { reader, logId, topic, partition, tree, signed: () => book.signed({ topic, partition }) };
        followed.push(
          isLog
            ? new LogFollower({ ...common, codecs, partitionCount, lossIn: lossReader(codecs), voidsPermilleMax })
            : new WireFollower(common),
        );
      }
    }
    return followed;
  } finally {
    await admin.close();
  }
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

function quietly(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
