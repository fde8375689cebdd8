import { describe, expect, it } from '@jest/globals';
import { rollbackIdOf } from '@recourse/messages';
import { plainPayload } from '@recourse/contract';
import { fact, harness, WAYS } from '@recourse/testing';
import type { Rates } from '../rules/admission/pace.decisions.js';
import {
  answered,
  BALANCE_ZERO,
  core,
  execution,
  markedInput,
  observed,
  ref,
  requestIn,
  REVIEW,
  STILL_PENDING,
  terms,
  views,
  WINDOW_END,
  windowClosed,
  leg,
  settled,
  planned,
} from '../recoveries.testing.js';

const AUTO = terms({ impact: 'write', recovery_approval_mode: 'auto' });
const SLOW: Rates = { tenantPerMinute: null, capabilityPerMinute: 6 };

/** A commit of a run of its own: no order between them. */
function marks(id: string, tenant = 'acme', more: Readonly<Record<string, unknown>> = {}) {
  const run = `run-${id}`;
  return markedInput({
    tenant,
    mutation_id: id,
    run_id: run,
    rollback_id: rollbackIdOf('acme', id),
    execution: execution({ tenant, run_id: run }),
    ref: ref({ mutation_id: id, idempotency_key: `key-${id}`, ...more }),
    terms: AUTO,
  });
}

describe.each(WAYS)('a rate of compensations, $way', ({ isRebuilt }) => {
  const start = (rates: Rates) => harness(core({ rates }), { isRebuilt, views: views() });
  const step = (run: ReturnType<typeof start>, id: string) =>
    run.rows('step').find(({ doc }) => doc['mutation_id'] === id);

  it('lets the next one wait for its place, in the open, and go then by itself; each has one record for it', () => {
    const run = start(SLOW)
      .when(marks('m1'), 10_000)
      .then(planned(), leg({ paced: [{ scope: 'capability', name: 'payments.cancel_refund', next_at: 20_000 }] }));
    run.when(marks('m2'), 10_001).then(
      planned({
        wait: {
          reason: 'RATE_LIMITED',
          owner: 'service:recovery-orchestrator',
          go_at: 20_000,
          deadline_at: 10_001 + REVIEW,
        },
      }),
    );
    run.when(marks('m3'), 10_002).then(planned({ wait: { go_at: 30_000 } }));
    expect(step(run, 'm2')).toMatchObject({
      dueAt: 20_000,
      doc: { phase: 'waiting', reason: 'RATE_LIMITED', deadline_at: 10_001 + REVIEW },
    });
    run
      .whenDue(19_999)
      .thenNothing()
      .whenDue(20_000)
      .then(leg({ mutation_id: 'm2', paced: [] }))
      .whenDue(30_000)
      .then(leg({ mutation_id: 'm3' }));
    expect(step(run, 'm3')?.doc).toMatchObject({ phase: 'dispatched', go_at: null });
  });

  it('is one per tenant and capability', () => {
    const run = start(SLOW).when(marks('m1'), 10_000).when(marks('m2', 'globex'), 10_000).then(planned(), leg());
    const other = start({ tenantPerMinute: 6, capabilityPerMinute: null }).when(marks('m1'), 10_000);
    other
      .when(marks('m2', 'acme', { reversal_capability: 'payments.other_way' }), 10_000)
      .then(planned({ wait: { reason: 'RATE_LIMITED' } }));
    expect(
      run
        .rows('pace')
        .map(({ doc }) => doc['tenant'])
        .sort(),
    ).toEqual(['acme', 'globex']);
  });

  it('counts each call of a step that several undo, of its capability; the next step has its place behind them all', () => {
    const then = [0, 1].map(() => ({
      capability: 'payments.settle_refund',
      args: plainPayload({ refund_id: 're_1' }),
      taken: [],
      verify_capability: 'payments.get_balance',
      success_condition: 'observed.balance == 0',
      verify_max_attempts: 2,
      verify_delay_ms: 1_000,
    }));
    const run = start({ tenantPerMinute: 6, capabilityPerMinute: 12 });
    run.when(marks('m1', 'acme', { reversal_then: then }), 10_000).then(
      planned(),
      leg({
        paced: [
          { scope: 'tenant', name: 'acme', next_at: 40_000 },
          { scope: 'capability', name: 'payments.cancel_refund', next_at: 15_000 },
          { scope: 'capability', name: 'payments.settle_refund', next_at: 20_000 },
        ],
      }),
    );
    run.when(marks('m2'), 10_001).then(planned({ wait: { reason: 'RATE_LIMITED', go_at: 40_000 } }));
  });

  it('gives a step whose place comes after its window to a person at once, and keeps the place for others', () => {
    const run = start({ tenantPerMinute: 1, capabilityPerMinute: null }).when(marks('m1'), WINDOW_END - 60_000);
    run
      .when(marks('m2'), WINDOW_END - 60_000)
      .then(
        planned(),
        fact('StepEscalated', { reason: 'RATE_LIMITED', owner: 'role:administrator' }),
        fact('RecoveryClosed', { outcome: 'manual' }),
      );
    expect(run.rows('pace')).toMatchObject([{ doc: { next_at: WINDOW_END } }]);
  });

  it('does not slow an attempt after the first', () => {
    const run = start(SLOW).when(marks('m1'), 10_000);
    run
      .when(answered(requestIn(run.outgoing()), 'failed', []), 10_500)
      .then(settled())
      .whenDue(11_500)
      .then(leg({ attempt: 2, paced: [] }));
  });

  it('ends with the window like every other wait', () => {
    const run = start(SLOW).when(marks('m1'), 10_000).when(marks('m2'), 10_001);
    run
      .when(windowClosed({ mutation_id: 'm2', run_id: 'run-m2' }), 12_000)
      .then(fact('StepEscalated', { reason: 'REVERSAL_EXPIRED' }), fact('RecoveryClosed'));
    run.whenDue(20_000).thenNothing();
  });

  it('counts those that one decision lets go', () => {
    const chained = (id: string, seq: number) =>
      markedInput({
        mutation_id: id,
        rollback_id: rollbackIdOf('acme', id),
        recorded_seq: seq,
        execution: execution(),
        ref: ref({ mutation_id: id, idempotency_key: `key-${id}` }),
        terms: AUTO,
      });
    const run = start(SLOW).when(chained('m9', 9), 10_000).then(planned(), leg());
    const request = requestIn(run.outgoing());
    run
      .when(chained('m1', 1), 10_001)
      .then(planned({ wait: { reason: 'ORDER' } }))
      .when(chained('m2', 1), 10_002)
      .then(planned({ wait: { reason: 'ORDER' } }));
    run
      .when(
        answered(request, 'verified', [STILL_PENDING, observed('execute', 'payments.cancel_refund', {}), BALANCE_ZERO]),
        25_000,
      )
      .then(
        settled({ outcome: 'compensated' }),
        leg({ mutation_id: 'm2' }),
        fact('StepWaits', { mutation_id: 'm1', reason: 'RATE_LIMITED', go_at: 35_000 }),
      );
  });

  it('that is not set takes no place', () => {
    const run = start({ tenantPerMinute: null, capabilityPerMinute: null });
    for (let at = 0; at < 20; at += 1) run.when(marks(`m${String(at)}`), 10_000).then(planned(), leg({ paced: [] }));
    expect(run.rows('pace')).toEqual([]);
  });
});
