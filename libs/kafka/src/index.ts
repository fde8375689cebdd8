export type {
  AccessRule,
  Assignment,
  ConsumerGroup,
  FetchedBatch,
  FetchedRecord,
  GroupMember,
  InputConsumer,
  InputHandlers,
  Kafka,
  KafkaAdmin,
  LogProducer,
  OutgoingRecord,
  PartitionRange,
  RawReader,
  ReadsOf,
  ReadBatch,
  ReadPosition,
  SchemaRegistry,
  SendOutcome,
  TopicFacts,
  TopicPartition,
  TopicSpec,
  Unreadable,
  WireProducer,
} from './kafka.port.js';
export { NewsBell } from './news-bell.js';
export { handsOutNothing } from './not-yet.js';
export { stampOf } from './stamped-offset.js';
export type { StampedOffset } from './stamped-offset.js';
export { murmur2, partitionForKey } from './murmur2.js';
export { believedTextIn } from './secret-file.js';
export { ACCESS_VARIABLES, accessIn, accessOf } from './access.js';
export type { KafkaAccess } from './access.js';
export { createKafka } from './create.kafka.js';
export { SIGNATURE, SIGNATURE_BYTES_MAX } from './signed/signature.js';
export { siftStored, signedKafka, storedSieve } from './signed/signed.kafka.js';
export { batchSize } from './signed/sifting.js';
export type { Signing } from './signed/signing.js';
export { signingFrom, signingPlacesGiven, signingPlacesIn } from './signed/signing-files.js';
export type { SigningPlaces } from './signed/signing-files.js';
export { ISOLATIONS } from './options.js';
export type { KafkaOptions } from './options.js';
export { within } from './time-limit.js';
export { openGate } from './memory/gate.memory.js';
export type { Gate, GateOperation, GateVerdict } from './memory/gate.memory.js';
export { MemoryBroker } from './memory/broker.memory.js';
export { createSchemaRegistry } from './registry/registry.confluent.js';
export type { RegistryWriter } from './registry/registry.confluent.js';
export { viewRegistry } from './registry/registry-view.js';
export type { RegistryView } from './registry/registry-view.js';
export { MemorySchemaMemory, RememberingRegistry } from './registry/remembering-registry.js';
export type { KnownSchema, SchemaMemory } from './registry/remembering-registry.js';
export { MemoryRegistry } from './registry/registry.memory.js';
export { alterStored } from './testing/alter-stored.js';
export { cutTopic } from './testing/cut-topic.js';
export { tryGroup } from './testing/raw-group.js';
export type { GroupAttempts } from './testing/raw-group.js';
export { rawClient } from './testing/raw-client.js';
export { trimTopic } from './testing/trim-topic.js';
export { testKeys } from './testing/test-keys.js';
export { startTcpProxy } from './testing/tcp-proxy.js';
export type { TcpProxy } from './testing/tcp-proxy.js';
