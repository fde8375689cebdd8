// What else is said of a commit while a trigger of it is held, and what became of the fact meanwhile: nothing is dropped, and nothing that
// holds again is let go by a program (D65).
import { describe, expect, it } from '@jest/globals';
import type { Decided, RecordInput } from '@recourse/event-log';
import { rollbackIdOf } from '@recourse/messages';
import { entrySaid, fact, WAYS } from '@recourse/testing';
import { NO_LIMITS } from '../rules/admission/admission.messages.js';
import type { AdmissionLimits } from '../rules/admission/admission.messages.js';
import { mutationIdOf } from './executions.js';
import { command, envelope, executed, fell, ledger, refund, RUN, state, statement } from './ledger.testing.js';
import type { Ledger } from './ledger.testing.js';

const REVIEW = 400_000;
const A = 'order/1#open';
const B = 'order/1#paid';
const effect = refund({ contract_digest: null, assumption_refs: [A, B], committed_at: 1 });
const MUTATION = mutationIdOf(effect);

describe.each(WAYS)('a commit of which a trigger is held, $way', ({ isRebuilt }) => {
  let on: Ledger;
  const start = (limits: Partial<AdmissionLimits>) => {
    on = ledger({ isRebuilt, admission: { ...NO_LIMITS, ...limits }, reviewDeadlineMs: REVIEW });
    return on.run.when(executed(effect), 500);
  };
  const stated = (verdict: 'invalidated' | 'holds', event: string, ref: string, source: string): RecordInput =>
    state(on.assumptions, statement(verdict, event, { ref, source }));
  const judged = (type: 'ConfirmTrigger' | 'RejectTrigger'): RecordInput =>
    command(type, envelope('olga', ['approver'], { command_id: `cmd-${type}` }), {
      run_id: RUN,
      rollback_id: rollbackIdOf('acme', MUTATION),
      mutation_id: MUTATION,
      reason: 'looked at it',
    });
  const trusted = (name: string, trust: number): Decided =>
    entrySaid('context_source', {
      name,
      tenant: 'acme',
      body: {
        ...{ owner: 'ops', doc: 'd', sensitivity: 'internal', access: 'stream', ttl_ms: 100_000_000 },
        trust_permille: trust,
      },
    });
  const heldOf = (run: Ledger['run']) => run.rows('rollback').find(({ doc }) => doc['mutation_id'] === MUTATION)?.doc;

  it('is held for the next word once a person has rejected the first, with a deadline of its own', () => {
    const run = start({ trustThresholdPermille: 600 })
      .when(stated('invalidated', 'ev-1', A, 'crm'), 1_000)
      .then(fact('TriggerHeld', { evidence: { source: 'crm' } }))
      .when(stated('invalidated', 'ev-2', B, 'warehouse'), 2_000)
      .then(fact('TriggerRedundant', { evidence: { source: 'warehouse' } }))
      .when(judged('RejectTrigger'), 3_000)
      .then(
        fact('TriggerRejected'),
        fact('SourceJudged', { source: 'crm', confirmed: false }),
        fact('TriggerHeld', { evidence: { source: 'warehouse', ref: B }, deadline_at: 3_000 + REVIEW }),
      )
      .thenAnswer({ status: 'accepted', httpStatus: 200, body: { phase: 'held', verdict: 'rejected' } });
    expect(heldOf(run)).toMatchObject({ phase: 'held', evidence: { source: 'warehouse' } });
    expect(heldOf(run)).not.toHaveProperty('also');
    run
      .when(
        command('ConfirmTrigger', envelope('olga', ['approver'], { command_id: 'cmd-second' }), {
          run_id: RUN,
          rollback_id: rollbackIdOf('acme', MUTATION),
          mutation_id: MUTATION,
          reason: 'this one is right',
        }),
        4_000,
      )
      .then(
        fell({ evidence: { source: 'warehouse' } }),
        fact('SourceJudged', { source: 'warehouse', confirmed: true }),
      );
  });

  it('falls by the next word where its source is trusted by then', () => {
    const run = start({ trustThresholdPermille: 600 })
      .when(stated('invalidated', 'ev-1', A, 'crm'), 1_000)
      .when(stated('invalidated', 'ev-2', B, 'warehouse'), 2_000);
    on.entries.append('warehouse', trusted('warehouse', 900));
    run
      .when(judged('RejectTrigger'), 3_000)
      .then(fact('TriggerRejected'), fact('SourceJudged'), fell({ evidence: { source: 'warehouse' } }))
      .thenAnswer({ status: 'accepted', httpStatus: 200, body: { phase: 'opened', verdict: 'rejected' } });
  });

  it('is not held for a word that was taken back meanwhile', () => {
    start({ trustThresholdPermille: 600 })
      .when(stated('invalidated', 'ev-1', A, 'crm'), 1_000)
      .when(stated('invalidated', 'ev-2', B, 'warehouse'), 2_000)
      .when(stated('holds', 'ev-3', B, 'warehouse'), 2_500)
      .when(judged('RejectTrigger'), 3_000)
      .then(fact('TriggerRejected'), fact('SourceJudged'));
  });

  it('falls by a source that is trusted, whatever event of that id another named before', () => {
    const run = start({ trustThresholdPermille: 600 });
    on.entries.append('warehouse', trusted('warehouse', 900));
    run
      .when(stated('invalidated', '1', A, 'crm'), 1_000)
      .then(fact('TriggerHeld'))
      .when(stated('invalidated', '1', B, 'warehouse'), 2_000)
      .then(fell({ evidence: { source: 'warehouse', ref: B } }));
  });

  it('falls where it is told after both words, of which the first alone is held', () => {
    on = ledger({ isRebuilt, admission: { ...NO_LIMITS, trustThresholdPermille: 600 }, reviewDeadlineMs: REVIEW });
    on.entries.append('warehouse', trusted('warehouse', 900));
    stated('invalidated', 'ev-1', A, 'crm');
    stated('invalidated', 'ev-2', B, 'warehouse');
    const run = on.run.when(executed(effect), 500);
    run.then(
      fact('MutationRecorded'),
      fact('TriggerHeld', { evidence: { source: 'crm' } }),
      fact('TriggerUnmatched', { evidence: { source: 'warehouse' } }),
    );
    run.whenDue(500).then(fell({ evidence: { source: 'warehouse' } }));
    expect(heldOf(run)).toMatchObject({ phase: 'marked', held: null });
  });

  it('is held for no word that its source took back, though another says the same by now', () => {
    const run = start({ trustThresholdPermille: 600 })
      .when(stated('invalidated', 'ev-1', A, 'crm'), 1_000)
      .when(stated('invalidated', 'ev-2', B, 'warehouse'), 2_000)
      .when(stated('holds', 'ev-3', B, 'warehouse'), 2_100)
      .when(stated('invalidated', 'ev-4', B, 'stranger'), 2_200);
    on.entries.append('warehouse', trusted('warehouse', 900));
    run
      .when(judged('RejectTrigger'), 3_000)
      .then(fact('TriggerRejected'), fact('SourceJudged'), fact('TriggerHeld', { evidence: { source: 'stranger' } }));
  });

  it('has heard of one word once, however often it is told, and keeps eight beside the first', () => {
    let run = start({ trustThresholdPermille: 600 }).when(stated('invalidated', 'ev-0', A, 'crm'), 1_000);
    for (let at = 1; at <= 12; at += 1)
      run = run.when(stated('invalidated', `ev-${String(at)}`, B, `source-${String(at)}`), 1_000 + at);
    const also = heldOf(run)?.['also'] as readonly { readonly source: string }[];
    expect(also.map(({ source }) => source)).toEqual(Array.from({ length: 8 }, (_, at) => `source-${String(at + 1)}`));
  });

  describe('whose fact is said to hold again', () => {
    /** Held by a breaker over the source, which one other event has filled. */
    const held = () => {
      const run = start({ storm: { limit: 1, windowMs: 10_000 } });
      const other = refund({
        ...{ event_id: 'other', effect_key: 'other', call_id: 'other', contract_digest: null },
        assumption_refs: ['order/2#open'],
        committed_at: 1,
      });
      return run
        .when(executed(other), 600)
        .when(stated('invalidated', 'ev-0', 'order/2#open', 'feed'), 900)
        .when(stated('invalidated', 'ev-1', A, 'feed'), 1_000)
        .then(fact('BreakerOpened'), fact('TriggerHeld', { reason: 'BREAKER_OPEN' }));
    };
    const closing = (run: Ledger['run']): RecordInput =>
      command('CloseBreaker', envelope('olga', ['operator'], { command_id: 'cmd-close' }), {
        run_id: RUN,
        breaker_id: run.rows('breaker')[0]?.doc['breaker_id'],
        reason: 'the feed is mended',
      });

    it('is left to a person when the breaker closes, with the deadline it had', () => {
      const run = held();
      run
        .when(stated('holds', 'ev-2', A, 'feed'), 2_000)
        .when(closing(run), 3_000)
        .whenDue(3_000)
        .then(
          fact('TriggerHeld', {
            reason: 'HOLDS_AGAIN',
            detail: `${A} no longer stands as false: it was said to hold since`,
          }),
        );
      expect(heldOf(run)).toMatchObject({
        phase: 'held',
        held: { reason: 'HOLDS_AGAIN' },
        deadline_at: 1_000 + REVIEW,
      });
      run.when(judged('ConfirmTrigger'), 4_000).then(fell({ evidence: { event_id: 'ev-1' } }), fact('SourceJudged'));
    });

    it('falls when it is said to be false anew', () => {
      const run = held();
      run
        .when(stated('holds', 'ev-2', A, 'feed'), 2_000)
        .when(closing(run), 3_000)
        .whenDue(3_000)
        .when(stated('invalidated', 'ev-3', A, 'feed'), 20_000)
        .then(fell({ evidence: { event_id: 'ev-3' } }));
    });

    it('falls when the breaker closes where it was not', () => {
      const run = held();
      run
        .when(closing(run), 3_000)
        .whenDue(3_000)
        .then(fell({ evidence: { event_id: 'ev-1' } }));
    });
  });
});
