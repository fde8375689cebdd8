// Whether a leg under way may begin its next step: where kill switches reach it.
import { switchVerdict } from '@recourse/contract';
import type { LegRequested, LegStep } from '@recourse/messages';
import type { Entries } from '../entries/entries.port.js';

/** Asked before each step of a leg. A no ends the leg: its report names neither this step nor a later one. */
export type MayGoOn = (leg: LegRequested, step: LegStep) => Promise<boolean> | boolean;

/** What keeps a worker from a step: nothing, somebody, or that nobody can say whether somebody does (P14). */
export type Objection =
  | { readonly kind: 'none' }
  | { readonly kind: 'held'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly cause: unknown };

/**
 * Stops what a kill switch over the tenant, the agent or the capability is in force for.
 *
 * Shape: looks change nothing and go on; one over an agent stops its compensations only where it says so. Who does not know whether a switch stands does not act (P14).
 */
export function unlessKilled(entries: Entries): (leg: LegRequested, step: LegStep) => Promise<Objection> {
  return async ({ kind, tenant }, { agent_id, call: { capability } }) => {
    if (kind === 'observe' || kind === 'reconcile') return { kind: 'none' };
    const switches = await entries.standing('kill_switch', tenant);
    if (switches.kind === 'unavailable') return { kind: 'unknown', cause: switches.cause };
    const acting = { tenant, agent: agent_id ?? '', capability, isRecovery: kind !== 'release' };
    const verdict = switchVerdict(switches.entries, acting);
    return verdict.admitted ? { kind: 'none' } : { kind: 'held', reason: verdict.reason };
  };
}
