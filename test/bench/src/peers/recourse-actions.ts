// What Recourse takes back in this bench: the contracts of the recovery bench, without the stale check that no peer makes. Pure.
import { plainPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { ToolExecuted } from '@recourse/messages';
import { INITIATOR, PUT, putExecution, RECOVERY_CONTRACTS, TENANT } from '../recovery-actions.js';
import { runName } from './closed-loop.js';
import { EFFECTS, STEPS } from './work.js';
import type { Variant } from './work.js';

/** Arguments of a call: the step of a run, and where its effect is. */
export interface StepArgs {
  readonly run: string;
  readonly variant: Variant;
  readonly step: number;
}
export const AGENT = 'bench-agent';

const ARGS = {
  type: 'object',
  required: ['run', 'variant', 'step'],
  properties: {
    run: { type: 'string', minLength: 1 },
    variant: { type: 'string', enum: ['http', 'memory'] },
    step: { type: 'integer', minimum: 1, maximum: STEPS },
  },
  additionalProperties: false,
};
const REVERSAL_ARGS = Object.fromEntries(ARGS.required.map((name) => [name, { from: 'args', path: `/${name}` }]));

/** All effects of a run have one subject, so one key seals them. */
export const PEER_CONTRACTS = RECOVERY_CONTRACTS.map(({ stale_check: _, ...contract }) => ({
  ...contract,
  name: contract.name,
  args_schema: ARGS,
  subject: '/run',
  ...(contract.name === PUT
    ? { reversal_args: REVERSAL_ARGS, unchecked_because: 'The other engines look at nothing before they undo, either.' }
    : {}),
}));

/** The contract under which the steps are made. */
export const PUT_CONTRACT = PEER_CONTRACTS.filter(({ name }) => name === PUT).map((contract) =>
  JSON.stringify(contract),
)[0];

export function argsOf(variant: Variant, run: string, step: number): StepArgs & Readonly<Record<string, Json>> {
  return { run, variant, step };
}

/** Reads the arguments of a call; a contract has checked them. */
export function stepOf(args: unknown): StepArgs {
  return args as StepArgs;
}

/** What the provider calls the effect. */
export function handleOf({ variant, run, step }: StepArgs): string {
  return `${variant}/${run}/${String(step)}`;
}

export function resultOf(args: StepArgs, isGone: boolean): Readonly<Record<string, Json>> {
  return { thing: handleOf(args), status: isGone ? 'gone' : 'there' };
}

/** The executions of a cell's runs, one after the other: eleven of the first run, eleven of the second, and so on. */
export function executionOf(
  { prefix, variant }: { readonly prefix: string; readonly variant: Variant },
  digest: Buffer,
  committedAt: number,
): (index: number) => ToolExecuted {
  return (index) => {
    const [run, at] = [runName(prefix, Math.floor(index / EFFECTS)), index % EFFECTS];
    const args = argsOf(variant, run, at + 1);
    const execution = putExecution({ run, index: at + 1 }, digest, committedAt + index);
    return {
      ...execution,
      effect_key: `${execution.step_id}/${PUT}/${handleOf(args)}`,
      idempotency_key: handleOf(args),
      args: plainPayload(args),
      result: plainPayload(resultOf(args, false)),
      external_transaction_ref: handleOf(args),
    };
  };
}

/** The run as the agent of a saga names it to the guard: what fails for good takes the others back. */
export function sagaContext(run: string) {
  return {
    tenant: TENANT,
    runId: run,
    agentId: AGENT,
    initiator: INITIATOR,
    objective: 'put things in place',
    onFailure: 'compensate',
  } as const;
}
