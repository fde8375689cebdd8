// Erasures on record, as a part of the mutations core: who ordered which keys destroyed, and why. Destroying them is the edge's, after.
import { accepted } from '@recourse/event-log';
import type { Asked, Decision } from '@recourse/event-log';
import type { OrderErasure } from '@recourse/messages';
import { record } from '../rules/record.messages.js';

/** Whoever may order it has said so at the edge; nothing of the subject is in the record but an id that nobody reads it from. */
export function onOrderErasure({ body }: Asked<OrderErasure>): Decision {
  const { envelope, subject_id, ended_by, reason } = body;
  const { command_id: erasure_id, tenant, principal: by } = envelope;
  return accepted(
    201,
    { erasure_id },
    record('ErasureOrdered', { erasure_id, tenant, subject_id, ended_by, by, reason }),
  );
}
