import { describe, expect, it } from '@jest/globals';
import { contractDigest } from '@recourse/contract';
import { effectMeasures } from '../rules/effect/effect.measures.js';
import {
  contractText,
  DISPATCHED,
  executed,
  intent,
  ledger,
  NOW,
  outcome,
  planned,
  refund,
  TRIGGERED,
} from './ledger.testing.js';

const TOOL = 'payments.issue_refund';
/** What the records of a run say, as `tool status`. */
function told(run: ReturnType<typeof ledger>['run']): readonly string[] {
  return run
    .records()
    .flatMap((record) => effectMeasures(run.changedBy(record)))
    .map(
      ({ tool, status, isNewlyIrreversible }) =>
        `${tool} ${status ?? '='}${isNewlyIrreversible ? ' irreversible' : ''}`,
    );
}

describe('effects as series', () => {
  it('are counted by tool each time one comes into a status', () => {
    const { run } = ledger();
    run
      .when(executed(refund()), NOW)
      .when(TRIGGERED, NOW + 1)
      .when(DISPATCHED, NOW + 2)
      .when(outcome('compensated', 'VERIFIED'), NOW + 3);
    expect(told(run)).toEqual([
      `${TOOL} succeeded`,
      `${TOOL} compensation_pending`,
      `${TOOL} compensating`,
      `${TOOL} compensated`,
    ]);
  });

  it('are counted while they are planned, and while a worker makes them', () => {
    const held = contractText({ commit_hold_ms: 60_000, cancel_capability: 'payments.cancel_refund' });
    const { run } = ledger({ asks: true, contracts: [held] });
    run
      .when(planned(intent({ is_held: true, contract_digest: contractDigest(held) })), NOW)
      .whenDue(NOW + 60_000)
      .when(executed(refund({ contract_digest: contractDigest(held) })), NOW + 60_500);
    expect(told(run)).toEqual([`${TOOL} planned`, `${TOOL} executing`, `${TOOL} succeeded`]);
  });

  it('are counted once in a status, however often they are told', () => {
    const { run } = ledger();
    run
      .when(planned(intent()), NOW)
      .when(executed(refund({ outcome: 'failed', result: null })), NOW + 1)
      .when(
        executed(refund({ outcome: 'failed', result: null, handled_as: 'escalated', error_kind: 'transient' })),
        NOW + 2,
      );
    expect(told(run)).toEqual([`${TOOL} planned`, `${TOOL} failed`]);
  });

  it('without a contract are one series, whatever their producers call them', () => {
    const { run } = ledger();
    run.when(executed(refund({ contract_digest: null, capability: 'anything.at_all' })), NOW);
    expect(told(run)).toEqual(['uncontracted manual_review irreversible']);
  });

  it('that a person has are irreversible once they are known to have happened', () => {
    const { run } = ledger();
    run
      .when(executed(refund({ contract_digest: null, outcome: 'uncertain', result: null })), NOW)
      .when(executed(refund({ contract_digest: null })), NOW + 1);
    expect(told(run)).toEqual(['uncontracted uncertain', 'uncontracted manual_review irreversible']);
  });

  it('that did not happen are not irreversible', () => {
    const { run } = ledger();
    run.when(executed(refund({ contract_digest: null, outcome: 'failed', result: null })), NOW);
    expect(told(run).filter((line) => line.endsWith('irreversible'))).toEqual([]);
  });
});
