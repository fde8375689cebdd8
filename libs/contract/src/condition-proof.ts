// What a condition can prove: whether its value turns with what is observed, and whether another condition says it already.
//
// Boundary: reads expressions, and judges only the parts that no fact decides. It finds what is cheap to see, and no more.
//
// Invariants
//   V1. What is called fixed comes out alike for all facts by which it can be judged at all; what cannot be judged never holds anyway.
//   V2. What is called implied holds wherever the other condition does, of the same facts.
//   V3. The time it takes grows by the square of the expression at most, however deep it nests.
import { parse } from '@bufbuild/cel';
import { evaluateExpression, valueWithoutFacts } from './condition.js';
import type { ConditionVerdict } from './condition.js';
import type { Json } from '@recourse/kernel';

type Tree = NonNullable<ReturnType<typeof parse>['expr']>;
type Loop = Extract<Tree['exprKind'], { case: 'comprehensionExpr' }>['value'];

/** An expression in one of its forms: what two authors write differently and mean alike has the same text. */
type Term =
  | { readonly kind: 'value'; readonly value: boolean; readonly text: string }
  | { readonly kind: 'all'; readonly of: readonly Term[]; readonly text: string }
  | { readonly kind: 'any'; readonly of: readonly Term[]; readonly text: string }
  | { readonly kind: 'not'; readonly leaf: Leaf; readonly text: string }
  | LeafTerm;
interface LeafTerm {
  readonly kind: 'leaf';
  readonly leaf: Leaf;
  readonly text: string;
}

/** What is not taken apart. `names`: those it takes from outside, and of the loops around it. */
interface Leaf {
  readonly text: string;
  readonly names: readonly string[];
}

/** The loops around a part. `names`: what each of their names is called, whatever its author called it. */
interface Scope {
  readonly depth: number;
  readonly names: Readonly<Record<string, string>>;
}

const OUTSIDE: Scope = { depth: 0, names: {} };

/** True where nothing of a source can turn what a condition says, e.g. `true || observed.x` for `observed`; false where it does not parse. */
export function isFixed(expression: string, source: string): boolean {
  const term = termOf(expression);
  return term !== null && !namesOf(term).includes(source);
}

/** True where a condition holds whenever another does, because that says it, too. */
export function isImplied(expression: string, by: string): boolean {
  const [goal, given] = [termOf(expression), termOf(by)];
  return goal !== null && given !== null && follows(goal, new Set([given, ...partsOf(given, 'all')].map(textOf)));
}

/** Conditions that were read at run time, at the most; contracts are few. */
const READ_MAX = 4_096;
const hollow = new Map<string, boolean>();

/** True where a success condition holds whether or not anything was undone, as far as its words show; `before`: what the look before asked of the same capability. */
function isHollow(condition: string, before: string | null): boolean {
  const id = `${before ?? ''}\u0000${condition}`;
  const known = hollow.get(id);
  if (known !== undefined) return known;
  if (hollow.size >= READ_MAX) hollow.clear();
  const found = isFixed(condition, 'observed') || (before !== null && isImplied(condition, before));
  hollow.set(id, found);
  return found;
}

/**
 * Judges whether an observation proves that something was undone.
 *
 * Shape:  a condition that proves nothing is no yes and no no, whenever its contract registered.
 * Errors: none; `ok: false` where nobody knows.
 */
export function evaluateSuccess(
  condition: string,
  facts: Readonly<Record<string, Json>>,
  before: string | null,
): ConditionVerdict {
  return isHollow(condition, before)
    ? { ok: false, detail: `the condition ${condition} holds whether or not anything was undone: it proves nothing` }
    : evaluateExpression(condition, facts);
}

function follows(goal: Term, given: ReadonlySet<string>): boolean {
  if (goal.kind === 'value') return goal.value;
  if (given.has(goal.text)) return true;
  if (goal.kind === 'all') return goal.of.every((part) => follows(part, given));
  return goal.kind === 'any' && goal.of.some((part) => follows(part, given));
}

