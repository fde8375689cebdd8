// Consumers of rollbacks, as a part of the mutations core: who is waited for, what they answer, who stays silent.
//
// Rows: `rolled_back` by run, each commit that was marked; `delivery` by run, one per commit and consumer that is waited for.
// Timers: a delivery at its deadline, once.
import { entryView } from '@recourse/contract';
import { append, NOTHING } from '@recourse/event-log';
import type {
  AcceptedRecord,
  Change,
  DecideContext,
  Decision,
  Doc,
  InputSpec,
  KindSpec,
  RecordInput,
  Row,
  StateView,
  TimerInput,
} from '@recourse/event-log';
import type {
  CheckpointRolledBack,
  MutationRolledBack,
  ConsumerAcknowledged,
  DeliveryOverdue,
  DueConsumer,
} from '@recourse/messages';
import { decideAck, decideOverdue, lateAmong } from '../domain/consumer/ack.decider.js';
import { deliveryKey } from '../domain/consumer/consumer.messages.js';
import type {
  Ack,
  AckWaits,
  Answer,
  Delivery,
  DeliveryEvent,
  RolledBack,
  Scoped,
} from '../domain/consumer/consumer.messages.js';
import { DELIVERY_AFTER } from '../domain/consumer/delivery.transitions.js';
import { dueConsumers } from '../domain/consumer/due.decider.js';
import { contentHash } from '../domain/content.js';
import type { Body, RecordedMutation } from '../domain/mutation/mutation.messages.js';

/** What consumers say of the rollbacks they applied. */
export const ACKS_INPUT: InputSpec = {
  topic: 'recourse.consumer-acks',
  source: 'wire',
  mode: 'aligned',
  types: ['RollbackAcknowledged'],
};

const [DELIVERY, ROLLED_BACK] = ['delivery', 'rolled_back'] as const;

export const CONSUMER_KINDS: readonly KindSpec[] = [
  {
    kind: DELIVERY,
    table: 'delivery',
    columns: [
      ...(['tenant', 'run_id', 'mutation_id', 'rollback_id', 'consumer', 'mode', 'phase'] as const).map((name) => ({
        name,
        type: 'text' as const,
        of: (row: Row) => deliveryOf(row.doc)[name],
      })),
      ...(['commit_to_user_ms', 'rolled_back_at', 'deadline_at'] as const).map((name) => ({
        name,
        type: 'bigint' as const,
        of: (row: Row) => deliveryOf(row.doc)[name],
      })),
      ...(['after_ms', 'trigger_ms', 'late_emissions', 'latest_ms'] as const).map((name) => ({
        name,
        type: 'bigint' as const,
        of: (row: Row) => deliveryOf(row.doc).answer?.[name] ?? null,
      })),
      { name: 'emissions', type: 'bigint', of: (row) => deliveryOf(row.doc).answer?.emissions.length ?? null },
      { name: 'is_late', type: 'boolean', of: (row) => deliveryOf(row.doc).answer?.is_late ?? null },
    ],
    indexes: [['mutation_id'], ['tenant', 'consumer', 'phase'], ['phase', 'deadline_at']],
  },
  {
    kind: ROLLED_BACK,
    table: 'rolled_back',
    columns: [
      ...(['tenant', 'agent_id', 'run_id', 'commit_id', 'subject_ref', 'rollback_id'] as const).map((name) => ({
        name,
        type: 'text' as const,
        of: (row: Row) => rolledBackOf(row.doc)[name],
      })),
      ...(['seq', 'rolled_back_at'] as const).map((name) => ({
        name,
        type: 'bigint' as const,
        of: (row: Row) => rolledBackOf(row.doc)[name],
      })),
    ],
    indexes: [['commit_id'], ['log_partition', 'seq']],
  },
];

/**
 * Consumers to be recorded with a mark that is decided now.
 *
 * Shape:  whoever had subscribed before the mark was decided is in it, since the view is read to its end before (E18).
 */
