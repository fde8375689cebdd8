// A compensation is an execution with its own record, contract and debit, derived from its outcome (A62, B9, C50).
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { canonicalJson, deriveId } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { contractDigest, plainPayload } from '@recourse/contract';
import type { LegVerdict, Observation, RecoveryCall } from '@recourse/messages';
import { fact, WAYS } from '@recourse/testing';
import {
  callFor,
  DISPATCHED,
  dispatchedOf,
  envelope,
  executed,
  fromRecoveries,
  ledger,
  MUTATION,
  NOW,
  refund,
  registered,
  ROLLBACK,
  RUN,
  seen,
  settledOf,
  TENANT,
  TRIGGERED,
  triggerOf,
  command,
} from './ledger.testing.js';

const REVERSE = canonicalJson(
  JSON.parse(readFileSync('examples/contracts/payments.reverse_refund.json', 'utf8')) as Json,
);
const COMPENSATION = deriveId('mut', TENANT, RUN, `rev_${MUTATION}`);
const ANSWER = seen('execute', { refund_id: 're_1', status: 'reversed' }, 'payments.reverse_refund');

const VOIDED = seen('verify', { void_receipt: 'v-1' });
/** The same reversal with a call behind it. */
const TWO_CALLS: RecoveryCall = {
  ...callFor(MUTATION),
  then: [
    {
      capability: 'payments.reset_balance',
      args: plainPayload({}),
      taken: [{ name: 'receipt', call: 1, path: '/void_receipt' }],
      verify_capability: 'payments.get_balance',
      success_condition: 'observed.ok',
      verify_max_attempts: 1,
      verify_delay_ms: 0,
    },
  ],
};

const LEG = { tenant: TENANT, run_id: RUN, recovery_id: 'rec-1', leg_id: 'leg-1', attempt: 1 };
const VERDICT = { outcome: 'compensated', reason: 'SUCCESS_CONDITION_HELD', observations: [] } as const;

/** What the orchestrator settled of a leg of that one step. */
function settled(
  outcome: LegVerdict['outcome'],
  reason: string,
  more: {
    readonly attempt?: number;
    readonly observations?: readonly Observation[];
    readonly call?: RecoveryCall | null;
    readonly calls_done?: number;
    readonly reported?: LegVerdict['reported'];
  } = {},
) {
  const {
    attempt = 1,
    call = callFor(MUTATION),
    ...rest
  } = { observations: [], calls_done: 0, reported: null, ...more };
  const member = { step_id: 'step-1', mutation_id: MUTATION, outcome, reason, call, ...rest };
  return fromRecoveries('LegSettled', { ...LEG, attempt, members: [member] });
}

