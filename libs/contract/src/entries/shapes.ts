// What the registry keeps beside contracts, versioned alike: policy bundles, agent charters, context sources, kill switches,
// consumer subscriptions, autonomy policies. The shape of each, and what its fields must say together.
import { isSubject, readJson, SUBJECT_FORM } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { ENTRY_KIND_VALUES } from '@recourse/messages';
import type { EntryKind } from '@recourse/messages';
import { z } from 'zod';
import { holdsUnstorable } from '../body.js';
import { conditionProblem, costProblem } from '../condition.js';
import { pointerOf } from '../json-pointer.js';
import { CAPABILITY_PATTERN, RECOVERY_APPROVAL_MODES } from '../shape.js';
import { autonomyShape, inversionsOf } from './autonomy.js';
import { ROUTINE_VARIABLES, routineExcess, routineShape } from './routine.js';
import type { RoutineRule } from './routine.js';

export const ENTRY_KINDS: readonly EntryKind[] = ENTRY_KIND_VALUES;

/** Names an admission predicate may read. */
export const ADMISSION_VARIABLES: readonly string[] = ['gate', 'state'];
/** Names a recovery policy may read. */
export const RECOVERY_VARIABLES: readonly string[] = ['mutation', 'evidence'];

/**
 * Longest time from commit to user below which only a synchronous subscriber hears of a rollback in time: rollbacks reach
 * asynchronous consumers within this at p99 (E39). Milliseconds.
 */
export const PROPAGATION_P99_MS = 1_000;

const TEXT_MAX = 2_000;
const text = () => z.string().trim().min(1).max(TEXT_MAX);
const id = () =>
  z
    .string()
    .min(1)
    .max(200)
    .regex(/^[\w.:@/-]+$/);
const capability = () => z.string().max(128).regex(CAPABILITY_PATTERN);
const expression = () => z.string().min(1).max(TEXT_MAX);
/** Who answers for an entry; people are compared with it. */
const subject = () => z.string().refine(isSubject, { message: SUBJECT_FORM });
const common = { owner: subject(), doc: text() };

const rule = () => z.strictObject({ name: id(), when: expression(), reason: text() });

/** A prefix of tenant/agent/run/subject; `*` stands for one part. */
const scopeShape = z
  .string()
  .max(600)
  .regex(/^(?:\*|[^/\s*]+)(?:\/(?:\*|[^/\s*]+)){0,9}$/);

/** True for what a subscription may have as its scope. */
export function isScope(scope: unknown): scope is string {
  return scopeShape.safeParse(scope).success;
}

export const ENTRY_SHAPES = {
  /**
   * Commits are admitted when every predicate holds; a recovery policy may only ask for more people than the contract; a routine
   * rule lets actions go before which the contract asks one person.
   */
  policy_bundle: z.strictObject({
    ...common,
    admission: z.array(rule()).max(200),
    recovery: z
      .array(
        z.strictObject({ name: id(), when: expression(), approval: z.enum(RECOVERY_APPROVAL_MODES), reason: text() }),
      )
      .max(200),
    routine: routineShape(),
  }),
  /** What an agent is for. An intent that is denied is denied, whatever else allows it. `*` ends a prefix. */
  agent_charter: z.strictObject({
    ...common,
    agent: id(),
    purpose: text(),
    allowed: z.array(intent()).max(500),
    denied: z.array(intent()).max(500),
  }),
  /** Where context comes from; evidence older than its ttl_ms is none. `trust_permille`: what its triggers weigh until people have judged some, thousandths. */
  context_source: z.strictObject({
    ...common,
    sensitivity: z.enum(['public', 'internal', 'personal', 'payment', 'regulatory']),
    access: z.enum(['read', 'query', 'stream']),
    ttl_ms: z.int().min(1),
    trust_permille: z.int().min(0).max(1_000).optional(),
  }),
  /** While it stands, nothing of its scope is dispatched. */
  kill_switch: z.strictObject({
    ...common,
    scope: z.discriminatedUnion('over', [
      z.strictObject({ over: z.literal('tenant') }),
      /** `halts_recovery`: the undoing of what it did stops too. */
      z.strictObject({ over: z.literal('agent'), agent: id(), halts_recovery: z.boolean().optional() }),
      z.strictObject({ over: z.literal('capability'), capability: capability() }),
    ]),
    severity: z.enum(['sev1', 'sev2', 'sev3', 'sev4']),
    runbook: text(),
    reason: text(),
  }),
  /** Who hears of rollbacks: a prefix of tenant/agent/run/subject, and how. A subject may have parts of its own. */
  subscription: z.strictObject({
    ...common,
    consumer: id(),
    scope: scopeShape,
    mode: z.enum(['sync', 'async', 'poll']),
    commit_to_user_ms: z.int().min(0),
  }),
  /** What an agent has to earn at a kind of task, named as the entry is, and what it may do then. */
  autonomy_policy: z.strictObject({ ...common, ...autonomyShape }),
} as const;

