// Erasures on record, as a part of the mutations core: who ordered which keys destroyed, and why. Destroying them is the edge's, after.
import { accepted } from '@recourse/event-log';
import type { Asked } from '@recourse/event-log';
import type { OrderErasure } from '@recourse/messages';
import { refuse } from './refuse.js';
import { record } from '../rules/record.messages.js';

/** Whoever may order it has said so at the edge; nothing of the subject is in the record but an id that nobody reads it from. */
export function onOrderErasure({ body, context: { now } }: Asked<OrderErasure>) {
  const { envelope, subject_id, ended_by, reason } = body;
  if (ended_by !== null && ended_by > now)
    return refuse({ code: 'COMMAND_INVALID', message: 'What has not ended yet is not erased by when it ended.' });
  const { command_id: erasure_id, tenant, principal: by } = envelope;
  return accepted(
    201,
    { erasure_id },
    record('ErasureOrdered', { erasure_id, tenant, subject_id, ended_by, by, reason }),
  );
}
