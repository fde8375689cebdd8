// What judging an expression may cost: a bound that is known at registration, and a meter that runs while it is judged.
//
// Boundary: counts steps and never time, so that worker, orchestrator and a replay end at the same one.
//
// Invariants
//   M1. Each turn of a loop costs one step, entering it a little for what it goes over, and a call what it has to look at, inside loops
//       and outside: a comparison of documents can be written many times over.
//   M2. Past the limit every loop ends at its next turn and nothing is looked at, whatever its operators make of errors.
//   M3. A search of one text for another, or for a pattern, costs by both of them, inside loops and outside.
import { CelScalar, celFunc, celMethod, isCelList, isCelMap } from '@bufbuild/cel';
import type { CelFunc, CelValue, parse } from '@bufbuild/cel';
import { RE2JS } from 're2js';
import { patternSize } from './pattern-size.js';

type Expr = NonNullable<ReturnType<typeof parse>['expr']>;

/** Steps that judging one expression may take; some tens of milliseconds. */
export const CONDITION_STEPS_MAX = 100_000;
/** How long a list is taken to be at registration that only the facts know. */
const UNKNOWN_LENGTH = 100;
/** Elements of a list that a loop takes up in one step. */
const COPIED_PER_STEP = 16;
/** Characters that are looked at in one step. */
const TEXT_PER_STEP = 64;

/** Comparisons of two characters that a search makes in one step. */
const COMPARED_PER_STEP = 1_024;
/** Characters of text that compiling a pattern takes as long as. */
const COMPILED_AS = 200;

const TURN = '@turn';
const ENTER = '@enter';
const WEIGH = '@weigh';
/** Calls that look at all of what they are given. */
const LOOKING: ReadonlySet<string> = new Set([
  ...['_==_', '_!=_', '_<_', '_<=_', '_>_', '_>=_', '@in', '_+_'],
  ...['startsWith', 'endsWith', 'size', 'string', 'bytes'],
]);
/** Calls whose operands tell together what they cost, by what they are replaced by. */
const SEARCHING: Readonly<Record<string, string>> = { contains: '@contains', matches: '@matches' };

export class ConditionTooCostly extends Error {
  override readonly name = 'ConditionTooCostly';
}

/** Steps taken by the evaluation under way: evaluations do not interleave. */
let taken = 0;

/** Runs an evaluation under the meter. Errors: ConditionTooCostly. */
export function metered<T>(evaluate: () => T): T {
  taken = 0;
  const result = withoutStacks(evaluate);
  if (taken > CONDITION_STEPS_MAX) throw new ConditionTooCostly(`it takes more than ${CONDITION_STEPS_MAX} steps`);
  return result;
}

/** What reads a field that is not there is an error with a stack nobody sees, which costs more than all else in a loop. */
function withoutStacks<T>(evaluate: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return evaluate();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** What a metered expression calls; no author can write these names. */
export const METER: CelFunc[] = [
  celFunc(TURN, [CelScalar.DYN], CelScalar.DYN, (condition) => charged(condition, 1)),
  celFunc(ENTER, [CelScalar.DYN], CelScalar.DYN, (range) =>
    charged(range, isCelList(range) || isCelMap(range) ? Math.ceil(range.size / COPIED_PER_STEP) : 0),
  ),
  celFunc(WEIGH, [CelScalar.DYN], CelScalar.DYN, (value) =>
    charged(value, taken > CONDITION_STEPS_MAX ? 0 : weightOf(value)),
  ),
  celMethod('@contains', CelScalar.STRING, [CelScalar.STRING], CelScalar.BOOL, function (part) {
    charged(part, Math.ceil(this.length / TEXT_PER_STEP + (this.length * part.length) / COMPARED_PER_STEP));
    return this.includes(part);
  }),
  celMethod('@matches', CelScalar.STRING, [CelScalar.STRING], CelScalar.BOOL, function (pattern) {
    charged(pattern, pattern.length);
    charged(pattern, Math.ceil((patternSize(pattern) * (this.length + COMPILED_AS)) / TEXT_PER_STEP));
    return RE2JS.compile(pattern).test(this);
  }),
];

function charged(value: CelValue, steps: number): CelValue {
  taken += steps;
  if (taken > CONDITION_STEPS_MAX) throw new ConditionTooCostly();
  return value;
}

/** Members of a value at every level, and its text in parts; a scalar is part of the turn. Stops counting past the limit. */
function weightOf(value: unknown): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return Math.floor(value.length / TEXT_PER_STEP);
  let sum = 0;
  if (isCelList(value)) for (const item of value) if ((sum += 1 + weightOf(item)) > CONDITION_STEPS_MAX) break;
  if (isCelMap(value)) for (const [, member] of value) if ((sum += 1 + weightOf(member)) > CONDITION_STEPS_MAX) break;
  return sum;
}

