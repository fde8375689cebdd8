// What closes a window, in whichever order it is told, and while the undoing is under way or a person's (B5).
import { describe, expect, it } from '@jest/globals';
import { closingRef, contractDigest } from '@recourse/contract';
import type { ToolExecuted } from '@recourse/messages';
import { fact, WAYS } from '@recourse/testing';
import {
  contractText,
  DENIED,
  DISPATCHED,
  escalated,
  executed,
  fell,
  HOUR_MS,
  ledger,
  moved,
  MUTATION,
  NOW,
  outcome,
  refund,
  registered,
  resolvedBy,
  ROLLBACK,
  state,
  statement,
  TRIGGERED,
} from './ledger.testing.js';

const SETTLE = 'payments.settle_refund';
const EVENT = 'provider settlement';
const COMMITTED = NOW - 1_000;
const EXPIRES = COMMITTED + HOUR_MS;

describe.each(WAYS)('an execution that ends reversibility, $way', ({ isRebuilt }) => {
  const text = contractText({ window_closed_by: [SETTLE] });
  const settle = contractText({ name: SETTLE });
  const start = () => {
    const made = ledger({ isRebuilt, contracts: [text] });
    made.contracts.append(SETTLE, registered(settle));
    return made.run;
  };
  const effect = (more: Partial<ToolExecuted> = {}) =>
    executed(refund({ contract_digest: contractDigest(text), committed_at: COMMITTED, ...more }));
  const UNKNOWN = { event_id: 'ev-0', outcome: 'uncertain', result: null, external_transaction_ref: null } as const;
  const settles = (committed_at: number, more: Partial<ToolExecuted> = {}) =>
    executed(
      refund({
        event_id: 's-1',
        effect_key: 's-1',
        capability: SETTLE,
        contract_digest: contractDigest(settle),
        subject_ref: '4711',
        assumption_refs: [],
        committed_at,
        ...more,
      }),
    );
  const rowOf = (run: ReturnType<typeof start>) =>
    run
      .rows('mutation')
      .map(({ doc }) => doc)
      .find((doc) => doc['mutation_id'] === MUTATION);
  const CLOSED = { recoverability: 'reversal_expired', reason: `CLOSED_BY:${SETTLE}` };

  it('closes the window of an effect that is found later to have happened before', () => {
    const run = start()
      .when(effect(UNKNOWN), NOW)
      .when(settles(NOW - 500), NOW + 2)
      .then(fact('MutationRecorded'));
    run.when(effect(), NOW + 5).then(fact('MutationRecorded', { ...CLOSED, warn_at: null }));
    expect(rowOf(run)).toMatchObject(CLOSED);
  });

  it('closes the window of an older effect that is told after it', () => {
    start()
      .when(settles(NOW - 500), NOW + 2)
      .when(effect(), NOW + 5)
      .then(fact('MutationRecorded', CLOSED));
  });

  it('that is older than the effect says nothing of it, whichever is told first', () => {
    const late = start()
      .when(effect(), NOW + 5)
      .when(settles(COMMITTED - 1), NOW + 6)
      .then(fact('MutationRecorded'));
    expect(rowOf(late)).toMatchObject({ recoverability: 'reversal_available' });
    start()
      .when(settles(COMMITTED - 1), NOW + 5)
      .when(effect(), NOW + 6)
      .then(fact('MutationRecorded', { recoverability: 'reversal_available' }));
  });

  it('of the same instant closes it, whichever is told first', () => {
    const late = start()
      .when(effect(), NOW + 5)
      .when(settles(COMMITTED), NOW + 6);
    expect(rowOf(late)).toMatchObject(CLOSED);
    const early = start()
      .when(settles(COMMITTED), NOW + 5)
      .when(effect(), NOW + 6);
    expect(rowOf(early)).toMatchObject(CLOSED);
  });

  it.each([
    ['failed', settles(NOW - 500, { outcome: 'failed' })],
    ['is about another subject', settles(NOW - 500, { subject_ref: '4712' })],
    ['is of another tenant', settles(NOW - 500, { tenant: 'globex' })],
    ['is not known to have happened', settles(NOW - 500, UNKNOWN)],
  ])('that %s closes nothing', (_what, closer) => {
    start()
      .when(closer, NOW + 2)
      .when(effect(), NOW + 5)
      .then(fact('MutationRecorded', { recoverability: 'reversal_available' }));
  });

  it('ends the window of an effect that a person had before it was known to have happened', () => {
    const run = start()
      .when(effect(UNKNOWN), NOW)
      .when(TRIGGERED, NOW + 1)
      .when(escalated('FORWARD_UNRESOLVED'), NOW + 2)
      .when(settles(NOW - 500), NOW + 3);
    run.when(effect(), NOW + 5).then(
      fact('MutationRecorded', {
        recoverability: 'manual_resolution_required',
        reason: `CLOSED_BY:${SETTLE}`,
        ref: { reversal_expires_at: NOW + 5 },
      }),
    );
  });

  it('is heard by an effect that was a person’s when it turned out to have happened', () => {
    const told = contractText({ window_closed_by: [EVENT] });
    const { run, assumptions } = ledger({ isRebuilt, contracts: [told] });
    const about = { contract_digest: contractDigest(told), assumption_refs: [closingRef('4711', EVENT)] };
    run
      .when(effect({ ...UNKNOWN, ...about }), NOW)
      .when(TRIGGERED, NOW + 1)
      .when(escalated('FORWARD_UNRESOLVED'), NOW + 2);
    run
      .when(effect(about), NOW + 5)
      .then(fact('MutationRecorded', { ref: { reversal_expires_at: EXPIRES } }), moved({ event: 'handle_bound' }));
    expect(run.rows('binding')).toMatchObject([{ doc: { closes: true, relies: true, recorded_at: NOW } }]);
    const happened = statement('holds', 'settled-1', { ref: closingRef('4711', EVENT), stated_at: NOW + 6 });
    run.when(state(assumptions, happened), NOW + 7).then(moved({ event: 'window_closed' }));
  });
});

