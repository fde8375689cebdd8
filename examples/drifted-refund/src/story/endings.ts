// Second part of the story: a person is asked, and what was decided is done, observed and told; or the window had closed.
import { factsOf, listOf, numberOf, textOf } from './desk.js';
import type { Desk, Facts } from './desk.js';
import { clockOf, debitOf, grantOf, money, mutationIn, PATIENCE_MS, reservationIn, reviewOf } from './opening.js';
import type { Case } from './opening.js';
import { INITIATOR, OPERATOR } from './people.js';

/** Asks the person at the terminal, until the signal says that it was decided elsewhere; the example's operator answers where there is none. */
export type Interactive = (question: string, elsewhere: AbortSignal) => Promise<'approve' | 'deny'>;

const AT_REST: readonly string[] = ['compensated', 'compensation_failed', 'manual_resolution_required', 'cancelled'];
/** A worker that never answers is waited for until its lease and a retry are over. */
const OUTCOME_PATIENCE_MS = 60_000;

/** Shows what the operator sees, and that nothing was done behind their back. */
export async function review(desk: Desk, story: Case): Promise<Facts | null> {
  const item = await reviewOf(desk, story);
  if (!desk.check('Recourse put the case before a person', item !== null, item)) return null;
  const { body: step } = await desk.get('orchestrator', `/v1/steps/${textOf(item?.['step_id'])}`, OPERATOR);
  const call = factsOf(step, 'call');
  desk.say('5. Recourse asks a person. What the operator sees:');
  desk.say(`   fact then   ${JSON.stringify(factsOf(step, 'ref')['assumption_refs'])} held when the agent decided`);
  desk.say(
    `   fact now    ${JSON.stringify(factsOf(step, 'evidence', 'statement')['body'])}, says ${textOf(factsOf(step, 'evidence')['source'])}`,
  );
  desk.say(
    `   proposal    ${textOf(call['capability'])} ${JSON.stringify(factsOf(call, 'args')['body'])}; what stays: ${textOf(factsOf(step, 'terms')['residue'])}`,
  );
  desk.say(`   time left   until ${clockOf(numberOf(factsOf(step, 'ref')['reversal_expires_at']) ?? 0)}`);
  await nothingSilent(desk, story);
  await loyaltyHeard(desk, story, ['RollbackAnnounced'], 'loyalty heard of the rollback');
  await loyaltyAnswered(desk, story);
  desk.check(
    'loyalty took its points back',
    (await grantOf(desk, story.mutationId))?.['state'] === 'withdrawn',
    await grantOf(desk, story.mutationId),
  );
  return step;
}

interface Decided {
  readonly verdict: 'approve' | 'deny';
  /** In the console, or by the command line. */
  readonly elsewhere: boolean;
}

/** What a person says here, or said elsewhere meanwhile: whichever is first. */
async function verdictOn(desk: Desk, step: Facts, interactive: Interactive | null): Promise<Decided> {
  if (interactive === null) {
    desk.say('   nobody is asked, since there is no terminal, or --once was given: the story approves at once');
    return { verdict: 'approve', elsewhere: false };
  }
  const over = new AbortController();
  const here = interactive(`Take the refund of ${money(amountOf(step))} back?`, over.signal).then(
    (verdict): Decided => ({ verdict, elsewhere: false }),
  );
  const decided = await Promise.race([here, decidedElsewhere(desk, step, over.signal)]);
  over.abort();
  return decided;
}

/** Looks until the step waits for nobody any more. */
async function decidedElsewhere(desk: Desk, step: Facts, signal: AbortSignal): Promise<Decided> {
  const path = `/v1/steps/${textOf(step['step_id'])}`;
  for (;;) {
    const found = await desk.until(PATIENCE_MS, async () => {
      if (signal.aborted) return step;
      const { body } = await desk.get('orchestrator', path, OPERATOR);
      return textOf(body['phase']) === 'awaiting_approval' ? null : body;
    });
    if (found !== null) return { verdict: found['denied_by'] === null ? 'approve' : 'deny', elsewhere: true };
  }
}

async function nothingSilent(desk: Desk, story: Case): Promise<void> {
  const reversals = await reversalsOf(desk, story);
  desk.check('nothing was reversed silently', reversals.length === 0, reversals);
}

