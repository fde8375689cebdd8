// Reconciliations, as a part of the mutations core: a runtime's commits against the fallen view, and the record of what diverges.
import { accepted, refused } from '@recourse/event-log';
import type { DecideContext, Decision, RecordInput } from '@recourse/event-log';
import type { ReconcileLineage, ReviewDivergence } from '@recourse/messages';
import { standsRef } from '../rules/mutation/lineage.decider.js';
import type { Verdict } from '../rules/mutation/mutation.messages.js';
import type { LedgerPolicy } from '../rules/mutation/mutation.decider.js';
import { COMMITS_MAX, reconcile, reviewRefusal } from '../rules/reconciliation/reconciliation.decider.js';
import type { FallOf } from '../rules/reconciliation/reconciliation.decider.js';
import { divergenceIn } from '../rows/reconciliation.rows.js';
import { verdictScope } from '../rules/scope.js';

/** Roles of which one may have a runtime compared. */
export const RECONCILE_ROLES: readonly string[] = ['agent', 'operator', 'administrator', 'auditor'];

const FALLEN = 'fallen';

/** Answers a comparison; what fell before it was asked for is in the view before it is decided. */
export function onReconcile(
  { state, views, now }: DecideContext,
  input: RecordInput,
  command: ReconcileLineage,
  { reviewDeadlineMs }: Pick<LedgerPolicy, 'reviewDeadlineMs'>,
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
  views.readToEnd();
  const view = views.view(FALLEN);
  const fallOf: FallOf = ({ run_id, commit_id }) => {
    const verdict = view.get(verdictScope(tenant, standsRef(commit_id), run_id)) as Verdict | undefined; // entries of this view are verdicts
    return verdict === undefined || verdict.evidence === null || verdict.is_beyond === true
      ? null
      : { rollback_id: verdict.evidence.event_id, rolled_back_at: verdict.stated_at };
  };
  const body = reconcile(command, fallOf, divergenceIn(state, tenant, runtime)?.deadline_at ?? now + reviewDeadlineMs);
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

/** Roles of which one may say that a divergence is dealt with. */
export const DIVERGENCE_ROLES: readonly string[] = ['operator', 'approver', 'administrator'];

/** A person says what was done about what a runtime kept. */
export function onReviewDivergence({ state }: DecideContext, input: RecordInput, command: ReviewDivergence): Decision {
  const { envelope, runtime, reason } = command;
  const { tenant, roles, principal: by, command_id } = envelope;
  if (input.key !== runtime)
    return refused(422, 'KEY_MISMATCH', 'The record key must be the runtime the command is about.');
  if (!roles.some((role) => DIVERGENCE_ROLES.includes(role)))
    return refused(403, 'ROLE_REQUIRED', `ReviewDivergence needs one of the roles ${DIVERGENCE_ROLES.join(', ')}.`);
  const refusal = reviewRefusal(divergenceIn(state, tenant, runtime), command);
  if (refusal !== null) return refused(refusal.httpStatus, refusal.code, refusal.message);
  const body = { tenant, runtime, by, reason, command_id };
  return accepted(200, { runtime, reviewed: true }, { type: 'DivergenceReviewed', body });
}
