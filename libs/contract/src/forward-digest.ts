// What a forward approval covers, as one hash: the guard computes it, and who asks people checks it against what they are shown.
import { canonicalJson, deriveId, sha256Hex } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';

export interface ForwardAction {
  readonly tenant: string;
  readonly runId: string;
  readonly effectKey: string;
  readonly capability: string;
  /** 64 hex digits; null where the caller knows none. */
  readonly contractDigest: string | null;
  readonly subjectRef: string | null;
  readonly args: Json;
}

/**
 * SHA-256 over the canonical JSON of tenant, run, effect, capability, contract, subject and arguments.
 *
 * Shape:  64 hex digits.
 * Source: P4.
 */
export function forwardDigest({
  tenant,
  runId,
  effectKey,
  capability,
  contractDigest,
  subjectRef,
  args,
}: ForwardAction): string {
  return sha256Hex(canonicalJson([tenant, runId, effectKey, capability, contractDigest, subjectRef, args]));
}

/** Id of the question before an effect: it follows from what it is about, so whoever asks the same again finds it. */
export function forwardApprovalId(tenant: string, runId: string, effectKey: string, actionDigest: string): string {
  return deriveId('fwa', tenant, runId, effectKey, actionDigest);
}
