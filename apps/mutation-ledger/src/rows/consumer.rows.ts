// Rows of consumers: what accepted records make of them, and nothing else (L2).
//
// Rows: `delivery` by run, one per commit and consumer that is waited for.
// Timers: a delivery at its deadline, once.
import type { AcceptedRecord, Change, Doc, KindSpec, Row, StateView } from '@recourse/event-log';
import { fallenIn, rolledBackIn } from '@recourse/messages';
import type { AckRefused, ConsumerAcknowledged, Fallen } from '@recourse/messages';
import { lateAmong } from '../rules/consumer/ack.decider.js';
import { deliveryIdOf, deliveryKey } from '../rules/consumer/consumer.messages.js';
import type { Ack, Answer, Delivery, DeliveryEvent } from '../rules/consumer/consumer.messages.js';
import { DELIVERY_AFTER } from '../rules/consumer/delivery.transitions.js';
import { contentHash } from '../rules/identity.js';
import type { Body } from '../rules/record.messages.js';
import type { Fold } from './fold.js';

export const DELIVERY = 'delivery';

export const CONSUMER_KINDS: readonly KindSpec[] = [
  {
    kind: DELIVERY,
    table: 'delivery',
    columns: [
      ...(['delivery_id', 'tenant', 'run_id', 'mutation_id', 'rollback_id', 'consumer', 'mode', 'phase'] as const).map(
        (name) => ({
          name,
          type: 'text' as const,
          of: (row: Row) => deliveryOf(row.doc)[name],
        }),
      ),
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
    indexes: [['delivery_id'], ['mutation_id'], ['tenant', 'consumer', 'phase'], ['phase', 'deadline_at']],
  },
];

/** Rows of consumers that records of the mutations log change. */
export const CONSUMER_FOLD = {
  MutationsFell: (body, _state, { decidedAt }) => fallenIn(body).flatMap((fallen) => waiting(fallen, decidedAt)),
  CheckpointRolledBack: (body, _state, { decidedAt }) =>
    rolledBackIn(body).flatMap(({ commit_id: mutation_id, ...of }) => waiting({ ...of, mutation_id }, decidedAt)),
  ConsumerAcknowledged: answered,
  AckRefused: refused,
  DeliveryOverdue: ({ run_id, mutation_id, consumer, owner, deadline_at }, state) =>
    moved(state, { run_id, mutation_id, consumer }, 'DeliveryOverdue', { owner, deadline_at }),
  DeliveryReviewed: ({ run_id, mutation_id, consumer }, state) =>
    moved(state, { run_id, mutation_id, consumer }, 'DeliveryReviewed', {}),
} satisfies Fold;

/** Whoever is waited for has to answer. */
function waiting(
  {
    tenant,
    run_id,
    mutation_id,
    rollback_id,
    evidence,
    consumers,
  }: Pick<Fallen, 'tenant' | 'run_id' | 'mutation_id' | 'rollback_id' | 'evidence' | 'consumers'>,
  decidedAt: number,
): readonly Change[] {
  return consumers.map(({ subscription, consumer, mode, ack_by, commit_to_user_ms }) =>
    putDelivery({
      delivery_id: deliveryIdOf({ rollback_id, consumer }),
      tenant,
      run_id,
      mutation_id,
      rollback_id,
      subscription,
      consumer,
      mode,
      commit_to_user_ms,
      phase: 'waiting',
      rolled_back_at: decidedAt,
      triggered_at: Math.min(evidence.stated_at, decidedAt),
      ack_by,
      owner: consumer,
      deadline_at: ack_by,
      answer: null,
    }),
  );
}

function answered(
  body: Body<ConsumerAcknowledged>,
  state: StateView,
  { decidedAt }: AcceptedRecord,
): readonly Change[] {
  const { run_id, mutation_id, consumer, event_id, applied_at, derived, emissions } = body;
  const delivery = deliveryIn(state, run_id, mutation_id, consumer);
  if (delivery === undefined) return [];
  const late = lateAmong(emissions, delivery.rolled_back_at).map(
    ({ emitted_at }) => emitted_at - delivery.rolled_back_at,
  );
  const answer: Answer = {
    event_id,
    content_sha256: contentHash('RollbackAcknowledged', ackIn(body)),
    applied_at,
    acknowledged_at: decidedAt,
    after_ms: body.after_ms,
    trigger_ms: decidedAt - delivery.triggered_at,
    is_late: body.is_late,
    derived,
    emissions,
    late_emissions: body.late_emissions,
    latest_ms: late.length === 0 ? null : Math.max(...late),
  };
  return moved(state, { run_id, mutation_id, consumer }, 'ConsumerAcknowledged', { answer });
}

/** What was refused under the name of a consumer stands beside what is due from it, for whoever asks why it is silent. */
function refused(
  { tenant, run_id, mutation_id, consumer, code, detail }: Body<AckRefused>,
  state: StateView,
  { decidedAt: at }: AcceptedRecord,
): readonly Change[] {
  const delivery = deliveryIn(state, run_id, mutation_id, consumer);
  return delivery?.tenant === tenant ? [putDelivery({ ...delivery, refused: { code, detail, at } })] : [];
}

/** The acknowledgement as it came in. */
function ackIn({
  event_id,
  tenant,
  run_id,
  mutation_id,
  rollback_id,
  consumer,
  applied_at,
  derived,
  emissions,
}: Body<ConsumerAcknowledged>): Ack {
  return { event_id, tenant, run_id, mutation_id, rollback_id, consumer, applied_at, derived, emissions };
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

/** What a consumer has to say about a rollback. */
export function deliveryIn(
  state: StateView,
  runId: string,
  mutationId: string,
  consumer: string,
): Delivery | undefined {
  const doc = state.get(DELIVERY, runId, deliveryKey(mutationId, consumer));
  return doc === undefined ? undefined : deliveryOf(doc);
}

/** A delivery, from a row that this file alone writes. */
export function deliveryOf(doc: Doc): Delivery {
  return doc as Delivery;
}
