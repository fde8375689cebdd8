// Whether a routine rule lets an action go without the person its contract asks, and what is counted of that. Pure.
//
// Invariants
//   U1. A rule lets go what its contract asks one person about, never what two people are asked about; and nothing that no rule may
//       (T1), by the contract that is named and by the one that stands.
//   U2. In no window are more let go than a cap says, over all partitions: each has its share, and counts by itself. Which agent it is the
//       asker says, so who the token names counts as one beside it; no spelling of a name is another.
//   U3. Who registered a rule is held to what they may approve themselves (P5).
//   U4. What cannot be read or judged lets nothing go (P14).
//   U5. A tenant's rule lets go what the tenant's own contract asks alone: what the platform's asks too only a rule of the platform does.
import {
  evaluateExpression,
  exposureOf,
  isWithinRule,
  ROUTINE_COUNT_MAX,
  ROUTINE_WINDOW_MAX_MS,
  unroutine,
  valueOf,
} from '@recourse/contract';
import type { Contract, RoutineFacts, RoutineRule, StandingRoutine } from '@recourse/contract';
import { deriveId, isAmong, personKey } from '@recourse/kernel';
import type { Asking, Json } from '@recourse/kernel';
import type { Money, RoutineCount, RoutineGrant, RoutineRefusal, RoutineScope } from '@recourse/messages';
import type { RoutineCountDoc, RoutineReason } from './routine.messages.js';

/** Owner of what holds for every tenant. */
const PLATFORM = '*';

/** An action that a person would be asked about. */
export interface RoutineAsked {
  readonly tenant: string;
  readonly runId: string;
  readonly agentId: string;
  /** Who asks, as their token says. */
  readonly asker: Asking;
  readonly initiator: string | null;
  readonly capability: string;
  readonly subjectRef: string | null;
  readonly args: Json;
  /** Says how sensitive the arguments are. */
  readonly content_type: string;
  /** How many people would be asked. */
  readonly people: number;
  /** Who may never approve it, and who edited its contract. */
  readonly barred: readonly (string | null)[];
}

/** A cap of a rule, and whose actions count against it. */
export interface RoutineCap {
  readonly bundle: string;
  readonly rule: string;
  readonly scope: RoutineScope;
  readonly name: string;
}

/** What rules are judged with. */
export interface RoutineContext {
  readonly now: number;
  /** Rules about the capability. */
  readonly rules: readonly StandingRoutine[];
  /** The contract that is named, and the one that stands by now. */
  readonly contract: Contract;
  readonly standing: Contract | null;
  /** The platform's contract for the capability, whatever the tenant has beside it; null where there is none. */
  readonly platform: Contract | null;
  /** What stops the action; null where nothing does. */
  readonly stopped: string | null;
  /** When actions were let go that count against a cap, epoch milliseconds. */
  readonly letGoAt: (cap: RoutineCap) => readonly number[];
  /** What this partition may let go of a cap over all. */
  readonly shareOf: (cap: number) => number;
}

/** The first rule that lets the action go, or why none does. */
export type RoutineVerdict =
  | { readonly grant: RoutineGrant; readonly reason: string }
  | { readonly grant: null; readonly refusals: readonly RoutineRefusal[] };

/** Judges the rules about an action in their order. */
export function routineVerdict(asked: RoutineAsked, context: RoutineContext): RoutineVerdict {
  const refusals: RoutineRefusal[] = [];
  for (const one of context.rules) {
    const { bundle, version, rule, registeredBy } = one;
    const counted = countsOf(asked, one, context);
    const found = refusalOf(asked, one, context) ?? capRefusal(counted);
    if (found !== null) refusals.push({ rule: `${bundle}@${String(version)}/${rule.name}`, ...found });
    else {
      const registered_by = registeredBy?.principal ?? '';
      return { grant: { bundle, version, rule: rule.name, registered_by, counted }, reason: rule.reason };
    }
  }
  return { grant: null, refusals };
}

interface Found {
  readonly code: RoutineReason;
  readonly detail: string;
}

function because(code: RoutineReason, detail: string): Found {
  return { code, detail };
}

function refusalOf(asked: RoutineAsked, one: StandingRoutine, context: RoutineContext): Found | null {
  return (
    contractRefusal(asked, one, context) ??
    sizeRefusal(asked, one.rule, context) ??
    conditionRefusal(asked, one.rule, context)
  );
}

/** What does not depend on the arguments. */
function contractRefusal(
  asked: RoutineAsked,
  { owner, rule, registeredBy }: StandingRoutine,
  context: RoutineContext,
): Found | null {
  const { contract, standing, stopped } = context;
  if (!asksPeople(contract))
    return because('ASKED_BY_CALLER', `the contract says ${contract.forward_approval ?? 'policy'}`);
  if (asked.people > 1) return because('TWO_PEOPLE_ASKED', `${String(asked.people)} people are asked`);
  if (standing === null) return because('CONTRACT_NOT_STANDING', `${asked.capability} was retired`);
  const excess = unroutine(contract) ?? unroutine(standing);
  if (excess !== null) return because('NEVER_ROUTINE', excess);
  const platformAsks = platformRefusal(owner, asked, context);
  if (platformAsks !== null) return platformAsks;
  const beyond = [contract, standing].find((each) => !isWithinRule(rule, each));
  if (beyond !== undefined) return because('OUTSIDE_RULE', `${beyond.impact}, risk ${beyond.risk_level ?? 'medium'}`);
  if (registeredBy === null || isAmong(asked.barred, registeredBy))
    return because('RULE_OF_CONCERNED', `${registeredBy?.principal ?? 'nobody known'} registered it`);
  return stopped === null ? null : because('STOPPED', stopped);
}

