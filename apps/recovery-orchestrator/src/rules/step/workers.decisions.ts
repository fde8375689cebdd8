// Who works: what is asked of the workers of each adapter now, and whose keys act and observe. Pure.
//
// Invariants
//   W1. A tenant is told of keys that speak for it, and of no others.
import { isValidAt, speaksFor } from '@recourse/kernel';
import type { Keyring } from '@recourse/kernel';

/** What is asked of the workers of one adapter for one tenant. */
export interface Asked {
  readonly tenant: string;
  readonly adapter: string;
  /** Calls and looks that wait for an answer. */
  readonly asked: number;
  /** Of those: nobody has answered in time. */
  readonly silent: number;
  /** Since when the oldest of them waits; epoch milliseconds. */
  readonly oldest_at: number;
}

/** A key of a worker: what it does, for which adapters and tenants (`*` is all), and until when. */
export interface WorkerKey {
  readonly key_id: string;
  readonly acts: boolean;
  readonly observes: boolean;
  readonly adapters: readonly string[];
  readonly tenants: readonly string[];
  readonly valid_until: number | null;
}

export interface WorkersView {
  readonly as_of: number;
  readonly items: readonly Asked[];
  /** True when more is asked than is shown. */
  readonly more: boolean;
  /** Null where wires are open: nobody signs, so anybody works. */
  readonly keys: readonly WorkerKey[] | null;
}

/** Keys that work at an instant; `tenant` undefined: of all tenants. */
export function workerKeys(ring: Keyring, tenant: string | undefined, now: number): readonly WorkerKey[] {
  return [...ring.values()]
    .filter((key) => key.roles.some((role) => role === 'worker' || role === 'observer') && isValidAt(key, now))
    .filter((key) => tenant === undefined || speaksFor(key, tenant))
    .map(({ keyId, roles, names, tenants, validUntil }) => ({
      key_id: keyId,
      acts: roles.includes('worker'),
      observes: roles.includes('observer'),
      adapters: names,
      tenants: tenant === undefined ? tenants : tenants.filter((one) => one === '*' || one === tenant),
      valid_until: validUntil,
    }));
}
