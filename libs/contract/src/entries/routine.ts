// Routine rules of a policy bundle: which actions go without the person their contract asks before them. Their shape, and what no
// rule may let go, whatever it says.
//
// Boundary: pure. Whether an action falls within a rule and its caps is decided where people are asked.
//
// Invariants
//   T1. A rule is never wider than the product: nothing of high risk, grave impact or effect in law, and nothing that two people
//       are asked about, goes without a person.
import type { Json } from '@recourse/kernel';
import { z } from 'zod';
import { HUMAN_IMPACTS } from '../rules/governance.rules.js';
import { CAPABILITY_PATTERN, IMPACTS, RISK_LEVELS } from '../shape.js';
import type { ContractDraft } from '../shape.js';

/** Names the condition of a routine rule may read. */
export const ROUTINE_VARIABLES: readonly string[] = ['action', 'args'];

/** Most actions a cap may let go within its window: each is kept until it is out of every window. */
export const ROUTINE_COUNT_MAX = 1_000;

/** Longest window of a cap: 31 days. */
export const ROUTINE_WINDOW_MAX_MS = 31 * 86_400_000;

/** Shortest window of a cap: a shorter one caps nothing that a person could notice. */
const ROUTINE_WINDOW_MIN_MS = 60_000;

/** Rules of one bundle at the most. */
const RULES_MAX = 50;

const TEXT_MAX = 2_000;
const count = () => z.int().min(1).max(ROUTINE_COUNT_MAX);

const routineRule = () =>
  z.strictObject({
    name: z
      .string()
      .min(1)
      .max(200)
      .regex(/^[\w.:@/-]+$/),
    capabilities: z.array(z.string().max(128).regex(CAPABILITY_PATTERN)).min(1).max(50),
    /** Highest `risk_level` of a contract; one that says none counts as medium. */
    risk_max: z.enum(RISK_LEVELS),
    impacts: z.array(z.enum(IMPACTS)).min(1).max(IMPACTS.length),
    /** CEL over `action` and `args`; absent: whatever the arguments. */
    when: z.string().min(1).max(TEXT_MAX).optional(),
    /** At most so many for one agent and for the whole tenant in any window. */
    window_ms: z.int().min(ROUTINE_WINDOW_MIN_MS).max(ROUTINE_WINDOW_MAX_MS),
    per_agent: count(),
    per_tenant: count(),
    /** Most money one action moves; absent: a contract with a value is not let go. */
    amount_max: z.strictObject({ amount_minor: z.int().min(0), currency: z.string().regex(/^[A-Z]{3}$/) }).optional(),
    /** Disclosures of one action; absent counts as 0. */
    exposure_max: z.int().min(0).max(1).optional(),
    reason: z.string().trim().min(1).max(TEXT_MAX),
  });

/** The section of a policy bundle. */
export const routineShape = () => z.array(routineRule()).max(RULES_MAX).optional();

type Mutable = z.infer<ReturnType<typeof routineRule>>;
export type RoutineRule = { readonly [Field in keyof Mutable]: Mutable[Field] };

/** What a rule says that none may (T1); null where it keeps within. */
export function routineExcess({ risk_max, impacts }: Pick<RoutineRule, 'risk_max' | 'impacts'>): string | null {
  if (risk_max === 'high') return 'high risk never goes without a person';
  const grave = impacts.find((impact) => HUMAN_IMPACTS.includes(impact));
  return grave === undefined ? null : `a ${grave} effect never goes without a person`;
}

/** Why no rule may let an action under this contract go (T1); null where one may. */
export function unroutine(contract: ContractDraft): string | null {
  if (contract.forward_approval === 'dual_control') return 'its contract asks two people before it';
  if (contract.consequence?.regulatory !== undefined) return 'it binds in law';
  if (contract.approval_mode === 'destructive') return 'a destructive call never goes without a person';
  return routineExcess({
    risk_max: contract.risk_level ?? 'medium',
    impacts: contract.impact === undefined ? [] : [contract.impact],
  });
}

/** True where a contract falls within the limits that a rule sets itself. */
export function isWithinRule({ risk_max, impacts }: RoutineRule, { risk_level, impact }: ContractDraft): boolean {
  const rank = (level: RoutineRule['risk_max']): number => RISK_LEVELS.indexOf(level);
  return impact !== undefined && impacts.includes(impact) && rank(risk_level ?? 'medium') <= rank(risk_max);
}

/** What a condition reads; what is not known is not there, so that `has(…)` tells. */
export interface RoutineFacts extends Readonly<Record<string, Json>> {
  readonly action: Json;
  readonly args: Json;
}
