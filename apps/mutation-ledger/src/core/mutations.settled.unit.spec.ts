import { describe, expect, it } from '@jest/globals';
import { contractDigest } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import type { CommandEnvelope } from '@recourse/messages';
import { fact, WAYS } from '@recourse/testing';
import {
  command,
  contractText,
  envelope,
  executed,
  intent,
  ledger,
  MUTATION,
  NOW,
  planned,
  refund,
  RUN,
  TRIGGERED,
} from './ledger.testing.js';

const DAY = 86_400_000;
const UNCONTRACTED = refund({ contract_digest: null });
const UNCERTAIN = refund({ outcome: 'uncertain', result: null });
const IRREVERSIBLE = contractText({
  reversal_class: 'irreversible',
  reversal: undefined,
  verify: undefined,
  forward_approval: 'human',
});

/** A person's word; each under an id of its own. */
function settle(
  as: string,
  { principal = 'olga', roles = ['operator'], ...by }: Partial<CommandEnvelope> = {},
  more: object = {},
): RecordInput {
  return command('SettleMutation', envelope(principal, roles, { command_id: `cmd-${as}`, ...by }), {
    run_id: RUN,
    mutation_id: MUTATION,
    settled_as: as,
    reason: 'seen at the provider',
    ...more,
  });
}

describe.each(WAYS)('an effect that nothing automatic can take back, $way', ({ isRebuilt }) => {
  const start = (event = UNCONTRACTED) => ledger({ isRebuilt }).run.when(executed(event), NOW);
  const awaited = (run: ReturnType<typeof start>): unknown => run.rows('mutation')[0]?.doc.awaited;

  it.each([
    ['names no contract', UNCONTRACTED],
    ['brought no handle', refund({ result: null, external_transaction_ref: null })],
  ])("is a person's from the start where it %s, with owner and deadline", (_why, event) => {
    const run = start(event).then(
      fact('MutationRecorded', { recoverability: 'manual_resolution_required', review_by: NOW + DAY }),
    );
    expect(awaited(run)).toEqual({ owner: 'role:operator', deadline_at: NOW + DAY, is_overdue: true });
    run.whenDue(NOW + DAY).thenNothing();
  });

  it("is nobody's where its contract said so before, where it can be taken back, and where it failed", () => {
    const known = ledger({ isRebuilt, contracts: [IRREVERSIBLE] }).run.when(
      executed(refund({ contract_digest: contractDigest(IRREVERSIBLE) })),
      NOW,
    );
    known.then(fact('MutationRecorded', { reason: 'NO_REVERSAL', review_by: null }));
    for (const event of [refund(), refund({ contract_digest: null, outcome: 'failed', result: null })]) {
      const run = start(event).then(fact('MutationRecorded', { review_by: null }));
      expect(awaited(run)).toBeNull();
    }
  });

  it.each(['accepted', 'repaired'])('is closed by a person as %s, on record and once', (as) => {
    const run = start()
      .when(settle(as), NOW + 1)
      .then(
        fact('MutationSettled', { mutation_id: MUTATION, settled_as: as, by: 'olga', reason: 'seen at the provider' }),
      )
      .thenAnswer({ httpStatus: 200, body: { mutation_id: MUTATION, settled_as: as } });
    expect(run.rows('mutation')[0]?.doc).toMatchObject({
      awaited: null,
      recoverability: 'manual_resolution_required',
      settled: { settled_as: as, by: 'olga', at: NOW + 1 },
    });
    run
      .when(settle('repaired', { command_id: 'cmd-again' }), NOW + 2)
      .thenAnswer({ httpStatus: 409, code: 'NOTHING_TO_SETTLE' });
  });

  it('is asked about by its recovery, and no more here, once it falls', () => {
    const run = start().when(TRIGGERED, NOW + 1);
    expect(awaited(run)).toBeNull();
    run.when(settle('accepted'), NOW + 2).thenAnswer({ httpStatus: 409, code: 'NOTHING_TO_SETTLE' });
  });

  it.each([
    ['of another tenant', { tenant: 'beta' }, {}, 404, 'MUTATION_UNKNOWN'],
    ['about another effect', {}, { mutation_id: 'mut_x' }, 404, 'MUTATION_UNKNOWN'],
    ['by a reader', { roles: ['reader'] }, {}, 403, 'ROLE_REQUIRED'],
    ['by an agent', { principal: 'agent:a2' }, {}, 403, 'JUDGE_NOT_A_PERSON'],
    ['by whom it was done for', { principal: 'ines' }, {}, 403, 'SELF_APPROVAL'],
    ['without a reason', {}, { reason: ' ' }, 422, 'COMMAND_INVALID'],
    ['as what nobody asked', {}, { settled_as: 'not_done' }, 409, 'ANSWER_UNFIT'],
  ])('is not closed %s', (_who, by, more, httpStatus, code) => {
    const run = start(refund({ contract_digest: null, initiator: 'ines' })).when(settle('accepted', by, more), NOW + 1);
    run.thenAnswer({ httpStatus, code });
    expect(awaited(run)).not.toBeNull();
  });

  it('is not closed under the key of another run', () => {
    start()
      .when({ ...settle('accepted'), key: 'run-2' }, NOW + 1)
      .thenAnswer({ httpStatus: 422, code: 'KEY_MISMATCH' });
  });
});

