// The view `agent_effects` of the ledger's database: sixteen columns over the rows of mutations (C20, C21).
//
// Boundary: for people and programs with a role in this database; over HTTP the same is GET /v1/agent-effects.
//
// Invariants
//   V1. It has an answer for every row: text that PostgreSQL cannot hold is shown with U+FFFD, payloads are the bytes stored.
//   V2. Status and times are columns of the table, so its index on (status, updated_at) serves who looks for work (C23).
import { tableOf } from '@recourse/service';
import type { ProjectedView } from '@recourse/service';
import { MUTATIONS_LOG } from './mutation-statements.js';

export const AGENT_EFFECTS_VIEW: ProjectedView = {
  name: 'agent_effects',
  select: `SELECT m.row_key AS id, m.group_key AS run_id,
    d.lasting #>> '{execution,step_id}' AS step_id,
    d.lasting #>> '{capability}' AS tool_name,
    d.lasting #>> '{effect_key}' AS effect_key,
    d.lasting #>> '{execution,idempotency_key}' AS idempotency_key,
    ${bytesAt('execution,args')} AS arguments,
    ${bytesAt('execution,result')} AS result,
    d.lasting #>> '{execution,external_transaction_ref}' AS external_ref,
    m.status,
    CASE WHEN d.lasting #>> '{terms}' IS NULL THEN NULL WHEN d.lasting #>> '{terms,reversal_capability}' IS NULL THEN 'not_supported'
      WHEN d.lasting #>> '{terms,recovery_approval_mode}' = 'auto' THEN 'automatic' ELSE 'approval_required' END AS compensation_mode,
    ${bytesAt('ref,reversal_args')} AS compensation_args,
    (d.doc #>> '{compensation_attempts}')::int AS compensation_attempts,
    d.doc #>> '{last_error}' AS last_error,
    m.created_at, m.updated_at
  FROM ${tableOf(MUTATIONS_LOG, 'mutation')} m
  CROSS JOIN LATERAL (SELECT ${jsonOf('m.doc')} AS doc, ${jsonOf('m.lasting')} AS lasting) d`,
};

function jsonOf(bytes: string): string {
  return `replace(convert_from(${bytes}, 'UTF8'), '\\u0000', '\\ufffd')::json`;
}

/** Bytes are stored as {"$b": base64}. */
function bytesAt(path: string): string {
  return `decode(d.lasting #>> '{${path},body,$b}', 'base64')`;
}
