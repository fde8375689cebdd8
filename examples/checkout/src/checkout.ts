// One checkout: the agent goes through the steps, finds out how a call ended that nobody answered, and stops at the first that failed.
//
// Its run says `onFailure: 'compensate'`, and that is all anybody says about taking back: the ledger undoes what the run did before,
// the last step first, and people agree where a contract wants them.
import { factsOf, listOf, textOf } from '@recourse/example-drifted-refund';
import type { Facts } from '@recourse/example-drifted-refund';
import { AGENT_ID } from '@recourse/example-little-services';
import type { Stage } from '@recourse/example-little-services';
import { callOf, operationOf, STEPS } from './steps.js';
import type { Case, Step } from './steps.js';

export interface Outcome {
  readonly case: Case;
  readonly runId: string;
  /** What the guard answered, step by step; the last is where the agent stopped. */
  readonly answers: readonly { readonly step: Step; readonly kind: string }[];
  /** Mutations as they were once every end was known. */
  readonly found: Readonly<Partial<Record<Step, Facts>>>;
  /** Steps that fell, the last first, with what the ledger says of them in the end. */
  readonly takenBack: readonly { readonly step: Step; readonly recoverability: string }[];
  /** Steps of which a worker had to find out how they ended. */
  readonly reconciled: readonly Step[];
}

interface Done {
  readonly answers: Outcome['answers'];
  readonly found: Outcome['found'];
}

const ENDED: readonly string[] = ['succeeded', 'failed'];

/** Plays one order. */
export async function checkOut(stage: Stage, one: Case): Promise<Outcome> {
  const runId = `checkout-${one.order}`;
  if (one.fails !== null) await stage.fault(operationOf(one.fails.step), one.order, one.fails.how);
  const { answers, found } = await goThrough(stage, runId, one.order);
  const reconciled = STEPS.filter((step) => wasReconciled(found[step] ?? {}));
  return { case: one, runId, answers, found, reconciled, takenBack: await takenBack(stage, runId, found) };
}

/** The agent's part. */
async function goThrough(stage: Stage, runId: string, order: string): Promise<Done> {
  const run = {
    runId,
    agentId: AGENT_ID,
    initiator: 'asha',
    objective: `serve ${order}`,
    onFailure: 'compensate',
  } as const;
  const answers: { step: Step; kind: string }[] = [];
  const found: Partial<Record<Step, Facts>> = {};
  for (const step of STEPS) {
    const {
      kind,
      mutation_refs: [id],
    } = await stage.act(run, callOf(step, order));
    answers.push({ step, kind });
    if (id === undefined) break;
    const ended = await stage.mutation(id, ({ execution_state }) => ENDED.includes(textOf(execution_state)));
    if (ended !== null) found[step] = ended;
    if (ended?.['execution_state'] !== 'succeeded') break;
  }
  return { answers, found };
}

/** What became of the run: where a step failed, all that was done before it; nothing of a run that is whole. */
async function takenBack(stage: Stage, runId: string, found: Outcome['found']): Promise<Outcome['takenBack']> {
  const hasFailed = Object.values(found).some(({ execution_state }) => execution_state === 'failed');
  const back: { step: Step; recoverability: string }[] = [];
  for (const step of [...STEPS].reverse()) {
    const { mutation_id, execution_state } = found[step] ?? {};
    if (execution_state !== 'succeeded') continue;
    const after = hasFailed
      ? await stage.undone(textOf(mutation_id), runId)
      : await stage.mutation(textOf(mutation_id), () => true);
    if (after?.['rollback_id'] !== null) back.push({ step, recoverability: textOf(after?.['recoverability']) });
  }
  return back;
}

function wasReconciled(mutation: Facts): boolean {
  return listOf({ asks: factsOf(mutation, 'forward')['asks'] }).some(({ kind }) => kind === 'reconcile');
}
