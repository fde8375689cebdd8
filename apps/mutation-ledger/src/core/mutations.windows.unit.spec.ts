import { describe, expect, it } from '@jest/globals';
import { closingRef, contractDigest } from '@recourse/contract';
import { fact, WAYS } from '@recourse/testing';
import {
  contractText,
  escalated,
  executed,
  HOUR_MS,
  ledger,
  MUTATION,
  NOW,
  refund,
  registered,
  RUN,
  state,
  statement,
  moved,
} from './ledger.testing.js';

const EXPIRES = NOW - 1_000 + HOUR_MS;
const SETTLED = closingRef('4711', 'provider settlement');
const SETTLE = 'payments.settle_refund';

describe.each(WAYS)('an event that ends reversibility, $way', ({ isRebuilt }) => {
  const closed = (event: string) =>
    moved({
      mutation_id: MUTATION,
      event: 'window_closed',
      from_state: 'reversal_available',
      to_state: 'reversal_expired',
      reason: `CLOSED_BY:${event}`,
    });
  const start = () => {
    const made = ledger({ isRebuilt });
    made.run.when(executed(refund()), NOW);
    return made;
  };
  const happens = (changes: object = {}) =>
    statement('holds', 'settled-1', { ref: SETTLED, stated_at: NOW + 5, ...changes });

  it('closes the window before its time, and nothing opens it again', () => {
    const { run, assumptions } = start();
    run.when(state(assumptions, happens()), NOW + 10).then(closed('provider settlement'));
    expect(run.rows('mutation')).toMatchObject([
      { dueAt: null, doc: { recoverability: 'reversal_expired', reason: 'CLOSED_BY:provider settlement' } },
    ]);
    run
      .when(state(assumptions, statement('invalidated', 'undone-1', { ref: SETTLED, stated_at: NOW + 20 })), NOW + 30)
      .thenNothing()
      .whenDue(EXPIRES)
      .thenNothing();
  });

  it('stays the reason where the recovery only says that the window is over', () => {
    const { run, assumptions } = start();
    run
      .when(state(assumptions, happens()), NOW + 10)
      .when(escalated('REVERSAL_EXPIRED'), NOW + 20)
      .then(
        moved({
          mutation_id: MUTATION,
          event: 'manual_required',
          from_state: 'reversal_expired',
          to_state: 'manual_resolution_required',
          reason: 'CLOSED_BY:provider settlement',
        }),
      );
  });

  it('is about its own subject, its own run where it names one, and effects that are older', () => {
    const { run, assumptions } = start();
    run.when(state(assumptions, happens({ ref: closingRef('4712', 'provider settlement') })), NOW + 10).thenNothing();
    run.when(state(assumptions, happens({ event_id: 'other-run', run_id: 'run-2' })), NOW + 11).thenNothing();
    run.when(state(assumptions, happens({ event_id: 'older', stated_at: NOW - 2_000 })), NOW + 12).thenNothing();
    run
      .when(state(assumptions, happens({ event_id: 'own-run', run_id: RUN })), NOW + 13)
      .then(closed('provider settlement'));
  });

  it('that had happened when the execution was accepted leaves no window', () => {
    const { run, assumptions } = ledger({ isRebuilt });
    const read = state(assumptions, happens({ stated_at: NOW - 500 }));
    run.when(executed(refund()), NOW).then(
      fact('MutationRecorded', {
        recoverability: 'reversal_expired',
        reason: 'CLOSED_BY:provider settlement',
        warn_at: null,
      }),
    );
    run.when(read, NOW + 1).thenNothing();
  });

  it('may be an execution of the capability that the contract names, on the same subject of the run', () => {
    const text = contractText({ window_closed_by: [SETTLE] });
    const settle = contractText({ name: SETTLE });
    const { run, contracts } = ledger({ isRebuilt, contracts: [text] });
    contracts.append(SETTLE, registered(settle));
    const settles = (key: string, order: string) =>
      executed(
        refund({
          event_id: key,
          effect_key: key,
          capability: SETTLE,
          contract_digest: contractDigest(settle),
          subject_ref: order,
          assumption_refs: [],
        }),
      );
    run.when(executed(refund({ contract_digest: contractDigest(text) })), NOW);
    run.when(settles('s-1', '4712'), NOW + 1).then(fact('MutationRecorded'));
    run.when(settles('s-2', '4711'), NOW + 2).then(fact('MutationRecorded'), closed(SETTLE));
  });
});

describe.each(WAYS)('a window, $way', ({ isRebuilt }) => {
  it('is warned of once before it closes', () => {
    const { run } = ledger({ isRebuilt });
    run.when(executed(refund()), NOW);
    const warnAt = EXPIRES - HOUR_MS / 10;
    run
      .whenDue(warnAt - 1)
      .thenNothing()
      .whenDue(warnAt)
      .then(fact('WindowClosing', { mutation_id: MUTATION, closes_at: EXPIRES }));
    expect(run.rows('mutation')).toMatchObject([{ dueAt: EXPIRES, doc: { warn_at: null, warned_at: warnAt } }]);
    run
      .whenDue(EXPIRES - 1)
      .thenNothing()
      .whenDue(EXPIRES)
      .then(moved({ event: 'window_closed' }));
  });

  it('too short for anybody to act on a warning closes without one', () => {
    const text = contractText({ reversal_window_ms: 120_000 });
    const { run } = ledger({ isRebuilt, contracts: [text] });
    run
      .when(executed(refund({ contract_digest: contractDigest(text) })), NOW)
      .whenDue(NOW - 1_000 + 120_000)
      .then(moved({ event: 'window_closed' }));
  });

  it('ends with the tombstone that keeps what was deleted', () => {
    const text = contractText({ reversal_window_ms: undefined, techniques: { tombstone_ttl_ms: 300_000 } });
    const { run } = ledger({ isRebuilt, contracts: [text] });
    run.when(executed(refund({ contract_digest: contractDigest(text) })), NOW).then(
      fact('MutationRecorded', {
        recoverability: 'reversal_available',
        ref: { reversal_expires_at: NOW - 1_000 + 300_000 },
      }),
    );
  });
});
