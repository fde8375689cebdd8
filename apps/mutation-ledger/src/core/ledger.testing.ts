// The refund story as plain data, for specs of the ledger.
import { readFileSync } from 'node:fs';
import { canonicalJson } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { contractDigest, contractView, entryView, plainPayload } from '@recourse/contract';
import type { BroadcastView, Decided, RecordInput } from '@recourse/event-log';
import { announcedTogether, rollbackIdOf } from '@recourse/messages';
import type {
  Admission,
  Announced,
  AssumptionStated,
  CommandEnvelope,
  Evidence,
  LegReported,
  LegRequested,
  LegVerdict,
  Observation,
  ObservationPhase,
  RecordTypeOf,
  RecoveryCall,
  StepReport,
  StatedVerdict,
  StepVerdict,
  ToolExecuted,
  ToolPlanned,
} from '@recourse/messages';
import { envelopeIn, fact, harness, logged, memoryView, wire } from '@recourse/testing';
import type { CoreHarness, MemoryView } from '@recourse/testing';
import type { AdmissionLimits } from '../rules/admission/admission.messages.js';
import type { Keeping } from '../rules/commit/checkpoint.decisions.js';
import { assumptionView, fallenView, mutationIdOf, mutationsCore } from '../core.js';
import type { Body } from '../rules/record.messages.js';

export const TENANT = 'acme';
export const RUN = 'run-1';
export const REF = 'order/4711#not_shipped';
export const HOUR_MS = 3_600_000;
/** Database time at which the refund of the story is accepted. */
export const NOW = 10_000_000;

/** A shipped contract with some fields changed; `undefined` removes one. */
export function contractText(changes: Readonly<Record<string, unknown>> = {}): string {
  const shipped = JSON.parse(readFileSync('examples/contracts/payments.issue_refund.json', 'utf8')) as Record<
    string,
    unknown
  >;
  return canonicalJson({ ...shipped, ...changes });
}

export const REFUND = contractText();
export const REFUND_DIGEST = contractDigest(REFUND);

/** The record that registers a contract. */
export function registered(body: string): Decided {
  const { name } = JSON.parse(body) as { readonly name: string };
  return fact('ContractRegistered', {
    name,
    version: 1,
    tenant: '*',
    digest: contractDigest(body),
    body,
    registered_by: 'owner',
    command_id: 'c',
  });
}

/** The refund as its producer reports it. */
export function refund(changes: Partial<ToolExecuted> = {}): ToolExecuted {
  return {
    event_id: 'ev-1',
    tenant: TENANT,
    run_id: RUN,
    agent_id: 'agent-1',
    initiator: 'ada',
    objective: 'settle the complaint',
    step_id: 'refund',
    call_id: 'call-1',
    capability: 'payments.issue_refund',
    contract_digest: REFUND_DIGEST,
    effect_key: 'refund-4711',
    idempotency_key: 'key-1',
    subject_ref: null,
    args: plainPayload({ order_id: '4711', amount_minor: 4_200, currency: 'INR' }),
    assumption_refs: [REF],
    outcome: 'succeeded',
    result: plainPayload({ refund_id: 're_1', status: 'issued' }),
    prior_value: null,
    external_transaction_ref: 're_1',
    error_kind: null,
    committed_at: NOW - 1_000,
    derived_from: [],
    on_failure: 'keep',
    produced_by: 'toolu_1',
    release: null,
    handled_as: null,
    ...changes,
  };
}

/** The intent of the same refund. */
export function intent(changes: Partial<ToolPlanned> = {}): ToolPlanned {
  const { event_id, outcome, result, external_transaction_ref, error_kind, committed_at, handled_as, ...planned } =
    refund();
  return {
    ...planned,
    event_id: `${event_id}-plan`,
    planned_at: NOW - 2_000,
    is_held: false,
    rehearsal: null,
    staged_ref: null,
    produced_by: 'toolu_1',
    release: null,
    ...changes,
  };
}

export const MUTATION = mutationIdOf(refund());
export const ROLLBACK = rollbackIdOf(TENANT, MUTATION);

/** A report on the wire, keyed by its run. */
export function executed(event: ToolExecuted): RecordInput {
  return wire('recourse.tool-executions', 'ToolExecuted', event, { key: event.run_id });
}
export function planned(event: ToolPlanned): RecordInput {
  return wire('recourse.tool-executions', 'ToolPlanned', event, { key: event.run_id });
}

