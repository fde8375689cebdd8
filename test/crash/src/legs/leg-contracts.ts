// What is undone here: a thing that is put down is taken away again, and looked at by another capability. Pure.
import type { Contract } from '@recourse/contract';
import type { ToolKind } from './leg.cases.js';

const OWNER = 'crash-team';
const CALL_TIMEOUT_MS = 2_000;
const WINDOW_MS = 24 * 3_600_000;
const KEY_LIFETIME_MS = 24 * 3_600_000;
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
const COMMON = {
  owner: OWNER,
  args_schema: THING,
  result_schema: STATE,
  call_timeout_ms: CALL_TIMEOUT_MS,
  subject: '/thing',
};
const WRITE = {
  ...COMMON,
  impact: 'write',
  approval_mode: 'network',
  blast_radius: { max_calls_per_run: 100, scope: 'single_subject' },
} as const;

export const lookOf = (adapter: string): string => `${adapter}.look_at_thing`;
export const takeBackOf = (adapter: string, kind: ToolKind): string => `${adapter}.take_back_${kind}`;
export const putOf = (adapter: string, kind: ToolKind): string => `${adapter}.put_${kind}`;

/** The contracts of an adapter, in the order in which the registry takes them. */
export function legContracts(adapter: string): readonly Contract[] {
  return [
    { ...COMMON, name: lookOf(adapter), effect: 'Looks at a thing.', impact: 'read', approval_mode: 'read_only' },
    ...pairOf(adapter, 'keyed'),
    ...pairOf(adapter, 'keyless'),
  ];
}

function pairOf(adapter: string, kind: ToolKind): readonly Contract[] {
  return [takeBackContract(adapter, kind), putContract(adapter, kind)];
}

function idempotencyOf(kind: ToolKind): NonNullable<Contract['idempotency']> {
  return kind === 'keyed'
    ? { mechanism: 'The tool keeps every key.', key_lifetime_ms: KEY_LIFETIME_MS }
    : { mechanism: 'None: each call is an effect.' };
}

function takeBackContract(adapter: string, kind: ToolKind): Contract {
  return {
    ...WRITE,
    name: takeBackOf(adapter, kind),
    effect: 'Takes a thing away.',
    reversal_class: 'irreversible',
    forward_approval: 'human',
    recovery_approval_mode: 'human',
    compensation_mode: { mode: 'not_supported', reason: 'It is put down anew.', accepted_by: OWNER },
    risk: 'The thing is gone.',
    idempotency: idempotencyOf(kind),
    reconcile_capability: lookOf(adapter),
    consequence: { commitments: '0' },
  };
}

function putContract(adapter: string, kind: ToolKind): Contract {
  const look = lookOf(adapter);
  return {
    ...WRITE,
    name: putOf(adapter, kind),
    effect: 'Puts a thing down.',
    overwrites: false,
    reversal_class: 'compensable',
    compensation_capability: takeBackOf(adapter, kind),
    residue: 'The thing was there for a while.',
    recovery_cost: { time_ms: 1_000, value: { amount_minor: 0, currency: 'EUR' } },
    recovery_approval_mode: 'auto',
    compensation_mode: { mode: 'automatic', reason: 'Nobody needs the thing.' },
    risk: 'Somebody saw it meanwhile.',
    forward_approval: 'policy',
    reversal_window_ms: WINDOW_MS,
    requires_external_handle: true,
    reversal_args: { thing: { from: 'external_ref' } },
    reconcile_capability: look,
    stale_check: {
      observe_capability: look,
      compares: 'status',
      condition: "observed.status == 'there'",
      check_act_gap: 'A thing that is gone stays gone.',
    },
    verification: {
      verify_capability: look,
      success_condition: "observed.status == 'gone'",
      max_attempts: 3,
      delay_ms: 50,
    },
    idempotency: idempotencyOf(kind),
    consequence: { commitments: '1' },
  };
}
