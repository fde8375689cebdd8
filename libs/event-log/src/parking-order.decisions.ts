// Which records wait behind one that is parked (L15). Pure.
import type { Speaker } from '@recourse/kernel';
import { speakerOfParked } from './parking.decisions.js';
import type { Doc } from './service-core.js';

/**
 * Whose order a record is part of: two tenants may have a run of the same name, and neither waits for the other; nor does
 * anybody wait for what another's key sent under a name that is theirs (L15).
 *
 * Shape:  `tenants`: null for all, since nobody can say whose it is. `voice`: the key that vouched for it; null for what a service
 *         says, which everybody waits for, and where nobody signs.
 */
export interface Order {
  readonly tenants: readonly string[] | null;
  readonly voice: string | null;
}

/** The order of a record: its own word of its tenant, which its key was held to; of what nobody can read, the tenants its key speaks for. */
export function orderOf(tenant: string | null, speaker: Speaker | undefined): Order {
  if (speaker === undefined || speaker.roles.includes('service'))
    return { tenants: tenant === null ? null : [tenant], voice: null };
  const spokenFor = speaker.tenants.includes('*') ? null : speaker.tenants;
  return { tenants: tenant === null ? spokenFor : [tenant], voice: speaker.keyId };
}

/** The same of one that is parked. */
export function orderOfParked(doc: Doc): Order {
  return orderOf(typeof doc.tenant === 'string' ? doc.tenant : null, speakerOfParked(doc));
}

/**
 * Does a record wait for an earlier one that is parked?
 *
 * Shape:  what is no service's holds up what the same key sends later, and nothing else: no command of a person, no word of a source,
 *         no record of a log.
 */
export function waitsFor(later: Order, earlier: Order): boolean {
  if (earlier.voice !== null && earlier.voice !== later.voice) return false;
  const [some, others] = [later.tenants, earlier.tenants];
  return some === null || others === null || some.some((tenant) => others.includes(tenant));
}
