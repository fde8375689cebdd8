// Administration over kafkajs: counts, topics, the cluster's id.
import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import { Failure, systemClock } from '@recourse/kernel';
import type { AccessRule, KafkaAdmin, TopicFacts, TopicSpec } from '../kafka.port.js';
import { fetchAccessRules, makeAccessRules } from './access-rules.kafka.js';
import { clientFor } from './client.kafka.js';
import type { KafkaOptions } from '../options.js';
import { asFailure } from './failures.kafka.js';
import { onceCounted } from './few-brokers.kafka.js';
import { partitionCountsOf } from './topic-counts.kafka.js';
import { ended, within } from '../time-limit.js';
import { refuseOtherCounts } from '../wanted-topics.js';

const RETRY = { initialRetryTime: 100, maxRetryTime: 1_000, retries: 5 } as const;
const CREATE_TIMEOUT_MS = 10_000;
/** Above all attempts of kafkajs together. */
const ANSWER_WITHIN_MS = 90_000;
/** New topics show within 50 ms on a quiet machine. */
const SPREAD_TRIES = 40;
const SPREAD_WAIT_MS = 100;

/**
 * Connects an administrator.
 *
 * Errors: Failure(BROKER_UNAVAILABLE) when no broker answers.
 */
export async function connectAdmin(options: KafkaOptions): Promise<KafkaAdmin> {
  const admin = clientFor(options, { retry: RETRY }).admin({ retry: RETRY });
  await coded('admin', () => admin.connect());
  return new KafkaJsAdmin(admin, options);
}

class KafkaJsAdmin implements KafkaAdmin {
  constructor(
    private readonly admin: Admin,
    private readonly options: KafkaOptions,
  ) {}

  async partitionCount(topic: string): Promise<number | null> {
    const counts = await this.partitionCounts([topic]);
    return counts.get(topic) ?? null;
  }

  async ensureTopics(topics: readonly TopicSpec[]): Promise<void> {
    const names = topics.map(({ name }) => name);
    const before = await this.partitionCounts(names);
    const missing = topics.filter(({ name }) => !before.has(name));
    refuseOtherCounts(
      topics.filter((topic) => !missing.includes(topic)),
      (name) => before.get(name),
    );
    if (missing.length === 0) return;
    // `false` says that somebody else created one meanwhile; the counts are compared all the same.
    await this.create(missing);
    const after = await this.countsOfAll(names);
    refuseOtherCounts(topics, (name) => after.get(name));
  }

  /** A slow broker does not know the new topics when kafkajs asks for their leaders; they are waited for below. */
  private async create(missing: readonly TopicSpec[]): Promise<void> {
    try {
      await onceCounted(systemClock, () =>
        coded('create topics', () =>
          this.admin.createTopics({
            topics: missing.map(asTopicConfig),
            timeout: CREATE_TIMEOUT_MS,
            waitForLeaders: true,
          }),
        ),
      );
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'TOPIC_MISSING') throw error;
    }
  }

  /** Counts of topics that were just created: a broker may need a moment to know them. */
  private async countsOfAll(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    for (let tries = 1; ; tries += 1) {
      const counts = await this.partitionCounts(names).catch((error: unknown) => {
        if (tries < SPREAD_TRIES && error instanceof Failure && error.code === 'TOPIC_MISSING')
          return new Map<string, number>();
        throw error;
      });
      if (counts.size === names.length || tries >= SPREAD_TRIES) return counts;
      await systemClock.sleep(SPREAD_WAIT_MS);
    }
  }

  listTopics(): Promise<readonly string[]> {
    return coded('list topics', async () => (await this.admin.listTopics()).sort());
  }

  topicFacts(topics: readonly string[]): Promise<readonly TopicFacts[]> {
    return coded('describe topics', async () => {
      const existing = new Set(await this.admin.listTopics());
      const wanted = topics.filter((name) => existing.has(name));
      if (wanted.length === 0) return [];
      const [{ topics: found }, { resources }] = await Promise.all([
        this.admin.fetchTopicMetadata({ topics: wanted }),
        this.admin.describeConfigs({
          includeSynonyms: false,
          resources: wanted.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
        }),
      ]);
      const configs = new Map(resources.map(({ resourceName, configEntries }) => [resourceName, configEntries]));
      return found.map(({ name, partitions }) => ({
        name,
        partitions: partitions.length,
        replicationFactor: Math.min(...partitions.map(({ replicas }) => replicas.length)),
        config: Object.fromEntries(
          (configs.get(name) ?? []).map(({ configName, configValue }) => [configName, configValue]),
        ),
      }));
    });
  }

  accessRules(): Promise<readonly AccessRule[] | null> {
    return coded('rules of access', () => fetchAccessRules(this.admin));
  }

  applyAccess(rules: readonly AccessRule[]): Promise<void> {
    return coded('rules of access', () => makeAccessRules(this.admin, rules));
  }

  async setPasswords(passwords: Readonly<Record<string, string>>): Promise<void> {
    const { setPasswords } = await import('../platformatic/passwords.kafka.js');
    await setPasswords(this.options, passwords);
  }

  clusterId(): Promise<string> {
    return coded('describe cluster', async () => (await this.admin.describeCluster()).clusterId);
  }

  async close(): Promise<void> {
    await ended(this.admin.disconnect());
  }

  /** Counts of those that exist. */
  private partitionCounts(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return coded(`partitions of ${names.join(', ')}`, () => partitionCountsOf(this.admin, names));
  }
}

function asTopicConfig({
  name,
  partitions,
  replicationFactor,
  config,
}: TopicSpec): Parameters<Admin['createTopics']>[0]['topics'][number] {
  return {
    topic: name,
    numPartitions: partitions,
    replicationFactor: replicationFactor ?? 1,
    configEntries: Object.entries(config ?? {}).map(([entry, value]) => ({ name: entry, value })),
  };
}

async function coded<T>(what: string, act: () => Promise<T>): Promise<T> {
  try {
    return await within(act(), ANSWER_WITHIN_MS, what);
  } catch (error) {
    throw asFailure(error, what);
  }
}
