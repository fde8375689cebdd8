// A connection that closes loses no outcome: calls that were begun are waited for, and no other begins.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '@recourse/kernel';
import { turns } from '../worker/worker.testing.js';
import { connect } from './connect.js';
import { TEST_CONTRACT, TestStack } from './connect.testing.js';

const CONTRACT = 'payments.issue_refund';
const ARGS = { order: '4711', amount_minor: 500 };
const PLACE = { runId: 'run-1', stepId: 'refund', objective: 'refund order 4711' };

let stack: TestStack;
beforeEach(async () => {
  stack = await TestStack.start();
  stack.leaveFile();
  stack.contracts.set(CONTRACT, { contract: TEST_CONTRACT, retired: false });
});
afterEach(() => {
  stack.stop();
});

/** A guarded tool that answers when it is let. */
async function scene() {
  const [clock, heard] = [new ManualClock(5_000), [] as string[]];
  const { promise: answer, resolve: letGo } = Promise.withResolvers<{ refund_id: string }>();
  const { promise: isCalled, resolve: called } = Promise.withResolvers<undefined>();
  const options = { clock, closeWaitMs: 1_000, onTrouble: ({ code }: { readonly code: string }) => heard.push(code) };
  const recourse = await connect(stack.options({ ...options, standing: neverCalled() }));
  let calls = 0;
  const tool = await recourse.guard(
    (_args: typeof ARGS) => {
      calls += 1;
      called(undefined);
      return answer;
    },
    { contract: CONTRACT, externalTransactionRef: () => 'rf_1' },
  );
  const closing = (): { readonly isOver: () => boolean; readonly over: Promise<void> } => {
    let isOver = false;
    const over = recourse.close().then(() => {
      isOver = true;
    });
    return { isOver: () => isOver, over };
  };
  return { clock, heard, letGo, isCalled, tool, closing, recourse, calls: () => calls };
}

const neverCalled = () => ({ of: () => Promise.resolve({ kind: 'unrecorded' } as const) });

describe('a connection that closes', () => {
  it('waits for the outcome of a call that was begun', async () => {
    const { tool, isCalled, letGo, closing } = await scene();
    const call = tool(ARGS, PLACE);
    await isCalled;
    const { isOver, over } = closing();
    await turns();
    expect(isOver()).toBe(false);
    letGo({ refund_id: 'rf_1' });
    expect(await call).toMatchObject({ kind: 'succeeded' });
    await over;
    expect(stack.producer.told.map(({ type }) => type)).toEqual(['ToolPlanned', 'ToolExecuted']);
  });

  it('lets no call begin, with a code', async () => {
    const { tool, recourse, calls } = await scene();
    await recourse.close();
    expect(await tool(ARGS, PLACE)).toMatchObject({ kind: 'refused', code: 'CONNECTION_CLOSED' });
    expect([calls(), stack.producer.told]).toEqual([0, []]);
  });

  it('waits for no tool that never answers, and says whose outcome is not told', async () => {
    const { tool, isCalled, clock, heard, closing } = await scene();
    void tool(ARGS, PLACE);
    await isCalled;
    const { over } = closing();
    await turns();
    await clock.advance(1_000);
    await over;
    expect(heard).toEqual(['CONNECTION_CLOSED']);
  });
});
