// The log is the journal of a recovery: a process that dies at any step of it is started again, and the recovery goes on once (D62).
import { beforeAll, describe, expect, it } from '@jest/globals';
import { recoverOnce } from './one-recovery.js';
import type { Recovery } from './one-recovery.js';

const RECORDS = [
  'recourse.mutations MutationRecorded',
  'recourse.mutations MutationsFell',
  'recourse.mutations RecoverabilityChanged compensating compensation_started',
  'recourse.mutations RecoverabilityChanged compensated compensation_verified',
  'recourse.mutations CompensationsExecuted 1',
  'recourse.recoveries RecoveryPlanned compensate_now',
  'recourse.recoveries LegDispatched 1',
  'recourse.recoveries LegSettled 1 compensated',
  'recourse.recoveries RecoveryClosed compensated',
];

const AGAIN: Readonly<Record<string, readonly string[]>> = {
  'recourse.mutations RecoverabilityChanged compensating compensation_started': [
    'recourse.mutations RecoverabilityChanged compensating compensation_started',
    'recourse.mutations CompensationsExecuted 1',
    'recourse.mutations RecoverabilityChanged compensating compensation_started',
  ],
  'recourse.mutations CompensationsExecuted 1': ['recourse.mutations CompensationsExecuted 2'],
  'recourse.recoveries LegSettled 1 compensated': [
    'recourse.recoveries LegSettled 1 uncertain',
    'recourse.recoveries LegDispatched 2',
    'recourse.recoveries LegSettled 2 compensated',
  ],
};
/** A worker that died with the claim may be calling: the attempt is uncertain, and the next one finds out and goes on (C43). */
const GONE_ON_BY_THE_NEXT = RECORDS.flatMap((record) => AGAIN[record] ?? [record]);

let whole: Recovery;
beforeAll(async () => {
  whole = await recoverOnce(null);
}, 60_000);

describe('a recovery that nothing disturbs', () => {
  it('takes one effect back, and writes each of its steps down once', () => {
    expect(whole).toMatchObject({ deaths: 0, effects: 1, records: RECORDS });
  });

  it('passes everything that is durable, told or done: logs, wires, rows, the claim and the calls of the tool', () => {
    expect(new Set(whole.boundaries.map(({ role, kind }) => `${role} ${kind}`))).toEqual(
      new Set([
        ...['mutation-ledger', 'recovery-orchestrator'].flatMap((role) => [`${role} append`, `${role} store.project`]),
        'recovery-orchestrator wire',
        'worker claim',
        'worker tool',
        'worker wire',
        'worker position.save',
      ]),
    );
  });
});

describe('a recovery at each step of which a process dies', () => {
  it('is resumed once: one effect, and the same records, but for an attempt whose worker may have been calling', async () => {
    const differing: object[] = [];
    for (const [at, boundary] of whole.boundaries.entries()) {
      const { deaths, effects, records } = await recoverOnce(at);
      const mayBeCalling = boundary.role === 'worker' && (boundary.kind === 'claim' || boundary.kind === 'tool');
      const known = mayBeCalling ? [RECORDS, GONE_ON_BY_THE_NEXT] : [RECORDS];
      const isKnown = known.some((each) => JSON.stringify(each) === JSON.stringify(records));
      if (deaths !== 1 || effects !== 1 || !isKnown) differing.push({ at, ...boundary, deaths, effects, records });
    }
    expect(differing).toEqual([]);
    expect(whole.boundaries.length).toBeGreaterThan(20);
  }, 240_000);
});
