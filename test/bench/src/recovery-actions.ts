// What the recovery benches take back: a thing is put down, taken back, and looked at by another capability. Pure.
import { plainPayload } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import type { ToolExecuted } from '@recourse/messages';
import { execution } from './executions.js';

export const ADAPTER = 'bench';
export const PUT = 'bench.put_thing';
export const TAKE_BACK = 'bench.take_back_thing';
export const LOOK = 'bench.look_at_thing';
/** On whose behalf the agent acted, and who asks for the undo. */
export const INITIATOR = 'asha';
export const TENANT = 'acme';

const KEY_LIFETIME_MS = 86_400_000;
const WINDOW_MS = 7 * 86_400_000;
const THING = {
  type: 'object',
  required: ['thing'],
  properties: { thing: { type: 'string', minLength: 1 } },
  additionalProperties: false,
};
const STATE = {
  type: 'object',
  required: ['thing', 'status'],
  properties: { thing: { type: 'string' }, status: { type: 'string', enum: ['there', 'gone'] } },
};
const IDEMPOTENCY = { mechanism: 'The tool keeps every key.', key_lifetime_ms: KEY_LIFETIME_MS };
const COMMON = {
  owner: 'bench-team',
  args_schema: THING,
  result_schema: STATE,
  call_timeout_ms: 2_000,
  subject: '/thing',
};

/** Contracts in the order in which the registry takes them. Nobody is asked, and the tool answers at once. */
export const RECOVERY_CONTRACTS: readonly (Readonly<Record<string, unknown>> & { readonly name: string })[] = [
  { ...COMMON, name: LOOK, effect: 'Reads a thing.', impact: 'read', approval_mode: 'read_only' },
  {
    ...COMMON,
    name: TAKE_BACK,
    effect: 'Takes a thing back.',
    impact: 'write',
    approval_mode: 'network',
    reversal_class: 'irreversible',
    forward_approval: 'human',
    recovery_approval_mode: 'human',
    compensation_mode: {
      mode: 'not_supported',
      reason: 'What was taken back is put down anew.',
      accepted_by: 'bench-team',
    },
    risk: 'The thing is gone.',
    idempotency: IDEMPOTENCY,
    reconcile_capability: LOOK,
    blast_radius: { max_calls_per_run: 100, scope: 'single_subject' },
    consequence: { commitments: '0' },
  },
  {
    ...COMMON,
    name: PUT,
    effect: 'Puts a thing down.',
    overwrites: false,
    impact: 'write',
    approval_mode: 'network',
    reversal_class: 'compensable',
    compensation_capability: TAKE_BACK,
    residue: 'The thing was there for a while.',
    recovery_cost: { time_ms: 1_000, value: { amount_minor: 0, currency: 'EUR' } },
    recovery_approval_mode: 'auto',
    compensation_mode: { mode: 'automatic', reason: 'Nobody needs the thing.' },
    risk: 'Somebody saw it meanwhile.',
    forward_approval: 'policy',
    reversal_window_ms: WINDOW_MS,
    requires_external_handle: true,
    reversal_args: { thing: { from: 'external_ref' } },
    reconcile_capability: LOOK,
    stale_check: {
      observe_capability: LOOK,
      compares: 'status',
      condition: "observed.status == 'there'",
      check_act_gap: 'A thing that is gone stays gone.',
    },
    verification: {
      verify_capability: LOOK,
      success_condition: "observed.status == 'gone'",
      max_attempts: 3,
      delay_ms: 1,
    },
    blast_radius: { max_calls_per_run: 100, scope: 'single_subject' },
    idempotency: IDEMPOTENCY,
    consequence: { commitments: '1' },
  },
];

/** The same, and a person agrees to each thing that is taken back. */
export const ASKED_CONTRACTS: typeof RECOVERY_CONTRACTS = RECOVERY_CONTRACTS.map((contract) =>
  contract.name === PUT
    ? {
        ...contract,
        recovery_approval_mode: 'human',
        compensation_mode: { mode: 'approval_required', reason: 'Somebody may need the thing.' },
      }
    : contract,
);

/** One of the things that are put down. */
export interface Thing {
  readonly run: string;
  readonly index: number;
}

/** Name of a thing at the tool; `thingOf` reads it. */
export function thingName({ run, index }: Thing): string {
  return `${run}/${String(index)}`;
}

export function thingOf(name: string): Thing {
  const at = name.lastIndexOf('/');
  return { run: name.slice(0, at), index: Number(name.slice(at + 1)) };
}

/** The execution that put a thing down, relying on a ref when one is given. `committedAt` in epoch milliseconds. */
export function putExecution(
  { run, index }: Thing,
  digest: Buffer,
  committedAt: number,
  ref: string | null = null,
): ToolExecuted {
  const thing = thingName({ run, index });
  const step = `step-${String(index)}`;
  return {
    ...execution(0),
    event_id: deriveId('evt', run, index),
    tenant: TENANT,
    agent_id: 'bench-agent',
    initiator: INITIATOR,
    run_id: run,
    step_id: step,
    call_id: `${run}-${step}`,
    capability: PUT,
    contract_digest: digest,
    effect_key: `${step}/${PUT}/${thing}`,
    idempotency_key: thing,
    args: plainPayload({ thing }),
    result: plainPayload({ thing, status: 'there' }),
    external_transaction_ref: thing,
    committed_at: committedAt,
    assumption_refs: ref === null ? [] : [ref],
  };
}

/** Was each of so many things of a run taken back once, the last first? `taken` are their indexes in the order of the tool. */
export function isLastFirst(taken: readonly number[], count: number): boolean {
  return taken.length === count && taken.every((index, at) => index === count - 1 - at);
}
