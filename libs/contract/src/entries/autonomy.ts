// Autonomy policies: what an agent has to earn at a kind of task, what holds it back, and what each rung lets it do. The name of
// the entry is the kind of task; a capability that no policy names is a kind of its own.
//
// Boundary: pure. Whether an agent has earned a rung is the accountant's to say (apps/budget-accountant/src/rules/autonomy).
//
// Invariants
//   U1. A rung is bound by what every rung above it says, so none is let do more than a higher one.
//   U2. A tenant's policy and the platform's hold together: the capabilities of both, the least reversible of which counts, the
//       higher threshold, the lower cap, the stricter grant.
import { RUNG_VALUES } from '@recourse/messages';
import type { Rung } from '@recourse/messages';
import { z } from 'zod';
import { CAPABILITY_PATTERN } from '../shape.js';
import { placeOf } from './places.js';

/** How far an agent may go alone, the lowest first (D33). */
export const RUNGS: readonly Rung[] = RUNG_VALUES;

/** Who is asked before an effect, the most lenient first; `refused`: it is not for the agent to do. */
export const GRANTED_APPROVALS = ['policy', 'human', 'dual_control', 'refused'] as const;
export type GrantedApproval = (typeof GRANTED_APPROVALS)[number];

const TEXT_MAX = 2_000;
const DAY_MS = 86_400_000;
/** Longest time a policy looks back or holds: 90 days. */
const TIME_MAX_MS = 90 * DAY_MS;

const named = () =>
  z
    .string()
    .min(1)
    .max(200)
    .regex(/^[\w.:@/-]+$/);
const permille = () => z.int().min(0).max(1_000);
const time = () => z.int().min(1_000).max(TIME_MAX_MS);

const grantShape = () =>
  z.strictObject({
    forward_approval: z.enum(GRANTED_APPROVALS).optional(),
    /** Ceilings of a run on this rung, minor units; the lower of these and what was opened binds. */
    ceilings: z
      .array(z.strictObject({ currency: z.string().regex(/^(?:[A-Z]{3}|exposure)$/), ceiling_minor: z.int().min(0) }))
      .max(20)
      .optional(),
  });

export const autonomyShape = {
  capabilities: z.array(z.string().max(128).regex(CAPABILITY_PATTERN)).min(1).max(50),
  /** Score from which a rung is earned, thousandths; equality earns it. */
  thresholds: z
    .strictObject({
      recommend: permille(),
      draft: permille(),
      execute_with_approval: permille(),
      auto_execute: permille(),
    })
    .optional(),
  /** Whatever was earned, no higher than these. */
  caps: z
    .array(z.strictObject({ name: named(), rung: z.enum(RUNG_VALUES), reason: z.string().trim().min(1).max(TEXT_MAX) }))
    .max(20)
    .optional(),
  /** Who may say how an agent did; absent: whoever the keyring lets speak as a source or a critic. */
  sources: z.array(named()).min(1).max(50).optional(),
  /** So many corrections within the window freeze. */
  corrections: z.strictObject({ count: z.int().min(1).max(100), window_ms: time() }).optional(),
  /** What each effect that was taken back within that window costs the tool reliability, thousandths. */
  undone_permille: permille().optional(),
  /** How long a violation holds. */
  hold_ms: time().optional(),
  rungs: z
    .strictObject({
      read: grantShape().optional(),
      recommend: grantShape().optional(),
      draft: grantShape().optional(),
      execute_with_approval: grantShape().optional(),
      auto_execute: grantShape().optional(),
    })
    .optional(),
} as const;

type Policy = z.infer<z.ZodObject<typeof autonomyShape, z.core.$strict>>;
type Grants = NonNullable<Policy['rungs']>;
/** What a rung lets an agent do. */
export type Grant = z.infer<ReturnType<typeof grantShape>>;

type EarnedRung = Exclude<Rung, 'read'>;
const EARNED = ['recommend', 'draft', 'execute_with_approval', 'auto_execute'] as const;

/** Thresholds of a kind of task whose policy names none, thousandths (G9). */
export const DEFAULT_THRESHOLDS = {
  recommend: 300,
  draft: 500,
  execute_with_approval: 650,
  auto_execute: 800,
} as const;
/** Three corrections in a day are no accident any more. */
const DEFAULT_CORRECTIONS = { count: 3, window_ms: DAY_MS } as const;
const DEFAULT_UNDONE_PERMILLE = 200;
/** A violation holds for a day: long enough that a person has seen it. */
const DEFAULT_HOLD_MS = DAY_MS;

/** A policy with what it leaves out. */
export interface AutonomyPolicy {
  readonly capabilities: readonly string[];
  readonly thresholds: Readonly<Record<EarnedRung, number>>;
  readonly caps: readonly { readonly name: string; readonly rung: Rung; readonly reason: string }[];
  readonly sources: readonly string[] | null;
  readonly corrections: { readonly count: number; readonly window_ms: number };
  readonly undone_permille: number;
  readonly hold_ms: number;
  readonly rungs: Grants;
}

