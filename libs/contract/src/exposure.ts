// Exposure: how sensitive a payload says it is, and what of that leaves with a call.
import { deriveId } from '@recourse/kernel';
import type { Payload } from '@recourse/messages';
import type { Contract } from './shape.js';

/** Unit of the debt in disclosures, where money has its currency: one for each call that discloses. */
export const EXPOSURE = 'exposure';

/** Id of what is reserved for an effect. */
export function reservationId(tenant: string, runId: string, effectKey: string): string {
  return deriveId('res', tenant, runId, effectKey);
}

/** Ascending: a payload is as sensitive as the most sensitive thing in it. */
export const SENSITIVITIES = ['internal', 'personal', 'payment', 'regulatory'] as const;
/** How sensitive a payload is. */
export type Sensitivity = (typeof SENSITIVITIES)[number];

/** How sensitive a payload says it is, sealed or not; unmarked ones are internal, marks that are not known count as regulatory. */
export function sensitivityOf({ content_type: type }: Pick<Payload, 'content_type'>): Sensitivity {
  const mark = /;\s*sensitivity=([^;\s]+)/.exec(type)?.[1];
  return mark === undefined ? 'internal' : (SENSITIVITIES.find((each) => each === mark) ?? 'regulatory');
}

/** Approval modes of calls whose arguments stay here, unless their contract says what they disclose. */
const STAYS_HERE: readonly string[] = ['read_only', 'local_write'];

/**
 * Counts what a call discloses to somebody outside.
 *
 * Shape:  1 for arguments that are marked personal, payment or regulatory, under a contract that lets them leave; an unknown
 *         contract lets everything leave.
 * Units:  disclosures; what is disclosed stays so, which is why no class makes it weigh less.
 * Source: requirements D61, A81.
 */
export function exposureOf(contract: Contract | undefined, args: Pick<Payload, 'content_type'>): number {
  if (sensitivityOf(args) === 'internal') return 0;
  return contract !== undefined &&
    STAYS_HERE.includes(contract.approval_mode) &&
    contract.consequence?.exposure === undefined
    ? 0
    : 1;
}
