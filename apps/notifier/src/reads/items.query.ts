// Everything that waits for a person, as people see it: what, until when, and the command that ends it.
import { deriveId } from '@recourse/kernel';
import type { ItemKind, WaitingThing } from '../rules/item/item.messages.js';

export interface ShownItem {
  readonly kind: ItemKind;
  readonly id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly capability: string | null;
  readonly reason: string;
  readonly required_approvals: number;
  readonly approvals: number;
  /** Epoch milliseconds. */
  readonly opened_at: number;
  /** Epoch milliseconds. */
  readonly deadline_at: number;
  readonly is_overdue: boolean;
  /** Command of the CLI that ends it. */
  readonly way_out: string;
}

/** What a person types; the id is that of the thing. */
const WAY_OUT = {
  approval: (id) => `recourse recoveries approve ${id}`,
  manual: (id) => `recourse recoveries show ${id}`,
  halted: (id) => `recourse reviews show ${id}`,
  rollback: (id) => `recourse rollbacks show ${id}`,
  task: (id) => `recourse tasks close ${id}`,
  incident: (id) => `recourse incidents close ${id}`,
  forward_approval: (id) => `recourse approvals approve ${id}`,
  // What waits goes by its reservation; people decide about the escalation of it.
  budget: (id) => `recourse budgets approve ${deriveId('esc', id)}`,
  breaker: (id) => `recourse breakers close ${id}`,
  execution: (id) => `recourse mutations reconcile ${id}, or settle ${id} --answer took_effect|not_done`,
  exposure: (id) => `recourse mutations settle ${id} --answer accepted|repaired`,
  escalated: (id) => `recourse mutations settle ${id} --answer accepted|repaired`,
  window: (id) => `recourse mutations show ${id}`,
  delivery: () => 'recourse deliveries --phase overdue',
  divergence: (id) => `recourse lineage review ${id}`,
  trend: (id) => `recourse trends review ${id}`,
} as const satisfies Record<ItemKind, (id: string) => string>;

/** Shows an item; `now` is epoch milliseconds. */
export function shownItem({ id, tenant, runId, capability, item }: WaitingThing, now: number): ShownItem {
  const { kind, reason, requiredApprovals, approvals, openedAt, deadlineAt } = item;
  return {
    kind,
    id,
    tenant,
    run_id: runId,
    capability,
    reason,
    required_approvals: requiredApprovals,
    approvals,
    opened_at: openedAt,
    deadline_at: deadlineAt,
    is_overdue: deadlineAt < now,
    way_out: WAY_OUT[kind](id),
  };
}