/** The policy in force; without one, of a capability alone, nothing is granted and nothing held back. */
export function autonomyPolicy(written: Policy | undefined, capability: string): AutonomyPolicy {
  const policy: Policy = written ?? { capabilities: [capability] };
  return {
    capabilities: policy.capabilities,
    thresholds: policy.thresholds ?? DEFAULT_THRESHOLDS,
    caps: policy.caps ?? [],
    sources: policy.sources ?? null,
    corrections: policy.corrections ?? DEFAULT_CORRECTIONS,
    undone_permille: policy.undone_permille ?? DEFAULT_UNDONE_PERMILLE,
    hold_ms: policy.hold_ms ?? DEFAULT_HOLD_MS,
    rungs: policy.rungs ?? {},
  };
}

/** Where the names of the policies about a capability stand in the view of entries. */
export function autonomyKey(tenant: string, capability: string): string {
  return placeOf('autonomy', tenant, capability);
}

/** Rungs that would be earned later than the one above them, each with why; empty where none is. */
export function inversionsOf({ thresholds = DEFAULT_THRESHOLDS }: Policy): readonly (readonly [EarnedRung, string])[] {
  return EARNED.flatMap((rung, at) => {
    const below = EARNED[at - 1];
    return below !== undefined && thresholds[rung] < thresholds[below]
      ? [[rung, `${rung} is earned sooner than ${below}`] as const]
      : [];
  });
}

/** What a rung lets an agent do: what it says, within what every rung above it says (U1). */
export function grantAt({ rungs }: Pick<AutonomyPolicy, 'rungs'>, rung: Rung): Grant {
  return RUNGS.slice(RUNGS.indexOf(rung)).reduce<Grant>((so, each) => stricterGrant(so, rungs[each] ?? {}), {});
}

/** What a grant lets a run spend in a unit, minor units; null where it says nothing of it. */
export function ceilingIn({ ceilings = [] }: Grant, currency: string): number | null {
  const found = ceilings.filter((each) => each.currency === currency).map(({ ceiling_minor }) => ceiling_minor);
  return found.length === 0 ? null : Math.min(...found);
}

/** The stricter of two grants: fewer minor units, more people. */
export function stricterGrant(one: Grant, other: Grant): Grant {
  return {
    forward_approval: stricterApproval(one.forward_approval ?? 'policy', other.forward_approval ?? 'policy'),
    ceilings: [...(one.ceilings ?? []), ...(other.ceilings ?? [])],
  };
}

/** The one that asks more people. */
export function stricterApproval(one: GrantedApproval, other: GrantedApproval): GrantedApproval {
  return strictness(one) >= strictness(other) ? one : other;
}

/** The lower of two rungs. */
export function lowerRung(one: Rung, other: Rung): Rung {
  return RUNGS.indexOf(one) <= RUNGS.indexOf(other) ? one : other;
}

/** What a tenant's policy and the platform's of the same kind of task say together (U2). */
export function joinedAutonomy<Own extends Policy>(own: Own, platform: Policy): Own {
  const [ours, theirs] = [autonomyPolicy(own, ''), autonomyPolicy(platform, '')];
  const bar = (rung: EarnedRung) => Math.max(ours.thresholds[rung], theirs.thresholds[rung]);
  const sources = [own.sources, platform.sources].filter((list) => list !== undefined);
  return {
    ...own,
    capabilities: [...new Set([...theirs.capabilities, ...ours.capabilities])],
    thresholds: {
      recommend: bar('recommend'),
      draft: bar('draft'),
      execute_with_approval: bar('execute_with_approval'),
      auto_execute: bar('auto_execute'),
    },
    caps: [...theirs.caps.map((cap) => ({ ...cap, name: `platform/${cap.name}` })), ...ours.caps],
    corrections: {
      count: Math.min(ours.corrections.count, theirs.corrections.count),
      window_ms: Math.max(ours.corrections.window_ms, theirs.corrections.window_ms),
    },
    undone_permille: Math.max(ours.undone_permille, theirs.undone_permille),
    hold_ms: Math.max(ours.hold_ms, theirs.hold_ms),
    rungs: Object.fromEntries(
      RUNGS.map((rung) => [rung, stricterGrant(ours.rungs[rung] ?? {}, theirs.rungs[rung] ?? {})]),
    ),
    ...(sources.length === 0
      ? {}
      : { sources: sources.reduce((some, more) => some.filter((id) => more.includes(id))) }),
  };
}

function strictness(approval: GrantedApproval = 'policy'): number {
  return GRANTED_APPROVALS.indexOf(approval);
}
