// Conditions: CEL over what was observed and what was bound. Fails closed: whatever is not `true` does not hold.
import { celEnv, isCelError, parse, plan } from '@bufbuild/cel';
import type { CelInput } from '@bufbuild/cel';
import type { Json } from '@recourse/kernel';
import { CONDITION_STEPS_MAX, METER, metered, stepsFor, withMeter } from './condition-cost.js';
import { messageOf, notJudged } from './condition-words.js';

/** Facts a condition may read. */
export interface ConditionFacts {
  /** What the observing capability returned. */
  readonly observed: Json;
  /**
   * What was bound at acceptance: `bound.args` are the arguments of the reversal and `bound.external_ref` the handle at
   * the provider: what worker and orchestrator both hold, so that both judge alike. Built by `boundFacts`.
   */
  readonly bound: Json;
}

/** `detail` holds nothing of the facts and may be recorded; `said` may quote them, and is for nobody but whoever gave them. */
export type ConditionVerdict =
  | { readonly ok: true; readonly holds: boolean }
  | { readonly ok: false; readonly detail: string; readonly said?: string };

/** Names a condition may read. */
export const CONDITION_VARIABLES: readonly string[] = ['observed', 'bound'];

/** What `bound` holds. */
const BOUND_FIELDS: readonly string[] = ['args', 'external_ref'];

/** Compiled conditions kept at the most; contracts are few, and a rebuilt entry costs microseconds. */
const COMPILED_MAX = 4_096;

type Evaluate = ReturnType<typeof plan>;
const compiled = new Map<string, Evaluate>();
const problems = new Map<string, string | null>();
const selected = new Map<string, readonly string[]>();
const read = new Map<string, readonly string[]>();
const environment = celEnv({ funcs: METER });

/** Builds the `bound` facts of a condition. Without arguments, since they were erased, one that needs them says nothing, and one that `asksForArgs` is not to be judged. */
export function boundFacts({
  reversalArgs: args,
  externalRef: external_ref,
}: {
  readonly reversalArgs: Json | undefined;
  readonly externalRef: string | null;
}): Json {
  return args === undefined ? { external_ref } : { args, external_ref };
}

/**
 * Judges a condition.
 *
 * Shape:  integers of the facts are CEL ints, other numbers doubles; the two compare with each other.
 * Errors: none; an expression that does not compile, reads what is not there or does not say true or false is `ok: false`.
 */
export function evaluateCondition(expression: string, facts: ConditionFacts): ConditionVerdict {
  return evaluateExpression(expression, { observed: facts.observed, bound: facts.bound });
}

/** Judges an expression over named facts. Shape and errors: those of evaluateCondition. */
export function evaluateExpression(expression: string, facts: Readonly<Record<string, Json>>): ConditionVerdict {
  try {
    const judge = compile(expression);
    const read = Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, celOf(value)]));
    const verdict = metered(() => judge(read));
    if (isCelError(verdict)) return notJudged(verdict);
    return typeof verdict === 'boolean'
      ? { ok: true, holds: verdict }
      : { ok: false, detail: 'the condition says neither true nor false' };
  } catch (error) {
    // What does not compile quotes nothing but the expression.
    return compiled.has(expression) ? notJudged(error) : { ok: false, detail: messageOf(error) };
  }
}

/**
 * Computes how much an expression says.
 *
 * Units:  whole; a fraction is rounded up.
 * Errors: none; null for one that does not compile, reads what is not there, or says no number from 0.
 */
export function evaluateAmount(expression: string, facts: Readonly<Record<string, Json>>): number | null {
  try {
    const judge = compile(expression);
    const read = Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, celOf(value)]));
    const said = metered(() => judge(read));
    const amount = typeof said === 'bigint' ? Number(said) : typeof said === 'number' ? Math.ceil(said) : NaN;
    return Number.isSafeInteger(amount) && amount >= 0 ? amount : null;
  } catch {
    return null;
  }
}

/** Whether a part of an expression is true or false by itself; null where facts decide, or it is neither. */
export function valueWithoutFacts(part: NonNullable<ReturnType<typeof parse>['expr']>): boolean | null {
  try {
    const judge = plan(environment, { ...parse('true'), expr: withMeter(part) });
    const said = metered(() => judge({}));
    return typeof said === 'boolean' ? said : null;
  } catch {
    return null;
  }
}

/** Names an expression reads; none of one that does not parse. */
export function namesIn(expression: string): readonly string[] {
  let names = read.get(expression);
  if (names === undefined) keep(read, expression, (names = namesOf(expression)));
  return names;
}

function namesOf(expression: string): readonly string[] {
  try {
    return freeNames(parse(expression).expr);
  } catch {
    return [];
  }
}

/** Says why an expression would take too long to judge; null when it does not, or does not compile. */
export function costProblem(expression: string): string | null {
  try {
    const steps = stepsFor(parse(expression).expr);
    return steps <= CONDITION_STEPS_MAX
      ? null
      : `it takes ${steps} steps over lists of a hundred, of ${CONDITION_STEPS_MAX}`;
  } catch {
    return null;
  }
}

/** Says what is wrong with an expression before it is ever judged; null when it compiles. */
export function conditionProblem(
  expression: string,
  variables: readonly string[] = CONDITION_VARIABLES,
): string | null {
  const id = `${variables.join()}\u0000${expression}`;
  let found = problems.get(id);
  if (found === undefined) keep(problems, id, (found = problemOf(expression, variables)));
  return found;
}

function problemOf(expression: string, variables: readonly string[]): string | null {
  try {
    const tree = parse(expression);
    plan(environment, tree);
    const unknown = freeNames(tree.expr).filter((name) => !variables.includes(name));
    if (unknown.length > 0) return `it reads ${unknown.join(', ')}, and there is only ${variables.join(' and ')}`;
    const unbound = calledNames(tree.expr).filter((name) => environment.funcs.find(name) === undefined);
    if (unbound.length > 0) return `there is no function ${unbound.join(', ')}`;
    return unboundProblem(expression);
  } catch (error) {
    return messageOf(error);
  }
}