/** An accepted statement about a ref. */
export function statement(
  verdict: StatedVerdict,
  eventId: string,
  changes: Partial<Body<AssumptionStated>> = {},
): Decided {
  const body: Body<AssumptionStated> = {
    event_id: eventId,
    tenant: TENANT,
    ref: REF,
    run_id: null,
    source: 'warehouse',
    statement: plainPayload({ shipped: verdict === 'invalidated' }),
    kind: verdict === 'holds' ? 'reaffirmed' : 'invalidated',
    source_kind: 'observation',
    stated_at: NOW,
    verdict,
    superseded: false,
    outweighed_by: null,
    content_sha256: Buffer.alloc(32, 1),
    ...changes,
  };
  return fact('AssumptionStated', body);
}

/** Evidence of the warehouse. */
export const EVIDENCE: Evidence = {
  kind: 'observation',
  event_id: 'inv-1',
  ref: REF,
  source: 'warehouse',
  statement: null,
  stated_at: NOW,
  partition: 0,
  position: 1,
  root: null,
};

/** Whether a record says that evidence reached a commit; the mark of what was remembered says it a second time. */
export function isHit({ type, body }: Decided): boolean {
  const isLater = (body['admission'] as Admission | undefined)?.was_remembered === true; // marks and remembered triggers have one
  return HITS.includes(type) && !isLater;
}
const HITS: readonly string[] = [
  'MutationsFell',
  'CheckpointRolledBack',
  'TriggerUnmatched',
  'TriggerHeld',
  'TriggerRedundant',
];

/** Mutations that fell together, as far as a spec says what their record holds of each. */
export function fell(...fallen: readonly Readonly<Record<string, unknown>>[]): Decided {
  const [{ tenant, run_id, evidence } = {}] = fallen;
  const { root: _root, ...reason } = (evidence ?? {}) as Readonly<Record<string, unknown>>; // a part of some evidence
  const common = Object.entries({ tenant, run_id }).filter(([, value]) => value !== undefined);
  return fact('MutationsFell', {
    ...Object.fromEntries(common),
    ...(evidence === undefined ? {} : { evidence: reason }),
    members: fallen.map(({ tenant: _tenant, run_id: _run, evidence: own, terms: _terms, ...member }) => {
      const { root } = (own ?? {}) as Readonly<Record<string, unknown>>;
      return root === undefined ? member : { ...member, root };
    }),
  });
}

/** A mutation that moved, as far as a spec says what its record holds. */
export function moved({ tenant, run_id, event, ...member }: Readonly<Record<string, unknown>>): Decided {
  const common = Object.entries({ tenant, run_id, event }).filter(([, value]) => value !== undefined);
  return fact('RecoverabilityChanged', { ...Object.fromEntries(common), members: [member] });
}

/** The notice of commits that fell together, each in its own words where they differ. */
export function announced(...fallen: readonly [Partial<Announced>, ...Partial<Announced>[]]): Decided {
  const [first, ...others] = fallen.map((more, index): Announced => ({
    tenant: TENANT,
    run_id: RUN,
    caused_by: EVIDENCE,
    mutation_id: MUTATION,
    rollback_id: `rb_${String(index)}`,
    agent_id: 'agent-1',
    subject_ref: null,
    capability: 'payments.issue_refund',
    assumption_refs: [],
    committed_at: NOW,
    derived_from: [],
    has_effect: true,
    resume_checkpoint: null,
    consumers: [],
    initiator: null,
    contract_digest: null,
    ...more,
  }));
  if (first === undefined) throw new Error('nothing fell');
  return fact('RollbackAnnounced', announcedTogether([first, ...others]));
}

/** The commit a record is about. */
export function commitOf({ body }: Decided): string {
  return String(body['mutation_id'] ?? body['commit_id']);
}

/** A record of the recoveries log. Seq does not matter to the ledger. */
export function fromRecoveries(type: string, body: object): RecordInput {
  return logged('recourse.recoveries', type, body, 1, { key: RUN });
}