export function consumersDue({ views, now }: DecideContext, who: Scoped, waits: AckWaits): readonly DueConsumer[] {
  views.readToEnd();
  return dueConsumers(views.view(entryView.name), who, now, waits);
}

/** What a scope is compared with, of a mutation. */
export function scopedOf({
  tenant,
  run_id,
  subject_ref,
  execution,
}: Pick<RecordedMutation, 'tenant' | 'run_id' | 'subject_ref' | 'execution'>): Scoped {
  return { tenant, agent: execution.agent_id, run: run_id, subject: subject_ref ?? '' };
}

/** Takes an acknowledgement from the wire. */
export function onAck({ state, now }: DecideContext, { key }: RecordInput, ack: Ack): Decision {
  if (key !== ack.run_id)
    return { records: [], park: { reason: 'KEY_MISMATCH', detail: 'the record key must be the run id' } };
  const fact = decideAck(
    ack,
    {
      delivery: deliveryIn(state, ack.run_id, ack.mutation_id, ack.consumer),
      rolledBack: rolledBackIn(state, ack.run_id, ack.mutation_id),
    },
    now,
  );
  return fact === null ? NOTHING : append(fact);
}

/** A deadline passed. */
export function onDeliveryDue({ state, now }: DecideContext, { address: { group, key } }: TimerInput): Decision {
  const doc = state.get(DELIVERY, group, key);
  const fact = doc === undefined ? null : decideOverdue(deliveryOf(doc), now);
  return fact === null ? NOTHING : append(fact);
}

/** Is a timer one of a delivery? */
export function isDeliveryTimer({ address: { kind } }: TimerInput): boolean {
  return kind === DELIVERY;
}

/** Rows of consumers that an accepted record of the mutations log changes; none for other records. */
export function evolveConsumers(state: StateView, record: AcceptedRecord): readonly Change[] {
  // The type says which body it is.
  switch (record.type) {
    case 'MutationRolledBack':
      return marked(
        rolledBackBy(record, record.body as Body<MutationRolledBack>),
        (record.body as Body<MutationRolledBack>).consumers,
      );
    case 'CheckpointRolledBack':
      return marked(
        fallenBy(record, record.body as Body<CheckpointRolledBack>),
        (record.body as Body<CheckpointRolledBack>).consumers,
      );
    case 'ConsumerAcknowledged':
      return answered(state, record.body as Body<ConsumerAcknowledged>, record.decidedAt);
    case 'DeliveryOverdue': {
      const { run_id, mutation_id, consumer, owner, deadline_at } = record.body as Body<DeliveryOverdue>;
      return moved(state, { run_id, mutation_id, consumer }, 'DeliveryOverdue', { owner, deadline_at });
    }
    default:
      return [];
  }
}

function rolledBackBy(
  { seq, decidedAt }: AcceptedRecord,
  { tenant, run_id, mutation_id, rollback_id, evidence, execution, consumers }: Body<MutationRolledBack>,
): RolledBack {
  const { agent_id, subject_ref } = execution;
  return {
    tenant,
    agent_id,
    run_id,
    commit_id: mutation_id,
    subject_ref,
    rollback_id,
    has_effect: true,
    seq,
    rolled_back_at: decidedAt,
    triggered_at: Math.min(evidence.stated_at, decidedAt),
    consumers: consumers.map(({ consumer }) => consumer),
  };
}

function fallenBy(
  { seq, decidedAt }: AcceptedRecord,
  { tenant, run_id, commit_id, rollback_id, evidence, agent_id, subject_ref, consumers }: Body<CheckpointRolledBack>,
): RolledBack {
  return {
    tenant,
    agent_id,
    run_id,
    commit_id,
    subject_ref,
    rollback_id,
    has_effect: false,
    seq,
    rolled_back_at: decidedAt,
    triggered_at: Math.min(evidence.stated_at, decidedAt),
    consumers: consumers.map(({ consumer }) => consumer),
  };
}

