// Rows of forward approvals: group is the run, key the question.
import { row } from '@recourse/event-log';
import type { Change, StateView } from '@recourse/event-log';
import type { ForwardDoc, ForwardRecord } from '../rules/forward/forward.messages.js';
import { forwardAfter, forwardDueAt } from '../rules/forward/forward.transitions.js';

export const FORWARD_KIND = 'forward';

const forwards = row<ForwardDoc>({
  kind: FORWARD_KIND,
  table: 'forward_approvals',
  group: ({ run_id }) => run_id,
  key: ({ approval_id }) => approval_id,
  due: forwardDueAt,
  columns: {
    tenant: 'text',
    run_id: 'text',
    approval_id: 'text',
    phase: 'text',
    capability: 'text',
    agent_id: 'text',
    owner: 'text',
    mutation_id: 'text',
    decided_by: 'text',
    deadline_at: 'bigint',
    expires_at: 'bigint',
    requested_at: 'bigint',
    updated_at: 'bigint',
  },
  indexes: [['tenant', 'phase', 'requested_at'], ['approval_id'], ['mutation_id']],
});

export const forwardKind = forwards.spec;

/** The row after a record about a forward approval. */
export function evolveForward(state: StateView, told: ForwardRecord, at: number): readonly Change[] {
  return [forwards.put(forwardAfter(readForward(state, told.body.run_id, told.body.approval_id), told, at))];
}

/** A question, if there is one of this id. Longer ids were never given. */
export function readForward(state: StateView, runId: string, id: string): ForwardDoc | undefined {
  return id.length > ID_MAX ? undefined : (forwards.find(state, runId, id) ?? undefined);
}

const ID_MAX = 200;
