// What the mutations log is told: waits, bounds and limits, with what holds where nothing is told.
import { stoodIn } from '@recourse/event-log';
import type { DecideContext } from '@recourse/event-log';
import { earliestOf } from '@recourse/kernel';
import type { Reevaluating } from './core/reevaluations.part.js';
import { sharedLimits } from './rules/admission/admission.decisions.js';
import { NO_LIMITS } from './rules/admission/admission.messages.js';
import type { AdmissionLimits } from './rules/admission/admission.messages.js';
import { KEEPING } from './rules/commit/checkpoint.decisions.js';
import type { Keeping } from './rules/commit/checkpoint.decisions.js';
import type { AckWaits } from './rules/consumer/consumer.messages.js';
import { ACK_WAITS } from './rules/consumer/due.decider.js';
import { LEDGER_POLICY } from './rules/mutation/mutation.decider.js';
import type { LedgerPolicy } from './rules/mutation/mutation.decider.js';
import { EFFECTS_MAX } from './rules/mutation/refs.decider.js';
import { MARKS_MAX } from './rules/mutation/spread.decider.js';

export interface MutationsConfig extends Partial<LedgerPolicy>, Partial<Keeping>, Partial<Reevaluating> {
  /** Most commits that one decision contradicts; EFFECTS_MAX unless told. */
  readonly effectsMax?: number;
  /** Most commits that one decision of a spread marks; MARKS_MAX unless told, or as many as `effectsMax`. */
  readonly marksMax?: number;
  /** Limits of triggers, shared by the partitions of the log; none unless told. */
  readonly admission?: AdmissionLimits;
  /** How long consumers have to answer, by mode; ACK_WAITS unless told. */
  readonly ackWaits?: AckWaits;
}

export type MutationsPolicy = Required<MutationsConfig>;

const LEDGER_DEFAULTS: MutationsPolicy = {
  ...LEDGER_POLICY,
  ...KEEPING,
  effectsMax: EFFECTS_MAX,
  marksMax: MARKS_MAX,
  boundMs: null,
  admission: NO_LIMITS,
  ackWaits: ACK_WAITS,
};

/** The policy with everything told. */
export function policyOf(config: MutationsConfig): MutationsPolicy {
  return { ...LEDGER_DEFAULTS, marksMax: config.effectsMax ?? MARKS_MAX, ...config };
}

/** The policy of the partition that decides: a limit over all of them is shared out. */
export function policyIn(
  policy: MutationsPolicy,
  { partitions, state }: Pick<DecideContext, 'partitions' | 'state'>,
): MutationsPolicy {
  const earliest: MutationsPolicy['earliest'] = (at) => earliestOf(at, stoodIn(state));
  return { ...policy, earliest, admission: sharedLimits(policy.admission, partitions) };
}