describe.each(WAYS)('a compensation, $way', ({ isRebuilt }) => {
  const dispatched = (isContracted = true) => {
    const { run, contracts } = ledger({ isRebuilt });
    if (isContracted) contracts.append('payments.reverse_refund', registered(REVERSE));
    return run
      .when(executed(refund()), NOW)
      .when(TRIGGERED, NOW + 1)
      .when(DISPATCHED, NOW + 2);
  };
  const told = (run: ReturnType<typeof dispatched>) => run.rows('compensation').map(({ doc }) => doc);

  it('that was seen to work is an execution under its own contract, and says what it reverses', () => {
    const run = dispatched();
    const hash = run.records().find(({ type }) => type === 'MutationRecorded')?.hash;
    run.when(settled('compensated', 'SUCCESS_CONDITION_HELD', { observations: [ANSWER] }), NOW + 3).then(
      fact('RecoverabilityChanged'),
      fact('CompensationsExecuted', {
        tenant: TENANT,
        run_id: RUN,
        recovery_id: 'rec-1',
        members: [
          {
            compensation_id: COMPENSATION,
            effect_key: `rev_${MUTATION}`,
            reverses_mutation_id: MUTATION,
            reverses_record_hash: hash,
            rollback_id: ROLLBACK,
            step_id: 'step-1',
            attempt: 1,
            capability: 'payments.reverse_refund',
            contract_digest: contractDigest(REVERSE),
            contract_version: 1,
            reversal_class: 'irreversible',
            value: { amount_minor: 4_200, currency: 'INR' },
            result: ANSWER.observed,
            execution_state: 'succeeded',
            reason: 'SUCCESS_CONDITION_HELD',
            agent_id: 'agent-1',
            initiator: 'ada',
          },
        ],
      }),
    );
    expect(told(run)).toMatchObject([{ compensation_id: COMPENSATION, execution_state: 'succeeded', tenant: TENANT }]);
    expect(run.rows('mutation')).toHaveLength(1);
  });

  it('is one, however often its outcome is told and on however many attempts', () => {
    const run = dispatched()
      .when(settled('uncertain', 'NO_ANSWER'), NOW + 3)
      .then(fact('CompensationsExecuted', { members: [{ execution_state: 'uncertain', attempt: 1 }] }))
      .when(settled('uncertain', 'NO_ANSWER', { attempt: 2 }), NOW + 4)
      .then()
      .when(settled('compensated', 'SUCCESS_CONDITION_HELD', { attempt: 3 }), NOW + 5)
      .then(
        fact('RecoverabilityChanged'),
        fact('CompensationsExecuted', { members: [{ execution_state: 'succeeded', attempt: 3 }] }),
      )
      .when(settled('compensated', 'SUCCESS_CONDITION_HELD', { attempt: 3 }), NOW + 6)
      .then();
    expect(told(run)).toMatchObject([{ execution_state: 'succeeded', created_at: NOW + 3, updated_at: NOW + 5 }]);
  });

  it('keeps what its tool answered where a later look, which calls nothing, sees that it worked', () => {
    const answered = settled('uncertain', 'OUTCOME_NOT_KNOWN', { observations: [ANSWER], reported: 'unknown' });
    const run = dispatched().when(answered, NOW + 3);
    const seenLater = settled('compensated', 'SUCCESS_CONDITION_HELD', { attempt: 2 });
    run
      .when(seenLater, NOW + 4)
      .then(
        fact('RecoverabilityChanged'),
        fact('CompensationsExecuted', { members: [{ execution_state: 'succeeded', result: ANSWER.observed }] }),
      );
    expect(told(run)).toMatchObject([{ execution_state: 'succeeded', result: ANSWER.observed }]);
    const failed = dispatched()
      .when(answered, NOW + 3)
      .when(settled('failed', 'TOOL_FAILED', { attempt: 2 }), NOW + 4);
    expect(told(failed)).toMatchObject([{ execution_state: 'failed', result: null }]);
  });

  it('whose tool answered has executed, whatever was seen of it after; one nobody heard may have', () => {
    const answered = settled('unverified', 'SUCCESS_CONDITION_FALSE', { observations: [ANSWER] });
    dispatched()
      .when(answered, NOW + 3)
      .then(
        fact('RecoverabilityChanged'),
        fact('CompensationsExecuted', { members: [{ execution_state: 'succeeded' }] }),
      );
    // Its worker says that it was seen to work, and who observes that one says nothing.
    const unconfirmed = settled('uncertain', 'NO_ANSWER', { observations: [ANSWER], reported: 'verified' });
    dispatched()
      .when(unconfirmed, NOW + 3)
      .then(fact('CompensationsExecuted', { members: [{ execution_state: 'succeeded' }] }));
    dispatched()
      .when(settled('uncertain', 'OUTCOME_NOT_KNOWN', { observations: [ANSWER], reported: 'unknown' }), NOW + 3)
      .then(fact('CompensationsExecuted', { members: [{ execution_state: 'uncertain' }] }));
    dispatched()
      .when(settled('unverified', 'SUCCESS_NOT_OBSERVED'), NOW + 3)
      .then(
        fact('RecoverabilityChanged'),
        fact('CompensationsExecuted', { members: [{ execution_state: 'uncertain', result: null }] }),
      );
    dispatched()
      .when(settled('failed', 'TOOL_FAILED'), NOW + 3)
      .then(fact('RecoverabilityChanged'), fact('CompensationsExecuted', { members: [{ execution_state: 'failed' }] }));
  });

  it.each(['stale', 'not_begun', 'failed'] as const)('that nobody called is none: %s', (outcome) => {
    const run = dispatched().when(settled(outcome, 'NOT_EXECUTED', { call: null }), NOW + 3);
    expect(told(run)).toEqual([]);
  });

  it('without a contract of its own counts as irreversible, and its value is not known', () => {
    const run = dispatched(false).when(settled('compensated', 'SUCCESS_CONDITION_HELD'), NOW + 3);
    expect(told(run)).toMatchObject([
      { contract_digest: null, contract_version: null, reversal_class: 'irreversible', value: null },
    ]);
  });

  it('of several calls is an execution for each that was made, once, whatever a later attempt tells of it', () => {
    const more = { attempt: 1, observations: [ANSWER, VOIDED], call: TWO_CALLS, calls_done: 1 };
    const run = dispatched()
      .when(settled('failed', 'TOOL_FAILED', more), NOW + 3)
      .then(
        fact('RecoverabilityChanged'),
        fact('CompensationsExecuted', {
          members: [
            { compensation_id: COMPENSATION, capability: 'payments.reverse_refund', execution_state: 'succeeded' },
            {
              compensation_id: deriveId('mut', TENANT, RUN, `rev_${MUTATION}_2`),
              effect_key: `rev_${MUTATION}_2`,
              idempotency_key: `rev_${MUTATION}_2`,
              capability: 'payments.reset_balance',
              args: plainPayload({ receipt: 'v-1' }),
              execution_state: 'failed',
            },
          ],
        }),
      );
    run.when(settled('compensated', 'SUCCESS_CONDITION_HELD', { ...more, attempt: 2, calls_done: 2 }), NOW + 4).then(
      fact('RecoverabilityChanged'),
      fact('CompensationsExecuted', {
        members: [{ effect_key: `rev_${MUTATION}_2`, execution_state: 'succeeded', attempt: 2 }],
      }),
    );
  });

  it('is told beside sixty-three others at the most, since whoever debits them does so at once (L4)', () => {
    const { run } = ledger({ isRebuilt });
    const keys = Array.from({ length: 9 }, (_, at) => `order-${String(at)}`);
    for (const effect_key of keys) run.when(executed(refund({ effect_key })), NOW);
    const [then] = TWO_CALLS.then;
    const members = keys.map((effect_key) => {
      const mutation_id = deriveId('mut', TENANT, RUN, effect_key);
      const call = { ...callFor(mutation_id), then: Array(7).fill({ ...then, taken: [] }) };
      return { ...VERDICT, step_id: effect_key, mutation_id, call, calls_done: 8 };
    });
    run.when(fromRecoveries('LegSettled', { ...LEG, members }), NOW + 1);
    const told = run.recorded().filter(({ type }) => type === 'CompensationsExecuted');
    expect(told.map(({ body }) => (body['members'] as unknown[]).length)).toEqual([64, 8]);
    expect(new Set(run.rows('compensation').map(({ key }) => key)).size).toBe(72);
  });

  it('is none for a further call that was not made', () => {
    const more = { call: TWO_CALLS, calls_done: 1, observations: [ANSWER] };
    const first = { effect_key: `rev_${MUTATION}`, execution_state: 'succeeded' };
    for (const [outcome, reason] of [
      ['failed', 'NOT_EXECUTED'],
      ['stale', 'STALE_CONDITION_FALSE'],
    ] as const) {
      const run = dispatched().when(settled(outcome, reason, more), NOW + 3);
      expect(told(run)).toMatchObject([first]);
    }
  });

  it('is reached by no undo of its run', () => {
    dispatched()
      .when(settled('compensated', 'SUCCESS_CONDITION_HELD'), NOW + 3)
      .when(undo([]), NOW + 4)
      .then(fact('UndoListed', { mutation_ids: [MUTATION], unknown_ids: [], is_last: true }));
  });

  it('is undone by nobody who names it: what it did is made again by an action of its own', () => {
    const run = dispatched().when(settled('compensated', 'SUCCESS_CONDITION_HELD'), NOW + 3);
    const refusal = { httpStatus: 422, code: 'COMPENSATION_STANDS' };
    run.when(undo([COMPENSATION]), NOW + 4).thenAnswer(refusal);
    run.when(triggerOf(RUN, COMPENSATION), NOW + 5).thenAnswer(refusal);
    expect(run.rows('trigger')).toEqual([]);
  });
});

