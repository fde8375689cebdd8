// A call that outlives what its contract grants: given up, never made beside itself, and told once it comes back.
import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { MemoryClaimStore } from '../stores/claim-store.memory.js';
import { ToolRejected } from '../tool/tool.js';
import { turns } from '../worker/worker.testing.js';
import { actionOf, mutationOf } from './action.js';
import { MemoryBudget } from './budget.memory.js';
import { READS, refund, refundCall } from './guard.testing.js';
import type { RefundScene } from './guard.testing.js';
import { MemoryStanding } from './standing.memory.js';
import { CallsUnderWay } from './under-way.js';

/** A refund whose first call was given up after a second, and still runs. */
async function givenUp({ contract, options }: Pick<RefundScene, 'contract' | 'options'> = {}) {
  const [standing, calls] = [new MemoryStanding(), new CallsUnderWay()];
  const { promise: first, resolve: answers, reject: throws } = Promise.withResolvers<Json>();
  let made = 0;
  const scene = refund({
    contract: { call_timeout_ms: 1_000, ...contract },
    options: { claims: new MemoryClaimStore(), standing, calls, ...options },
    tool: { execute: () => (++made === 1 ? first : Promise.resolve({ refund_id: 'rf_2', status: 'settled' })) },
  });
  const ending = scene.run();
  await turns();
  await scene.clock.advance(1_000);
  expect(await ending).toMatchObject({ kind: 'uncertain', error_kind: 'TIMEOUT' });
  const id = mutationOf(actionOf(refundCall, scene.options));
  standing.record(id, 'uncertain', 'planned');
  /** A worker looked, and found nothing yet. */
  const foundAbsent = (): void => {
    standing.record(id, 'failed', 'planned');
  };
  return { ...scene, answers, throws, foundAbsent, underWay: calls };
}

describe('a guarded call that was given up', () => {
  it('is not made again while its tool has not come back here, whatever the record says of it', async () => {
    const { run, calls, told, foundAbsent, answers } = await givenUp();
    foundAbsent();
    expect(await run()).toMatchObject({ kind: 'uncertain', error_kind: 'RECONCILIATION_PENDING' });
    expect([calls(), told()]).toEqual([1, ['planned', 'uncertain']]);
    answers({ refund_id: 'rf_1', status: 'settled' });
    await turns();
    await run();
    expect(calls()).toBe(2);
  });

  it('is told once its tool comes back, with its handle', async () => {
    const { producer, told, answers } = await givenUp();
    answers({ refund_id: 'rf_1', status: 'settled' });
    await turns();
    expect(told()).toEqual(['planned', 'uncertain', 'succeeded']);
    expect(producer.told.at(-1)).toMatchObject({
      outcome: { externalTransactionRef: 'rf_secret', result: { refund_id: 'rf_1' }, committedAt: 5_000 },
    });
  });

  it('that certainly had no effect is told as that, and gives its budget back', async () => {
    const budget = new MemoryBudget(500_000);
    const { told, throws } = await givenUp({ options: { budget } });
    throws(new ToolRejected('LIMIT', 'too much'));
    await turns();
    expect(told()).toEqual(['planned', 'uncertain', 'failed']);
    expect(await refund({ options: { budget } }).run({ stepId: 'other' })).toMatchObject({ kind: 'succeeded' });
  });

  it('is told once where nobody knows either what its tool says late, which is heard', async () => {
    const { told, throws, troubles } = await givenUp();
    throws(new Error('socket hang up'));
    await turns();
    expect([told(), troubles]).toEqual([
      ['planned', 'uncertain'],
      ['TOOL_UNCERTAIN', 'TOOL_UNCERTAIN'],
    ]);
  });

  it('is waited for by a connection that closes, until what came late is told', async () => {
    const { told, answers, underWay } = await givenUp();
    const closing = underWay.close(new ManualClock(0), 1_000);
    answers({ refund_id: 'rf_1', status: 'settled' });
    expect(await closing).toBe(0);
    expect(told()).toEqual(['planned', 'uncertain', 'succeeded']);
  });

  it('fails nobody where what came late cannot be told, which is heard', async () => {
    const { producer, answers, troubles } = await givenUp();
    producer.toolExecuted = () => Promise.reject(new Error('the wire is closed'));
    answers({ refund_id: 'rf_1', status: 'settled' });
    await turns();
    expect(troubles).toEqual(['TOOL_UNCERTAIN', 'OUTCOME_NOT_PUBLISHED']);
  });

  it('that only reads is made again at once', async () => {
    const { run, calls } = await givenUp({ contract: READS });
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    expect(calls()).toBe(2);
  });
});
