// What the effects of an undo wait for, open ones and those that a person has: the ledger names them, and their steps say who has them until when.
import { EdgeProblem } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import { cellText, docsOf } from '../output/table.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';

/** What a step waits for, by its phase; one that has ended waits for the ledger to hear of it. */
const WAITS_BY_PHASE: Readonly<Record<string, string>> = {
  held: 'its call to end, or its outcome to be known',
  awaiting_approval: 'approval',
  approved: 'its turn',
  waiting: 'steps before it, or its place under a rate limit',
  halted: 'a person: a switch stops it',
  observing: 'a look at the facts',
  dispatched: 'a worker',
  uncertain: 'somebody to find out how its call ended',
  retrying: 'a retry',
  looking: 'a look at the outcome',
  manual: 'a person',
  denied: 'a person: it was denied',
};

/** The same of one whose step is not known, in the words of the report. */
const WAITS_BY_LEDGER: Readonly<Record<string, string>> = {
  mark: 'the ledger to name it',
  outcome: 'somebody to tell how its call ended',
  recovery: 'its recovery',
  worker: 'a worker',
  person: 'a person',
};

/** Steps of one run that are looked through. */
const STEPS_MAX = 10_000;

/** A report with, at each effect that waits, the phase, owner and deadline of its step. What nobody answers stays as the ledger says. */
export async function withSteps(session: Session, report: Doc): Promise<Doc> {
  const items = docsOf(report['items']);
  if (!items.some(isOpen)) return report;
  const steps = new Map((await stepsOf(session, report)).map((step) => [step['step_id'], step]));
  return { ...report, items: items.map((item) => (isOpen(item) ? withStep(item, steps.get(item['step_id'])) : item)) };
}

function isOpen({ waits_for, step_id }: Doc): boolean {
  return typeof waits_for === 'string' && typeof step_id === 'string';
}

/** One that has ended leaves its effect as the ledger says, which has not heard of it yet. */
function withStep(item: Doc, step: Doc | undefined): Doc {
  if (step === undefined || WAITS_BY_PHASE[String(step['phase'])] === undefined) return item;
  const { phase: step_phase, owner, deadline_at, due_at, reason: step_reason } = step;
  return { ...item, step_phase, step_reason, owner, deadline_at: deadline_at ?? due_at ?? item['deadline_at'] };
}

/** None where nobody answers: the report is true without. */
async function stepsOf(session: Session, { run_id }: Doc): Promise<readonly Doc[]> {
  try {
    const query = { run_id: cellText(run_id), tenant: session.tenant };
    return (await session.service('recoveries').list('/v1/steps', query, STEPS_MAX)).items;
  } catch (problem) {
    if (!(problem instanceof EdgeProblem) && !(problem instanceof CliProblem)) throw problem;
    session.terminal.note(`${problem.code}: the recovery orchestrator does not say who has what is open, until when`);
    return [];
  }
}

/** What one effect waits for, in words; null for one that is not open. Pure. */
export function waitsText({ waits_for, step_phase }: Doc): string | null {
  if (typeof waits_for !== 'string') return null;
  return WAITS_BY_PHASE[String(step_phase)] ?? WAITS_BY_LEDGER[waits_for] ?? waits_for;
}