/** Who profits may not decide; somebody else does. */
export async function decide(desk: Desk, step: Facts, interactive: Interactive | null): Promise<'approve' | 'deny'> {
  const path = `/v1/steps/${textOf(step['step_id'])}`;
  const action_digest = textOf(step['action_digest']);
  const own = await desk.post(
    'orchestrator',
    `${path}/approve`,
    { action_digest, reason: 'my own request' },
    { person: INITIATOR, key: `own-${textOf(step['step_id'])}` },
  );
  desk.check('nobody approves what was done on their own behalf', own.status >= 400 && own.status < 500, {
    status: own.status,
    code: own.body['code'],
  });
  const { verdict, elsewhere } = await verdictOn(desk, step, interactive);
  if (elsewhere) {
    desk.say(`6. Somebody ${verdict === 'approve' ? 'approved' : 'denied'} exactly this action elsewhere.`);
    return verdict;
  }
  const reason = verdict === 'approve' ? 'the goods are on their way' : 'leave it to customer service';
  const answer = await desk.post(
    'orchestrator',
    `${path}/${verdict}`,
    { action_digest, reason },
    { person: OPERATOR, key: `${verdict}-${textOf(step['step_id'])}` },
  );
  desk.say(
    `6. ${OPERATOR.subject} ${verdict === 'approve' ? 'approves' : 'denies'} exactly this action, ${action_digest.slice(0, 12)}…`,
  );
  desk.check(`the decision of ${OPERATOR.subject} was recorded`, answer.status < 300, {
    status: answer.status,
    body: answer.body,
  });
  return verdict;
}

/** Waits for the recovery to come to rest, and checks that every side sees the same end. */
export async function compensated(desk: Desk, story: Case): Promise<void> {
  const mutation = await atRest(desk, story);
  const { body: refund } = await desk.get('provider', `/refunds/${story.refundId}`);
  const reversals = await reversalsOf(desk, story);
  desk.say('7. What each side knows in the end:');
  desk.say(`   ledger      ${textOf(mutation?.['recoverability'])}`);
  desk.say(
    `   provider    refund ${story.refundId} is ${textOf(refund['status'])}, reversed ${String(reversals.length)} time(s)`,
  );
  const isCompensated = desk.check('the ledger says compensated', mutation?.['recoverability'] === 'compensated', {
    recoverability: mutation?.['recoverability'],
    reason: mutation?.['reason'],
  });
  desk.check('the provider took the refund back', refund['status'] === 'reversed', refund);
  desk.check(
    "it did so exactly once, under the recovery's own key",
    reversals.length === 1 && textOf(reversals[0]?.['key']).startsWith('rev_'),
    reversals,
  );
  if (!isCompensated) {
    desk.say(
      '   The provider answered yes. Recourse looked, and saw that nothing had changed: this is not compensated, and a person has it.',
    );
    return;
  }
  await closed(desk, story, 'compensated');
  await debtReturned(desk, story);
}

/** The ending where the window was over before anybody decided. */
export async function windowClosed(desk: Desk, story: Case, step: Facts): Promise<void> {
  desk.say(`6. Nobody decides before ${clockOf(story.expiresAt)}. After that no machine touches it.`);
  const mutation = await atRest(desk, story);
  const late = await desk.post(
    'orchestrator',
    `/v1/steps/${textOf(step['step_id'])}/approve`,
    { action_digest: textOf(step['action_digest']), reason: 'too late' },
    { person: OPERATOR, key: `late-${textOf(step['step_id'])}` },
  );
  desk.say('7. What each side knows in the end:');
  desk.say(`   ledger      ${textOf(mutation?.['recoverability'])}, because ${textOf(mutation?.['reason'])}`);
  desk.check(
    'the ledger says manual_resolution_required',
    mutation?.['recoverability'] === 'manual_resolution_required',
    { recoverability: mutation?.['recoverability'], reason: mutation?.['reason'] },
  );
  desk.check('an approval after the window is refused', late.status >= 400 && late.status < 500, {
    status: late.status,
    code: late.body['code'],
  });
  const { body: refund } = await desk.get('provider', `/refunds/${story.refundId}`);
  desk.say(`   provider    refund ${story.refundId} is ${textOf(refund['status'])}`);
  desk.check(
    'the provider was not asked to reverse',
    refund['status'] === 'settled' && (await reversalsOf(desk, story)).length === 0,
    refund,
  );
  await closed(desk, story, 'manual');
  await debtStands(desk, story);
}

/** The ending where the operator said no: the commit stays rolled back, its effect goes to people. */
export async function denied(desk: Desk, story: Case): Promise<void> {
  const mutation = await atRest(desk, story);
  desk.say(`7. The refund stays. The ledger says ${textOf(mutation?.['recoverability'])}.`);
  desk.check(
    'a denied compensation is a case for people',
    mutation?.['recoverability'] === 'manual_resolution_required',
    { recoverability: mutation?.['recoverability'] },
  );
  await nothingSilent(desk, story);
  await closed(desk, story, 'manual');
  await debtStands(desk, story);
}

