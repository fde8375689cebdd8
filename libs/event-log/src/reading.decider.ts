// Who was shown what sealed payloads hold: one record for each request, before its answer leaves (docs/guides/people.md).
//
// Boundary: says what happens; whether somebody may read the edge has said, which alone signs the command.
import type { CommandAnswer, Decided, Doc, RecordInput } from './service-core.js';

/** Answers RecordReading. */
export function decideReading(
  { body: { things, subjects, payload_count } }: RecordInput,
  { command_id: reading_id, tenant, principal: reader, roles, route }: Doc,
): { readonly record: Decided; readonly answer: CommandAnswer } {
  return {
    record: {
      type: 'PayloadsRead',
      body: { reading_id, tenant, reader, roles, route, things, subjects, payload_count },
    },
    answer: { status: 'accepted', httpStatus: 201, code: null, body: { reading_id } },
  };
}