export type EntryBody<Kind extends EntryKind> = z.infer<(typeof ENTRY_SHAPES)[Kind]>;

/** What is wrong with an entry. */
export interface EntryProblem {
  readonly code: EntryProblemCode;
  /** JSON pointer. */
  readonly path: string;
  readonly message: string;
}

/** Every refusal of an entry, with its remedy. */
export const ENTRY_REMEDIES = {
  ENTRY_NOT_JSON: 'Send the entry as one JSON object.',
  ENTRY_FIELD_INVALID: 'Give the field a value of the kind and range named.',
  ENTRY_CEL_INVALID:
    'Write a CEL expression that compiles: admission reads gate and state, recovery reads mutation and evidence, routine reads action and args.',
  ENTRY_CEL_TOO_COSTLY: 'Nest at most two loops over lists of what it reads.',
  ROUTINE_FORBIDDEN:
    'Leave it to a person: a routine rule lets nothing go that is of high risk, financial, destructive, security-sensitive or binding in law, nor what two people are asked about.',
  ROUTINE_NAME_TAKEN: 'Give each routine rule of a bundle a name of its own: what it let go is counted under it.',
  CHARTER_CONTRADICTORY: 'Take the intent out of allowed: what is denied is denied.',
  AUTONOMY_INVERTED: 'Give each rung a threshold no lower than that of the rung below it.',
  SUBSCRIPTION_TOO_SLOW:
    'Subscribe with mode sync, or show what is committed later: an asynchronous consumer would hear of the rollback after its user has seen the commit.',
  SUBSCRIPTION_FOREIGN: 'Begin the scope with the tenant the subscription belongs to.',
} as const;
export type EntryProblemCode = keyof typeof ENTRY_REMEDIES;

export type ReviewedEntry<Kind extends EntryKind = EntryKind> =
  | { readonly ok: true; readonly entry: EntryBody<Kind> }
  | { readonly ok: false; readonly problems: readonly EntryProblem[] };

/** Reads and checks an entry of a tenant; all problems at once. */
export function reviewEntry<Kind extends EntryKind>(kind: Kind, body: string, tenant: string): ReviewedEntry<Kind> {
  const json = jsonOf(body);
  if (json === undefined)
    return {
      ok: false,
      problems: [problem('ENTRY_NOT_JSON', '', 'the entry is not a JSON object, or nested deeper than 64 levels')],
    };
  const parsed = ENTRY_SHAPES[kind].safeParse(json);
  if (!parsed.success)
    return {
      ok: false,
      problems: parsed.error.issues.map((issue) =>
        problem('ENTRY_FIELD_INVALID', pointerOf(issue.path), issue.message),
      ),
    };
  // The shape of this kind has parsed it.
  const entry = parsed.data as EntryBody<Kind>;
  const problems = MEANING[kind](entry, tenant).filter((each) => each !== null);
  return problems.length === 0 ? { ok: true, entry } : { ok: false, problems };
}

