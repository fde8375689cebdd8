// Asks a worker about a forward action: how it ended, whether it may still go, to let it go, to give back what is staged.
//
// Invariants
//   W1. Every request carries the keys of the forward call (L11); a cancel carries keys of its own, the same each time.
//   W2. An effect is let go once an attempt. Whatever is not known after that is found out, never tried again.
//   W4. What is staged is let go or taken back only for the one that named it first (ADR-0037).
//   W5. Nobody is asked with arguments that were erased: the request would reach no worker.
//   W3. Who cannot be asked, or was asked too often, is followed by a person with a deadline (P12).
import { adapterOf, isErased } from '@recourse/contract';
import { ASK_PREFIX, deriveId, grantLease, leaseIdOf } from '@recourse/kernel';
import type { Lease, RetryBackoff } from '@recourse/kernel';
import type { AskVerdict, ContractTerms, LegStep, RecoveryCall, ToBeConfirmed } from '@recourse/messages';
import { OWNER_OF_OVERDUE } from '../owners.js';
import type { Ask, AskKind, Mutation } from './mutation.messages.js';
import type { MutationRecord } from '../record.messages.js';

export interface AskPolicy {
  /** Secret of the lease HMAC; null where the ledger asks no workers. */
  readonly leaseKey: Buffer | null;
  /** Longest a worker may hold a request, milliseconds. */
  readonly leaseMs: number;
  /** Distance kept from every instant another clock judges, milliseconds. */
  readonly marginMs: number;
  /** Requests of one kind at the most before a person is asked. */
  readonly askAttemptsMax: number;
  readonly backoff: RetryBackoff;
  /** Earliest true instant of what is on record as of an instant; null where nobody can say. */
  readonly earliest: (at: number) => number | null;
  /** How long a person has, milliseconds. */
  readonly reviewDeadlineMs: number;
}

/** What of a mutation a request is made of. */
export type Asked = Pick<
  Mutation,
  'mutation_id' | 'tenant' | 'run_id' | 'execution' | 'execution_state' | 'terms' | 'forward' | 'claim'
>;

/** Why a tool is called, by what is asked. */
const REASON_OF = {
  reconcile: 'forward_effect_reconciliation',
  observe: 'forward_effect_precondition',
  release: 'forward_effect_release',
  cancel: 'forward_effect_cancel',
} as const satisfies Record<AskKind, string>;

/** Capability a worker needs for what is asked; null when the contract names none. */
export function capabilityAsked(
  kind: AskKind,
  { terms, execution }: Pick<Mutation, 'terms' | 'execution'>,
): string | null {
  switch (kind) {
    case 'reconcile':
      return terms?.reconcile_capability ?? null;
    case 'observe':
      return terms?.hold?.precondition_capability ?? null;
    case 'release':
      return execution.capability;
    case 'cancel':
      return terms?.hold?.cancel_capability ?? null;
  }
}

/** Says nothing now: nobody knows, a look counts in its time alone, and that an attempt before had no effect is no word on the one under way. */
export function isMoot({ kind, is_past }: Ask, verdict: AskVerdict): boolean {
  return verdict === 'unknown' || kind === 'observe' || (is_past === true && verdict !== 'met');
}

/** What workers were asked of this attempt. */
export function askedOf({ forward }: Pick<Mutation, 'forward'>, kind: AskKind): readonly Ask[] {
  return forward?.asks.filter((ask) => ask.kind === kind && ask.is_past !== true) ?? [];
}

/** Asks a worker, or a person where no worker can be asked; exactly one record. */
export function askWorker(mutation: Asked, kind: AskKind, now: number, policy: AskPolicy): MutationRecord {
  const { terms } = mutation;
  const asked = askedOf(mutation, kind).length;
  const isOver = terms === null || asked >= attemptsOf(kind, terms, policy) || isOfAnother(kind, mutation);
  return (isOver ? null : request(mutation, { kind, confirms: null }, now, policy)) ?? askPerson(mutation, now, policy);
}

/** It would touch what is staged, and nobody knows yet whose that is, or somebody else named it first. */
function isOfAnother(kind: AskKind, { claim }: Pick<Asked, 'claim'>): boolean {
  return (kind === 'release' || kind === 'cancel') && claim !== null && claim.standing !== 'own';
}

/** Has another worker look at what one said, at a precondition or at how it ended; null where nothing can be looked at. */
export function askObserver(
  mutation: Asked,
  confirms: ToBeConfirmed,
  now: number,
  policy: AskPolicy,
): MutationRecord | null {
  const kind = confirms.kind === 'observe' ? 'observe' : 'reconcile';
  return request(mutation, { kind, confirms }, now, policy);
}