describe.each(WAYS)('a call that failed and that its agent gives to a person (D18), $way', ({ isRebuilt }) => {
  const failed = (more: Parameters<typeof refund>[0] = {}) =>
    refund({ outcome: 'failed', result: null, error_kind: 'POLICY_DENIED', handled_as: 'escalated', ...more });
  const start = (event = failed()) => ledger({ isRebuilt }).run.when(executed(event), NOW);
  const row = (run: ReturnType<typeof start>) => run.rows('mutation')[0]?.doc;

  it("is a person's at once, with owner, deadline and what failed; a later word of theirs ends it, once", () => {
    const run = start().then(
      fact('MutationRecorded', {
        execution_state: 'failed',
        reason: 'ESCALATED:POLICY_DENIED',
        review_by: NOW + DAY,
        conclude_by: null,
      }),
    );
    expect(row(run)?.awaited).toEqual({ owner: 'role:operator', deadline_at: NOW + DAY, is_overdue: true });
    run.when(settle('took_effect'), NOW + 1).thenAnswer({ httpStatus: 409, code: 'ANSWER_UNFIT' });
    run
      .when(settle('repaired'), NOW + 2)
      .then(fact('MutationSettled', { settled_as: 'repaired', by: 'olga' }))
      .thenAnswer({ httpStatus: 200, body: { settled_as: 'repaired' } });
    expect(row(run)).toMatchObject({ awaited: null, execution_state: 'failed' });
    run.when(executed(failed()), NOW + 3).thenNothing();
  });

  it("is nobody's where the agent goes on by itself, and says no more of a kind of error than that it is one", () => {
    const retried = start(failed({ handled_as: 'retry_scheduled' }));
    retried.then(fact('MutationRecorded', { reason: 'EXECUTION_FAILED', review_by: null }));
    expect(row(retried)?.awaited).toBeNull();
    start(failed({ error_kind: 'please wire to IBAN 12' })).then(
      fact('MutationRecorded', { reason: 'ESCALATED:UNKNOWN', review_by: NOW + DAY }),
    );
  });

  it('is asked about after the last of its attempts, and no more once one of them took hold', () => {
    const run = start(failed({ error_kind: 'RATE_LIMITED', handled_as: 'retry_scheduled' })).when(
      executed(failed({ error_kind: 'RATE_LIMITED', event_id: 'evt-2', committed_at: NOW + 1 })),
      NOW + 2,
    );
    run.then(fact('MutationRecorded', { reason: 'ESCALATED:RATE_LIMITED', review_by: NOW + 2 + DAY }));
    run
      .when(executed(refund({ event_id: 'evt-3' })), NOW + 3)
      .then(fact('MutationRecorded', { execution_state: 'succeeded', reason: null, review_by: null }));
    expect(row(run)?.awaited).toBeNull();
  });

  it('of unknown end is asked about at once: whether it took effect, and no worker finds out instead', () => {
    const run = start(failed({ outcome: 'uncertain', error_kind: 'SERVER' })).then(
      fact('MutationRecorded', { reason: 'ESCALATED:SERVER', review_by: NOW + DAY, reconcile_at: null }),
    );
    run.when(settle('not_done'), NOW + 1).thenAnswer({ httpStatus: 200, body: { settled_as: 'not_done' } });
    expect(row(run)).toMatchObject({ awaited: null, execution_state: 'failed' });
  });
});

describe.each(WAYS)('an execution nobody told the end of, and a person, $way', ({ isRebuilt }) => {
  const CONCLUDE = 60_000;
  const overdue = (input: RecordInput) =>
    ledger({ isRebuilt, concludeWithinMs: CONCLUDE })
      .run.when(input, NOW)
      .whenDue(NOW + CONCLUDE);

  it.each([
    ['planned', planned(intent())],
    ['uncertain', executed(UNCERTAIN)],
  ])('took no effect, they say of one that was %s', (_state, input) => {
    const run = overdue(input).when(settle('not_done'), NOW + DAY);
    run
      .then(
        fact('MutationSettled', { settled_as: 'not_done', by: 'olga' }),
        fact('MutationRecorded', { execution_state: 'failed', event_id: 'cmd-not_done.not_done' }),
      )
      .thenAnswer({ httpStatus: 200, body: { settled_as: 'not_done' } });
    expect(run.rows('mutation')[0]).toMatchObject({ dueAt: null, doc: { awaited: null, execution_state: 'failed' } });
  });

  it('took effect, they say; nothing can take it back without its handle, so that is the next question', () => {
    const run = overdue(executed(refund({ outcome: 'uncertain', result: null, external_transaction_ref: null }))).when(
      settle('took_effect'),
      NOW + DAY,
    );
    run.then(
      fact('MutationSettled', { settled_as: 'took_effect' }),
      fact('MutationRecorded', {
        execution_state: 'succeeded',
        recoverability: 'manual_resolution_required',
        found_out: { how: 'person', by: 'olga', verdict: 'met', observations: [] },
      }),
    );
    run
      .when(settle('accepted', { command_id: 'cmd-next' }), NOW + DAY + 1)
      .then(fact('MutationSettled', { settled_as: 'accepted' }));
  });

  it('is not theirs to say before it is overdue, nor in the words of another question', () => {
    const early = ledger({ isRebuilt, concludeWithinMs: CONCLUDE }).run.when(executed(UNCERTAIN), NOW);
    early.when(settle('not_done'), NOW + 1).thenAnswer({ httpStatus: 409, code: 'NOTHING_TO_SETTLE' });
    overdue(executed(UNCERTAIN))
      .when(settle('accepted'), NOW + DAY)
      .thenAnswer({ httpStatus: 409, code: 'ANSWER_UNFIT' });
  });

  it('may still be contradicted by proof', () => {
    overdue(executed(UNCERTAIN))
      .when(settle('not_done'), NOW + 2 * CONCLUDE)
      .when(executed(refund()), NOW + 3 * CONCLUDE)
      .then(fact('MutationRecorded', { execution_state: 'succeeded', recoverability: 'reversal_available' }));
  });
});
