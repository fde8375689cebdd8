// The view `agent_effects` of the ledger's database: sixteen columns over the rows of mutations and of compensations (A62, C20, C21).
//
// Boundary: for people and programs with a role in this database; over HTTP the same is GET /v1/agent-effects.
//
// Invariants
//   V1. It has an answer for every row: text that PostgreSQL cannot hold is shown with U+FFFD, payloads are the bytes stored.
//   V2. Status and times are columns of the table, so its index on (status, updated_at) serves who looks for work (C23).
import { tableOf } from '@recourse/service';
import type { ProjectedView } from '@recourse/service';
import { MUTATIONS_LOG } from './mutation-statements.js';

/** Rows of both tables; a plain union, so that each is read in the order of its index. */
const EXECUTED = `SELECT row_key, group_key, status, created_at, updated_at, doc, lasting, true AS is_effect FROM ${tableOf(MUTATIONS_LOG, 'mutation')}
  UNION ALL SELECT row_key, group_key, status, created_at, updated_at, doc, doc, false FROM ${tableOf(MUTATIONS_LOG, 'compensation')}`;

export const AGENT_EFFECTS_VIEW: ProjectedView = {
  name: 'agent_effects',
  select: `SELECT e.row_key AS id, e.group_key AS run_id,
    coalesce(d.lasting #>> '{execution,step_id}', d.lasting #>> '{step_id}') AS step_id,
    d.lasting #>> '{capability}' AS tool_name,
    d.lasting #>> '{effect_key}' AS effect_key,
    coalesce(d.lasting #>> '{execution,idempotency_key}', d.lasting #>> '{idempotency_key}') AS idempotency_key,
    coalesce(${bytesAt('execution,args')}, ${bytesAt('args')}) AS arguments,
    coalesce(${bytesAt('execution,result')}, ${bytesAt('result')}) AS result,
    d.lasting #>> '{execution,external_transaction_ref}' AS external_ref,
    e.status,
    CASE WHEN coalesce(d.lasting #>> '{terms}', d.lasting #>> '{contract_digest}') IS NULL THEN NULL
      WHEN d.lasting #>> '{terms,reversal_capability}' IS NULL THEN 'not_supported'
      WHEN d.lasting #>> '{terms,recovery_approval_mode}' = 'auto' THEN 'automatic' ELSE 'approval_required' END AS compensation_mode,
    ${bytesAt('ref,reversal_args')} AS compensation_args,
    CASE WHEN e.is_effect THEN (d.doc #>> '{compensation_attempts}')::int ELSE 0 END AS compensation_attempts,
    CASE WHEN e.is_effect THEN d.doc #>> '{last_error}' WHEN e.status <> 'succeeded' THEN d.doc #>> '{reason}' END AS last_error,
    e.created_at, e.updated_at
  FROM (${EXECUTED}) e
  CROSS JOIN LATERAL (SELECT ${jsonOf('e.doc')} AS doc, ${jsonOf('e.lasting')} AS lasting) d`,
};

function jsonOf(bytes: string): string {
  return `replace(convert_from(${bytes}, 'UTF8'), '\\u0000', '\\ufffd')::json`;
}

/** Bytes are stored as {"$b": base64}. */
function bytesAt(path: string): string {
  return `decode(d.lasting #>> '{${path},body,$b}', 'base64')`;
}
