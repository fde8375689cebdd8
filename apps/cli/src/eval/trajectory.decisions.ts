// Grades the calls of a run against a trajectory (D49 to D51). Pure.
//
// Invariants
//   T1. What is compared is what the ledger has on record: one call is one effect, however often it was tried under its key.
//   T2. The score is asked / (asked + faults), where a fault is a step that is missing, or a call that is forbidden or that the mode
//       does not allow. It is 1 exactly when the trajectory passes.
//   T3. Of all ways to lay steps on calls the one with the fewest faults counts, then the one with most steps; so the grade does not
//       depend on where a repeated call stands.
import { canonicalJson } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { fits, holdsSubset } from './suite.js';
import type { Step, Trajectory } from './suite.js';

/** One call of a run, as the ledger recorded it. */
export interface Call {
  readonly tool: string;
  /** Arguments; null where they cannot be read: sealed, or erased. */
  readonly args: Json;
  readonly is_readable: boolean;
  /** State of the execution: succeeded, failed, uncertain, cancelled, planned ... */
  readonly state: string;
  readonly mutation_id: string;
}

export interface TrajectoryGrade {
  readonly passed: boolean;
  /** From 0 to 1, rounded to thousandths; 1 exactly when it passed. */
  readonly score: number;
  /** Tools that were called, and are forbidden. */
  readonly forbidden: readonly string[];
  /** Steps no call stands for. */
  readonly missing: readonly string[];
  /** Steps whose tool was called, with other arguments. */
  readonly arguments: readonly string[];
  /** Steps whose tool was called, and did not succeed. */
  readonly unsuccessful: readonly string[];
  /** Steps whose tool was called with arguments that nobody can read any more. */
  readonly unreadable: readonly string[];
  /** Calls that the mode does not allow beside the steps. */
  readonly unexpected: readonly string[];
}

/** Grades calls, in the order in which the log has them. */
export function gradeTrajectory(asked: Trajectory, calls: readonly Call[]): TrajectoryGrade {
  const isForbidden = ({ tool }: Call): boolean => asked.forbid.some((one) => fits(one, tool));
  const forbidden = calls.filter(isForbidden);
  const allowed = calls.filter((call) => !isForbidden(call));
  const laid = asked.mode === 'unordered' ? laidInAnyOrder(asked.steps, allowed) : laidInOrder(asked, allowed);
  const free = allowed.filter((_, at) => !laid.includes(at));
  const unmet = asked.steps.filter(({ optional }, at) => !optional && laid[at] === null);
  const required = asked.steps.filter(({ optional }) => !optional).length;
  const unexpected = asked.mode === 'subsequence' ? [] : free;
  const faults = forbidden.length + unmet.length + unexpected.length;
  const why = unmet.map((one) => ({ name: nameOf(one), why: whyUnmet(one, free) }));
  const named = (kind: Unmet): readonly string[] => why.filter((one) => one.why === kind).map(({ name }) => name);
  return {
    passed: faults === 0,
    score: faults === 0 ? 1 : scoreOf(required - unmet.length, faults),
    forbidden: forbidden.map(({ tool }) => tool),
    missing: named('missing'),
    arguments: named('arguments'),
    unsuccessful: named('unsuccessful'),
    unreadable: named('unreadable'),
    unexpected: unexpected.map(({ tool }) => tool),
  };
}

/** Below 1 whatever the rounding (T2). */
function scoreOf(met: number, faults: number): number {
  return Math.floor((met / (met + faults)) * 1_000) / 1_000;
}

type Unmet = 'missing' | 'arguments' | 'unsuccessful' | 'unreadable';

/** What comes nearest to a step that no call stands for. */
function whyUnmet(step: Step, free: readonly Call[]): Unmet {
  const called = free.filter((call) => isTool(step, call));
  if (called.length === 0) return 'missing';
  if (called.some((call) => hasArgs(step, call)))
    return step.require_success && called.every(({ state }) => state !== 'succeeded') ? 'unsuccessful' : 'missing';
  return called.some(({ is_readable }) => !is_readable) ? 'unreadable' : 'arguments';
}

export function nameOf({ tool, tool_pattern }: Step): string {
  return tool ?? tool_pattern ?? '';
}