/** The expression with its loops, and what its calls look at, counted. */
export function withMeter(expr: Expr | undefined): Expr | undefined {
  return expr === undefined ? undefined : meteredExpr(expr, null);
}

/** `accumulator`: what the innermost loop adds to, which is not looked at; null outside of loops. */
function meteredExpr(expr: Expr, accumulator: string | null): Expr {
  const { exprKind } = expr;
  if (exprKind.case === 'comprehensionExpr') {
    const { value } = exprKind;
    const [outside, inside] = [over(accumulator), over(value.accuVar)];
    const loop = {
      ...value,
      iterRange: called(ENTER, outside(value.iterRange)),
      accuInit: outside(value.accuInit),
      loopCondition: called(TURN, inside(value.loopCondition)),
      loopStep: inside(value.loopStep),
      result: inside(value.result),
    };
    return { ...expr, exprKind: { case: 'comprehensionExpr', value: loop } };
  }
  const walked = searching(mapParts(expr, (part) => meteredExpr(part, accumulator)));
  return weighed(walked, accumulator);
}

function over(accumulator: string | null): (part: Expr | undefined) => Expr | undefined {
  return (part) => (part === undefined ? undefined : meteredExpr(part, accumulator));
}

/** A call with the operands it looks at weighed; constants are as long as the expression at most. */
function weighed(expr: Expr, accumulator: string | null): Expr {
  if (expr.exprKind.case !== 'callExpr') return expr;
  const { value } = expr.exprKind;
  if (!LOOKING.has(value.function)) return expr;
  const weigh = (part: Expr): Expr => (isFree(part, accumulator) ? part : (called(WEIGH, part) ?? part));
  const target = value.target === undefined ? {} : { target: weigh(value.target) };
  return { ...expr, exprKind: { case: 'callExpr', value: { ...value, ...target, args: value.args.map(weigh) } } };
}

/** A call that searches, as one that is counted. */
function searching(expr: Expr): Expr {
  if (expr.exprKind.case !== 'callExpr') return expr;
  const { value } = expr.exprKind;
  const name = Object.hasOwn(SEARCHING, value.function) ? SEARCHING[value.function] : undefined;
  if (name === undefined) return expr;
  return { ...expr, exprKind: { case: 'callExpr', value: { ...value, function: name } } };
}

function isFree({ exprKind }: Expr, accumulator: string | null): boolean {
  return exprKind.case === 'constExpr' || (exprKind.case === 'identExpr' && exprKind.value.name === accumulator);
}

function called(name: string, argument: Expr | undefined): Expr | undefined {
  if (argument === undefined) return undefined;
  const value = { $typeName: 'cel.expr.Expr.Call' as const, function: name, args: [argument] };
  return { ...argument, exprKind: { case: 'callExpr', value } };
}

/** An expression that is no loop, with each of its parts replaced. */
function mapParts(expr: Expr, map: (part: Expr) => Expr): Expr {
  const { exprKind } = expr;
  const maybe = (part: Expr | undefined): Expr | undefined => (part === undefined ? undefined : map(part));
  switch (exprKind.case) {
    case 'callExpr': {
      const { value } = exprKind;
      const target = value.target === undefined ? {} : { target: map(value.target) };
      return { ...expr, exprKind: { case: 'callExpr', value: { ...value, ...target, args: value.args.map(map) } } };
    }
    case 'selectExpr':
      return {
        ...expr,
        exprKind: { case: 'selectExpr', value: { ...exprKind.value, operand: maybe(exprKind.value.operand) } },
      };
    case 'listExpr':
      return {
        ...expr,
        exprKind: { case: 'listExpr', value: { ...exprKind.value, elements: exprKind.value.elements.map(map) } },
      };
    case 'structExpr': {
      const entries = exprKind.value.entries.map((entry) => ({
        ...entry,
        value: maybe(entry.value),
        keyKind:
          entry.keyKind.case === 'mapKey'
            ? { case: 'mapKey' as const, value: map(entry.keyKind.value) }
            : entry.keyKind,
      }));
      return { ...expr, exprKind: { case: 'structExpr', value: { ...exprKind.value, entries } } };
    }
    default:
      return expr;
  }
}

/** Steps an expression takes when each list of the facts has a hundred elements. */
export function stepsFor(expr: Expr | undefined): number {
  if (expr === undefined) return 0;
  const { exprKind } = expr;
  if (exprKind.case === 'comprehensionExpr') {
    const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
    const once = stepsFor(iterRange) + stepsFor(accuInit) + stepsFor(result);
    return once + lengthOf(iterRange) * (1 + stepsFor(loopCondition) + stepsFor(loopStep));
  }
  let sum = 0;
  mapParts(expr, (part) => {
    sum += stepsFor(part);
    return part;
  });
  return sum;
}

function lengthOf(range: Expr | undefined): number {
  return range?.exprKind.case === 'listExpr' ? range.exprKind.value.elements.length : UNKNOWN_LENGTH;
}