function termOf(expression: string): Term | null {
  try {
    return termIn(parse(expression).expr, OUTSIDE);
  } catch {
    return null;
  }
}

function namesOf(term: Term): readonly string[] {
  if (term.kind === 'value') return [];
  return term.kind === 'all' || term.kind === 'any' ? term.of.flatMap(namesOf) : term.leaf.names;
}

const textOf = ({ text }: Term): string => text;

function termIn(expr: Tree | undefined, scope: Scope): Term {
  const kind = expr?.exprKind;
  switch (kind?.case) {
    case 'constExpr': {
      const constant = kind.value.constantKind;
      return constant.case === 'boolValue' ? fixed(constant.value) : leaf(JSON.stringify(constant, written), []);
    }
    case 'identExpr': {
      const { name } = kind.value;
      return named((Object.hasOwn(scope.names, name) ? scope.names[name] : undefined) ?? name);
    }
    case 'selectExpr': {
      const { operand, field, testOnly } = kind.value;
      return selected(termIn(operand, scope), field, testOnly ? 'has' : 'select');
    }
    case 'callExpr':
      return judged(expr, callIn(kind.value.function, argumentsOf(kind.value), scope));
    case 'comprehensionExpr':
      return judged(expr, loopIn(kind.value, scope));
    case 'listExpr':
      return whole(
        'list',
        kind.value.elements.map((one) => termIn(one, scope)),
      );
    case 'structExpr':
      return whole(
        `struct ${kind.value.messageName}`,
        kind.value.entries.flatMap(({ keyKind, value }) => [
          keyKind.case === 'mapKey' ? termIn(keyKind.value, scope) : leaf(String(keyKind.value), []),
          termIn(value, scope),
        ]),
      );
    case undefined:
      return leaf('nothing', []);
  }
}

function argumentsOf({
  target,
  args,
}: {
  readonly target?: Tree | undefined;
  readonly args: readonly Tree[];
}): readonly Tree[] {
  return target === undefined ? args : [target, ...args];
}

/** Objects of a part that is judged by itself, at the most: each part around it would have it judged again. */
const JUDGED_MAX = 200;

/** What no fact decides is judged at once, where it is small. */
function judged(expr: Tree | undefined, term: Term): Term {
  if (expr === undefined || term.kind === 'value' || namesOf(term).length > 0) return term;
  const value = sizeOf(expr, JUDGED_MAX) > JUDGED_MAX ? null : valueWithoutFacts(expr);
  return value === null ? term : fixed(value);
}

/** Objects of an expression; counting ends past `max`. */
function sizeOf(node: unknown, max: number): number {
  if (node === null || typeof node !== 'object') return 0;
  let size = 1;
  for (const part of Object.values(node)) if ((size += sizeOf(part, max - size)) > max) break;
  return size;
}

function callIn(name: string, args: readonly Tree[], scope: Scope): Term {
  const terms = args.map((one) => termIn(one, scope));
  const [first, second, third] = terms;
  if (first === undefined) return whole(`call ${name}`, terms);
  if (name === '!_') return negated(first);
  if (second === undefined) return whole(`call ${name}`, terms);
  switch (name) {
    case '_&&_':
      return joined('all', [first, second]);
    case '_||_':
      return joined('any', [first, second]);
    case '_==_':
      return compared('==', first, second);
    case '_!=_':
      return negated(compared('==', first, second));
    case '_<_':
      return compared('<', first, second);
    case '_>_':
      return compared('<', second, first);
    case '_>=_':
      return negated(compared('<', first, second));
    case '_<=_':
      return negated(compared('<', second, first));
    case '_?_:_':
      return chosen(first, second, third ?? second);
    case '_[_]':
      return indexed(first, second, args[1]);
    default:
      return whole(`call ${name}`, terms);
  }
}

/** Equality is the same from both sides; two that are one are equal, and neither is less. */
function compared(by: '==' | '<', left: Term, right: Term): Term {
  if (left.text === right.text) return fixed(by === '==');
  return whole(by, by === '==' && right.text < left.text ? [right, left] : [left, right]);
}

