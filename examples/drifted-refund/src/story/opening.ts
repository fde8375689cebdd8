// First part of the story: contracts, budget, an order, a refund, and then the order is shipped after all.
import { contractBody } from '@recourse/contract';
import { deriveId, sha256Hex } from '@recourse/kernel';
import { CONTRACTS, CURRENCY, REFUND_CAP_MINOR, REFUND_POLICY } from '../common/contracts.js';
import { factsOf, listOf, numberOf, textOf } from './desk.js';
import type { Desk, Facts } from './desk.js';
import { BUDGET_OWNER, CONTRACT_EDITOR, INITIATOR, OPERATOR } from './people.js';

/** What the story follows. */
export interface Case {
  readonly order: string;
  readonly runId: string;
  readonly mutationId: string;
  readonly refundId: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

const FIRST_ORDER = 4711;
/** Longest from an event to what Recourse makes of it, before the story calls it missing. */
export const PATIENCE_MS = 30_000;

export async function registerContracts(desk: Desk): Promise<void> {
  desk.say('1. What can be undone, and how, is agreed before anything happens.');
  await registerPolicy(desk);
  for (const contract of CONTRACTS) {
    const key = sha256Hex(contractBody(contract));
    await desk.until(PATIENCE_MS, async () => {
      const { status } = await desk.post('registry', '/v1/contracts', contract, { person: CONTRACT_EDITOR, key });
      return status < 500 && status !== 202 ? status : null;
    });
    const { status, body } = await desk.get('registry', `/v1/contracts/${contract.name}`, CONTRACT_EDITOR);
    desk.check(`the registry holds a contract of ${contract.name}`, status === 200 && textOf(body['digest']) !== '', {
      status,
      version: body['version'],
      digest: body['digest'],
    });
  }
}

/** The recovery policy that the contracts name. */
async function registerPolicy(desk: Desk): Promise<void> {
  const key = sha256Hex(JSON.stringify(REFUND_POLICY));
  const { status, body } = await desk.post('registry', '/v1/entries/policy_bundle', REFUND_POLICY, {
    person: CONTRACT_EDITOR,
    key,
  });
  desk.check(`the registry holds the recovery policy ${REFUND_POLICY.name}`, status < 300, { status, body });
}

/** Who relies on refunds says so, and is told when one falls (E17). */
export async function subscribeLoyalty(desk: Desk): Promise<void> {
  const entry = {
    owner: 'loyalty',
    doc: 'Points are granted for refunds, and shown to customers the next day.',
    consumer: 'loyalty',
    scope: desk.tenant,
    mode: 'async',
    commit_to_user_ms: 86_400_000,
  };
  const { status, body } = await desk.post(
    'registry',
    '/v1/entries/subscription',
    { name: 'loyalty', entry },
    { person: CONTRACT_EDITOR, key: `subscription-loyalty-${String(desk.now())}` },
  );
  desk.check('loyalty is subscribed to rollbacks', status < 300, { status, body });
}

export async function openOrder(desk: Desk): Promise<string> {
  let number = FIRST_ORDER;
  while ((await desk.get('warehouse', `/orders/${String(number)}`)).status === 200) number += 1;
  const order = String(number);
  await desk.post('warehouse', '/orders', { order });
  const { body } = await desk.get('warehouse', `/orders/${order}`);
  desk.say(
    `2. The warehouse has order ${order}: ${textOf(body['status'])}. The customer asks for their money back, and nothing has been shipped.`,
  );
  desk.check('the order is open', body['status'] === 'open', body);
  return order;
}

/** The agent refunds the order; the story follows what comes of it. */
export async function refund(desk: Desk, order: string, capability: string): Promise<Case | null> {
  const key = `story-${order}-${String(desk.now())}`;
  await openBudget(desk, deriveId('run', key));
  const { status, body } = await desk.post(
    'agent',
    '/runs',
    { order, amount_minor: REFUND_CAP_MINOR, currency: CURRENCY, initiator: INITIATOR.subject, capability },
    { key },
  );
  const runId = textOf(body['run_id']);
  const mutationId = textOf(([] as unknown[]).concat(body['mutation_ids'])[0]);
  if (
    !desk.check(
      'the agent refunded, and was told ids only',
      status === 201 && body['status'] === 'succeeded' && mutationId !== '',
      body,
    )
  )
    return null;
  const mutation = await desk.until(PATIENCE_MS, () =>
    mutationIn(
      desk,
      mutationId,
      ({ recoverability }) => recoverability !== 'planned' && recoverability !== 'committed',
    ),
  );
  const ref = factsOf(mutation ?? {}, 'ref');
  const found: Case = {
    order,
    runId,
    mutationId,
    refundId: textOf(ref['external_transaction_ref']),
    expiresAt: numberOf(ref['reversal_expires_at']) ?? 0,
  };
  if (
    !desk.check(
      'the ledger bound the way back when it took the refund',
      mutation?.['recoverability'] === 'reversal_available' && found.refundId !== '',
      { recoverability: mutation?.['recoverability'], ref },
    )
  )
    return null;
  await tellWhoKnowsWhat(desk, found, ref);
  await tellTheDebit(desk, found, numberOf(ref['committed_at']) ?? 0);
  return found;
}

async function openBudget(desk: Desk, runId: string): Promise<void> {
  const { status, body } = await desk.post(
    'budget',
    '/v1/budgets',
    { scope: 'run', scope_id: runId, currency: CURRENCY, ceiling_minor: REFUND_CAP_MINOR },
    { person: BUDGET_OWNER, key: `budget-${runId}` },
  );
  desk.check('the run has a ceiling for what it may leave irreversible', status < 300, { status, body });
}

async function tellWhoKnowsWhat(
  desk: Desk,
  { refundId, mutationId, expiresAt, order }: Case,
  ref: Facts,
): Promise<void> {
  const { body: refunded } = await desk.get('provider', `/refunds/${refundId}`);
  const points = await grantOf(desk, mutationId);
  desk.say(
    `3. The agent refunded order ${order}, as the policy allows up to ${money(REFUND_CAP_MINOR)}. What each side knows now:`,
  );
  desk.say(
    `   provider    refund ${refundId} of ${money(numberOf(refunded['amount_minor']) ?? 0)} is ${textOf(refunded['status'])}`,
  );
  desk.say(
    `   ledger      mutation ${mutationId}, relies on ${JSON.stringify(ref['assumption_refs'])}, undone by ${textOf(ref['reversal_capability'])} until ${clockOf(expiresAt)}`,
  );
  desk.say(
    `   loyalty     ${points === null ? 'no points' : `${String(points['points'])} points, ${textOf(points['state'])}`}`,
  );
  desk.check('the provider moved the money once', refunded['status'] === 'settled', refunded);
}

/** What the refund was debited, against which ceiling, and that this was before the call (A78). */
async function tellTheDebit(desk: Desk, story: Case, committedAt: number): Promise<void> {
  const { body: budgets } = await desk.get('budget', `/v1/budgets?scope=run&scope_id=${story.runId}`, OPERATOR);
  const budget = listOf(budgets)[0] ?? {};
  const held = await desk.until(PATIENCE_MS, () => reservationIn(desk, story, 'settled'));
  const debit = debitOf(held);
  desk.say(
    `   budget      debited ${money(debit)} before the call, a tenth of what it moves since it can be undone; ${money(numberOf(budget['used_minor']) ?? -1)} of the run's ceiling of ${money(numberOf(budget['ceiling_minor']) ?? 0)} are used`,
  );
  const countedAt = numberOf(held?.['counted_at']);
  desk.check(
    'the debt was debited before the call, under the ceiling of the run',
    countedAt !== null &&
      countedAt <= committedAt &&
      debit > 0 &&
      budget['used_minor'] === debit &&
      debit <= (numberOf(budget['ceiling_minor']) ?? 0),
    { phase: held?.['phase'], counted_at: countedAt, committed_at: committedAt, debit_minor: debit, budget },
  );
}

/** What the run reserved for the refund, once it has come so far. */
export async function reservationIn(desk: Desk, { runId, mutationId }: Case, phase: string): Promise<Facts | null> {
  const { body } = await desk.get('budget', `/v1/reservations?run_id=${runId}`, OPERATOR);
  return listOf(body).find((each) => each['mutation_id'] === mutationId && each['phase'] === phase) ?? null;
}

/** Minor units. */
export function debitOf(reservation: Facts | null): number {
  return listOf({ debits: reservation?.['debits'] }).reduce(
    (sum, { currency, debit_minor: minor }) => sum + (currency === CURRENCY ? (numberOf(minor) ?? 0) : 0),
    0,
  );
}

/** The warehouse ships: what the agent relied on is no longer so. */
export async function ship(desk: Desk, { order }: Case): Promise<void> {
  await desk.post('warehouse', `/orders/${order}/ship`, {});
  const { body } = await desk.get('warehouse', `/orders/${order}`);
  desk.say(
    `4. Then the warehouse says: order ${order} is ${textOf(body['status'])}, with ${textOf(body['carrier'])}, at ${clockOf(numberOf(body['shipped_at']) ?? 0)}.`,
  );
  desk.say(
    '   Without Recourse this is where it ends: the customer has the goods and the money, and no one side can see it.',
  );
  desk.check('the warehouse shipped the order', body['status'] === 'shipped', body);
}

/** The review item of a case, as soon as there is one. */
export async function reviewOf(desk: Desk, { mutationId }: Case): Promise<Facts | null> {
  return desk.until(PATIENCE_MS, async () => {
    const { body } = await desk.get('orchestrator', '/v1/reviews?state=open', OPERATOR);
    return listOf(body).find((item) => item['mutation_id'] === mutationId) ?? null;
  });
}

/** A mutation, once it is as wanted. */
export async function mutationIn(
  desk: Desk,
  mutationId: string,
  isWanted: (mutation: Facts) => boolean,
): Promise<Facts | null> {
  const { status, body } = await desk.get('ledger', `/v1/mutations/${mutationId}`, OPERATOR);
  return status === 200 && isWanted(body) ? body : null;
}

export async function grantOf(desk: Desk, mutationId: string): Promise<Facts | null> {
  const { body } = await desk.get('loyalty', '/points');
  return listOf(body).find((grant) => grant['mutation_id'] === mutationId) ?? null;
}

export const money = (minor: number): string => `${CURRENCY} ${(minor / 100).toFixed(2)}`;
export const clockOf = (at: number): string => new Date(at).toISOString().slice(11, 19);
