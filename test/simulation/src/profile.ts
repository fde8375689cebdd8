// Shapes of a world: how long things take and how much goes wrong. A mutant names the shape that shows its rule best.
import type { Terms } from './contracts.js';

export interface Profile {
  readonly terms: Terms;
  readonly leaseMs: number;
  readonly reviewDeadlineMs: number;
  /** Furthest a worker's clock is from true time, milliseconds. */
  readonly workerSkewMs: number;
  /** Probability that a send of a log or wire goes wrong. */
  readonly sendTrouble: number;
  /** Probability that any other call of a port fails. */
  readonly callTrouble: number;
  /** Probability that a call of a tool goes wrong. */
  readonly toolTrouble: number;
  /** Mean time between two disturbances (crash, zombie, freeze, database, clock), milliseconds. */
  readonly chaosEveryMs: number;
  /** Weights of the disturbances. */
  readonly chaos: Readonly<Record<ChaosKind, number>>;
  /** Longest an owner is frozen, milliseconds. */
  readonly freezeMaxMs: number;
  /** Mean time between two events of the stories, milliseconds. */
  readonly eventEveryMs: number;
  /** Steps a database clock makes, milliseconds: backward and forward. */
  readonly clockBackMs: number;
  readonly clockForwardMs: number;
  /** Sources are weighed, breakers, closures and rates limited, and people judge what is held. */
  readonly isCareful: boolean;
  /** How far back a rollback reaches, milliseconds; null without a bound. */
  readonly boundMs: number | null;
  /** Mean time between two erasures, milliseconds; null where nobody erases. */
  readonly eraseEveryMs: number | null;
  /** Consumers of rollbacks, of those there are to choose from. */
  readonly consumers: number;
  /** Tenants for which another worker observes what workers say they undid; none: wires are open. */
  readonly observed: readonly string[];
}

export const CHAOS_KINDS = ['crash', 'zombie', 'freeze', 'snapshot', 'restore', 'wipe', 'clock'] as const;
export type ChaosKind = (typeof CHAOS_KINDS)[number];

export const ORDINARY: Profile = {
  terms: { windowMs: 25_000, keyLifetimeMs: 14_000, callTimeoutMs: 1_000, maxAttempts: 3 },
  leaseMs: 6_000,
  reviewDeadlineMs: 15_000,
  workerSkewMs: 900,
  sendTrouble: 0.03,
  callTrouble: 0.004,
  toolTrouble: 0.12,
  chaosEveryMs: 900,
  chaos: { crash: 10, zombie: 3, freeze: 3, snapshot: 2, restore: 2, wipe: 1, clock: 1 },
  freezeMaxMs: 5_000,
  eventEveryMs: 45,
  clockBackMs: 5_000,
  clockForwardMs: 900,
  isCareful: false,
  boundMs: null,
  eraseEveryMs: null,
  consumers: 4,
  observed: [],
};

/** Contract shapes that ordinary seeds take turns with. */
export const TERMS: readonly Terms[] = [
  ORDINARY.terms,
  { windowMs: 14_000, keyLifetimeMs: 30_000, callTimeoutMs: 800, maxAttempts: 2 },
  { windowMs: 35_000, keyLifetimeMs: 9_000, callTimeoutMs: 1_500, maxAttempts: 3 },
];