async function closed(desk: Desk, story: Case, outcome: 'compensated' | 'manual'): Promise<void> {
  const recovery = await desk.until(PATIENCE_MS, async () => {
    const { body } = await desk.get('orchestrator', `/v1/recoveries?run_id=${story.runId}`, OPERATOR);
    return listOf(body).find((each) => each['phase'] === 'closed') ?? null;
  });
  desk.say(`   recovery    ${textOf(recovery?.['phase'])}, ${textOf(recovery?.['outcome'])}`);
  desk.check(`the recovery is closed as ${outcome}`, recovery?.['outcome'] === outcome, recovery);
  await loyaltyHeard(desk, story, ['RollbackAnnounced', 'RollbackSettled'], 'loyalty heard how it ended');
}

/** The debt of what was verified as undone is given back, and of nothing else. */
async function debtReturned(desk: Desk, story: Case): Promise<void> {
  const refunded = await desk.until(PATIENCE_MS, () => reservationIn(desk, story, 'refunded'));
  const budget = await budgetOf(desk, story, 0);
  desk.say(`   budget      the debt is refunded, now that the compensation was verified: ${usedOf(budget)} are used`);
  desk.check('the debt was refunded after the verified compensation', refunded !== null, refunded);
  desk.check('the run owes nothing any more', budget?.['used_minor'] === 0, budget);
}

/** What nobody undid is still owed. */
async function debtStands(desk: Desk, story: Case): Promise<void> {
  const held = await reservationIn(desk, story, 'settled');
  const budget = await budgetOf(desk, story, debitOf(held));
  desk.say(`   budget      nothing is refunded: ${usedOf(budget)} are used`);
  desk.check('the debt of what was not undone stands', held !== null && budget?.['used_minor'] === debitOf(held), {
    held,
    budget,
  });
}

const usedOf = (budget: Facts | null): string =>
  `${money(numberOf(budget?.['used_minor']) ?? -1)} of the run's ceiling of ${money(numberOf(budget?.['ceiling_minor']) ?? 0)}`;

/** The run's budget, once so much is used of it; as it stands when it does not come to that. */
async function budgetOf(desk: Desk, { runId }: Case, used: number): Promise<Facts | null> {
  const look = async (): Promise<Facts | null> => {
    const { body } = await desk.get('budget', `/v1/budgets?scope=run&scope_id=${runId}`, OPERATOR);
    return listOf(body)[0] ?? null;
  };
  const found = await desk.until(PATIENCE_MS, async () => {
    const budget = await look();
    return budget?.['used_minor'] === used ? budget : null;
  });
  return found ?? look();
}

async function atRest(desk: Desk, story: Case): Promise<Facts | null> {
  const rested = await desk.until(OUTCOME_PATIENCE_MS, () =>
    mutationIn(desk, story.mutationId, ({ recoverability }) => AT_REST.includes(textOf(recoverability))),
  );
  // What did not come to rest is shown as it stands.
  return rested ?? mutationIn(desk, story.mutationId, () => true);
}

async function loyaltyHeard(desk: Desk, { mutationId }: Case, wanted: readonly string[], name: string): Promise<void> {
  let types: readonly string[] = [];
  const heard = await desk.until(PATIENCE_MS, async () => {
    const { body } = await desk.get('loyalty', '/notifications');
    types = listOf(body)
      .filter((each) => each['mutation_id'] === mutationId)
      .map((each) => textOf(each['type']));
    return types.length >= wanted.length ? types : null;
  });
  desk.say(`   loyalty     heard ${types.join(', ') || 'nothing'}`);
  desk.check(name, heard !== null && wanted.every((type, index) => heard[index] === type), types);
}

/** What loyalty made of the refund fell with it, and loyalty said that it heard (E18, E43). */
async function loyaltyAnswered(desk: Desk, { mutationId, order }: Case): Promise<void> {
  const answered = await desk.until(PATIENCE_MS, async () => {
    const { body } = await desk.get('ledger', '/v1/deliveries?consumer=loyalty', OPERATOR);
    return listOf(body).find((each) => each['mutation_id'] === mutationId && each['phase'] === 'acknowledged') ?? null;
  });
  desk.check('loyalty acknowledged the rollback', answered !== null, answered);
  const fallen = await desk.until(PATIENCE_MS, async () => {
    const { body } = await desk.get('ledger', `/v1/commits?run_id=loyalty-${order}&standing=rolled_back`, OPERATOR);
    return listOf(body)[0] ?? null;
  });
  desk.say(
    `   lineage     what loyalty made of the refund, ${textOf(fallen?.['commit_id']).slice(0, 15)}…, fell with it`,
  );
  desk.check('what was derived from the refund fell with it', fallen !== null, fallen?.['rollback_id']);
}

async function reversalsOf(desk: Desk, { refundId }: Case): Promise<readonly Facts[]> {
  const { body } = await desk.get('provider', '/effects');
  return listOf(body).filter((effect) => effect['kind'] === 'reversal' && effect['refund_id'] === refundId);
}

function amountOf(step: Facts): number {
  return numberOf(factsOf(step, 'execution', 'value')['amount_minor']) ?? 0;
}