function marked(fallen: RolledBack, consumers: readonly DueConsumer[]): readonly Change[] {
  const { tenant, run_id, commit_id, rollback_id, rolled_back_at, triggered_at } = fallen;
  const waiting = consumers.map(({ subscription, consumer, mode, ack_by, commit_to_user_ms }) =>
    putDelivery({
      tenant,
      run_id,
      mutation_id: commit_id,
      rollback_id,
      subscription,
      consumer,
      mode,
      commit_to_user_ms,
      phase: 'waiting',
      rolled_back_at,
      triggered_at,
      ack_by,
      owner: consumer,
      deadline_at: ack_by,
      answer: null,
    }),
  );
  return [
    { op: 'put', row: { kind: ROLLED_BACK, group: run_id, key: commit_id, dueAt: null, doc: fallen } },
    ...waiting,
  ];
}

function answered(state: StateView, body: Body<ConsumerAcknowledged>, decidedAt: number): readonly Change[] {
  const {
    tenant,
    run_id,
    mutation_id,
    rollback_id,
    consumer,
    event_id,
    applied_at,
    derived,
    emissions,
    after_ms,
    is_late,
    late_emissions,
  } = body;
  const delivery = deliveryIn(state, run_id, mutation_id, consumer);
  if (delivery === undefined) return [];
  const late = lateAmong(emissions, delivery.rolled_back_at).map(
    ({ emitted_at }) => emitted_at - delivery.rolled_back_at,
  );
  const content_sha256 = contentHash('RollbackAcknowledged', {
    event_id,
    tenant,
    run_id,
    mutation_id,
    rollback_id,
    consumer,
    applied_at,
    derived,
    emissions,
  } satisfies Ack);
  const answer: Answer = {
    event_id,
    content_sha256,
    applied_at,
    acknowledged_at: decidedAt,
    after_ms,
    trigger_ms: decidedAt - delivery.triggered_at,
    is_late,
    derived,
    emissions,
    late_emissions,
    latest_ms: late.length === 0 ? null : Math.max(...late),
  };
  return moved(state, { run_id, mutation_id, consumer }, 'ConsumerAcknowledged', { answer });
}

function moved(
  state: StateView,
  { run_id, mutation_id, consumer }: Pick<Delivery, 'run_id' | 'mutation_id' | 'consumer'>,
  event: DeliveryEvent,
  changes: Partial<Delivery>,
): readonly Change[] {
  const delivery = deliveryIn(state, run_id, mutation_id, consumer);
  const phase = delivery === undefined ? null : DELIVERY_AFTER[delivery.phase][event];
  return delivery === undefined || phase === null ? [] : [putDelivery({ ...delivery, ...changes, phase })];
}

function putDelivery(delivery: Delivery): Change {
  const { run_id, mutation_id, consumer, phase, ack_by } = delivery;
  return {
    op: 'put',
    row: {
      kind: DELIVERY,
      group: run_id,
      key: deliveryKey(mutation_id, consumer),
      dueAt: phase === 'waiting' ? ack_by : null,
      doc: delivery,
    },
  };
}

function deliveryIn(state: StateView, runId: string, mutationId: string, consumer: string): Delivery | undefined {
  const doc = state.get(DELIVERY, runId, deliveryKey(mutationId, consumer));
  return doc === undefined ? undefined : deliveryOf(doc);
}

function rolledBackIn(state: StateView, runId: string, commitId: string): RolledBack | undefined {
  return state.get(ROLLED_BACK, runId, commitId) as RolledBack | undefined;
}

// Rows of these kinds are written here alone.
function deliveryOf(doc: Doc): Delivery {
  return doc as Delivery;
}
function rolledBackOf(doc: Doc): RolledBack {
  return doc as RolledBack;
}