describe.each(WAYS)('an event that ends reversibility while something may still be called, $way', ({ isRebuilt }) => {
  const happened = (id = 'settled-1') =>
    statement('holds', id, { ref: closingRef('4711', EVENT), stated_at: NOW + 50 });
  const begun = (...before: readonly Parameters<ReturnType<typeof ledger>['run']['when']>[0][]) => {
    const made = ledger({ isRebuilt });
    made.run.when(executed(refund()), NOW).when(TRIGGERED, NOW + 10);
    before.forEach((input, index) => made.run.when(input, NOW + 20 + index));
    return made;
  };

  it.each([
    ['a person has it', [escalated('APPROVAL_TIMEOUT')], 'manual_resolution_required', 'APPROVAL_TIMEOUT'],
    ['it is dispatched', [DISPATCHED], 'compensating', null],
    ['it failed', [DISPATCHED, outcome('failed', 'TOOL_FAILED')], 'compensation_failed', 'TOOL_FAILED'],
  ] as const)('is on record once where %s, moves nothing and settles nothing', (_where, before, standing, reason) => {
    const { run, assumptions } = begun(...before);
    run.derived();
    run.when(state(assumptions, happened()), NOW + 60).then(
      moved({
        mutation_id: MUTATION,
        event: 'window_closed',
        from_state: standing,
        to_state: standing,
        reason: `CLOSED_BY:${EVENT}`,
        rollback_id: ROLLBACK,
      }),
    );
    expect(run.derived()).toEqual([]);
    expect(run.rows('mutation')).toMatchObject([
      { doc: { recoverability: standing, reason, expires_at: NOW + 60, ref: { reversal_expires_at: EXPIRES } } },
    ]);
    run.when(state(assumptions, happened('settled-2')), NOW + 70).thenNothing();
  });

  it.each([
    ['denied', [DENIED]],
    ['closed by hand', [escalated('APPROVAL_TIMEOUT'), resolvedBy('repaired')]],
    ['undone', [DISPATCHED, outcome('compensated', 'VERIFIED')]],
  ] as const)('is of no account once it was %s', (_how, before) => {
    const { run, assumptions } = begun(...before);
    run.when(state(assumptions, happened()), NOW + 60).thenNothing();
  });

  it('is known to the recovery of an effect that falls after it', () => {
    const { run, assumptions } = ledger({ isRebuilt });
    run
      .when(executed(refund()), NOW)
      .when(escalated('HANDLE_CLAIMED'), NOW + 20)
      .when(state(assumptions, happened()), NOW + 60)
      .when(TRIGGERED, NOW + 70)
      .then(fell({ recoverability: 'manual_resolution_required', ref: { reversal_expires_at: NOW + 60 } }));
  });
});

const CLOSED_BY_EVENT = contractText({ window_closed_by: [EVENT] });
const effectOf = (run: number, at: number, more: Partial<ToolExecuted> = {}) =>
  executed(
    refund({
      run_id: `run-${String(run)}`,
      event_id: `e-${String(at)}`,
      effect_key: `e-${String(at)}`,
      call_id: `c-${String(at)}`,
      contract_digest: contractDigest(CLOSED_BY_EVENT),
      subject_ref: '4711',
      assumption_refs: [],
      ...more,
    }),
  );
const event = (more: Parameters<typeof statement>[2] = {}) =>
  statement('holds', 'ev-close', { ref: closingRef('4711', EVENT), stated_at: NOW, ...more });
const openIn = (run: ReturnType<typeof ledger>['run']) =>
  run
    .rows('mutation')
    .filter(({ doc }) => doc['recoverability'] === 'reversal_available')
    .map(({ doc }) => doc['run_id']);