/** What records of a recovery name. */
interface StepNamed {
  readonly tenant: string;
  readonly run_id: string;
  readonly mutation_id: string;
  readonly step_id: string;
  readonly recovery_id: string;
}
const ABOUT: StepNamed = {
  tenant: TENANT,
  run_id: RUN,
  mutation_id: MUTATION,
  step_id: 'step-1',
  recovery_id: 'rec-1',
};

/** Somebody who sends a command. */
export const envelope = envelopeIn(TENANT);

/** A command about what should not stand. */
export function command(
  type: RecordTypeOf<'recourse.ledger-commands'>,
  from: CommandEnvelope,
  body: Readonly<Record<string, unknown>>,
): RecordInput {
  return wire('recourse.ledger-commands', type, { envelope: from, ...body }, { key: String(body['run_id']) });
}

/** A person says that some commit should not stand. */
export function triggerOf(runId: string, mutationId: string, tenant = TENANT, by = 'rita'): RecordInput {
  const from = envelope(by, ['reporter'], { tenant, command_id: `cmd-${by}-${mutationId}` });
  return command('TriggerRollback', from, { run_id: runId, mutation_id: mutationId, reason: 'wrong order' });
}

/** The same of the refund of the story. */
export const TRIGGERED = triggerOf(RUN, MUTATION);

/** The word of that person, as the mark carries it: it names the root of the fall, here itself. */
export const TRIGGER_EVIDENCE: Evidence = {
  kind: 'human',
  event_id: `cmd-rita-${MUTATION}`,
  ref: null,
  source: 'rita',
  statement: plainPayload({ reason: 'wrong order' }),
  stated_at: 10,
  partition: -1,
  position: -1,
  root: { rollback_id: ROLLBACK, run_id: RUN, mutation_id: MUTATION, bound_at: null },
};
/** A leg of one step went out. */
export function dispatchedOf(about: StepNamed, attempt: number): RecordInput {
  const { step_id, mutation_id, ...leg } = about;
  return fromRecoveries('LegDispatched', {
    ...leg,
    leg_id: 'leg-1',
    attempt,
    members: [{ mutation_id, step: { step_id } }],
  });
}
export const DISPATCHED = dispatchedOf(ABOUT, 1);
export const DENIED = fromRecoveries('StepDenied', { ...ABOUT, by: 'grace', reason: 'the customer keeps it' });
export function resolvedBy(resolution: string): RecordInput {
  return fromRecoveries('StepResolved', {
    ...ABOUT,
    resolution,
    evidence: plainPayload({}),
    verified: false,
    by: 'grace',
    reason: 'repaired by hand',
    command_id: 'cmd-1',
  });
}
export function outcome(verdict: StepVerdict, reason: string): RecordInput {
  return settledOf(ABOUT, { attempt: 1, outcome: verdict, reason });
}
/** The call that compensates a refund. */
export function callFor(mutationId: string): RecoveryCall {
  return {
    call_id: `rev_${mutationId}`,
    run_id: RUN,
    adapter_id: 'payments',
    capability: 'payments.reverse_refund',
    args: plainPayload({
      refund_id: 're_1',
      amount_minor: 4_200,
      currency: 'INR',
      reason: 'agent_effect_compensation',
    }),
    approval_mode: 'delegated',
    policy_ref: null,
    idempotency_key: `rev_${mutationId}`,
    reverses_mutation_ref: mutationId,
    then: [],
  };
}

/** A verdict on a leg of one step; nothing was called unless told. */
export function settledOf(
  about: StepNamed,
  {
    attempt,
    ...verdict
  }: Pick<LegVerdict, 'outcome' | 'reason'> &
    Partial<Pick<LegVerdict, 'call' | 'observations'>> & { readonly attempt: number },
): RecordInput {
  const { step_id, mutation_id, ...leg } = about;
  return fromRecoveries('LegSettled', {
    ...leg,
    attempt,
    members: [{ step_id, mutation_id, call: null, calls_done: 0, ...verdict }],
  });
}
export function escalated(reason: string): RecordInput {
  return fromRecoveries('StepEscalated', { ...ABOUT, reason, owner: 'operations', deadline_at: NOW + HOUR_MS });
}

/** A run-partition of the mutations log with both of its views. */
export interface Ledger {
  readonly run: CoreHarness;
  readonly assumptions: MemoryView;
  readonly contracts: MemoryView;
  readonly fallen: MemoryView;
  readonly entries: MemoryView;
}

