// Grades cases: a case passes only if every matcher and the trajectory pass (D52), and says what failed in lines (D53). Pure.
import { z } from 'zod';
import type { EvalCase, Matcher } from './suite.js';
import { gradeTrajectory } from './trajectory.decisions.js';
import type { Call, TrajectoryGrade } from './trajectory.decisions.js';

/** A run as it is graded: its calls, and its last answer where one is known. */
export interface GradedRun {
  readonly run_id: string;
  readonly calls: readonly Call[];
  /** Null where neither the case, nor a file, nor the log has one. */
  readonly answer: string | null;
  /** False where nothing is on record of a run with this id. */
  readonly is_known: boolean;
}

const names = z.array(z.string());
const caseReport = z.strictObject({
  id: z.string(),
  run_id: z.string(),
  passed: z.boolean(),
  trajectory_score: z.number().min(0).max(1).nullable().describe('Null where the case has no trajectory.'),
  trajectory: z
    .strictObject({
      forbidden: names,
      missing: names,
      arguments: names,
      unsuccessful: names,
      unreadable: names,
      unexpected: names,
    })
    .nullable(),
  failures: names.describe('One line per fault, as people read it.'),
  calls: z.array(z.strictObject({ tool: z.string(), state: z.string(), mutation_id: z.string() })),
});

/** What `recourse eval --json` prints. */
export const evalReportShape = z.strictObject({
  schema: z.literal('urn:recourse:eval-report:1'),
  suite: z.string(),
  passed: z.boolean(),
  cases_passed: z.int(),
  cases_failed: z.int(),
  trajectory_score: z.number().min(0).max(1).nullable().describe('Mean over the cases that have a trajectory.'),
  cases: z.array(caseReport),
});
export type CaseReport = Readonly<z.infer<typeof caseReport>>;
export type EvalReport = Readonly<z.infer<typeof evalReportShape>>;

/** The report of a suite. */
export function evalReport(suite: string, cases: readonly CaseReport[]): EvalReport {
  const scores = cases.map(({ trajectory_score: score }) => score).filter((score) => score !== null);
  const failed = cases.filter(({ passed }) => !passed).length;
  return {
    schema: 'urn:recourse:eval-report:1',
    suite,
    passed: failed === 0,
    cases_passed: cases.length - failed,
    cases_failed: failed,
    trajectory_score:
      scores.length === 0
        ? null
        : Math.floor((scores.reduce((sum, score) => sum + score, 0) / scores.length) * 1_000) / 1_000,
    cases: [...cases],
  };
}

/** The grade of one case. */
export function gradeCase(asked: EvalCase, { run_id, calls, answer, is_known }: GradedRun): CaseReport {
  const grade = asked.trajectory === undefined ? null : gradeTrajectory(asked.trajectory, is_known ? calls : []);
  const failures = [
    ...(is_known ? [] : [`[run] nothing is on record of ${run_id}`]),
    ...asked.matchers.flatMap((matcher) => matcherFailure(matcher, answer)),
    ...(grade === null || grade.passed ? [] : [trajectoryLine(grade)]),
  ];
  return {
    id: asked.id,
    run_id,
    passed: failures.length === 0,
    trajectory_score: grade?.score ?? null,
    trajectory: grade === null ? null : groupsOf(grade),
    failures,
    calls: calls.map(({ tool, state, mutation_id }) => ({ tool, state, mutation_id })),
  };
}

function matcherFailure({ kind, text }: Matcher, answer: string | null): readonly string[] {
  const wanted = JSON.stringify(text);
  if (answer === null) return [`[${kind}] ${wanted}: the run has no final answer on record, and the case none`];
  if (kind === 'contains') return answer.includes(text) ? [] : [`[contains] ${wanted} is not in the answer`];
  if (kind === 'excludes') return answer.includes(text) ? [`[excludes] ${wanted} is in the answer`] : [];
  return answer === text ? [] : [`[equals] the answer is not ${wanted}`];
}

function groupsOf(grade: TrajectoryGrade): NonNullable<CaseReport['trajectory']> {
  const { forbidden, missing, arguments: args, unsuccessful, unreadable, unexpected } = grade;
  return {
    forbidden: [...forbidden],
    missing: [...missing],
    arguments: [...args],
    unsuccessful: [...unsuccessful],
    unreadable: [...unreadable],
    unexpected: [...unexpected],
  };
}

/** `[trajectory] score=0.5 (forbidden: a b, missing: c)`; what there is none of is left out (D53). */
function trajectoryLine(grade: TrajectoryGrade): string {
  const told = Object.entries(groupsOf(grade))
    .filter(([, tools]) => tools.length > 0)
    .map(([group, tools]) => `${group}:${tools.join(' ')}`);
  return `[trajectory] score=${grade.score.toFixed(3)} (${told.join(', ')})`;
}