function chosen(condition: Term, yes: Term, no: Term): Term {
  if (condition.kind === 'value') return condition.value ? yes : no;
  return yes.text === no.text ? yes : whole('?', [condition, yes, no]);
}

/** `a["b"]` is `a.b`. */
function indexed(of: Term, at: Term, index: Tree | undefined): Term {
  const constant = index?.exprKind.case === 'constExpr' ? index.exprKind.value.constantKind : undefined;
  return constant?.case === 'stringValue' ? selected(of, constant.value, 'select') : whole('index', [of, at]);
}

function selected(of: Term, field: string, how: 'has' | 'select'): Term {
  return whole(`${how} ${JSON.stringify(field)}`, [of]);
}

/** A loop whose turns change nothing, or that has none, ends as it began. */
function loopIn({ iterVar, iterVar2, iterRange, accuVar, ...loop }: Loop, scope: Scope): Term {
  const { depth, names: around } = scope;
  const own = Object.fromEntries(
    [accuVar, iterVar, iterVar2].map((name, at) => [name, `#${String(depth)}.${String(at)}`]),
  );
  const inside = { depth: depth + 1, names: { ...around, ...own } };
  const [range, init] = [termIn(iterRange, scope), termIn(loop.accuInit, scope)];
  const parts = [loop.loopCondition, loop.loopStep, loop.result].map((part) => termIn(part, inside));
  const [, step, result] = parts;
  const accumulator = named(own[accuVar] ?? accuVar).text;
  const isIdle = step?.text === accumulator || range.text === EMPTY_LIST;
  if (isIdle && result?.text === accumulator) return init;
  const names = Object.values(own);
  const { text, leaf: all } = whole('loop', [range, init, ...parts]);
  return { kind: 'leaf', text, leaf: { ...all, names: all.names.filter((name) => !names.includes(name)) } };
}

/** Several that must all hold, or any of them: flat, each once, in one order, and fixed where one decides or two exclude each other. */
function joined(kind: 'all' | 'any', terms: readonly Term[]): Term {
  const decides = kind === 'any';
  const parts = new Map(terms.flatMap((one) => partsOf(one, kind)).map((one) => [one.text, one] as const));
  const open = [...parts.values()].filter((one) => one.kind !== 'value');
  const isDecided = [...parts.values()].some((one) => one.kind === 'value' && one.value === decides);
  const isSplit = open.some((one) => one.kind === 'not' && parts.has(one.leaf.text));
  if (isDecided || isSplit) return fixed(decides);
  const [first, ...others] = open.sort((one, other) => (one.text < other.text ? -1 : 1));
  if (first === undefined) return fixed(!decides);
  return others.length === 0 ? first : { kind, of: open, text: `${kind}(${open.map(textOf).join()})` };
}

function partsOf(term: Term, kind: 'all' | 'any'): readonly Term[] {
  return term.kind === kind ? term.of : [term];
}

function negated(term: Term): Term {
  switch (term.kind) {
    case 'value':
      return fixed(!term.value);
    case 'all':
      return joined('any', term.of.map(negated));
    case 'any':
      return joined('all', term.of.map(negated));
    case 'leaf':
      return { kind: 'not', leaf: term.leaf, text: `!${term.text}` };
    case 'not':
      return { kind: 'leaf', leaf: term.leaf, text: term.leaf.text };
  }
}

const fixed = (value: boolean): Term => ({ kind: 'value', value, text: String(value) });
const named = (name: string): Term => leaf(`name ${name}`, [name]);

/** One whose parts are looked at as they are. */
function whole(name: string, parts: readonly Term[]): LeafTerm {
  return leaf(`${name}(${parts.map(textOf).join()})`, [...new Set(parts.flatMap(namesOf))]);
}

function leaf(text: string, names: readonly string[]): LeafTerm {
  return { kind: 'leaf', text, leaf: { text, names } };
}

/** Every constant has a text of its own. */
function written(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' || typeof value === 'number' ? String(value) : value;
}

const EMPTY_LIST = whole('list', []).text;
