// The real adapter of the Kafka port.
import type { Kafka } from '../kafka.port.js';
import { connectAdmin } from './admin.kafka.js';
import type { KafkaOptions } from './client.kafka.js';
import { KafkaJsInputConsumer } from './input-consumer.kafka.js';
import { connectLogProducer } from './log-producer.kafka.js';
import { connectRawReader } from './raw-reader.kafka.js';
import { connectWireProducer } from './wire-producer.kafka.js';

/** A cluster by its brokers' addresses; connects nothing by itself. */
export function createKafka(options: KafkaOptions): Kafka {
  return {
    logProducer: () => connectLogProducer(options),
    wireProducer: () => connectWireProducer(options),
    rawReader: () => connectRawReader(options),
    inputConsumer: (consumer) => new KafkaJsInputConsumer(options, consumer),
    admin: () => connectAdmin(options),
  };
}
