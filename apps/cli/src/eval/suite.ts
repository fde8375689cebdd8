// A suite of trajectory evals: which runs there are, what each had to do, and what it must never do (D50 to D52).
//
// Boundary: shape and meaning of a suite file. Pure; how a run did is said by grade.ts.
import { canonicalJson, isJsonObject } from '@recourse/kernel';
import type { Json, Rejection } from '@recourse/kernel';
import { z } from 'zod';

export const MODES = ['strict', 'subsequence', 'unordered'] as const;

const TEXT_MAX = 2_000;
/** Cases of a suite, steps and forbidden tools of a case: matching is quadratic in steps and calls. */
const CASES_MAX = 1_000;
const STEPS_MAX = 500;

const text = () => z.string().min(1).max(TEXT_MAX);
/** A name, or a pattern: `*` stands for any characters. */
const pattern = () =>
  text().regex(/^[\w.*-]+$/, 'a name of letters, digits, _, . and -, where * stands for any of them');
const args = () => z.record(z.string(), z.json());

const step = z.strictObject({
  tool: text().optional(),
  tool_pattern: pattern().optional(),
  args: args().optional(),
  args_subset: args().optional(),
  optional: z.boolean().default(false),
  require_success: z.boolean().default(false),
});

const trajectory = z.strictObject({
  mode: z.enum(MODES),
  forbid: z.array(pattern()).max(STEPS_MAX).default([]),
  steps: z.array(step).max(STEPS_MAX).default([]),
});

const matcher = z.strictObject({ kind: z.enum(['contains', 'excludes', 'equals']), text: text() });

export const caseShape = z.strictObject({
  id: text().regex(/^[\w.:-]+$/, 'letters, digits, _, ., : and -'),
  input: text(),
  run: text().optional(),
  answer: z.string().max(100_000).optional(),
  matchers: z.array(matcher).max(STEPS_MAX).default([]),
  trajectory: trajectory.optional(),
});

export const suiteShape = z.strictObject({
  name: text().default('suite'),
  cases: z.array(caseShape).min(1).max(CASES_MAX),
});

export type Step = z.infer<typeof step>;
export type Trajectory = z.infer<typeof trajectory>;
export type Matcher = z.infer<typeof matcher>;
export type EvalCase = z.infer<typeof caseShape>;
export type Suite = z.infer<typeof suiteShape>;

export type ReadSuite =
  { readonly ok: true; readonly suite: Suite } | { readonly ok: false; readonly problems: readonly Rejection[] };

/** Reads a suite, or a case that stands alone; everything that is wrong at once. Pure. */
export function readSuite(value: Json): ReadSuite {
  const isAlone = value !== null && typeof value === 'object' && !Array.isArray(value) && 'id' in value;
  const read = suiteShape.safeParse(isAlone ? { cases: [value] } : value);
  const place = (path: readonly PropertyKey[]): string =>
    `/${(isAlone ? path.slice(2) : path).map((part) => String(part)).join('/')}`;
  if (!read.success)
    return {
      ok: false,
      problems: read.error.issues.map(({ path, message }) => ({
        code: 'SUITE_FIELD_INVALID',
        message,
        path: place(path),
      })),
    };
  const problems = read.data.cases.flatMap((one, at) =>
    [...problemsOf(one), ...(isTaken(read.data, at) ? [taken(one)] : [])].map(({ path, ...said }) => ({
      ...said,
      path: place(['cases', at, ...path]),
    })),
  );
  return problems.length > 0 ? { ok: false, problems } : { ok: true, suite: read.data };
}

interface Problem {
  readonly code: string;
  readonly message: string;
  readonly path: readonly (string | number)[];
}

const isTaken = ({ cases }: Suite, at: number): boolean => cases.findIndex(({ id }) => id === cases[at]?.id) < at;
const taken = ({ id }: EvalCase): Problem => ({
  code: 'CASE_ID_TAKEN',
  message: `${id} names an earlier case`,
  path: ['id'],
});

/** What a case that is well shaped cannot mean. */
function problemsOf({ matchers, trajectory: path }: EvalCase): readonly Problem[] {
  if (path === undefined)
    return matchers.length > 0
      ? []
      : [{ code: 'CASE_EMPTY', message: 'it has neither matchers nor a trajectory: nothing could fail it', path: [] }];
  const isEmpty =
    path.mode === 'subsequence' && path.forbid.length === 0 && path.steps.every(({ optional }) => optional);
  return [
    ...(isEmpty
      ? [{ code: 'TRAJECTORY_EMPTY', message: 'it asks for no step and forbids none', path: ['trajectory'] }]
      : []),
    ...path.steps.flatMap((one, at) =>
      stepProblems(one, path.forbid).map((said) => ({ ...said, path: ['trajectory', 'steps', at] })),
    ),
  ];
}

function stepProblems(
  { tool, tool_pattern, args: exact, args_subset }: Step,
  forbid: readonly string[],
): readonly Omit<Problem, 'path'>[] {
  const isOne = (tool === undefined) !== (tool_pattern === undefined);
  const banned = tool === undefined ? undefined : forbid.find((one) => fits(one, tool));
  return [
    ...(isOne ? [] : [{ code: 'STEP_TOOL_UNCLEAR', message: 'say either tool or tool_pattern' }]),
    ...(exact === undefined || args_subset === undefined
      ? []
      : [{ code: 'STEP_ARGS_UNCLEAR', message: 'say either args or args_subset' }]),
    ...(banned === undefined
      ? []
      : [{ code: 'STEP_FORBIDDEN', message: `${String(tool)} is asked for, and forbidden by ${banned}` }]),
  ];
}

/** True where a name is that of a pattern; `*` stands for any characters. Linear in both, whatever the pattern. */
export function fits(patternText: string, name: string): boolean {
  const [first = '', ...rest] = patternText.split('*');
  if (rest.length === 0) return name === first;
  if (!name.startsWith(first)) return false;
  const last = rest.at(-1) ?? '';
  let from = first.length;
  for (const part of rest.slice(0, -1)) {
    const at = name.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return name.length - last.length >= from && name.endsWith(last);
}

/** True where every member asked for is there with that value, at any depth; lists are compared whole. */
export function holdsSubset(asked: Json, found: Json): boolean {
  if (!isJsonObject(asked)) return canonicalJson(asked) === canonicalJson(found);
  if (!isJsonObject(found)) return false;
  return Object.entries(asked).every(([name, value]) => {
    const there = Object.hasOwn(found, name) ? found[name] : undefined;
    return there !== undefined && holdsSubset(value, there);
  });
}
