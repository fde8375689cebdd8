// What the operator configures: clocks, key and people. Constant while the process runs.

import type { Contract, StandingEntry } from '@recourse/contract';
import type { RetryBackoff } from '@recourse/kernel';
import type { ContractTerms } from '@recourse/messages';

export { MARGIN_MS } from '@recourse/kernel';
export type { RetryBackoff } from '@recourse/kernel';

/** How much harm an unnecessary compensation can do, in ascending order. */
export const RISK_LEVELS = ['low', 'medium', 'high'] as const;
export type RiskLevel = (typeof RISK_LEVELS)[number];

/** What a contract calls high risk is not done without a person. */
export const RISK_LIMIT: RiskLevel = 'medium';

export interface RecoveryPolicy {
  /** Secret of the lease HMAC, 32 bytes or more: nobody can answer a request they were not sent (L11). */
  readonly leaseKey: Buffer;
  /** Longest a worker may hold a leg, milliseconds. */
  readonly leaseMs: number;
  /** Distance kept from every instant another clock judges, milliseconds (P6). */
  readonly marginMs: number;
  /** How long an open item may wait for a person, milliseconds. */
  readonly reviewDeadlineMs: number;
  /** How long a forward approval may wait for its effect to begin, milliseconds. */
  readonly forwardValidMs: number;
  readonly backoff: RetryBackoff;
  /** Earliest true instant of what is on record as of an instant; null where nobody can say. */
  readonly earliest: (at: number) => number | null;
  /** How long an effect waits for those derived from it in other runs, milliseconds. */
  readonly childrenFirstMs: number;
  /** Declared risk above which no compensation goes by itself (C37). */
  readonly riskLimit: RiskLevel;
  /** Directory subject of an agent's registered owner, the first of them; null when none is registered. */
  readonly ownerOf: (tenant: string, agentId: string) => string | null;
  /** Everybody who answers for an agent or ever did: none of them approves what it does (P5). */
  readonly ownersOf: (tenant: string, agentId: string) => readonly string[];
  /** Contract of a capability that binds a tenant; null when none stands. */
  readonly standing: (tenant: string, capability: string) => Contract | null;
  /** Contract that binds what executed under these terms, as far as it was tightened: the newest of its owner, retired or not. */
  readonly ofOpen: (tenant: string, terms: ContractTerms) => Contract | null;
  /** Contracts of what an undo calls, as far as they are known. */
  readonly ofCalled: (tenant: string, capability: string) => readonly Contract[];
  /** Policy bundle that stands under a name, the tenant's own with what the platform's demands; null when none does. */
  readonly bundleOf: (tenant: string, name: string) => StandingEntry<'policy_bundle'> | null;
}

/** A quarter of an hour: longer than an agent takes to notice, shorter than the approved situation can be trusted to last. */
export const FORWARD_VALID_MS = 15 * 60_000;

/** Acts on what waits for an approval. */
export const OWNER_OF_APPROVALS = 'role:approver';

/** Acts on what automation may not touch. */
export const OWNER_OF_MANUAL = 'role:administrator';

/** Acts on what a kill switch stops. */
export const OWNER_OF_HALTED = 'role:operator';

/** Acts on what waits for its turn: the service itself, until its deadline. */
export const OWNER_OF_ORDER = 'service:recovery-orchestrator';

/** Acts on a leg that is out: the workers of its adapter. */
export function ownerOfLeg(adapter: string): string {
  return `adapter:${adapter}`;
}
