// The rules of the loop that a checker must miss when they are gone. Production runs ALL_RULES; only the simulation takes
// one away at a time, to see that its checker notices (the checker is checked). Rules that live in a port (whole batches,
// unknown outcomes, the projection fence) are taken away at the port instead.
import { FRAME_SIZE, leafHash, readHead, readRecord, schemaIdOf } from '@recourse/chain';
import type { FingerprintOf, Head, RawRecord, Verdict } from '@recourse/chain';

export interface LoopRules {
  /** 3.2: a record that does not follow the head is void. */
  readonly acceptance: boolean;
  /** L3: nothing leaves before its record is accepted. */
  readonly reactAfterAcceptance: boolean;
  /** L5: after an unknown outcome the inputs go back to the cursors in the log. */
  readonly seekAfterUnknown: boolean;
  /** L9: what may not have been sent is sent again. */
  readonly resendOwed: boolean;
  /** L10: nothing is sent before the inputs were read to their ends. */
  readonly quietUntilCaughtUp: boolean;
}

export const ALL_RULES: LoopRules = {
  acceptance: true,
  reactAfterAcceptance: true,
  seekAfterUnknown: true,
  resendOwed: true,
  quietUntilCaughtUp: true,
};

export type ReadRule = (head: Head, record: RawRecord, fingerprintOf: FingerprintOf) => Verdict;

/** How records of a log are judged: by the acceptance rule, or (without it) whatever can be read counts. */
export function readRule(rules: LoopRules): ReadRule {
  return rules.acceptance ? readRecord : readUnchecked;
}

function readUnchecked(head: Head, { key, value }: RawRecord, fingerprintOf: FingerprintOf): Verdict {
  const id = schemaIdOf(value);
  if (key === null || value === null || id === null || readHead(value) === null) return { kind: 'void' };
  const fingerprint = fingerprintOf(id);
  if (fingerprint === null) return { kind: 'unknown_schema', id };
  return {
    kind: 'accepted',
    head: { seq: head.seq + 1, hash: leafHash(fingerprint, key, value.subarray(FRAME_SIZE)) },
  };
}