describe.each(WAYS)('a capability that undoes itself, $way', ({ isRebuilt }) => {
  const body = canonicalJson(JSON.parse(readFileSync('examples/contracts/tickets.set_status.json', 'utf8')) as Json);
  const status = (of: string): Json => ({ ticket: 'T-1', status: of });
  const closing = refund({
    capability: 'tickets.set_status',
    contract_digest: contractDigest(body),
    effect_key: 'close-1',
    args: plainPayload(status('closed')),
    result: plainPayload({ ...(status('closed') as object), version: 4 }),
    prior_value: plainPayload({ status: 'open' }),
    external_transaction_ref: null,
  });
  const id = deriveId('mut', TENANT, RUN, 'close-1');

  it('takes back the prior value once, and its reversal is undone by nobody', () => {
    const { run, contracts } = ledger({ isRebuilt });
    contracts.append('tickets.set_status', registered(body));
    run.when(executed(closing), NOW).then(
      fact('MutationRecorded', {
        ref: {
          reversal_capability: 'tickets.set_status',
          reversal_args: plainPayload({ ...(status('open') as object), expected_version: 4 }),
        },
      }),
    );
    const call = { ...callFor(id), capability: 'tickets.set_status', args: plainPayload(status('open')) };
    const about = { tenant: TENANT, run_id: RUN, recovery_id: 'rec-1', step_id: 'step-1', mutation_id: id };
    run
      .when(triggerOf(RUN, id), NOW + 1)
      .when(dispatchedOf(about, 1), NOW + 2)
      .when(
        settledOf(about, {
          attempt: 1,
          outcome: 'compensated',
          reason: 'SUCCESS_CONDITION_HELD',
          call,
          observations: [],
        }),
        NOW + 3,
      )
      .then(
        fact('RecoverabilityChanged'),
        fact('CompensationsExecuted', {
          members: [{ capability: 'tickets.set_status', reversal_class: 'compensable', reverses_mutation_id: id }],
        }),
      );
    const own = deriveId('mut', TENANT, RUN, `rev_${id}`);
    run.when(undo([own]), NOW + 4).thenAnswer({ httpStatus: 422, code: 'COMPENSATION_STANDS' });
    run.when(triggerOf(RUN, own), NOW + 5).thenAnswer({ httpStatus: 422, code: 'COMPENSATION_STANDS' });
    run.when(undo([]), NOW + 6).then(fact('UndoListed', { mutation_ids: [id], unknown_ids: [] }));
  });
});

function undo(ids: readonly string[]) {
  return command('UndoRun', envelope('olga', ['requester']), { run_id: RUN, mutation_ids: ids, reason: 'wrong order' });
}
