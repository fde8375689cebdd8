export { assertNever, Failure, FAILURES, InvariantViolation } from './outcome.js';
export type { Rejection } from './outcome.js';
export {
  ID_BYTES_MAX,
  RUN_BYTES_MAX,
  TRACEPARENT,
  deriveId,
  isRunId,
  isTenant,
  isUsableId,
  keptIds,
  partOf,
  placeInTrace,
  sha256Hex,
  spanIdOf,
  traceIdOf,
  traceparentOf,
} from './ids.js';
export {
  JSON_DEPTH_MAX,
  canonicalJson,
  escapedCharacter,
  excerpt,
  isJsonObject,
  isTooDeep,
  jsonIn,
  readJson,
  setOwn,
} from './json-text.js';
export { HANDLE_PREFIX, namesReserved, REFS_MAX, RESERVED_PREFIX, statedRefProblem } from './refs.js';
export { findStorageProblem, KEY_BYTES_MAX, TEXT_BYTES_MAX, WIRE_RECORD_BYTES_MAX } from './storable.js';
export type { StorageProblem } from './storable.js';
export { lookAlikes } from './alike.js';
export { isAmong, isPerson, isSubject, personBehind, personKey, policyDecider, SUBJECT_FORM } from './person.js';
export type { Asking, Behalf } from './person.js';
export {
  isKeyId,
  isObserved,
  isValidAt,
  KEY_PROBLEMS,
  observersIn,
  parseKeyring,
  ProvenSignatures,
  publicKeyText,
  signerOf,
  SPEAKER_ROLES,
  speakerOf,
  speaksFor,
  speaksUnder,
} from './keyring.js';
export type { KeyProblem, Keyring, KnownKey, Signer, Speaker, SpeakerRole } from './keyring.js';
export type { Json } from './json-text.js';
export type { TracePlace } from './ids.js';
export { instantText } from './instant.js';
export { murmur2, partitionForKey, shareOf } from './partition.js';
export { ASK_PREFIX, backoffMs, grantLease, isAskOfLedger, leaseIdOf, MARGIN_MS } from './lease.js';
export type { Lease, RetryBackoff } from './lease.js';
export { persistently } from './persistently.js';
export { earliestOf } from './stood-time.js';
export type { StoodTime } from './stood-time.js';
export type { Clock } from './clock.port.js';
export { exposureOf, intrusionOf } from './secret-file.js';
export { stopOnSignal } from './stop-on-signal.js';
export { systemClock } from './clock.system.js';
export { ManualClock } from './clock.memory.js';
