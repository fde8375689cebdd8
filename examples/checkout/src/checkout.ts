// One checkout: the agent goes through the steps and stops at the first that is not done; then what stands is found out, and taken back
// unless it is whole.
//
// Recourse compensates mutations one by one: which of a run's mutations fall with a failed step, and in which order, is said here, by whoever
// triggers. The next is only begun when the one before is compensated.
import { factsOf, textOf } from '@recourse/example-drifted-refund';
import type { Facts } from '@recourse/example-drifted-refund';
import { AGENT_ID } from '@recourse/example-little-services';
import type { Stage } from '@recourse/example-little-services';
import { callOf, operationOf, STEPS, toTakeBack } from './steps.js';
import type { Case, Step } from './steps.js';

export interface Outcome {
  readonly case: Case;
  readonly runId: string;
  /** What the guard answered, step by step; the last is where the agent stopped. */
  readonly answers: readonly { readonly step: Step; readonly kind: string }[];
  /** Mutations as they were once every end was known. */
  readonly found: Readonly<Partial<Record<Step, Facts>>>;
  /** In the order in which they were taken back, with what the ledger says in the end. */
  readonly takenBack: readonly { readonly step: Step; readonly recoverability: string }[];
  /** Whether a worker had to be asked how a call ended. */
  readonly reconciled: readonly Step[];
}

const ENDED: readonly string[] = ['succeeded', 'failed'];

/** Plays one order. */
export async function checkOut(stage: Stage, one: Case): Promise<Outcome> {
  const runId = `checkout-${one.order}`;
  if (one.fails !== null) await stage.fault(operationOf(one.fails.step), one.order, one.fails.how);
  const { answers, mutations } = await goThrough(stage, runId, one.order);
  const found: Partial<Record<Step, Facts>> = {};
  const reconciled: Step[] = [];
  for (const [step, id] of mutations) {
    const mutation = await stage.mutation(id, ({ execution_state }) => ENDED.includes(textOf(execution_state)));
    if (mutation === null) continue;
    found[step] = mutation;
    if (wasReconciled(mutation)) reconciled.push(step);
  }
  const standing = STEPS.filter((step) => found[step]?.['execution_state'] === 'succeeded');
  const takenBack: { step: Step; recoverability: string }[] = [];
  for (const step of toTakeBack(standing)) {
    const after = await stage.takeBack(found[step] ?? {}, `the checkout of ${one.order} failed`);
    takenBack.push({ step, recoverability: textOf(after?.['recoverability']) });
  }
  return { case: one, runId, answers, found, takenBack, reconciled };
}

/** The agent's part. */
async function goThrough(
  stage: Stage,
  runId: string,
  order: string,
): Promise<{ readonly answers: Outcome['answers']; readonly mutations: readonly (readonly [Step, string])[] }> {
  const run = { runId, agentId: AGENT_ID, initiator: 'asha', objective: `serve ${order}` };
  const answers: { step: Step; kind: string }[] = [];
  const mutations: (readonly [Step, string])[] = [];
  for (const step of STEPS) {
    const {
      kind,
      mutation_refs: [id],
    } = await stage.act(run, callOf(step, order));
    answers.push({ step, kind });
    if (id !== undefined) mutations.push([step, id]);
    if (kind !== 'succeeded' && kind !== 'held') break;
  }
  return { answers, mutations };
}

function wasReconciled(mutation: Facts): boolean {
  const asks = factsOf(mutation, 'forward')['asks'];
  return (
    Array.isArray(asks) &&
    asks.some((ask: unknown) => typeof ask === 'object' && ask !== null && 'kind' in ask && ask.kind === 'reconcile')
  );
}
