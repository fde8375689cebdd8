// Whether a trigger rolls back by itself: trust in its source, breakers, the size of what one event takes down (docs/design/ledger.md).
//
// Boundary: pure. Reads rows of one partition; limits over all partitions are split into shares.
//
// Invariants
//   D1. What is held is recorded with a reason, an owner and a deadline: nothing is dropped (P12).
//   D2. A person's own word and the run's own failure are never held: limits are for what programs say unasked. What a program
//       says of its own effect is asked no weight; all else that it says by a command is weighed as that of any source.
//   D3. Further commits of an event that was admitted are not new roots: a breaker does not tear one rollback apart.
//   D5. Evidence that its source's terms forbid is held whatever the limits are: no trust makes it fresh, or the tenant's.
//   D4. One event counts once toward a breaker, however many commits it hits; how many it hits is the closure limit's. An id is
//       whatever its sender says: toward a breaker an event is its source, what it is about and its id; toward the closure limit, its
//       source and its id, so that using an id again brings its own limit nearer.
import { deriveId, isPerson, shareOf } from '@recourse/kernel';
import type { Evidence, LimitScope } from '@recourse/messages';
import { sharedTrend } from '../trend/trend.decisions.js';
import { WEIGHT_INITIAL } from './admission.messages.js';
import { contextIdOf, unfitEvidence } from './context.decisions.js';
import type { DeclaredSource } from './context.decisions.js';
import type { AdmissionLimits, BreakerDoc, ClosureDoc, HoldReason, SourceDoc, StormDoc } from './admission.messages.js';

/** The ledger, as it names itself in evidence of its own. */
const LEDGER = 'service:mutation-ledger';

/** What a breaker is about. */
export interface Scope {
  readonly scope: LimitScope;
  readonly tenant: string;
  readonly name: string;
}

/** Ids follow from what they are about (L1), and are short whatever a source calls itself (L7). */
export function sourceIdOf(tenant: string, source: string): string {
  return deriveId('src', tenant, source);
}
export function scopeIdOf({ scope, tenant, name }: Scope): string {
  return deriveId('brk', scope, tenant, name);
}
export function closureIdOf(tenant: string, { source, event_id }: Pick<Evidence, 'source' | 'event_id'>): string {
  return deriveId('evt', tenant, source, event_id);
}

/** One event, as breakers count it (D4). */
export function rootEventOf({ source, ref, event_id }: Pick<Evidence, 'source' | 'ref' | 'event_id'>): string {
  return deriveId('root', source, ref ?? '', event_id);
}

/** Limits of one partition. */
export function sharedLimits(limits: AdmissionLimits, partitionCount: number): AdmissionLimits {
  const { storm, closureMax, trend } = limits;
  return {
    ...limits,
    storm: storm === null ? null : { ...storm, limit: shareOf(storm.limit, partitionCount) },
    closureMax: closureMax === null ? null : shareOf(closureMax, partitionCount),
    trend: trend === null ? null : sharedTrend(trend, partitionCount),
  };
}

/**
 * Whether evidence is somebody's own word whom no weight is asked of.
 *
 * Shape:  only what came by a command or from the ledger itself (partition -1): whoever writes to a wire can claim any kind.
 */
export function isVouchedFor({ kind, source, partition }: Evidence): boolean {
  // What stood on a commit that fell is admitted with its root (D3); no wire states evidence of this kind.
  if (kind === 'lineage') return true;
  if (partition !== -1) return false;
  // A successor bundle refuses what an earlier one let through: the ledger asked it about its own record (E28).
  if (kind === 'policy_reevaluation') return source === LEDGER;
  // A run that fails takes back what it did itself (A53); the ledger says so of its own record.
  return kind === 'tool_return' || (kind === 'human' && isPerson(source));
}

/** Breakers a trigger falls under. Its capability is known when its commit is marked. */
export function scopesOf(tenant: string, evidence: Evidence): readonly Scope[] {
  return isVouchedFor(evidence)
    ? []
    : [
        { scope: 'source', tenant, name: evidence.source },
        { scope: 'tenant', tenant, name: tenant },
      ];
}

/** Rows and registry entries a decision is made by. */
export interface Seen {
  readonly source: Pick<SourceDoc, 'weight_permille'> | undefined;
  /** What the registry says of the source; its trust is what its triggers weigh until people have judged some. */
  readonly declared: DeclaredSource;
  readonly scopes: readonly {
    readonly scope: Scope;
    readonly storm: StormDoc | undefined;
    readonly breaker: Pick<BreakerDoc, 'phase'> | undefined;
  }[];
  readonly closure: ClosureDoc | undefined;
}

/** What is decided again was counted, or let through by a person, before. */
export interface Asked {
  readonly tenant: string;
  readonly evidence: Evidence;
  /** It names one commit by a command: not a hit of a spreading event. */
  readonly isCommand: boolean;
  /** It was held before: a breaker that was closed since does not count it anew. */
  readonly isAgain: boolean;
  /** A program says it by a command of an effect that it made itself. */
  readonly isOwn: boolean;
}