export interface LedgerOptions {
  readonly isRebuilt?: boolean;
  readonly effectsMax?: number;
  /** From an intent or an uncertain outcome until a person is asked, milliseconds. */
  readonly concludeWithinMs?: number;
  /** Asks workers; nobody is asked unless told. */
  readonly asks?: boolean;
  readonly partitioner?: (ref: string) => number;
  /** The derived log, when several ledgers of a spec share it. */
  readonly fallen?: MemoryView;
  /** Partition of this ledger; 0 unless told. */
  readonly partition?: number;
  /** Contracts that are registered; the refund contract unless told. */
  readonly contracts?: readonly string[];
  /** How long states are kept. */
  readonly keeping?: Partial<Keeping>;
  /** How far back rollbacks and successor bundles reach, milliseconds; no bound unless told. */
  readonly boundMs?: number;
  /** Limits of triggers; none unless told. */
  readonly admission?: AdmissionLimits;
  /** How long people have, milliseconds. */
  readonly reviewDeadlineMs?: number;
}

/** How the ledger of a spec asks workers. */
export const ASKING = {
  leaseKey: Buffer.alloc(32, 9),
  leaseMs: 5_000,
  marginMs: 2_000,
  askAttemptsMax: 2,
  backoff: { baseMs: 100, maxMs: 1_000 },
} as const;

/** Starts an empty ledger. */
export function ledger({
  isRebuilt = false,
  effectsMax,
  concludeWithinMs,
  asks = false,
  partitioner,
  contracts: bodies = [REFUND],
  fallen = memoryView(fallenView, partitioner),
  partition = 0,
  keeping = {},
  boundMs,
  admission,
  reviewDeadlineMs,
}: LedgerOptions = {}): Ledger {
  const assumptions = memoryView(assumptionView, partitioner);
  // The fold of this view takes less of a record than a core's view is given.
  const contracts = memoryView(contractView);
  for (const body of bodies) contracts.append('payments.issue_refund', registered(body));
  const entries = memoryView(entryView);
  const views: Readonly<Record<string, BroadcastView>> = { assumptions, contracts, fallen, entries };
  const config = {
    ...keeping,
    ...(boundMs === undefined ? {} : { boundMs }),
    ...(admission === undefined ? {} : { admission }),
    ...(reviewDeadlineMs === undefined ? {} : { reviewDeadlineMs }),
    ...(effectsMax === undefined ? {} : { effectsMax }),
    ...(concludeWithinMs === undefined ? {} : { concludeWithinMs }),
    ...(asks ? ASKING : {}),
  };
  return {
    run: harness(mutationsCore(config), { views, isRebuilt, partition }),
    assumptions,
    contracts,
    fallen,
    entries,
  };
}

/** A worker's report on a request, under its lease unless told otherwise. */
export function reported(
  { leg_id, tenant, run_id, attempt, lease_id, steps }: LegRequested,
  step: Partial<StepReport>,
  changes: Partial<LegReported> = {},
): RecordInput {
  const report: StepReport = {
    step_id: steps[0]?.step_id ?? '',
    outcome: 'unknown',
    observations: [],
    error_kind: null,
    detail: null,
    external_transaction_ref: null,
    calls_done: 0,
    ...step,
  };
  return wire(
    'recourse.tool-results',
    'LegReported',
    {
      leg_id,
      tenant,
      run_id,
      attempt,
      lease_id,
      worker_id: 'w-1',
      reported_at: NOW,
      complete: true,
      steps: [report],
      ...changes,
    },
    { key: run_id },
  );
}

/** Something a worker saw. */
export function seen(phase: ObservationPhase, observed: Json, capability = 'payments.get_refund'): Observation {
  return { phase, capability, observed: plainPayload(observed), observed_at: NOW, call: 1 };
}

/** The request that was sent in the last step. Errors: when none was. */
export function request(run: CoreHarness): LegRequested {
  const [sent] = run.outgoing();
  if (sent === undefined) throw new Error('nothing was sent');
  return sent.body as unknown as LegRequested; // the ledger sends nothing else
}

/** Appends a statement about its ref; the input as the broadcast loop sees it. */
export function state(assumptions: MemoryView, record: Decided): RecordInput {
  return assumptions.append(String(record.body.ref), record);
}
