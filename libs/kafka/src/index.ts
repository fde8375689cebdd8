export type {
  Assignment,
  FetchedBatch,
  FetchedRecord,
  InputConsumer,
  InputConsumerOptions,
  InputHandlers,
  Kafka,
  KafkaAdmin,
  LogProducer,
  OutgoingRecord,
  PartitionRange,
  RawReader,
  ReadBatch,
  ReadManyOptions,
  ReadPosition,
  SchemaRegistry,
  SendOutcome,
  TopicPartition,
  TopicSpec,
  Unreadable,
  Voucher,
  WireProducer,
} from './kafka.port.js';
export { murmur2, partitionForKey } from './murmur2.js';
export { createKafka } from './create.kafka.js';
export { signedKafka } from './signed/signed.kafka.js';
export type { Signing } from './signed/signed.kafka.js';
export { signingFrom, signingPlacesGiven, signingPlacesIn } from './signed/signing-files.js';
export type { SigningPlaces } from './signed/signing-files.js';
export type { KafkaLogger, KafkaLogLine, KafkaOptions } from './options.js';
export { within } from './time-limit.js';
export { openGate } from './memory/gate.memory.js';
export type { Gate, GateOperation, GateVerdict } from './memory/gate.memory.js';
export { MemoryBroker } from './memory/broker.memory.js';
export type { MemoryBrokerOptions } from './memory/broker.memory.js';
export { createSchemaRegistry } from './registry/registry.confluent.js';
export type { RegistryOptions } from './registry/registry.confluent.js';
export { MemoryRegistry } from './registry/registry.memory.js';
export { alterStored } from './testing/alter-stored.js';
export { cutTopic } from './testing/cut-topic.js';
export { trimTopic } from './testing/trim-topic.js';
export type { TopicCut } from './testing/cut-topic.js';
export { testKeys } from './testing/keys.testing.js';
export type { KeyWanted, TestKeys } from './testing/keys.testing.js';
export { startTcpProxy } from './testing/tcp-proxy.js';
export type { ProxyMode, TcpProxy } from './testing/tcp-proxy.js';
