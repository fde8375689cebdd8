// What a tool owner gives for drills, and what a drill reports.
import type { Contract } from '@recourse/contract';
import type { Clock, Json } from '@recourse/kernel';
import type { ForwardTool } from '../guard/guard.messages.js';
import type { Tool } from '../tool/tool.js';
import type { DrillPath, DrillVerdict } from './drill.decisions.js';

/** How to make an effect that harms nobody. */
export interface Canary {
  /** The forward tool, as a guard wraps it. */
  readonly forward: ForwardTool;
  /** Arguments of the canary; asked anew for each drill. */
  readonly args: () => Json | Promise<Json>;
  /** How often something took effect under an idempotency key, by the provider's own account. Without it nobody knows of a second effect: `repeat` is `not_run`. */
  readonly effectsUnder?: (idempotencyKey: string) => Promise<number>;
}

/** What a tool owner gives for drills. */
export interface DrillKit {
  readonly adapter: string;
  /** By capability: those of the worker. */
  readonly tools: Readonly<Record<string, Tool>>;
  /** By forward capability. */
  readonly canaries: Readonly<Record<string, Canary>>;
}

/** What one path of one capability showed. */
export interface DrillFinding extends DrillVerdict {
  /** Forward capability whose repair was exercised. */
  readonly capability: string;
  readonly path: DrillPath;
  /** Capability that the path calls; null where it calls none. */
  readonly called: string | null;
}

/** A drill of one adapter. */
export interface DrillReport {
  readonly adapter: string;
  readonly drill_id: string;
  /** Epoch milliseconds. */
  readonly started_at: number;
  /** Epoch milliseconds. */
  readonly ended_at: number;
  /** `drift` when any path drifted, else `not_run` when any was not exercised. */
  readonly verdict: DrillVerdict['verdict'];
  readonly findings: readonly DrillFinding[];
}

/** What a drill needs. */
export interface DrillOptions {
  readonly kit: DrillKit;
  /** Contracts that stand for the adapter: forward capabilities, what undoes them and what looks at them. */
  readonly contracts: readonly Contract[];
  readonly clock: Clock;
  /** Names the drill: run and keys follow from it, so that each drill is given another. */
  readonly drillId: string;
  readonly tenant: string;
}
