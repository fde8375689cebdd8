export { assertNever, Failure, FAILURES, InvariantViolation } from './outcome.js';
export type { FailureCode, FailureSpec, Rejection, RetryRule } from './outcome.js';
export { deriveId, sha256Hex } from './ids.js';
export { isPerson, isSamePerson } from './person.js';
export { canonicalJson } from './canonical.js';
export type { Json } from './canonical.js';
export { murmur2, partitionForKey } from './partition.js';
export { ASK_PREFIX, backoffMs, grantLease, isAskOfLedger, leaseIdOf, MARGIN_MS } from './lease.js';
export type { Lease, LeaseBounds, LeasePolicy, RetryBackoff } from './lease.js';
