import { describe, expect, it } from '@jest/globals';
import { effectMeasures } from '../rules/effect/effect.measures.js';
import { DISPATCHED, executed, ledger, NOW, outcome, refund, TRIGGERED } from './ledger.testing.js';

const TOOL = 'payments.issue_refund';
/** What the records of a run say, as `tool status`. */
function told(run: ReturnType<typeof ledger>['run']): readonly string[] {
  return run
    .records()
    .flatMap(effectMeasures)
    .map(({ tool, status, isNewlyIrreversible }) => `${tool} ${status}${isNewlyIrreversible ? ' irreversible' : ''}`);
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

  it('without a contract are one series, whatever their producers call them', () => {
    const { run } = ledger();
    run.when(executed(refund({ contract_digest: null, capability: 'anything.at_all' })), NOW);
    expect(told(run)).toEqual(['uncontracted manual_review irreversible']);
  });

  it('that did not happen are not irreversible', () => {
    const { run } = ledger();
    run.when(executed(refund({ contract_digest: null, outcome: 'failed', result: null })), NOW);
    expect(told(run).filter((line) => line.endsWith('irreversible'))).toEqual([]);
  });
});
