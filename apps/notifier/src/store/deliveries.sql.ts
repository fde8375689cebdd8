// What the store in PostgreSQL says of deliveries.
import { DELIVERY_COLUMNS } from '../rows.js';

/** `only` is null for everything but the word that the item ended. */
const MEANT = `FROM unnest($1::text[], $2::text[], $3::text[]) AS s(thing_key, opening, only_occasion)
WHERE d.state = 'queued' AND d.thing_key = s.thing_key AND d.opening = s.opening AND CASE WHEN s.only_occasion IS NULL THEN d.occasion <> 'ended' ELSE d.occasion = s.only_occasion END`;
export const FORGET_UNTRIED = `DELETE FROM deliveries d USING (SELECT d.id ${MEANT.replace('FROM unnest', 'FROM deliveries d, unnest')} AND d.attempts = 0) u WHERE d.id = u.id`;
export const SUPERSEDE = `UPDATE deliveries d SET state = 'superseded' ${MEANT}`;

export const QUEUE = `
INSERT INTO deliveries (${DELIVERY_COLUMNS.map(({ name }) => name).join(', ')})
SELECT * FROM unnest(${DELIVERY_COLUMNS.map(({ type }, n) => `$${String(n + 1)}::${type}[]`).join(', ')})
ON CONFLICT (id) DO NOTHING`;

export const CLAIM = `
UPDATE deliveries d SET attempts = d.attempts + 1, next_at = $3, updated_at = $2 FROM (
  SELECT id FROM deliveries WHERE endpoint = $1 AND state = 'queued' AND next_at <= $2 AND NOT EXISTS (SELECT 1 FROM endpoints_off WHERE endpoint = $1)
  ORDER BY next_at LIMIT $4 FOR UPDATE SKIP LOCKED) due
WHERE d.id = due.id RETURNING d.*`;

/** The table of states as SQL: one list of old and new per event. */
export const SETTLE = `
UPDATE deliveries d SET state = m.after, next_at = $4, error_code = $5, http_status = $6, updated_at = $7
FROM unnest($2::text[], $3::text[]) AS m(before, after) WHERE d.id = $1 AND d.attempts = $8 AND d.state = m.before`;

export const RETRY = `
UPDATE deliveries SET state = 'queued', due_at = $2, next_at = $2, error_code = NULL, http_status = NULL, updated_at = $2 WHERE id = $1 AND state = ANY($3::text[]) RETURNING *`;

export const DUE_FROM = "UPDATE deliveries SET due_at = $2 WHERE endpoint = $1 AND state = 'queued' AND due_at < $2";

/** What was told of a thing that still waits is what keeps anybody from being told of it again. */
export const PRUNE = `
DELETE FROM deliveries d WHERE d.state <> 'queued' AND d.updated_at < $1
  AND NOT EXISTS (SELECT 1 FROM things t WHERE t.thing_key = d.thing_key AND t.doc->'item'->>'opening' = d.opening)`;

export const FIGURES = `
SELECT coalesce(d.endpoint, o.endpoint) AS name, o.off_since, count(*) FILTER (WHERE d.state = 'queued') AS queued,
  min(d.due_at) FILTER (WHERE d.state = 'queued' AND d.due_at <= $1) AS oldest_due_at, count(*) FILTER (WHERE d.state = 'given_up') AS given_up
FROM (SELECT * FROM deliveries WHERE $2::text IS NULL OR tenant = $2) d FULL JOIN endpoints_off o ON o.endpoint = d.endpoint GROUP BY 1, 2 ORDER BY 1`;
