// The real adapter of the Kafka port: kafkajs for groups and administration, @platformatic/kafka for what is sent and fetched (ADR-0025).
import type { ConsumerGroup, Kafka } from './kafka.port.js';
import { connectAdmin } from './kafkajs/admin.kafka.js';
import { KafkaJsInputConsumer } from './kafkajs/input-consumer.kafka.js';
import { isolationOf } from './options.js';
import type { KafkaOptions } from './options.js';
import { signedKafka } from './signed/signed.kafka.js';

/**
 * A cluster by its brokers' addresses; connects nothing by itself.
 *
 * @platformatic/kafka is loaded by who first sends, reads or consumes: that takes a process half a second.
 */
export function createKafka(options: KafkaOptions): Kafka {
  const cluster = clusterOf(options);
  return options.signing === undefined || options.signing === null ? cluster : signedKafka(cluster, options.signing);
}

function clusterOf(options: KafkaOptions): Kafka {
  return {
    logProducer: async () => (await import('./platformatic/log-producer.kafka.js')).connectLogProducer(options),
    rawReader: async (of = 'logs') => {
      const { connectRawReader } = await import('./platformatic/raw-reader.kafka.js');
      return connectRawReader(options, isolationOf(options, of));
    },
    wireProducer: async () => (await import('./platformatic/wire-producer.kafka.js')).connectWireProducer(options),
    inputConsumer: (consumer) => new KafkaJsInputConsumer(options, consumer),
    group: (groupId) => lazyGroup(options, groupId),
    admin: () => connectAdmin(options),
  };
}

function lazyGroup(options: KafkaOptions, groupId: string): ConsumerGroup {
  let opened: Promise<ConsumerGroup> | null = null;
  const open = (): Promise<ConsumerGroup> =>
    (opened ??= import('./platformatic/group.kafka.js').then(
      ({ BrokerConsumerGroup }) => new BrokerConsumerGroup(options, groupId),
    ));
  return {
    members: async () => (await open()).members(),
    remove: async (memberIds) => (await open()).remove(memberIds),
    close: async () => (await opened)?.close(),
  };
}
