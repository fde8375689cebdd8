// The drifted refund as records, for the specs of this service: what the ledger marks, people command and workers report.
import { contractView, entryView, plainPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { Decided, Outgoing, RecordInput, ServiceCore } from '@recourse/event-log';
import type {
  Fallen,
  ContractTerms,
  Evidence,
  Execution,
  LegReported,
  LegRequested,
  MutationRef,
  Observation,
  ObservationPhase,
  Payload,
  StepOutcome,
} from '@recourse/messages';
import { fellTogether, recoveryIdOf, rollbackIdOf } from '@recourse/messages';
import { envelopeIn, fact, logged, memoryView, wire } from '@recourse/testing';
import type { CoreHarness, MemoryView } from '@recourse/testing';
import { recoveriesCore } from './core.js';
import type { RecoveriesConfig } from './core.js';
import { actionDigest, stepIdOf } from './rules/step/opening.decisions.js';

export const TENANT = 'acme';
export const RUN = 'run-1';
export const MUTATION = 'mut_1';
export const ROLLBACK = rollbackIdOf(TENANT, MUTATION);
export const STEP = stepIdOf(ROLLBACK, MUTATION);
export const RECOVERY = recoveryIdOf(TENANT, RUN);
export const WINDOW_END = 1_000_000;
export const CALL_TIMEOUT = 5_000;
export const LEASE = 30_000;
export const MARGIN = 2_000;
export const REVIEW = 400_000;
/** When the trigger of the story was admitted. */
export const TRIGGERED_AT = 8_000;

/** Last instant before which a dispatch can begin. */
export const LAST_DISPATCH = WINDOW_END - MARGIN - CALL_TIMEOUT;

export const CONFIG: RecoveriesConfig = {
  leaseKey: Buffer.alloc(32, 7),
  leaseMs: LEASE,
  marginMs: MARGIN,
  reviewDeadlineMs: REVIEW,
  backoff: { baseMs: 1_000, maxMs: 8_000 },
  ownerOf: () => null,
};

export function core(config: Partial<RecoveriesConfig> = {}): ServiceCore {
  return recoveriesCore({ ...CONFIG, ...config });
}

export function terms(more: Partial<ContractTerms> = {}): ContractTerms {
  return {
    contract_digest: Buffer.alloc(32, 1),
    contract_name: 'payments.issue_refund',
    contract_version: 1,
    adapter: 'payments',
    reversal_capability: 'payments.cancel_refund',
    recovery_approval_mode: 'human',
    recovery_policy_ref: null,
    impact: 'financial',
    effect: 'money goes back to a customer',
    residue: 'two lines on the statement',
    reversal_window_ms: 900_000,
    call_timeout_ms: CALL_TIMEOUT,
    key_lifetime_ms: 600_000,
    reconcile_capability: 'payments.find_cancellation',
    stale_capability: 'payments.read_refund',
    stale_condition: 'observed.status == "pending"',
    verify_capability: 'payments.read_balance',
    success_condition: 'observed.refunded == 0 && bound.args.refund_id == "re_1"',
    verify_max_attempts: 3,
    verify_delay_ms: 100,
    max_attempts: 2,
    hold: null,
    window_closed_by: [],
    risk: 'the customer waits for the money again',
    risk_level: 'medium',
    stale_compares: 'status',
    stale_volatile: [],
    compensation: { mode: 'approval_required', reason: 'money moves', runbook: null, accepted_by: null },
    superseded: false,
    ...more,
  };
}

export function ref(more: Partial<MutationRef> = {}): MutationRef {
  return {
    mutation_id: MUTATION,
    original_call_id: 'call-1',
    capability: 'payments.issue_refund',
    subject_ref: 'order/4711',
    reversal_class: 'compensable',
    reversal_capability: 'payments.cancel_refund',
    reversal_args: plainPayload({ refund_id: 're_1' }),
    assumption_refs: ['order/4711#not_shipped'],
    idempotency_key: 'key-1',
    committed_at: 1_000,
    reversal_expires_at: WINDOW_END,
    prior_value_hash: null,
    external_transaction_ref: 're_1',
    verification_ref: 'payments.read_balance',
    reversal_then: [],
    ...more,
  };
}

export function execution(more: Partial<Execution> = {}): Execution {
  return {
    tenant: TENANT,
    run_id: RUN,
    agent_id: 'refund-agent',
    initiator: 'ines',
    objective: 'settle ticket 99',
    step_id: 's1',
    call_id: 'call-1',
    capability: 'payments.issue_refund',
    effect_key: 'effect-1',
    idempotency_key: 'key-1',
    subject_ref: 'order/4711',
    args: plainPayload({ order: '4711', amount_minor: 4_900 }),
    result: null,
    external_transaction_ref: 're_1',
    value: { amount_minor: 4_900, currency: 'EUR' },
    prior_value: null,
    rehearsal: null,
    staged_ref: null,
    derived_from: [],
    on_failure: 'keep',
    produced_by: 'toolu_7',
    release: null,
    ...more,
  };
}

export const EVIDENCE: Evidence = {
  kind: 'observation',
  event_id: 'ev-1',
  ref: 'order/4711#not_shipped',
  source: 'warehouse',
  statement: null,
  stated_at: 5_000,
  partition: 0,
  position: 3,
  root: null,
};

/** What the registry's log says, folded; empty until a spec appends. Both views read the same log. */
export function views(): { readonly contracts: MemoryView; readonly entries: MemoryView } {
  return { contracts: memoryView(contractView), entries: memoryView(entryView) };
}

type Marked = Fallen;

export function marked(more: Partial<Marked> = {}): Marked {
  return {
    mutation_id: MUTATION,
    tenant: TENANT,
    run_id: RUN,
    rollback_id: ROLLBACK,
    evidence: EVIDENCE,
    admission: {
      command_id: null,
      confirmed_by: null,
      storm_window_ms: 0,
      trend_window_ms: 0,
      closure_counted: false,
      triggered_at: TRIGGERED_AT,
      was_remembered: false,
    },
    execution: execution(),
    execution_state: 'succeeded',
    recoverability: 'reversal_available',
    reason: null,
    terms: terms(),
    ref: ref(),
    recorded_hash: Buffer.alloc(32, 9),
    recorded_seq: 1,
    consumers: [],
    found_out: null,
    ...more,
  };
}

export function markedInput(more: Partial<Marked> = {}): RecordInput {
  return fallenInput(marked(more));
}

/** The ledger marked mutations of a run, in one record. */
export function fallenInput(first: Marked, ...others: readonly Marked[]): RecordInput {
  return logged('recourse.mutations', 'MutationsFell', fellTogether([first, ...others]), 1, { key: first.run_id });
}

/** What the ledger records of a commit after it was marked; `rollback_id` null as if it had never been. */
export function recordedAgain(
  more: Partial<Omit<Marked, 'rollback_id'>> & { readonly rollback_id?: string | null } = {},
): RecordInput {
  const {
    evidence: _evidence,
    admission: _admission,
    recorded_hash: _hash,
    tenant,
    run_id,
    ...told
  } = { ...marked(), ...more };
  const body = {
    ...told,
    execution: { ...told.execution, tenant, run_id },
    judged: [],
    event_id: 'evt-2',
    content_sha256: Buffer.alloc(32),
    conclude_by: null,
    review_by: null,
    reconcile_at: null,
    warn_at: null,
  };
  return logged('recourse.mutations', 'MutationRecorded', body, 3, { key: run_id });
}

/** Digest of the action of the story, under these terms and pointer. */
export function digest(
  more: { readonly tenant?: string; readonly terms?: ContractTerms; readonly ref?: MutationRef } = {},
): Buffer {
  const pointer = more.ref ?? ref();
  const contract = more.terms ?? terms();
  return actionDigest({
    tenant: more.tenant ?? TENANT,
    terms: contract,
    ref: pointer,
    call: {
      call_id: `rev_${MUTATION}`,
      run_id: RUN,
      adapter_id: contract.adapter,
      capability: pointer.reversal_capability ?? '',
      args: pointer.reversal_args ?? plainPayload({}),
      approval_mode: 'delegated',
      policy_ref: contract.recovery_policy_ref,
      idempotency_key: `rev_${pointer.mutation_id}`,
      reverses_mutation_ref: MUTATION,
      then: [],
    },
  });
}

/** Somebody who sends a command. */
export const envelope = envelopeIn(TENANT);

interface Asked {
  readonly by?: string;
  readonly roles?: readonly string[];
  readonly digest?: Buffer;
  readonly tenant?: string;
  readonly accounts?: readonly string[];
  readonly stepId?: string;
  readonly key?: string;
}

function asked(type: 'ApproveStep' | 'DenyStep', more: Asked): RecordInput {
  const { by = 'olga', accounts = [], tenant = TENANT } = more;
  const from = envelope(by, more.roles ?? ['approver'], { tenant, accounts });
  const body = {
    envelope: from,
    run_id: RUN,
    step_id: more.stepId ?? STEP,
    action_digest: more.digest ?? digest(),
    reason: 'shipped after all',
  };
  return wire('recourse.recovery-commands', type, body, { key: more.key ?? RUN });
}

export function approval(more: Asked = {}): RecordInput {
  return asked('ApproveStep', more);
}
export function denial(more: Asked = {}): RecordInput {
  return asked('DenyStep', more);
}

/** A person closes an item by hand. */
export function resolution(
  how: string,
  by = 'olga',
  roles: readonly string[] = ['approver'],
  more: Readonly<Record<string, unknown>> = {},
): RecordInput {
  const body = {
    envelope: envelope(by, roles),
    run_id: RUN,
    step_id: STEP,
    resolution: how,
    evidence: plainPayload({ ticket: 'T-1' }),
    reason: 'called the customer',
    ...more,
  };
  return wire('recourse.recovery-commands', 'ResolveStep', body, { key: RUN });
}

/** The ledger opened a breaker over a capability, or somebody closed it. */
export function breaker(
  type: 'BreakerOpened' | 'BreakerClosed',
  more: Readonly<Record<string, unknown>> = {},
): RecordInput {
  const body = {
    breaker_id: 'brk_1',
    scope: 'capability',
    name: 'payments.cancel_refund',
    tenant: TENANT,
    run_id: RUN,
    ...more,
  };
  return logged('recourse.mutations', type, body, 1, { key: RUN });
}

export function observed(phase: ObservationPhase, capability: string, json: Json): Observation {
  return { phase, capability, observed: plainPayload(json), observed_at: 20, call: 1 };
}

export const BALANCE_ZERO = observed('verify', 'payments.read_balance', { refunded: 0 });
export const BALANCE_KEPT = observed('verify', 'payments.read_balance', { refunded: 4_900 });
export const STILL_PENDING = observed('stale_check', 'payments.read_refund', { status: 'pending' });
export const PAID_OUT = observed('stale_check', 'payments.read_refund', { status: 'paid_out' });

/** A worker's answer to a request that was sent. */
export function answered(
  request: LegRequested,
  outcome: StepOutcome,
  observations: readonly Observation[],
  more: Partial<LegReported> & { readonly key?: string } = {},
): RecordInput {
  const { key, ...changed } = more;
  const steps = request.steps.map((step) => ({
    step_id: step.step_id,
    outcome,
    observations,
    error_kind: null,
    detail: null,
    calls_done: 0,
  }));
  const body = {
    leg_id: request.leg_id,
    tenant: request.tenant,
    run_id: request.run_id,
    attempt: request.attempt,
    lease_id: request.lease_id,
    worker_id: 'w1',
    reported_at: 30,
    complete: true,
    steps,
    ...changed,
  };
  return wire('recourse.tool-results', 'LegReported', body, { key: key ?? request.run_id });
}

/** The request of the only message that was sent. */
export function requestIn(messages: readonly Outgoing[]): LegRequested {
  const [only] = messages;
  if (only === undefined || messages.length !== 1) throw new Error(`${String(messages.length)} messages were sent`);
  // The core under test makes requests and nothing else.
  return only.body as unknown as LegRequested;
}

/** Whoever is to agree is shown the resource. */
export const SHOWN: Decided = fact('FactsAsked', { purpose: 'review' });
/** They agreed, and it is looked at again before anything is sent. */
export const LOOKED_AGAIN: Decided = fact('FactsAsked', { purpose: 'dispatch' });
/** A worker says what it saw. */
export const SEEN: Decided = fact('FactsObserved');

/** A worker finds the resource as it was when the effect was made, wherever it was asked to look. */
export function looked(run: CoreHarness, at: number): CoreHarness {
  const request = requestIn(run.outgoing());
  if (request.kind !== 'observe') throw new Error(`nobody looks: ${request.kind}`);
  const seen = observed('verify', request.steps[0]?.verify_capability ?? '', { status: 'pending' });
  return run.when(answered(request, 'verified', [seen]), at);
}

/** Somebody agrees, and the resource is as it was: what is sent then is the compensation. */
export function agreed(run: CoreHarness, at: number, more: Asked = {}): CoreHarness {
  return looked(run.when(approval(more), at), at);
}

/** Requests that were sent, but for looks: nothing in the world changes by those. */
export function calls(run: CoreHarness): readonly Outgoing[] {
  return run.outgoing().filter(({ body }) => body['kind'] !== 'observe');
}

/** The request that makes the compensation; where people agreed, the resource is as it was. */
export function dispatched(run: CoreHarness, at: number): LegRequested {
  const request = requestIn(run.outgoing());
  return request.kind === 'observe' ? requestIn(looked(run, at).outgoing()) : request;
}

export function windowClosed({ mutation_id = MUTATION, ...more }: Readonly<Record<string, unknown>> = {}): RecordInput {
  const body = {
    tenant: TENANT,
    run_id: RUN,
    event: 'window_closed',
    members: [{ mutation_id, from_state: 'reversal_available', to_state: 'reversal_expired' }],
    ...more,
  };
  return logged('recourse.mutations', 'RecoverabilityChanged', body, 2, { key: RUN });
}

export const CLOSED_MANUAL: Decided = fact('RecoveryClosed', {
  recovery_id: RECOVERY,
  rollback_id: ROLLBACK,
  outcome: 'manual',
});
export const CLOSED_COMPENSATED: Decided = fact('RecoveryClosed', {
  recovery_id: RECOVERY,
  rollback_id: ROLLBACK,
  outcome: 'compensated',
});

/** A plan of one step, as far as a spec says what it holds. */
export function planned({ recovery_id, evidence, terms, ...member }: Readonly<Record<string, unknown>> = {}): Decided {
  const contracts = terms === undefined ? {} : { contracts: terms === null ? [] : [terms] };
  return fact('RecoveryPlanned', { ...given({ recovery_id, evidence }), ...contracts, members: [member] });
}

/** A leg of one step, as far as a spec says what it holds. */
export function leg({
  leg_id,
  attempt,
  not_after,
  answer_by,
  lease_id,
  adapter,
  reconcile_first,
  step_id,
  call,
  ...member
}: Readonly<Record<string, unknown>> = {}): Decided {
  const about = given({ leg_id, attempt, not_after, answer_by, lease_id, adapter, reconcile_first });
  const step = given({ step_id, call });
  return fact('LegDispatched', { ...about, members: [Object.keys(step).length > 0 ? { ...member, step } : member] });
}

/** Legs of several steps. */
export function legOf(...stepIds: readonly string[]): Decided {
  return fact('LegDispatched', { members: stepIds.map((step_id) => ({ step: { step_id } })) });
}

/** A verdict on one step of a leg, as far as a spec says what it holds. */
export function settled({ leg_id, attempt, ...member }: Readonly<Record<string, unknown>> = {}): Decided {
  return fact('LegSettled', { ...given({ leg_id, attempt }), members: [member] });
}

function given(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

/** Records as a log has them without the key of a payload. */
export function withoutKey(payload: Payload, records: readonly Decided[]): readonly Decided[] {
  // The same records, but for that payload.
  return records.map(({ type, body }) => ({ type, body: sealedIn(body, payload) as Decided['body'] }));
}

/** The payload as it stands once nobody opens it any more. */
export function gone(payload: Payload): Payload {
  return { ...payload, encoding: 'sealed', key_id: 'key_gone.1' };
}

function sealedIn(value: unknown, payload: Payload): unknown {
  if (Array.isArray(value)) return value.map((one) => sealedIn(one, payload));
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  if ('encoding' in value && 'sha256' in value && payload.sha256.equals(value.sha256 as Buffer)) return gone(payload);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, sealedIn(one, payload)]));
}
