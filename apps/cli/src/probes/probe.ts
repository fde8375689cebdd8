// What a probe is: a question to the running system whose answer is pass, partial or fail, with its evidence (D44, D48). Pure.
//
// Invariants
//   H1. A control that cannot be probed fails: facts that could not be read are no facts in favour of anybody.
//   H2. What was looked at only in part passes at most in part.
//   H3. The same system gives the same report: no times, no lags, evidence in order.
import type { Seen } from './seen.js';

export type Result = 'pass' | 'partial' | 'fail';
/** P0: an effect could go unseen, unowned or unbounded. P1: it is owned, and its undoing is not sure. P2: nobody would learn of it. */
export type Severity = 'P0' | 'P1' | 'P2';

export interface Finding {
  readonly result: Result;
  readonly evidence: readonly string[];
}

/** A control. `needs` names the facts it reads: where one is missing, it fails before it is asked. */
export interface Control<Subject> {
  readonly id: string;
  readonly title: string;
  readonly severity: Severity;
  readonly needs: readonly (keyof Seen)[];
  readonly judge: (subject: Subject) => Finding;
  /** What to do where it does not pass. */
  readonly remedy: string;
}

/** A control as a line of a table. */
export type Line<Subject> = readonly [
  id: string,
  title: string,
  severity: Severity,
  needs: Control<Subject>['needs'],
  judge: Control<Subject>['judge'],
  remedy: string,
];

export function controlOf<Subject>(
  [id, title, severity, needs, judge, remedy]: Line<Subject>,
  below = '',
): Control<Subject> {
  return { id: `${below}${id}`, title, severity, needs, judge, remedy };
}

export interface Judged {
  readonly id: string;
  readonly title: string;
  readonly severity: Severity;
  readonly result: Result;
  readonly evidence: readonly string[];
  /** Null where it passed. */
  readonly remedy: string | null;
}

/** Lines of evidence of one control at the most. */
const EVIDENCE_MAX = 10;

/** Asks one control. */
export function judged<Subject>(control: Control<Subject>, seen: Seen, subject: Subject): Judged {
  const { id, title, severity, remedy } = control;
  const { result, evidence } = asked(control, seen, subject);
  return { id, title, severity, result, evidence: shortened(evidence), remedy: result === 'pass' ? null : remedy };
}

function asked<Subject>({ needs, judge }: Control<Subject>, seen: Seen, subject: Subject): Finding {
  const facts = needs.map((name) => [name, seen[name]] as const);
  const unread = facts.flatMap(([name, fact]) => (fact.ok ? [] : [`not probed: ${name}: ${fact.why}`]));
  if (unread.length > 0) return { result: 'fail', evidence: unread };
  const found = judge(subject);
  const cut = facts.flatMap(([name, fact]) => (fact.ok && fact.isCut ? [`only some of ${name} were looked at`] : []));
  return cut.length > 0 && found.result === 'pass'
    ? { result: 'partial', evidence: [...found.evidence, ...cut] }
    : found;
}

function shortened(evidence: readonly string[]): readonly string[] {
  const sorted = [...new Set(evidence)].sort();
  return sorted.length <= EVIDENCE_MAX
    ? sorted
    : [...sorted.slice(0, EVIDENCE_MAX), `and ${String(sorted.length - EVIDENCE_MAX)} more`];
}

export const pass = (...evidence: readonly string[]): Finding => ({ result: 'pass', evidence });
export const partial = (...evidence: readonly string[]): Finding => ({ result: 'partial', evidence });
export const fail = (...evidence: readonly string[]): Finding => ({ result: 'fail', evidence });

/** Passes where nothing is named; else fails with what is. */
export function none(faults: readonly string[], looked: string): Finding {
  return faults.length === 0 ? pass(looked) : fail(...faults);
}

/** The worst of several, with the evidence of those that are as bad. */
export function worst(...findings: readonly Finding[]): Finding {
  for (const result of ['fail', 'partial', 'pass'] as const) {
    const those = findings.filter((one) => one.result === result);
    if (those.length > 0) return { result, evidence: those.flatMap(({ evidence }) => evidence) };
  }
  return pass();
}
