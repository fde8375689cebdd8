// A run is taken back: which effects an undo reaches, in which order (B3, B17), and what a failed step takes with it (A53).
import { describe, expect, it } from '@jest/globals';
import { EFFECTS_MAX } from '../rules/mutation/refs.decider.js';
import { fact, WAYS } from '@recourse/testing';
import { plainPayload } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import {
  command,
  envelope,
  executed,
  intent,
  ledger,
  NOW,
  planned,
  refund,
  RUN,
  TENANT,
  TRIGGERED,
  fell,
} from './ledger.testing.js';
import { undoIdOf } from '../rules/undo/undo.decider.js';
import { mutationIdOf } from './executions.js';

const UNDO = undoIdOf('cmd-1');
const effect = (key: string, more: Parameters<typeof refund>[0] = {}) =>
  refund({
    event_id: `evt-${key}`,
    effect_key: key,
    call_id: `call-${key}`,
    idempotency_key: `key-${key}`,
    assumption_refs: [],
    ...more,
  });
const idOf = (key: string): string => mutationIdOf(effect(key));
const opened = (ids: readonly string[] = [], tenant = TENANT) =>
  command('UndoRun', envelope('rita', ['requester'], { tenant, command_id: 'cmd-1' }), {
    run_id: RUN,
    mutation_ids: ids,
    reason: 'wrong order',
  });
const hits = (...keys: readonly string[]) =>
  fell(
    ...keys.map((key) => ({ mutation_id: idOf(key), run_id: RUN, evidence: { event_id: 'cmd-1', source: 'rita' } })),
  );
const waiting = (key: string) => fact('TriggerUnmatched', { mutation_id: idOf(key), run_id: RUN });
const spread = (keys: readonly string[], more: Readonly<Record<string, unknown>> = {}) =>
  fact('UndoListed', { undo_id: UNDO, mutation_ids: keys.map(idOf), unknown_ids: [], is_last: true, ...more });

describe.each(WAYS)('an undo, $way', ({ isRebuilt }) => {
  const ran = (...keys: readonly string[]) =>
    keys.reduce((run, key, index) => run.when(executed(effect(key)), NOW + index), ledger({ isRebuilt }).run);

  it('of a run reaches each of its effects, last first', () => {
    ran('a', 'b', 'c')
      .when(opened(), NOW + 10)
      .then(spread(['c', 'b', 'a']), hits('c', 'b', 'a'));
  });

  it('of some reaches these, in the same order, and names what the run does not have', () => {
    ran('a', 'b', 'c')
      .when(opened([idOf('a'), 'mut_never', idOf('c')]), NOW + 10)
      .then(spread(['c', 'a'], { unknown_ids: ['mut_never'] }), hits('c', 'a'));
  });

  it('names also what was rolled back before, and contradicts it not again', () => {
    ledger({ isRebuilt })
      .run.when(executed(refund()), NOW)
      .when(TRIGGERED, NOW + 1)
      .when(opened(), NOW + 2)
      .then(fact('UndoListed', { mutation_ids: [mutationIdOf(refund())] }));
  });

  it('takes a plan before everything that was done', () => {
    const { run } = ledger({ isRebuilt });
    run
      .when(planned(intent({ effect_key: 'p', event_id: 'evt-p' })), NOW)
      .when(executed(effect('a')), NOW + 1)
      .when(opened(), NOW + 2);
    run.then(spread(['p', 'a']), waiting('p'), hits('a'));
  });

  it('goes in bounded parts, each once', () => {
    const { run } = ledger({ isRebuilt, effectsMax: 2 });
    ['a', 'b', 'c', 'd', 'e'].forEach((key, index) => {
      run.when(executed(effect(key)), NOW + index);
    });
    run.when(opened(), NOW + 10).then(spread(['e', 'd'], { is_last: false }), hits('e', 'd'));
    run.whenDue(NOW + 10).then(spread(['c', 'b'], { is_last: false }), hits('c', 'b'), spread(['a']), hits('a'));
    expect(run.rows('undo').map(({ doc }) => doc['phase'])).toEqual(['listed']);
  });

  it('names what is recorded again between two parts, and nothing that came to be meanwhile', () => {
    const { run } = ledger({ isRebuilt, effectsMax: 2 });
    run.when(executed(effect('a', { outcome: 'uncertain', result: null, external_transaction_ref: null })), NOW);
    ['b', 'c', 'd'].forEach((key, index) => {
      run.when(executed(effect(key)), NOW + 1 + index);
    });
    run.when(opened(), NOW + 10).then(spread(['d', 'c'], { is_last: false }), hits('d', 'c'));
    run.when(executed(effect('a', { event_id: 'evt-a-found' })), NOW + 11).when(executed(effect('e')), NOW + 12);
    run.whenDue(NOW + 12).then(spread(['a', 'b']), hits('a', 'b'));
    expect(run.rows('undo').map(({ doc }) => doc['phase'])).toEqual(['listed']);
  });

  it('of another tenant reaches nothing', () => {
    ran('a')
      .when(opened([], 'evil'), NOW + 10)
      .then(fact('UndoListed', { mutation_ids: [], is_last: true }));
  });
});