/** What a tenant's rule may not let go (U5). */
function platformRefusal(
  owner: string,
  { capability }: RoutineAsked,
  { contract, standing, platform }: RoutineContext,
): Found | null {
  if (owner === PLATFORM || ![contract, standing, platform].some(isPlatformAsking)) return null;
  return because('PLATFORM_ASKS', `${capability} of the platform asks, and the rule is of ${owner}`);
}

function asksPeople({ forward_approval }: Contract): boolean {
  return forward_approval === 'human' || forward_approval === 'dual_control';
}

function isPlatformAsking(contract: Contract | null): boolean {
  return contract !== null && (contract.tenant ?? PLATFORM) === PLATFORM && asksPeople(contract);
}

/** How much it moves and discloses, by either contract. */
function sizeRefusal(asked: RoutineAsked, rule: RoutineRule, { contract, standing }: RoutineContext): Found | null {
  const { amount_max: limit, exposure_max: exposed = 0 } = rule;
  for (const each of [contract, standing ?? contract]) {
    if (each.value !== undefined) {
      const value = valueOf(each, asked.args);
      if (
        limit === undefined ||
        value === null ||
        value.currency !== limit.currency ||
        value.amount_minor > limit.amount_minor
      )
        return because('AMOUNT_ABOVE_RULE', `${amountText(value)}, of ${amountText(limit ?? null)}`);
    }
    const discloses = each.consequence?.exposure === undefined ? exposureOf(each, asked) : 1;
    if (discloses > exposed) return because('EXPOSURE_ABOVE_RULE', `${String(discloses)}, of ${String(exposed)}`);
  }
  return null;
}

function amountText(value: Money | null): string {
  return value === null ? 'no amount' : `${String(value.amount_minor)} ${value.currency} in minor units`;
}

function conditionRefusal(asked: RoutineAsked, { when }: RoutineRule, { contract }: RoutineContext): Found | null {
  if (when === undefined) return null;
  const judged = evaluateExpression(when, factsFor(asked, contract));
  if (!judged.ok) return because('RULE_UNJUDGED', judged.detail);
  return judged.holds ? null : because('CONDITION_FALSE', when);
}

function factsFor(asked: RoutineAsked, contract: Contract): RoutineFacts {
  const value = valueOf(contract, asked.args);
  const action = {
    tenant: asked.tenant,
    run_id: asked.runId,
    agent_id: asked.agentId,
    initiator: asked.initiator,
    capability: asked.capability,
    subject_ref: asked.subjectRef,
    amount_minor: value?.amount_minor ?? null,
    currency: value?.currency ?? null,
  };
  return { action: Object.fromEntries(Object.entries(action).filter(([, known]) => known !== null)), args: asked.args };
}

/** What each cap would have counted, with this action. */
function countsOf(
  { tenant, agentId, asker }: RoutineAsked,
  { bundle, rule }: StandingRoutine,
  { now, letGoAt, shareOf }: RoutineContext,
): readonly RoutineCount[] {
  const { name: ruleName, window_ms, per_agent, per_tenant } = rule;
  const of = (scope: RoutineScope, name: string, cap: number): RoutineCount => {
    const inWindow = letGoAt({ bundle, rule: ruleName, scope, name }).filter((at) => at > now - window_ms);
    return { scope, name, count: inWindow.length + 1, share: shareOf(cap), cap, window_ms };
  };
  const agents = new Set([agentId, asker.principal, ...asker.accounts].map(personKey));
  return [...[...agents].map((name) => of('agent', name, per_agent)), of('tenant', tenant, per_tenant)];
}

function capRefusal(counted: readonly RoutineCount[]): Found | null {
  const full = counted.find(({ count, share }) => count > share);
  if (full === undefined) return null;
  const { scope, name, count, share, cap, window_ms } = full;
  const part = share === cap ? '' : `, this partition's part of ${String(cap)}`;
  return because(
    'CAP_REACHED',
    `${String(count - 1)} of ${String(share)} in ${windowText(window_ms)} for ${scope} ${name}${part}`,
  );
}

const UNITS = [
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

function windowText(ms: number): string {
  const [size, unit] = UNITS.find(([each]) => ms % each === 0) ?? [1, 'ms'];
  return `${String(ms / size)} ${unit}`;
}

/** Share of a cap over all partitions; the shares of all make up the cap and no more. A cap below their number leaves some none. */
export function capShare(cap: number, partition: number, partitions: number): number {
  return Math.floor(cap / partitions) + (partition < cap % partitions ? 1 : 0);
}

export function routineCountId(tenant: string, { bundle, rule, scope, name }: RoutineCap): string {
  return deriveId('rtn', tenant, bundle, rule, scope, name);
}

/** The count with one more that was let go. It keeps what any cap within the longest window can ask for, so that a wider rule finds it. */
export function countedAfter(
  standing: RoutineCountDoc | undefined,
  about: Omit<RoutineCountDoc, 'let_go_at' | 'updated_at'>,
  at: number,
): RoutineCountDoc {
  const before = (standing?.let_go_at ?? []).filter((each) => each > at - ROUTINE_WINDOW_MAX_MS);
  return { ...about, let_go_at: [...before, at].slice(-ROUTINE_COUNT_MAX), updated_at: at };
}
