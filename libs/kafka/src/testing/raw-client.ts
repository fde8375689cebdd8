// A client without any of our code, as anybody has one: what a broker lets it do is the broker's doing alone.
import { Kafka as KafkaJs, logLevel } from 'kafkajs';
import type { SASLOptions } from 'kafkajs';

/** `sasl` absent: it does not say who it is. */
export function rawClient(brokers: readonly string[], sasl?: SASLOptions): KafkaJs {
  return new KafkaJs({
    brokers: [...brokers],
    clientId: 'stranger',
    logLevel: logLevel.NOTHING,
    connectionTimeout: 3_000,
    retry: { retries: 0 },
    ...(sasl === undefined ? {} : { sasl }),
  });
}