describe('an event that closes the windows of many', () => {
  it('tells of those of a run together, at most two hundred in a record', () => {
    const { run, assumptions } = ledger({ contracts: [CLOSED_BY_EVENT] });
    for (let at = 0; at < 300; at += 1) run.when(effectOf(at < 250 ? 1 : 2, at), NOW);
    run.when(state(assumptions, event()), NOW + 1);
    const closed = run
      .recorded()
      .map(({ type, body }) => [type, body['run_id'], (body['members'] as unknown[]).length]);
    expect(closed).toEqual([
      ['RecoverabilityChanged', 'run-1', 200],
      ['RecoverabilityChanged', 'run-1', 50],
      ['RecoverabilityChanged', 'run-2', 50],
    ]);
  });

  it('of a thousand runs fits each decision it takes, and none is parked', () => {
    const { run, assumptions } = ledger({ contracts: [CLOSED_BY_EVENT] });
    for (let at = 0; at < 1_001; at += 1) run.when(effectOf(at, at), NOW);
    run.when(state(assumptions, event()), NOW + 1).then(fact('SpreadOpened'));
    run.whenDue(NOW + 2);
    expect(openIn(run)).toEqual([]);
    expect(run.rows('spread')).toEqual([]);
  });
});

describe.each(WAYS)('an event that closes more windows than one decision takes, $way', ({ isRebuilt }) => {
  it('goes on in bounded decisions where they are more than one takes, each effect once', () => {
    const { run, assumptions } = ledger({ isRebuilt, contracts: [CLOSED_BY_EVENT], effectsMax: 2 });
    for (let at = 0; at < 5; at += 1) run.when(effectOf(at, at), NOW);
    run.when(effectOf(5, 5, { committed_at: NOW + 1 }), NOW + 1);
    run
      .when(state(assumptions, event()), NOW + 2)
      .then(fact('SpreadOpened', { ref: closingRef('4711', EVENT), reaffirms: true }))
      // What is recorded meanwhile is closed from the start.
      .when(effectOf(6, 6), NOW + 3)
      .then(fact('MutationRecorded', { recoverability: 'reversal_expired', reason: `CLOSED_BY:${EVENT}` }));
    const key = '0000000000000001';
    const closed = (run_id: string) => fact('RecoverabilityChanged', { run_id, event: 'window_closed' });
    run
      // The youngest first: it is younger than the event.
      .when(run.timer('spread', key), NOW + 4)
      .then(closed('run-4'), fact('SpreadContinued', { contradicted: 2 }))
      .when(run.timer('spread', key), NOW + 5)
      .then(closed('run-2'), closed('run-3'), fact('SpreadContinued', { contradicted: 4 }))
      .when(run.timer('spread', key), NOW + 6)
      .then(closed('run-0'), closed('run-1'), fact('SpreadClosed', { contradicted: 6 }));
    expect(openIn(run)).toEqual(['run-5']);
    expect(run.rows('spread')).toEqual([]);
  });

  it('is relied on by one that names it as an assumption too: its saying goes, and its closing', () => {
    const ref = closingRef('4711', EVENT);
    const denied = () => event({ verdict: 'invalidated', event_id: 'ev-not' });
    const begun = (effectsMax: number) => {
      const { run, assumptions } = ledger({ isRebuilt, contracts: [CLOSED_BY_EVENT], effectsMax });
      for (let at = 0; at < 5; at += 1) run.when(effectOf(at, at, { assumption_refs: [ref] }), NOW);
      return { run, says: (told: ReturnType<typeof event>) => state(assumptions, told) };
    };
    for (const effectsMax of [2, 200]) {
      const fallen = begun(effectsMax);
      fallen.run.when(fallen.says(denied()), NOW + 1);
      fallen.run.whenDue(NOW + 2);
      const marks = fallen.run.records().filter(({ type }) => type === 'MutationsFell');
      const fell = marks.flatMap(({ body }) => body['members'] as unknown[]);
      expect([fell.length, fallen.run.rows('spread')]).toEqual([5, []]);
      const closed = begun(effectsMax);
      closed.run.when(closed.says(event()), NOW + 1);
      closed.run.whenDue(NOW + 2);
      expect([openIn(closed.run), closed.run.rows('spread')]).toEqual([[], []]);
      expect(closed.run.records().filter(({ type }) => type === 'MutationReaffirmed')).toEqual([]);
    }
  });

  it('of one run closes those of that run alone, however many there are', () => {
    const { run, assumptions } = ledger({ isRebuilt, contracts: [CLOSED_BY_EVENT], effectsMax: 2 });
    for (let at = 0; at < 6; at += 1) run.when(effectOf(at < 4 ? 1 : 2, at), NOW);
    run
      .when(state(assumptions, event({ run_id: 'run-1' })), NOW + 1)
      .then(fact('SpreadOpened', { scope_run_id: 'run-1' }));
    run.whenDue(NOW + 2);
    expect(openIn(run)).toEqual(['run-2', 'run-2']);
    expect(run.rows('spread')).toEqual([]);
  });
});
