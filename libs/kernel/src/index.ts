export { assertNever, Failure, FAILURES, InvariantViolation } from './outcome.js';
export type { FailureCode, FailureSpec, Rejection, RetryRule } from './outcome.js';
export { deriveId, sha256Hex } from './ids.js';
export { ID_BYTES_MAX, isTenant, isUsableId } from './usable-id.js';
export { isTooDeep, JSON_DEPTH_MAX, readJson } from './json-text.js';
export { lookAlikes } from './alike.js';
export { isAmong, isPerson, isSubject, personKey, policyDecider, SUBJECT_FORM } from './person.js';
export type { Asking } from './person.js';
export {
  isObserved,
  isValidAt,
  observersIn,
  KEY_PROBLEMS,
  parseKeyring,
  publicKeyText,
  signerOf,
  SPEAKER_ROLES,
  speakerOf,
  speaksFor,
  speaksUnder,
} from './keyring.js';
export type { KeyProblem, Keyring, KnownKey, SignedText, Signer, Speaker, SpeakerRole } from './keyring.js';
export { canonicalJson } from './canonical.js';
export { instantText } from './instant.js';
export type { Json } from './canonical.js';
export { placeInTrace, spanIdOf, TRACEPARENT, traceIdOf, traceparentOf } from './trace-ids.js';
export type { SpanName, TracePlace } from './trace-ids.js';
export { murmur2, partitionForKey } from './partition.js';
export { ASK_PREFIX, backoffMs, grantLease, isAskOfLedger, leaseIdOf, MARGIN_MS } from './lease.js';
export type { Lease, LeaseBounds, LeasePolicy, RetryBackoff } from './lease.js';
export type { Clock } from './clock.port.js';
export { systemClock } from './clock.system.js';
export { ManualClock } from './clock.memory.js';