describe.each(WAYS)('a step that fails for good, $way', ({ isRebuilt }) => {
  const failing = (key: string, more: Parameters<typeof refund>[0] = {}) =>
    executed(
      effect(key, {
        outcome: 'failed',
        result: null,
        external_transaction_ref: null,
        on_failure: 'compensate',
        ...more,
      }),
    );

  it('takes back what its run did before, last first, where the run says so (A53)', () => {
    const { run } = ledger({ isRebuilt });
    run
      .when(executed(effect('a')), NOW)
      .when(executed(effect('b')), NOW + 1)
      .when(failing('c', { error_kind: 'REJECTED' }), NOW + 2)
      .then(
        fact('MutationRecorded', { execution_state: 'failed' }),
        fact('UndoListed', {
          undo_id: deriveId('undo', idOf('c'), 'payments.issue_refund', 'evt-c'),
          mutation_ids: [idOf('b'), idOf('a')],
        }),
        fell(
          {
            mutation_id: idOf('b'),
            evidence: {
              kind: 'tool_return',
              event_id: 'evt-c',
              // Without it nobody could agree to a step: what speaks against the effect is a fact they need.
              statement: plainPayload({
                failed: idOf('c'),
                capability: 'payments.issue_refund',
                step_id: 'refund',
                error_kind: 'REJECTED',
              }),
            },
          },
          { mutation_id: idOf('a') },
        ),
      );
    expect(run.rows('undo')).toMatchObject([
      {
        dueAt: null,
        doc: {
          phase: 'listed',
          command_id: null,
          begun_by: { mutation_id: idOf('c'), step_id: 'refund' },
          mutation_ids: [idOf('b'), idOf('a')],
        },
      },
    ]);
  });

  it('leaves it where the run does not', () => {
    ledger({ isRebuilt })
      .run.when(executed(effect('a')), NOW)
      .when(failing('c', { on_failure: 'keep' }), NOW + 2)
      .then(fact('MutationRecorded'));
  });

  it.each(['retry_scheduled', 'evidence_refreshed'] as const)(
    'takes nothing along while it is tried again (%s), and all once it is given up',
    (handled_as) => {
      const { run } = ledger({ isRebuilt });
      run
        .when(executed(effect('a')), NOW)
        .when(failing('c', { error_kind: 'RATE_LIMITED', handled_as }), NOW + 2)
        .then(fact('MutationRecorded', { execution_state: 'failed' }))
        .when(failing('d', { error_kind: 'RATE_LIMITED', handled_as: 'escalated' }), NOW + 3)
        .then(
          fact('MutationRecorded', { execution_state: 'failed' }),
          fact('UndoListed', { mutation_ids: [idOf('c'), idOf('a')] }),
          fell({ mutation_id: idOf('c') }, { mutation_id: idOf('a') }),
        );
    },
  );

  it.each(['escalated', 'deprecated', null] as const)(
    'takes all along once the same call was made again, failed again, and is given up (%s)',
    (handled_as) => {
      const { run } = ledger({ isRebuilt });
      const again = { event_id: 'evt-c2', committed_at: NOW + 3 };
      run
        .when(executed(effect('a')), NOW)
        .when(failing('c', { error_kind: 'RATE_LIMITED', handled_as: 'retry_scheduled' }), NOW + 2)
        .when(failing('c', { error_kind: 'REJECTED', handled_as, ...again }), NOW + 4)
        .then(
          fact('MutationRecorded', { execution_state: 'failed' }),
          fact('UndoListed', { mutation_ids: [idOf('a')] }),
          fell({ mutation_id: idOf('a') }),
        )
        .when(failing('c', { error_kind: 'REJECTED', handled_as, ...again }), NOW + 5)
        .thenNothing();
    },
  );

  it('takes along what was done since, where its producer tells of the next failure under the id of the first', () => {
    const { run } = ledger({ isRebuilt });
    run
      .when(executed(effect('a')), NOW)
      .when(failing('c', { error_kind: 'REJECTED' }), NOW + 2)
      .when(executed(effect('b')), NOW + 3)
      .when(failing('c', { error_kind: 'REJECTED', committed_at: NOW + 4 }), NOW + 5)
      .then(
        fact('MutationRecorded', { execution_state: 'failed' }),
        fact('UndoListed', { mutation_ids: [idOf('b')], is_last: true }),
        fell({ mutation_id: idOf('b') }),
      );
    expect(run.rows('undo').map(({ doc }) => doc['mutation_ids'])).toEqual(
      expect.arrayContaining([[idOf('a')], [idOf('b')]]),
    );
  });

  it('takes nothing along while it fails time after time, and counts no more than thirty-two of them', () => {
    const { run } = ledger({ isRebuilt });
    run.when(executed(effect('a')), NOW);
    for (let attempt = 1; attempt <= 40; attempt += 1) {
      const more = {
        handled_as: 'retry_scheduled',
        event_id: `evt-c${String(attempt)}`,
        committed_at: NOW + attempt,
      } as const;
      run
        .when(failing('c', more), NOW + 2 * attempt)
        .then(fact(attempt <= 32 ? 'MutationRecorded' : 'ExecutionConflicted', { mutation_id: idOf('c') }));
    }
    run
      .when(failing('c', { handled_as: 'escalated', event_id: 'evt-last', committed_at: NOW + 99 }), NOW + 100)
      .then(
        fact('MutationRecorded'),
        fact('UndoListed', { mutation_ids: [idOf('a')] }),
        fell({ mutation_id: idOf('a') }),
      );
  });

  it('takes nothing along while it is not known that it failed', () => {
    ledger({ isRebuilt })
      .run.when(executed(effect('a')), NOW)
      .when(failing('c', { outcome: 'uncertain' }), NOW + 2)
      .then(fact('MutationRecorded', { execution_state: 'uncertain' }));
  });

  it('leaves another run and another tenant alone', () => {
    const { run } = ledger({ isRebuilt });
    run
      .when(executed(effect('a', { run_id: 'run-other' })), NOW)
      .when(executed(effect('b', { tenant: 'evil' })), NOW + 1)
      .when(failing('c'), NOW + 2)
      .then(fact('MutationRecorded'));
  });

  it('takes itself back in no part of a long run: what its agent does again stands', () => {
    const { run } = ledger({ isRebuilt });
    const keys = Array.from({ length: EFFECTS_MAX }, (_, at) => `k${String(at)}`);
    for (const key of keys) run.when(executed(effect(key)), NOW);
    run.when(failing('c'), NOW + 1).whenDue(NOW + 1);
    expect(run.rows('undo')).toMatchObject([{ doc: { phase: 'listed', mutation_ids: [...keys].reverse().map(idOf) } }]);
    run.when(executed(effect('c', { event_id: 'evt-c-again' })), NOW + 2).then(fact('MutationRecorded'));
    expect(run.rows('mutation').find(({ key }) => key === idOf('c'))?.doc).toMatchObject({
      execution_state: 'succeeded',
      rollback_id: null,
    });
  });
});
