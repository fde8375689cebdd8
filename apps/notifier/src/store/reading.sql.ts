// What the store in PostgreSQL says of how far logs were read, and of what waits by them.
import { DEADLINE, IS_WAITING } from './notifier-store.migrations.js';

export const MOVE_ON = `
INSERT INTO read_positions (topic, log_partition, seq, hash, next_offset, cuts) SELECT $1, $2, $4, $5, $6, $7 WHERE $3 = 0
ON CONFLICT (topic, log_partition) DO NOTHING`;
export const MOVE =
  'UPDATE read_positions SET seq = $4, hash = $5, next_offset = $6, cuts = $7 WHERE topic = $1 AND log_partition = $2 AND seq = $3';
export const MOVE_BACK = `${MOVE} AND hash = $8`;

export const PUT_THINGS =
  'INSERT INTO things (thing_key, doc) SELECT * FROM unnest($1::text[], $2::jsonb[]) ON CONFLICT (thing_key) DO UPDATE SET doc = EXCLUDED.doc';

/** As the index of the second migration has it. */
export const ITEMS = `SELECT doc FROM things WHERE ${IS_WAITING} AND ($1::text IS NULL OR doc->'item'->>'kind' = $1) AND ($2::text IS NULL OR doc->>'tenant' = $2)
  AND ($3::bigint IS NULL OR (${DEADLINE}, thing_key COLLATE "C") > ($3, $4)) ORDER BY ${DEADLINE}, thing_key COLLATE "C" LIMIT $5`;

export const KEPT_SEQS = "SELECT topic || '/' || log_partition AS place, seq FROM read_positions";
