// Autonomy policies in the view of entries: by kind of task, and by the capabilities that a kind of task is made of.
import type { ContractEntries } from '../view.js';
import { autonomyKey, autonomyPolicy } from './autonomy.js';
import type { AutonomyPolicy } from './autonomy.js';
import { namesIn, standingEntry } from './view.js';

/** A kind of task, with the policy in force; version null where none is registered. */
export interface StandingAutonomy {
  readonly taskKind: string;
  readonly policy: AutonomyPolicy;
  readonly version: number | null;
}

/** The policy of a kind of task; one that nobody registered is the capability of its name, on the defaults. */
export function autonomyOf(view: ContractEntries, tenant: string, taskKind: string): StandingAutonomy {
  const found = standingEntry(view, 'autonomy_policy', tenant, taskKind);
  return { taskKind, policy: autonomyPolicy(found?.entry, taskKind), version: found?.version ?? null };
}

/** The kinds of task that a capability is part of; of none but its own where no policy names it. */
export function autonomiesFor(view: ContractEntries, tenant: string, capability: string): readonly StandingAutonomy[] {
  const names = [tenant, '*'].flatMap((owner) => namesIn(view.get(autonomyKey(owner, capability))));
  const kinds = names.length === 0 ? [capability] : [...new Set(names)].sort();
  return kinds.map((kind) => autonomyOf(view, tenant, kind));
}