function request(
  mutation: Asked,
  { kind, confirms }: { readonly kind: AskKind; readonly confirms: ToBeConfirmed | null },
  now: number,
  policy: AskPolicy,
): MutationRecord | null {
  const { terms } = mutation;
  const capability = capabilityAsked(kind, mutation);
  const before = askedOf(mutation, kind);
  if (capability === null || terms === null || policy.leaseKey === null || isErased(mutation.execution.args))
    return null;
  const firstAt = before[0]?.first_asked_at ?? now;
  const lease = grantLease(
    {
      windowEndsAt: Number.MAX_SAFE_INTEGER,
      // What went out while the time of the log lay ahead is known to its provider for less long than its own time says.
      firstDispatchedAt: before.length === 0 ? now : (policy.earliest(firstAt) ?? -Infinity),
      keyLifetimeMs: kind === 'release' || kind === 'cancel' ? terms.key_lifetime_ms : null,
      callTimeoutMs: terms.call_timeout_ms,
      now,
    },
    policy,
  );
  if (lease.kind === 'refused') return null;
  const { mutation_id, tenant, run_id } = mutation;
  const attempt = (mutation.forward?.asks.filter((ask) => ask.kind === kind).length ?? 0) + 1;
  const asking = { kind, attempt, capability, terms, lease, leaseKey: policy.leaseKey };
  return {
    type: 'WorkerAsked',
    body: {
      mutation_id,
      tenant,
      run_id,
      adapter: adapterOf(capability),
      answer_by: lease.answerBy,
      first_asked_at: firstAt,
      request: { ...requestOf(mutation, asking), for_observer: confirms !== null },
      confirms,
    },
  };
}

/** Gives a mutation to a person. */
export function askPerson(
  mutation: Pick<Mutation, 'mutation_id' | 'tenant' | 'run_id' | 'execution' | 'execution_state' | 'terms'>,
  now: number,
  policy: Pick<AskPolicy, 'reviewDeadlineMs'>,
): MutationRecord {
  const { mutation_id, tenant, run_id, execution, execution_state, terms } = mutation;
  return {
    type: 'ExecutionOverdue',
    body: {
      mutation_id,
      tenant,
      run_id,
      capability: execution.capability,
      runbook: terms?.compensation?.runbook ?? null,
      execution_state,
      owner: OWNER_OF_OVERDUE,
      deadline_at: now + policy.reviewDeadlineMs,
    },
  };
}

/** Requests of a kind at the most: looks may be repeated, a cancel only under a key the provider knows, letting go never. */
export function attemptsOf(
  kind: AskKind,
  { key_lifetime_ms }: Pick<ContractTerms, 'key_lifetime_ms'>,
  { askAttemptsMax }: AskPolicy,
): number {
  return kind === 'release' || (kind === 'cancel' && key_lifetime_ms === null) ? 1 : askAttemptsMax;
}

/** Has a worker look once more, for a person: however often the clock had it looked at before. */
export function lookOnceMore(mutation: Asked, now: number, policy: AskPolicy): MutationRecord {
  return askWorker(mutation, 'reconcile', now, { ...policy, askAttemptsMax: Number.MAX_SAFE_INTEGER });
}

/** Can a worker tell how the forward call ended? */
export function canReconcile({ terms, forward }: Pick<Mutation, 'terms' | 'forward'>, policy: AskPolicy): boolean {
  const asked = askedOf({ forward }, 'reconcile').length;
  return policy.leaseKey !== null && (terms?.reconcile_capability ?? null) !== null && asked < policy.askAttemptsMax;
}

interface Request {
  readonly kind: AskKind;
  readonly attempt: number;
  readonly capability: string;
  readonly terms: ContractTerms;
  readonly lease: Extract<Lease, { kind: 'granted' }>;
  readonly leaseKey: Buffer;
}

function requestOf(
  mutation: Asked,
  { kind, attempt, capability, terms, lease, leaseKey }: Request,
): Extract<MutationRecord, { type: 'WorkerAsked' }>['body']['request'] {
  const legId = deriveId(ASK_PREFIX, mutation.mutation_id, kind, attempt);
  return {
    leg_id: legId,
    kind,
    tenant: mutation.tenant,
    run_id: mutation.run_id,
    attempt,
    lease_id: leaseIdOf(leaseKey, legId, attempt, lease.notAfter),
    not_after: lease.notAfter,
    reconcile_first: false,
    for_observer: false,
    reason: REASON_OF[kind],
    steps: [stepOf(mutation, kind, capability, terms)],
  };
}

function stepOf(mutation: Asked, kind: AskKind, capability: string, terms: ContractTerms): LegStep {
  const { execution, mutation_id } = mutation;
  const isLook = kind === 'observe';
  return {
    step_id: mutation_id,
    call: callOf(mutation, kind, capability),
    call_timeout_ms: terms.call_timeout_ms,
    agent_id: execution.agent_id,
    subject_ref: execution.subject_ref,
    external_transaction_ref: execution.external_transaction_ref ?? execution.staged_ref,
    key_lifetime_ms: terms.key_lifetime_ms,
    reconcile_capability: terms.reconcile_capability,
    stale_capability: null,
    stale_condition: null,
    stale_compares: null,
    verify_capability: isLook ? capability : null,
    success_condition: isLook ? (terms.hold?.precondition_condition ?? null) : null,
    verify_max_attempts: 1,
    verify_delay_ms: 0,
    calls_done: 0,
  };
}

function callOf({ execution, mutation_id }: Asked, kind: AskKind, capability: string): RecoveryCall {
  const isCancel = kind === 'cancel';
  return {
    call_id: isCancel ? `cancel_${mutation_id}` : execution.call_id,
    run_id: execution.run_id,
    adapter_id: adapterOf(capability),
    capability,
    args: execution.args,
    approval_mode: 'network',
    policy_ref: null,
    idempotency_key: isCancel ? `cancel_${mutation_id}` : execution.idempotency_key,
    reverses_mutation_ref: mutation_id,
    then: [],
  };
}
