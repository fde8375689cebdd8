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
  readonly owner: string;
  /** What its contract has a person work from. */
  readonly runbook: string | null;
  /** Where in the logs and wires it is: `topic/partition`, and `/offset` of one record. */
  readonly log: string | null;
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

/** Reasons of rollbacks that are beyond a bound, or that no policy bundle could judge: a person judges the commit, not a trigger. */
const REVIEWED: readonly string[] = ['BEYOND_BOUND', 'UNJUDGED', 'BOUND_NOT_REVIEWED'];
/** A rollback whose commit did not come: a person says that there is none to roll back. */
const NOT_MARKED = 'COMMIT_NOT_MARKED';

interface Named {
  readonly id: string;
  readonly runId: string;
  readonly reason: string;
}

/**
 * What begins a person's work on a step, where that is not to say how it ended: to find out, or to see why it failed, what the worker said and
 * what may be done (try again, once that is mended).
 */
const MANUAL_WAY: Readonly<Record<string, string>> = {
  OUTCOME_UNKNOWN: 'recoveries check --purpose reconcile',
  VERIFICATION_FAILED: 'recoveries check --purpose reconcile',
  KEY_LIFETIME_OVER: 'recoveries check --purpose reconcile',
  COMPENSATION_FAILED: 'reviews show',
  FACTS_NOT_OBSERVED: 'reviews show',
  RESOURCE_CHANGED: 'reviews show',
};

/** What begins a person's work on a question, where that is not to agree: what was relied on is no longer so, or holds again, so that what was done may stand rightly. */
const APPROVAL_WAY: Readonly<Record<string, string>> = { FACT_CHANGED: 'reviews show' };

/** Where what stops a step is named, which a person lifts. */
const HALTED_WAY: Readonly<Record<string, string>> = { KILL_SWITCH: 'kill-switch list', BREAKER_OPEN: 'breakers list' };

/** Why a parked record can only be given up: what is wrong with it is in its own bytes (docs/guides/recover-a-parked-record.md). */
const UNUSABLE: readonly string[] = [
  'BATCH_UNREADABLE',
  'UNFRAMED',
  'TRUNCATED',
  'TRAILING_BYTES',
  'MALFORMED',
  'NUL_IN_TEXT',
  'KEY_TOO_LONG',
  'TEXT_TOO_LONG',
  'RECORD_TOO_LARGE',
  'REF_RESERVED',
  'REF_UNSCOPED',
  'TENANT_INVALID',
  'PAYLOAD_SEALED',
  'KEY_MISMATCH',
];

/** What a person types, as it stands; in a terminal it asks for what it needs to know besides. The id is that of the thing. */
const WAY_OUT = {
  approval: ({ id, reason }) => `recourse ${APPROVAL_WAY[reason] ?? 'recoveries approve'} ${id}`,
  manual: ({ id, reason }) => `recourse ${MANUAL_WAY[reason] ?? 'recoveries resolve'} ${id}`,
  halted: ({ id, reason }) => `recourse ${HALTED_WAY[reason] ?? `reviews show ${id}`}`,
  rollback: ({ id, reason }) => `recourse rollbacks ${verbOf(reason)} ${id}`,
  task: ({ id }) => `recourse tasks close ${id}`,
  incident: ({ id }) => `recourse incidents close ${id}`,
  forward_approval: ({ id }) => `recourse approvals approve ${id}`,
  // What waits goes by its reservation; people decide about the escalation of it.
  budget: ({ id }) => `recourse budgets approve ${deriveId('esc', id)}`,
  breaker: ({ id }) => `recourse breakers close ${id}`,
  execution: ({ id }) => `recourse mutations settle ${id}`,
  exposure: ({ id }) => `recourse mutations settle ${id}`,
  escalated: ({ id }) => `recourse mutations settle ${id}`,
  window: ({ id, runId }) => `recourse undo ${shellWord(runId)} --mutation ${id}`,
  delivery: ({ id }) => `recourse deliveries review ${id}`,
  divergence: ({ id }) => `recourse lineage review ${id}`,
  trend: ({ id }) => `recourse trends review ${id}`,
  alarm: ({ id }) => `recourse log close-alarm ${id}`,
  freeze: ({ id }) => `recourse autonomy unfreeze ${id}`,
  parked: ({ id, reason }) => `recourse parked ${UNUSABLE.includes(reason) ? 'discard' : 'redrive'} ${id}`,
  // What is weaker stands there, with the digest that is confirmed; the registry goes by the capability.
  proposal: () => 'recourse contracts proposals',
  // It is told once and never listed.
  ceiling: () => 'recourse budgets list',
} as const satisfies Record<ItemKind, (of: Named) => string>;

function verbOf(reason: string): string {
  if (reason === NOT_MARKED) return 'reject';
  return REVIEWED.includes(reason) ? 'review' : 'confirm';
}

/** An agent chose the id of its run: where it is no plain word it stands in quotes. */
function shellWord(text: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Shows an item; `now` is epoch milliseconds. */
export function shownItem({ id, tenant, runId, capability, runbook, log, item }: WaitingThing, now: number): ShownItem {
  const { kind, reason, owner, requiredApprovals, approvals, openedAt, deadlineAt } = item;
  return {
    kind,
    id,
    tenant,
    run_id: runId,
    capability,
    reason,
    owner,
    runbook,
    log: log ?? null,
    required_approvals: requiredApprovals,
    approvals,
    opened_at: openedAt,
    deadline_at: deadlineAt,
    is_overdue: deadlineAt < now,
    way_out: WAY_OUT[kind]({ id, runId, reason }),
  };
}