function isTool({ tool, tool_pattern }: Step, call: Call): boolean {
  return tool === undefined ? fits(tool_pattern ?? '', call.tool) : tool === call.tool;
}

function hasArgs({ args, args_subset }: Step, call: Call): boolean {
  if (args === undefined && args_subset === undefined) return true;
  if (!call.is_readable) return false;
  if (args !== undefined) return canonicalJson(args) === canonicalJson(call.args);
  return holdsSubset(args_subset ?? {}, call.args);
}

function stands(step: Step, call: Call): boolean {
  return isTool(step, call) && hasArgs(step, call) && (!step.require_success || call.state === 'succeeded');
}

/** Which call stands for each step; null where none does. */
type Laid = readonly (number | null)[];

interface Cost {
  readonly faults: number;
  /** Steps met, negated: fewer is better, as of faults. */
  readonly unmet: number;
}

/** The cheapest way along both lists, by dynamic programming from their ends (T3). */
function laidInOrder({ mode, steps }: Trajectory, calls: readonly Call[]): Laid {
  const extra = mode === 'strict' ? 1 : 0;
  const costs = costsOf(steps, calls, extra);
  const laid: (number | null)[] = steps.map(() => null);
  let [at, call] = [0, 0];
  while (at < steps.length && call < calls.length) {
    const step = steps[at];
    const here = costs[at]?.[call];
    const next = calls[call];
    if (step === undefined || here === undefined || next === undefined) break;
    if (stands(step, next) && isEqual(here, with1(costs[at + 1]?.[call + 1], 0, -1))) {
      laid[at] = call;
      at += 1;
      call += 1;
    } else if (isEqual(here, with1(costs[at]?.[call + 1], extra, 0))) call += 1;
    else at += 1;
  }
  return laid;
}

function costsOf(steps: readonly Step[], calls: readonly Call[], extra: number): readonly (readonly Cost[])[] {
  const costs: Cost[][] = Array.from({ length: steps.length + 1 }, () => []);
  for (let at = steps.length; at >= 0; at -= 1)
    for (let call = calls.length; call >= 0; call -= 1) {
      const [step, next] = [steps[at], calls[call]];
      const ways = [
        ...(step !== undefined && next !== undefined && stands(step, next)
          ? [with1(costs[at + 1]?.[call + 1], 0, -1)]
          : []),
        ...(next === undefined ? [] : [with1(costs[at]?.[call + 1], extra, 0)]),
        ...(step === undefined ? [] : [with1(costs[at + 1]?.[call], step.optional ? 0 : 1, 0)]),
      ];
      const row = costs[at];
      if (row !== undefined) row[call] = ways.reduce(cheaper, ways[0] ?? NOTHING);
    }
  return costs;
}

const NOTHING: Cost = { faults: 0, unmet: 0 };
const with1 = (cost: Cost = NOTHING, faults: number, unmet: number): Cost => ({
  faults: cost.faults + faults,
  unmet: cost.unmet + unmet,
});
const isEqual = (one: Cost, other: Cost): boolean => one.faults === other.faults && one.unmet === other.unmet;
const cheaper = (one: Cost, other: Cost): Cost =>
  other.faults < one.faults || (other.faults === one.faults && other.unmet < one.unmet) ? other : one;

/** As many required steps as can be, then as many optional ones: augmenting paths, which never free a step again. */
function laidInAnyOrder(steps: readonly Step[], calls: readonly Call[]): Laid {
  const stepOf: (number | undefined)[] = calls.map(() => undefined);
  const place = (at: number, tried: Set<number>): boolean => {
    const step = steps[at];
    if (step === undefined) return false;
    for (const [call, one] of calls.entries()) {
      if (tried.has(call) || !stands(step, one)) continue;
      tried.add(call);
      const holder = stepOf[call];
      if (holder === undefined || place(holder, tried)) {
        stepOf[call] = at;
        return true;
      }
    }
    return false;
  };
  const inTurn = [...steps.keys()].sort((a, b) => Number(steps[a]?.optional) - Number(steps[b]?.optional));
  for (const at of inTurn) place(at, new Set());
  return steps.map((_, at) => {
    const call = stepOf.indexOf(at);
    return call < 0 ? null : call;
  });
}