export type Admission =
  | { readonly kind: 'admit'; readonly isCounted: boolean; readonly isHit: boolean }
  | {
      readonly kind: 'hold';
      readonly reason: HoldReason;
      readonly cause: string;
      readonly detail: string;
      readonly opens: Opening | null;
    };

/** A breaker that opens. */
export interface Opening {
  readonly scope: Scope;
  readonly count: number;
  readonly limit: number;
  readonly windowMs: number;
}

/** Admits a trigger or says what holds it: the terms of its source first, then trust, then breakers, then the size of the closure. */
export function admission(
  { tenant, evidence, isCommand, isAgain, isOwn }: Asked,
  seen: Seen,
  limits: AdmissionLimits,
  now: number,
): Admission {
  if (isVouchedFor(evidence)) return { kind: 'admit', isCounted: false, isHit: false };
  return (
    (isAgain ? null : unfit(tenant, evidence, seen, now)) ??
    (isOwn ? null : untrusted(tenant, evidence, seen, limits)) ??
    stopped(evidence, seen, isAgain, limits, now) ??
    tooMany(tenant, evidence, seen, isCommand, limits) ?? {
      kind: 'admit',
      isCounted: limits.storm !== null && !isAgain,
      isHit: limits.closureMax !== null && !isCommand,
    }
  );
}

/** Weight of a source: what people's words made of it, else what it was registered with, else that of a stranger. */
export function weightOf({ source, declared }: Pick<Seen, 'source' | 'declared'>): number {
  return source?.weight_permille ?? declared.entry?.trust_permille ?? WEIGHT_INITIAL;
}

function unfit(tenant: string, evidence: Evidence, { declared }: Seen, now: number): Admission | null {
  const found = unfitEvidence(evidence, declared, now);
  return found === null ? null : { kind: 'hold', ...found, cause: contextIdOf(tenant, evidence), opens: null };
}

function untrusted(
  tenant: string,
  { source }: Evidence,
  seen: Seen,
  { trustThresholdPermille: threshold }: AdmissionLimits,
): Admission | null {
  const weight = weightOf(seen);
  if (threshold === null || weight >= threshold) return null;
  return {
    kind: 'hold',
    reason: 'SOURCE_UNTRUSTED',
    cause: sourceIdOf(tenant, source),
    detail: `its source weighs ${String(weight)} of ${String(threshold)} thousandths`,
    opens: null,
  };
}

function stopped(
  evidence: Evidence,
  { scopes }: Seen,
  isAgain: boolean,
  { storm: limit }: AdmissionLimits,
  now: number,
): Admission | null {
  if (limit === null) return null;
  // An event that passed is one root, in every scope: the rest of it goes on (D3).
  const root = rootEventOf(evidence);
  if (scopes.some(({ storm }) => storm?.events.some((one) => one.event_id === root) === true)) return null;
  const open = scopes.find(({ breaker }) => breaker?.phase === 'open');
  if (open !== undefined) return heldBy(open.scope, 'a breaker is open over', null);
  if (isAgain) return null;
  for (const { scope, storm } of scopes) {
    const opening = burst(scope, storm, limit, now);
    if (opening !== null) return heldBy(scope, 'a burst opened the breaker over', opening);
  }
  return null;
}

/** The breaker that one more event opens; null while there is room. */
export function burst(
  scope: Scope,
  storm: StormDoc | undefined,
  { limit, windowMs }: { readonly limit: number; readonly windowMs: number },
  now: number,
): Opening | null {
  const count = recent(storm, now, windowMs).length + 1;
  return count > limit ? { scope, count, limit, windowMs } : null;
}

/** Events that still count; the window is half open, so an event exactly as old as the window no longer counts. */
export function recent(storm: StormDoc | undefined, now: number, windowMs: number): StormDoc['events'] {
  return (storm?.events ?? []).filter(({ at }) => at > now - windowMs);
}

function heldBy(scope: Scope, what: string, opens: Opening | null): Admission {
  return {
    kind: 'hold',
    reason: 'BREAKER_OPEN',
    cause: scopeIdOf(scope),
    detail: `${what} ${scope.scope} ${scope.name}`,
    opens,
  };
}

function tooMany(
  tenant: string,
  evidence: Evidence,
  { closure }: Seen,
  isCommand: boolean,
  { closureMax }: AdmissionLimits,
): Admission | null {
  if (closureMax === null || isCommand || closure?.is_confirmed === true || (closure?.hits ?? 0) < closureMax)
    return null;
  return {
    kind: 'hold',
    reason: 'CLOSURE_LIMIT',
    cause: closureIdOf(tenant, evidence),
    detail: `one event has rolled back ${String(closure?.hits ?? 0)} commits on this partition, as many as may go unasked`,
    opens: null,
  };
}

/** The part of the judged triggers that people confirmed, from 0 to 1; null while none is judged (E42). */
export function precisionOf({
  confirmed,
  rejected,
}: {
  readonly confirmed: number;
  readonly rejected: number;
}): number | null {
  const judged = confirmed + rejected;
  return judged === 0 ? null : Math.round((confirmed / judged) * 10_000) / 10_000;
}
