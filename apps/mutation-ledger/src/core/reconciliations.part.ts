// Reconciliations, as a part of the mutations core: a runtime's commits against the fallen view, and the record of what diverges.
import { accepted } from '@recourse/event-log';
import type { DecideContext } from '@recourse/event-log';
import type { ReconcileLineage, ReviewDivergence } from '@recourse/messages';
import { standsRef } from '../rules/mutation/lineage.decider.js';
import type { Verdict } from '../rules/mutation/mutation.messages.js';
import type { LedgerPolicy } from '../rules/mutation/mutation.decider.js';
import { COMMITS_MAX, namesFit, reconcile, reviewRefusal } from '../rules/reconciliation/reconciliation.decider.js';
import type { FallOf } from '../rules/reconciliation/reconciliation.decider.js';
import { divergenceIn } from '../rows/reconciliation.rows.js';
import { concernedBy, editorRefusal } from './ending.part.js';
import { refuse } from './refuse.js';
import { verdictScope } from '../rules/identity.js';

const FALLEN = 'fallen';

/** Answers a comparison; what fell before it was asked for is in the view before it is decided. */
export function onReconcile(
  { state, views, now }: DecideContext,
  command: ReconcileLineage,
  { reviewDeadlineMs }: Pick<LedgerPolicy, 'reviewDeadlineMs'>,
) {
  const {
    envelope: { tenant },
    runtime,
    commits,
  } = command;
  if (commits.length > COMMITS_MAX)
    return refuse({
      code: 'RECONCILIATION_TOO_LARGE',
      message: `A comparison takes ${COMMITS_MAX} commits; split it.`,
    });
  views.readToEnd();
  const view = views.view(FALLEN);
  const fallOf: FallOf = ({ run_id, commit_id }) =>
    fallOfVerdict(view.get(verdictScope(tenant, standsRef(commit_id), run_id)) as Verdict | undefined); // entries of this view are verdicts
  const body = reconcile(command, fallOf, divergenceIn(state, tenant, runtime)?.deadline_at ?? now + reviewDeadlineMs);
  if (!namesFit(body))
    return refuse({
      code: 'RECONCILIATION_TOO_LARGE',
      message: 'What fell names more agents and people than one comparison holds; split it.',
    });
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

/** How a commit fell, as the view of notices has it; null for one that stands or was left to a person. */
function fallOfVerdict(verdict: Verdict | undefined): ReturnType<FallOf> {
  return verdict === undefined || verdict.evidence === null || verdict.is_beyond === true
    ? null
    : {
        rollback_id: verdict.evidence.event_id,
        rolled_back_at: verdict.stated_at,
        agent_id: verdict.agent_id,
        initiator: verdict.initiator,
        contract_digest: verdict.contract === undefined ? undefined : Buffer.from(verdict.contract, 'hex'),
      };
}

/** A person says what was done about what a runtime kept. */
export function onReviewDivergence(context: DecideContext, command: ReviewDivergence) {
  const { envelope, runtime, reason } = command;
  const { tenant, principal: by, command_id } = envelope;
  const standing = divergenceIn(context.state, tenant, runtime);
  const { agents = [], initiators = [], contract_digests: contracts = [] } = standing ?? {};
  const done = contracts.map((contract) => ({ contract }));
  const refusal =
    reviewRefusal(standing, command, concernedBy(context, tenant, [...agents, ...initiators])) ??
    editorRefusal(context, tenant, done, envelope);
  if (refusal !== null) return refuse(refusal);
  const body = { tenant, runtime, by, reason, command_id };
  return accepted(200, { runtime, reviewed: true }, { type: 'DivergenceReviewed', body });
}
