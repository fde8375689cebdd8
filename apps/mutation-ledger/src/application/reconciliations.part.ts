// Reconciliations, as a part of the mutations core: a runtime's commits against the fallen view, and the record of what diverges.
//
// Rows: `reconciliation` by runtime.
import { accepted, refused } from '@recourse/event-log';
import type { DecideContext, Decision, Doc, KindSpec, RecordInput, Row } from '@recourse/event-log';
import type { LineageReconciled, ReconcileLineage } from '@recourse/messages';
import { standsRef } from '../domain/mutation/lineage.decider.js';
import type { Verdict } from '../domain/mutation/mutation.messages.js';
import { COMMITS_MAX, reconcile } from '../domain/reconciliation/reconciliation.decider.js';
import type { FallOf } from '../domain/reconciliation/reconciliation.decider.js';
import { refScope, verdictScope } from '../domain/scope.js';
import type { Body } from '../domain/record.messages.js';
import type { Fold } from './fold.js';

/** Roles of which one may have a runtime compared. */
export const RECONCILE_ROLES: readonly string[] = ['agent', 'operator', 'administrator', 'auditor'];

const FALLEN = 'fallen';

/** A comparison as its row holds it. */
export type Reconciliation = Body<LineageReconciled> & { readonly diverges: boolean; readonly reconciled_at: number };

export const RECONCILIATION_KINDS: readonly KindSpec[] = [
  {
    kind: 'reconciliation',
    table: 'reconciliation',
    indexes: [['tenant', 'runtime', 'reconciled_at']],
    columns: [
      ...(['reconciliation_id', 'tenant', 'runtime'] as const).map((name) => ({
        name,
        type: 'text' as const,
        of: ({ doc }: Row) => reconciliationOf(doc)[name],
      })),
      { name: 'diverges', type: 'boolean', of: ({ doc }) => reconciliationOf(doc).diverges },
      { name: 'reconciled_at', type: 'bigint', of: ({ doc }) => reconciliationOf(doc).reconciled_at },
    ],
  },
];

/** Answers a comparison; the view is read to its end first, so that everything that fell before the question counts. */
export function onReconcile(
  { views, viewsFresh }: DecideContext,
  input: RecordInput,
  command: ReconcileLineage,
): Decision {
  const {
    envelope: { tenant, roles },
    runtime,
    commits,
  } = command;
  if (input.key !== runtime)
    return refused(422, 'KEY_MISMATCH', 'The record key must be the runtime the command is about.');
  if (!roles.some((role) => RECONCILE_ROLES.includes(role)))
    return refused(403, 'ROLE_REQUIRED', `ReconcileLineage needs one of the roles ${RECONCILE_ROLES.join(', ')}.`);
  if (commits.length > COMMITS_MAX)
    return refused(422, 'RECONCILIATION_TOO_LARGE', `A comparison takes ${COMMITS_MAX} commits; split it.`);
  if (!viewsFresh) return { records: [], refresh: [FALLEN] };
  const view = views.view(FALLEN);
  const fallOf: FallOf = ({ run_id, commit_id }) => {
    const verdict = view.get(verdictScope(tenant, standsRef(commit_id), run_id)) as Verdict | undefined; // entries of this view are verdicts
    return verdict === undefined || verdict.evidence === null || verdict.is_beyond === true
      ? null
      : { rollback_id: verdict.evidence.event_id, rolled_back_at: verdict.stated_at };
  };
  const body = reconcile(command, fallOf);
  return accepted(
    201,
    {
      reconciliation_id: body.reconciliation_id,
      runtime,
      compared: body.compared,
      diverges: body.contaminated.length > 0,
      contaminated: body.contaminated,
    },
    { type: 'LineageReconciled', body },
  );
}

/** The row of an accepted comparison. */
export const RECONCILIATION_FOLD = {
  LineageReconciled: (told, _state, { decidedAt }) => {
    const doc: Reconciliation = { ...told, diverges: told.contaminated.length > 0, reconciled_at: decidedAt };
    const group = refScope(told.tenant, told.runtime);
    return [{ op: 'put', row: { kind: 'reconciliation', group, key: told.reconciliation_id, dueAt: null, doc } }];
  },
} satisfies Fold;

// Rows of this kind are written here alone.
function reconciliationOf(doc: Doc): Reconciliation {
  return doc as Reconciliation;
}
