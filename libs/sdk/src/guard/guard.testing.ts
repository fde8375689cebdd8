// One guarded refund with everything a spec may change.
import type { Contract, ContractDraft } from '@recourse/contract';
import { ManualClock } from '@recourse/kernel';
import { MemoryProducer } from '../producer/producer.memory.js';
import { guard } from './guard.js';
import type { ForwardTool, GuardedCall, GuardedResult, GuardOptions } from './guard.messages.js';

export const refundContract: Contract = {
  name: 'payments.issue_refund',
  owner: 'payments',
  effect: 'A customer gets money back.',
  impact: 'financial',
  approval_mode: 'delegated',
  args_schema: {
    type: 'object',
    properties: { order: { type: 'string' }, amount_minor: { type: 'integer', minimum: 1 } },
    required: ['order', 'amount_minor'],
    additionalProperties: false,
  },
  result_schema: { type: 'object' },
  reversal_class: 'compensable',
  compensation_mode: { mode: 'approval_required', reason: 'Money moves.' },
  compensation_capability: 'payments.reverse_refund',
  requires_external_handle: true,
  reversal_args: { refund_id: { from: 'external_ref' } },
  reversal_window_ms: 86_400_000,
  residue: 'Two lines on a statement.',
  recovery_cost: { time_ms: 1_000, value: { amount_minor: 0, currency: 'INR' } },
  stale_check: {
    observe_capability: 'payments.get_refund',
    compares: 'status',
    condition: "observed.status == 'settled'",
    check_act_gap: 'The provider takes no expected version.',
  },
  verification: {
    verify_capability: 'payments.get_refund',
    success_condition: "observed.status == 'reversed'",
    max_attempts: 1,
  },
  idempotency: { mechanism: 'By key.' },
  subject: '/order',
  value: { amount: '/amount_minor', currency: 'INR' },
};

/** What makes an irreversible effect of the refund, behind a person unless told. */
export const FOR_GOOD: ContractDraft = {
  reversal_class: 'irreversible',
  compensation_mode: { mode: 'not_supported', reason: 'The money is spent.', accepted_by: 'payments' },
  compensation_capability: undefined,
  reversal_args: undefined,
  stale_check: undefined,
  verification: undefined,
  forward_approval: 'human',
};

/** What makes a read of the refund. */
export const READS: ContractDraft = {
  impact: 'read',
  approval_mode: 'read_only',
  reversal_class: undefined,
  compensation_mode: undefined,
  compensation_capability: undefined,
  reversal_args: undefined,
  stale_check: undefined,
  residue: undefined,
  recovery_cost: undefined,
};

/** The refund contract with some fields changed; `undefined` takes one out. */
export function refundUnder(changes: ContractDraft): Contract {
  const merged = Object.entries({ ...refundContract, ...changes }).filter(([, value]) => value !== undefined);
  // A whole contract, less what was taken out: no required field is.
  return Object.fromEntries(merged) as Contract;
}

export const refundCall: GuardedCall = {
  run: { tenant: 'acme', runId: 'run-1', agentId: 'agent', initiator: 'asha', objective: 'refund order 4711' },
  stepId: 'refund',
  args: { order: '4711', amount_minor: 500_000 },
  target: 'order/4711',
  assumptionRefs: ['order/4711#not_shipped'],
};

export interface RefundScene {
  readonly contract?: ContractDraft;
  readonly tool?: Partial<ForwardTool>;
  readonly options?: Partial<GuardOptions>;
}

export interface Refund {
  readonly producer: MemoryProducer;
  readonly clock: ManualClock;
  readonly options: GuardOptions;
  /** Codes of what was objected to. */
  readonly troubles: readonly string[];
  /** Calls of the tool. */
  readonly calls: () => number;
  /** What was told, in order: `planned` or the outcome. */
  readonly told: () => readonly string[];
  readonly run: (more?: Partial<GuardedCall>) => Promise<GuardedResult>;
}

export function refund({ contract = {}, tool = {}, options: more = {} }: RefundScene = {}): Refund {
  const producer = new MemoryProducer();
  const clock = new ManualClock(5_000);
  const troubles: string[] = [];
  let calls = 0;
  const options: GuardOptions = {
    contract: refundUnder(contract),
    contractDigest: Buffer.alloc(32, 1),
    mode: 'enforce',
    producer,
    clock,
    onTrouble: ({ code }) => {
      troubles.push(code);
    },
    ...more,
  };
  const forward: ForwardTool = {
    externalTransactionRef: () => 'rf_secret',
    ...tool,
    execute: (args, context) => {
      calls += 1;
      return tool.execute?.(args, context) ?? Promise.resolve({ refund_id: 'rf_secret', status: 'settled' });
    },
  };
  return {
    producer,
    clock,
    options,
    troubles,
    calls: () => calls,
    told: () =>
      producer.told.map((event) =>
        event.type === 'ToolExecuted' ? event.outcome.outcome : event.type === 'ToolPlanned' ? 'planned' : event.type,
      ),
    run: (call = {}) => guard(forward, options)({ ...refundCall, ...call }),
  };
}
