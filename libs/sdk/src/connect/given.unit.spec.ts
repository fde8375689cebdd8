// What a connection is told that it cannot use is said with a code and the name of the option, before anything is asked or called.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { GuardMode } from '../guard/guard.messages.js';
import { connect } from './connect.js';
import { TEST_CONTRACT, TestStack } from './connect.testing.js';

const CONTRACT = 'payments.issue_refund';
const PLACE = { runId: 'run-1', stepId: 'refund', objective: 'refund order 4711' };

const execute = (): number => 1;

let stack: TestStack;
beforeEach(async () => {
  stack = await TestStack.start();
  stack.leaveFile();
  stack.contracts.set(CONTRACT, { contract: TEST_CONTRACT, retired: false });
});
afterEach(() => {
  stack.stop();
});

describe('a connection', () => {
  it.each([
    ['mode', { mode: 'Enforce' }],
    ['mode', { mode: '' }],
    ['name', { name: '' }],
    ['name', { name: undefined }],
    ['tenant', { tenant: '' }],
    ['tenant', { tenant: ' acme' }],
  ])('with a %s that is none is refused: %j', async (name, wrong) => {
    const options = { ...stack.options(), ...wrong } as Parameters<typeof connect>[0];
    await expect(connect(options)).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      detail: expect.stringContaining(`${name} has to be`),
    });
    expect(stack.calls).toEqual([]);
  });

  it('is one for all tenants where a worker of several asks for it', async () => {
    const recourse = await connect({ ...stack.options(), tenant: '*', roles: ['auditor'] });
    expect(recourse.tenant).toBe('*');
    await recourse.close();
  });

  it('without options is refused', async () => {
    // @ts-expect-error: who speaks?
    await expect(connect()).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  it('guards under no mode that is none, and nothing that is no tool', async () => {
    const recourse = await connect(stack.options());
    const invalid = { code: 'GUARD_INVALID' };
    const mode = 'Enforce' as GuardMode;
    await expect(recourse.guard(() => 1, { contract: CONTRACT, mode })).rejects.toMatchObject(invalid);
    for (const tool of [undefined, {}])
      // @ts-expect-error: no tool.
      await expect(recourse.guard(tool, { contract: CONTRACT })).rejects.toMatchObject(invalid);
    await recourse.close();
  });

  it('guards under no contract that has no name, and says which option it is', async () => {
    const recourse = await connect(stack.options());
    for (const options of [undefined, {}, { contract: '' }])
      // @ts-expect-error: which contract?
      await expect(recourse.guard(() => 1, options)).rejects.toMatchObject({
        code: 'OPTIONS_INVALID',
        detail: expect.stringContaining('contract has to be'),
      });
    await recourse.close();
  });

  it.each([
    ['capabilities', { adapter: 'payments' }],
    ['adapter', { adapter: '', capabilities: {} }],
    ['the tool of payments.get_refund', { adapter: 'payments', capabilities: { 'payments.get_refund': undefined } }],
    ['the tool of payments.get_refund', { adapter: 'payments', capabilities: { 'payments.get_refund': { execute } } }],
    ['adapter', undefined],
  ])('starts no worker that could answer nothing: %s', async (name, options) => {
    const recourse = await connect(stack.options());
    await expect(recourse.worker(options as never)).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      detail: expect.stringContaining(`${name} has to be`),
    });
    await recourse.close();
  });
});

describe('a tool of a connection', () => {
  it('is not called with arguments that go round in circles, or without end', async () => {
    const recourse = await connect(stack.options({ onTrouble: () => undefined }));
    let calls = 0;
    const tool = await recourse.guard((_args: unknown) => (calls += 1), { contract: CONTRACT });
    const round: Record<string, unknown> = {};
    round['self'] = round;
    let deep: unknown = 1;
    for (let level = 0; level < 5_000; level += 1) deep = [deep];
    for (const args of [round, deep])
      expect(await tool(args as never, PLACE)).toMatchObject({ kind: 'refused', code: 'ARGS_INVALID' });
    expect(calls).toBe(0);
    await recourse.close();
  });

  it.each([new Map([[1, 2]]), new Set([1]), new Error('no')])('that answers with %s is told of', async (answer) => {
    const heard: string[] = [];
    const recourse = await connect(stack.options({ onTrouble: ({ code }) => heard.push(code) }));
    const tool = await recourse.guard((_args: { order: string; amount_minor: number }) => answer as unknown, {
      contract: CONTRACT,
      externalTransactionRef: () => 'rf_1',
    });
    expect(await tool({ order: '1', amount_minor: 1 }, PLACE)).toMatchObject({ kind: 'succeeded' });
    expect(heard).toEqual(['RESULT_UNRECORDED']);
    await recourse.close();
  });
});