/** Fields of `bound` that do not exist: a condition that reads one would never hold. */
function unboundProblem(expression: string): string | null {
  const read = [...expression.matchAll(/\bbound\s*\.\s*(\w+)/g)].map(([, name]) => name ?? '');
  const missing = read.filter((name) => !BOUND_FIELDS.includes(name));
  return missing.length === 0
    ? null
    : `it reads bound.${missing.join(', bound.')}, and there is only bound.${BOUND_FIELDS.join(' and bound.')}`;
}

/**
 * Members an expression reads of a source, e.g. `status` of `observed` in `observed.status == 'settled'`.
 *
 * Shape:  `source` is a name or a name and a field (`bound.args`). What stands inside `has(…)` is asked for, not read. An
 *         expression that does not parse reads nothing.
 */
export function readsOf(expression: string, source: string): readonly string[] {
  let paths = selected.get(expression);
  if (paths === undefined) keep(selected, expression, (paths = selectedBy(expression)));
  return unique(
    paths
      .filter((path) => path.startsWith(`${source}.`))
      .map((path) => path.slice(source.length + 1))
      .filter((name) => !name.includes('.')),
  );
}

/**
 * Whether a condition asks if the arguments of the reversal are there, or takes `bound` as a whole: it would say something else once they
 * are erased, where one that only reads them says nothing.
 */
export function asksForArgs(expression: string): boolean {
  try {
    return isAskedIn(parse(expression).expr);
  } catch {
    return false;
  }
}

function isAskedIn(node: unknown): boolean {
  if (node === null || typeof node !== 'object') return false;
  if (Array.isArray(node)) return node.some(isAskedIn);
  const { case: kind, value } = node as { case?: unknown; value?: Readonly<Record<string, unknown>> };
  if (kind === 'identExpr') return value?.['name'] === 'bound';
  const path = kind === 'selectExpr' ? (pathOf(node) ?? '') : '';
  if (!/^bound\.(?:args|external_ref)(?:\.|$)/.test(path)) return Object.values(node).some(isAskedIn);
  return path === 'bound.args' && value?.['testOnly'] === true;
}

function selectedBy(expression: string): readonly string[] {
  try {
    return selections(parse(expression).expr);
  } catch {
    return [];
  }
}

/** Every selection of members from a name, as a dotted path. */
function selections(node: unknown): readonly string[] {
  if (node === null || typeof node !== 'object') return [];
  if (Array.isArray(node)) return node.flatMap(selections);
  const { case: kind, value } = node as { case?: unknown; value?: Readonly<Record<string, unknown>> };
  const path = kind === 'selectExpr' ? pathOf(node) : null;
  return [...(path === null || value?.['testOnly'] === true ? [] : [path]), ...Object.values(node).flatMap(selections)];
}

/** Path of a selection that starts at a name; null for any other expression. */
function pathOf(node: unknown): string | null {
  const { case: kind, value } = node as { case?: unknown; value?: Readonly<Record<string, unknown>> };
  if (kind === 'identExpr') return String(value?.['name']);
  if (kind !== 'selectExpr') return null;
  const operand = (value?.['operand'] as { exprKind?: unknown } | undefined)?.exprKind;
  const from = operand === undefined ? null : pathOf(operand);
  return from === null ? null : `${from}.${String(value?.['field'])}`;
}

function compile(expression: string): Evaluate {
  const known = compiled.get(expression);
  if (known !== undefined) return known;
  const tree = parse(expression);
  const made = plan(environment, { ...tree, expr: withMeter(tree.expr) });
  keep(compiled, expression, made);
  return made;
}

/** Keeps what an expression was found to be, in memory that does not grow. */
function keep<Found>(found: Map<string, Found>, id: string, value: Found): void {
  if (found.size >= COMPILED_MAX) found.clear();
  found.set(id, value);
}

function celOf(value: Json): CelInput {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(celOf);
  return new Map(Object.entries(value).map(([name, member]) => [name, celOf(member)]));
}

/** Names an expression takes from outside; the names a comprehension makes itself are not among them. */
function freeNames(node: unknown, own: readonly string[] = []): string[] {
  if (node === null || typeof node !== 'object') return [];
  if (Array.isArray(node)) return unique(node.flatMap((item) => freeNames(item, own)));
  const { case: kind, value } = node as { case?: unknown; value?: Readonly<Record<string, unknown>> };
  if (kind === 'identExpr') {
    const name = String(value?.['name']);
    return own.includes(name) || TYPE_NAMES.includes(name) ? [] : [name];
  }
  const inner =
    kind === 'comprehensionExpr'
      ? [...own, String(value?.['accuVar']), String(value?.['iterVar']), String(value?.['iterVar2'])]
      : own;
  return unique(Object.values(node).flatMap((item) => freeNames(item, inner)));
}

/** Functions an expression calls by name; operators have names no author can write. */
function calledNames(node: unknown): string[] {
  if (node === null || typeof node !== 'object') return [];
  const { case: kind, value } = node as { case?: unknown; value?: Readonly<Record<string, unknown>> };
  const called = kind === 'callExpr' ? [String(value?.['function'])].filter((name) => /^[A-Za-z]\w*$/.test(name)) : [];
  return unique([...called, ...Object.values(node).flatMap((item) => calledNames(item))]);
}

/** Type names are identifiers too: `type(observed) == map`. */
const TYPE_NAMES: readonly string[] = [
  'bool',
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'list',
  'map',
  'null_type',
  'type',
];

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
