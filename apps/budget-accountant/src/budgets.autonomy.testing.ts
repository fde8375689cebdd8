// Signals, policies and what they are told on, for specs of earned autonomy.
import { entryView, forwardApprovalId } from '@recourse/contract';
import type { Decided, RecordInput } from '@recourse/event-log';
import { entrySaid, harness, logged, memoryView, wire } from '@recourse/testing';
import type { CoreHarness, MemoryView } from '@recourse/testing';
import { command, mutationOf, refundView, RUN, TENANT } from './budgets.testing.js';
import type { Who } from './budgets.testing.js';
import { AGENT_SIGNALS, budgetsCore } from './core.js';
import { autonomyIdOf } from './rows/autonomy.rows.js';

export const AGENT = 'agent-7';
export const REFUNDS = 'payments.issue_refund';
export const KIND = 'refund_order';

let told = 0;

/** What a critic says of the agent. */
export function signalled(signal: string, value: number | null, more: object = {}, key = TENANT): RecordInput {
  told += 1;
  const said = {
    event_id: `e${String(told)}`,
    tenant: TENANT,
    agent_id: AGENT,
    task_kind: KIND,
    source: 'critic',
    signal,
    value,
    run_id: null,
    reason: null,
    stated_at: 1,
  };
  return wire(AGENT_SIGNALS, 'AgentSignalled', { ...said, ...more }, { key });
}

export const GOOD = {
  evidence_confidence: 0.9,
  policy_confidence: 1,
  eval_score: 0.85,
  tool_reliability: 0.9,
  task_risk: 0.2,
  user_impact: 0.3,
} as const;

/** An accountant with the refund contract, and with a policy about it where one is given. */
export function accountant(
  isRebuilt: boolean,
  policy: object | null = {},
): { readonly desk: CoreHarness; readonly entries: MemoryView; readonly digest: Buffer } {
  const { view, digest } = refundView();
  const entries = memoryView(entryView);
  if (policy !== null) register(entries, policy);
  return { desk: harness(budgetsCore(), { isRebuilt, views: { contracts: view, entries } }), entries, digest };
}

export function register(entries: MemoryView, policy: object, name = KIND, tenant = TENANT): void {
  entries.append(name, policySaid(policy, name, tenant));
}

/** A policy as the registry says it. */
export function policySaid(policy: object, name = KIND, tenant = TENANT): Decided {
  const body = { owner: 'olga', doc: 'd', capabilities: [REFUNDS], ...policy };
  return entrySaid('autonomy_policy', { name, tenant, body });
}

export function retire(entries: MemoryView, name: string): void {
  entries.append(name, entrySaid('autonomy_policy', { name, tenant: TENANT, body: {} }, 'EntryRetired'));
}

/** Says all that is good of the agent. */
export function praised(desk: CoreHarness, scores: object = GOOD): CoreHarness {
  for (const [signal, value] of Object.entries(scores)) desk.when(signalled(signal, value as number), 1_000);
  return desk;
}

/** What the agent has earned. */
export function standingOf(desk: CoreHarness, kind = KIND): Readonly<Record<string, unknown>> | undefined {
  return desk.rows('autonomy').find(({ doc }) => doc['agent_id'] === AGENT && doc['task_kind'] === kind)?.doc;
}

export const ID = autonomyIdOf(TENANT, AGENT, KIND);

export function freeze(who: Who, verb: 'FreezeAutonomy' | 'UnfreezeAutonomy' = 'FreezeAutonomy', id = ID): RecordInput {
  return command(verb, { autonomy_id: id, reason: 'looked into it' }, who);
}

/** The ledger says that effects of the agent were taken back. */
export function undone(...effects: readonly string[]): RecordInput {
  return undoneBy(Object.fromEntries(effects.map((effect) => [effect, AGENT])));
}

/** The same of effects of several, each with who made it. */
export function undoneBy(agents: Readonly<Record<string, string>>): RecordInput {
  const members = Object.entries(agents).map(([effect, agent_id]) => ({
    mutation_id: mutationOf(effect),
    agent_id,
    capability: REFUNDS,
  }));
  return logged(
    'recourse.mutations',
    'RecoverabilityChanged',
    { tenant: TENANT, run_id: RUN, event: 'compensation_verified', members },
    2,
    { partition: 3 },
  );
}

/** A person says whether a trigger was right. */
export function judged(effect: string, confirmed: boolean, tenant = TENANT, isHeld = false): RecordInput {
  const whose = isHeld ? { agent_id: null, capability: null } : { agent_id: AGENT, capability: REFUNDS };
  const about = { rollback_id: 'rb_1', tenant, run_id: RUN, mutation_id: mutationOf(effect), source: 'warehouse' };
  const said = { ...about, ...whose };
  return logged(
    'recourse.mutations',
    'SourceJudged',
    { ...said, confirmed, weight_permille: 100, by: 'dana', reason: 'it was there', command_id: 'c' },
    3,
    { partition: 3 },
  );
}

/** What a piece of work cost and what came of it, as the platform says. */
export function outcome(event_id: string, more: object = {}, key = TENANT): RecordInput {
  const said = {
    event_id,
    tenant: TENANT,
    source: 'platform',
    agent_id: AGENT,
    workflow_id: 'refunds',
    run_id: RUN,
    intent: 'refund',
    version: 'v1',
    accepted: true,
    grounded: true,
    policy_compliant: true,
    cost: { amount_minor: 12, currency: 'USD' },
    total_tokens: 100,
    retry_tokens: 10,
    eval_tokens: 20,
    cache_lookups: 4,
    cache_hits: 1,
    succeeded: null,
    converted: null,
    deflected: null,
    csat_permille: null,
    revenue: null,
    ended_at: 1_000,
  };
  return wire(AGENT_SIGNALS, 'OutcomeRecorded', { ...said, ...more }, { key });
}

/** Digest of what the agents of specs do. */
export const DONE = Buffer.alloc(32, 7);

/** Whoever keeps approvals says that one was used. */
export function used(effect: string, more: { digest?: Buffer; agreedBy?: readonly string[]; at?: number } = {}) {
  const { digest = DONE, agreedBy = ['dana'], at = 3_000 } = more;
  const said = {
    approval_id: forwardApprovalId(TENANT, RUN, effect, digest.toString('hex')),
    tenant: TENANT,
    run_id: RUN,
    round: 1,
    mutation_id: mutationOf(effect),
    attempt: 1,
    used_by: AGENT,
    command_id: 'c',
    agreed_by: agreedBy,
    decided_at: at,
  };
  return logged('recourse.recoveries', 'ForwardApprovalUsed', said, 1, { partition: 5 });
}