type Meaning<Kind extends EntryKind> = (entry: EntryBody<Kind>, tenant: string) => readonly (EntryProblem | null)[];

const MEANING: { readonly [Kind in EntryKind]: Meaning<Kind> } = {
  policy_bundle: ({ admission, recovery, routine = [] }) => [
    ...admission.map((each, at) => compiles(each.when, pointerOf(['admission', at, 'when']), ADMISSION_VARIABLES)),
    ...recovery.map((each, at) => compiles(each.when, pointerOf(['recovery', at, 'when']), RECOVERY_VARIABLES)),
    ...routine.flatMap((each, at) => routineProblems(each, at, routine)),
  ],
  agent_charter: ({ allowed, denied }) =>
    allowed.map((each, at) =>
      denied.includes(each)
        ? problem('CHARTER_CONTRADICTORY', pointerOf(['allowed', at]), `${each} is denied too`)
        : null,
    ),
  context_source: () => [],
  kill_switch: () => [],
  subscription: ({ scope, mode, commit_to_user_ms }, tenant) => [
    mode === 'async' && commit_to_user_ms < PROPAGATION_P99_MS
      ? problem(
          'SUBSCRIPTION_TOO_SLOW',
          '/mode',
          `users see a commit after ${commit_to_user_ms} ms, rollbacks arrive within ${PROPAGATION_P99_MS} ms`,
        )
      : null,
    tenant !== '*' && scope.split('/')[0] !== tenant
      ? problem('SUBSCRIPTION_FOREIGN', '/scope', `${scope} reaches beyond ${tenant}`)
      : null,
  ],
  autonomy_policy: (policy) =>
    inversionsOf(policy).map(([rung, what]) => problem('AUTONOMY_INVERTED', pointerOf(['thresholds', rung]), what)),
};

function routineProblems(rule: RoutineRule, at: number, all: readonly RoutineRule[]): readonly (EntryProblem | null)[] {
  const excess = routineExcess(rule);
  const isTaken = all.findIndex(({ name }) => name === rule.name) < at;
  return [
    rule.when === undefined ? null : compiles(rule.when, pointerOf(['routine', at, 'when']), ROUTINE_VARIABLES),
    excess === null ? null : problem('ROUTINE_FORBIDDEN', pointerOf(['routine', at]), excess),
    isTaken ? problem('ROUTINE_NAME_TAKEN', pointerOf(['routine', at, 'name']), `${rule.name} is there already`) : null,
  ];
}

/** The problem of a routine rule with a contract that stands: what it may not let go. */
export function routineProblem(at: number, capability: string, excess: string): EntryProblem {
  return problem('ROUTINE_FORBIDDEN', pointerOf(['routine', at, 'capabilities']), `${capability}: ${excess}`);
}

function compiles(expressionText: string, path: string, variables: readonly string[]): EntryProblem | null {
  const wrong = conditionProblem(expressionText, variables);
  if (wrong !== null) return problem('ENTRY_CEL_INVALID', path, `the expression does not compile: ${wrong}`);
  const costly = costProblem(expressionText);
  return costly === null ? null : problem('ENTRY_CEL_TOO_COSTLY', path, costly);
}

function problem(code: EntryProblemCode, path: string, what: string): EntryProblem {
  return { code, path, message: `${what}. ${ENTRY_REMEDIES[code]}` };
}

function intent() {
  return z
    .string()
    .max(200)
    .regex(/^[a-z][\w.-]*\*?$/);
}

/** Text that no database stores is refused with what is no JSON. */
function jsonOf(body: string): Readonly<Record<string, Json>> | undefined {
  try {
    const json = readJson(body);
    return json !== null && typeof json === 'object' && !Array.isArray(json) && !holdsUnstorable(json)
      ? (json as Readonly<Record<string, Json>>)
      : undefined;
  } catch {
    return undefined;
  }
}
