// How a partition of a log is opened to be written as its owner writes it.
import type { OwnLogOptions } from '@recourse/event-log';
import { createSchemaRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { countText } from '../output/count-text.js';
import { known } from '../config.js';
import { kafkaAs } from '../kafka.js';
import { refuseOtherKeys, refuseSignedLog } from './owners-key.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';

interface OwnersPlace {
  readonly log: string;
  readonly partition: number;
  /** The service that owns it. */
  readonly owner: string;
}

const REGISTRY_TIMEOUT_MS = 20_000;

/** Errors: CliProblem(PARTITION_UNKNOWN, OWNER_KEY_MISSING, OWNER_KEY_INVALID, ADDRESS_UNKNOWN); those of Kafka and registry. */
export async function optionsOf(
  { settings }: Session,
  { log: topic, partition, owner }: OwnersPlace,
): Promise<OwnLogOptions> {
  // What is accepted is written to the log, and only its owner writes there.
  const place = { log: topic, owner, dataDir: settings.dataDir };
  const signing = settings.signing({ user: owner });
  refuseOtherKeys(signing, place);
  const kafka = kafkaAs(settings, owner);
  const registry = createSchemaRegistry({
    url: known(settings.registryUrl, 'where the schema registry is', '--registry'),
    timeoutMs: REGISTRY_TIMEOUT_MS,
  });
  const admin = await kafka.admin();
  try {
    const partitionCount = (await admin.partitionCount(topic)) ?? 0;
    if (partition >= partitionCount)
      throw new CliProblem(
        'PARTITION_UNKNOWN',
        `${topic} has ${countText(partitionCount, 'partition')}, from 0`,
        'usage',
        {
          remedy: 'Name one of them.',
        },
      );
    if (signing === null && !settings.areWiresSaidOpen) await refuseSignedLog(kafka, partition, place);
    return {
      kafka,
      codecs: createCodecs(registry),
      topic,
      partition,
      partitionCount,
      logId: known(settings.logId, 'the id of the logs', '--log-id'),
    };
  } finally {
    await admin.close();
  }
}
