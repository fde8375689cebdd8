import { describe, expect, it } from '@jest/globals';
import { toolFingerprint } from '@recourse/contract';
import type { Contract, ContractDraft } from '@recourse/contract';
import { ManualClock } from '@recourse/kernel';
import { mutationId } from '../effect-key.js';
import type { Action, ActionOutcome, Producer } from '../producer/producer.js';
import { ToolRejected } from '../tool/tool.js';
import { MemoryBudget } from './budget.memory.js';
import type { Budget } from './budget.port.js';
import { actionOf } from './action.js';
import { guard } from './guard.js';
import type { ForwardTool, GuardMode, GuardOptions, GuardTrouble, GuardTroubleCode } from './guard.messages.js';
import { FOR_GOOD, READS, refundContract as contract, refundUnder } from './guard.testing.js';

interface Scene {
  readonly mode?: GuardMode;
  readonly tool?: Partial<ForwardTool>;
  readonly contract?: Contract;
  readonly budget?: Budget;
  readonly toolFingerprint?: string;
  readonly producer?: Partial<Producer>;
}

function scene({ mode = 'enforce', tool = {}, producer = {}, ...more }: Scene = {}) {
  const told: string[] = [];
  const outcomes: ActionOutcome[] = [];
  const actions: Action[] = [];
  const troubles: GuardTroubleCode[] = [];
  const wire: Producer = {
    toolPlanned: (action) => {
      told.push('planned');
      actions.push(action);
      return Promise.resolve('evt');
    },
    toolExecuted: (action, outcome) => {
      told.push(outcome.outcome);
      actions.push(action);
      outcomes.push(outcome);
      return Promise.resolve('evt');
    },
    assumptionDeclared: () => Promise.resolve('evt'),
    assumptionInvalidated: () => Promise.resolve('evt'),
    assumptionReaffirmed: () => Promise.resolve('evt'),
    checkpointTaken: () => Promise.resolve('evt'),
    stateChunk: () => Promise.resolve('evt'),
    close: () => Promise.resolve(),
    ...producer,
  };
  const forward: ForwardTool = {
    execute: () => {
      told.push('called');
      return Promise.resolve({ refund_id: 'rf_secret', status: 'settled' });
    },
    externalTransactionRef: () => 'rf_secret',
    ...tool,
  };
  const options: GuardOptions = {
    contract,
    contractDigest: Buffer.alloc(32, 1),
    mode,
    producer: wire,
    clock: new ManualClock(5_000),
    onTrouble: ({ code }) => troubles.push(code),
    ...more,
  };
  const call = {
    run: { tenant: 'acme', runId: 'run-1', agentId: 'agent', initiator: 'asha', objective: 'refund order 4711' },
    stepId: 'refund',
    args: { order: '4711', amount_minor: 500_000 },
    target: 'order/4711',
    assumptionRefs: ['order/4711#not_shipped'],
  };
  return {
    told,
    outcomes,
    actions,
    troubles,
    options,
    call,
    run: (args?: Record<string, string | number>) =>
      guard(forward, options)(args === undefined ? call : { ...call, args }),
  };
}

describe('a guarded tool', () => {
  it('tells its intent, acts, tells the outcome, and gives back the answer without the handle', async () => {
    const { run, told, actions, outcomes, call, options } = scene();
    const result = await run();
    expect(told).toEqual(['planned', 'called', 'succeeded']);
    expect(result).toEqual({
      kind: 'succeeded',
      error_kind: null,
      mutation_refs: [mutationId('acme', 'run-1', actionOf(call, options).effectKey)],
      value: { status: 'settled' },
    });
    expect(JSON.stringify(result)).not.toContain('rf_secret');
    expect(actions[0]).toEqual(actions[1]);
    expect(outcomes[0]).toMatchObject({ externalTransactionRef: 'rf_secret', committedAt: 5_000 });
  });

  it('has the same keys on a retry, and others for another step or run', () => {
    const { call, options } = scene();
    const key = actionOf(call, options);
    expect(actionOf({ ...call, assumptionRefs: [] }, options)).toMatchObject({
      effectKey: key.effectKey,
      idempotencyKey: key.idempotencyKey,
      callId: key.callId,
    });
    expect(actionOf({ ...call, stepId: 'again' }, options).idempotencyKey).not.toBe(key.idempotencyKey);
    expect(actionOf({ ...call, run: { ...call.run, runId: 'run-2' } }, options).idempotencyKey).not.toBe(
      key.idempotencyKey,
    );
  });

  it('calls an error after sending uncertain, and a refusal failed', async () => {
    const hung = scene({ tool: { execute: () => Promise.reject(new Error('socket hang up')) } });
    expect(await hung.run()).toMatchObject({ kind: 'uncertain', error_kind: 'UNKNOWN' });
    const refused = scene({
      tool: { execute: () => Promise.reject(new ToolRejected('order_closed', 'the order is closed')) },
    });
    expect(await refused.run()).toMatchObject({ kind: 'failed', error_kind: 'REJECTED' });
    expect([...hung.told, ...refused.told]).toEqual(['planned', 'uncertain', 'planned', 'failed']);
  });

  it.each([
    ['thrown', () => Promise.reject(new ToolRejected('ORDER_CLOSED', 'the order is closed'))],
    ['in a result', () => Promise.resolve({ ok: false, error: { code: 'REFUSED', message: 'the order is closed' } })],
    [
      'before it was sent',
      () => Promise.reject(Object.assign(new Error('the order is closed'), { code: 'ECONNREFUSED' })),
    ],
  ])('says what failed in the words of the tool: %s', async (how, execute) => {
    const { run } = scene({ tool: { execute } });
    const code = { thrown: 'ORDER_CLOSED', 'in a result': 'REFUSED' }[how] ?? 'ECONNREFUSED';
    expect(await run()).toMatchObject({ kind: 'failed', failure: { code, message: 'the order is closed' } });
  });

  it('passes on no more words of a failure than are read, and none of a call that may have had an effect', async () => {
    const long = scene({ tool: { execute: () => Promise.reject(new ToolRejected('LONG', 'x'.repeat(10_000))) } });
    const answer = await long.run();
    expect(answer).toMatchObject({ failure: { message: `${'x'.repeat(500)}…` } });
    const hung = scene({ tool: { execute: () => Promise.reject(new Error('sent re_secret, then nothing')) } });
    expect(JSON.stringify(await hung.run())).not.toContain('re_secret');
  });

  it.each([
    ['RATE_LIMITED', { do: 'retry', action: 'RETRY_WITH_BACKOFF', backoffs: 1 }, 'retry_scheduled'],
    ['STALE', { do: 'refresh_then_retry', action: 'REFRESH_EVIDENCE' }, 'evidence_refreshed'],
    ['REJECTED', { do: 'replan', action: 'DEPRECATE_AND_REPLAN' }, 'deprecated'],
    ['IDEMPOTENCY_KEY_REUSED', { do: 'reconcile', action: 'DEPRECATE_AND_REPLAN' }, null],
    ['FORBIDDEN', { do: 'ask_person', action: 'ESCALATE_TO_HUMAN', reason: 'PLAYBOOK' }, 'escalated'],
    ['TIMEOUT', { do: 'reconcile', action: 'RETRY_WITH_BACKOFF' }, null],
  ])(
    'tells what is done about a failure with %s, to its caller and on the wire',
    async (code, directive, handledAs) => {
      const { run, outcomes } = scene({ tool: { execute: () => Promise.resolve({ error: { code } }) } });
      expect(await run()).toMatchObject({ directive });
      expect(outcomes.at(-1)).toMatchObject({ handledAs });
    },
  );

  it('refuses arguments that do not fit the contract, and calls nothing', async () => {
    const { run, told } = scene();
    expect(await run({ order: '4711', amount_minor: 0.5, note: 'x' })).toMatchObject({
      kind: 'refused',
      code: 'ARGS_INVALID',
      mutation_refs: [],
    });
    expect(told).toEqual([]);
  });

  it.each([null, '', ' \n'])('is not made for nothing that anybody knows of: objective %j (C55)', async (objective) => {
    const { call, options, told, troubles } = scene();
    // As a program without types calls it.
    const run = { ...call.run, objective: objective as string };
    const execute = () => Promise.reject(new Error('called'));
    expect(await guard({ execute }, options)({ ...call, run })).toMatchObject({
      kind: 'refused',
      code: 'OBJECTIVE_MISSING',
      mutation_refs: [],
    });
    expect([told, troubles]).toEqual([[], ['OBJECTIVE_MISSING']]);
    const read = { ...options, contract: refundUnder(READS) };
    expect(await guard({ execute: () => Promise.resolve({}) }, read)({ ...call, run })).toMatchObject({
      kind: 'succeeded',
    });
  });

  it.each([
    ['refund asha@example.org', 'email'],
    ['pay back to DE89 3704 0044 0532 0130 00', 'iban'],
  ])('is made for %j, and whoever wrote it hears that no erasure reaches that', async (objective, detector) => {
    const { call, options } = scene();
    const heard: GuardTrouble[] = [];
    const guarded = guard({ execute: () => Promise.resolve({}) }, { ...options, onTrouble: (one) => heard.push(one) });
    expect(await guarded({ ...call, run: { ...call.run, objective } })).toMatchObject({ kind: 'succeeded' });
    const [{ code, problems }] = heard.filter((one) => one.code === 'OBJECTIVE_PERSONAL') as [GuardTrouble];
    expect([code, problems[0]?.message]).toEqual(['OBJECTIVE_PERSONAL', expect.stringContaining(detector)]);
    expect(JSON.stringify(problems)).not.toContain(objective);
  });

  it('asks a schema of the tool as well', async () => {
    const { run, told } = scene({
      tool: { schema: { '~standard': { validate: () => ({ issues: [{ message: 'order is blocked' }] }) } } },
    });
    expect(await run()).toMatchObject({ kind: 'refused', code: 'ARGS_INVALID' });
    expect(told).toEqual([]);
  });

  it('takes a schema that throws for one that cannot tell', async () => {
    const validate = (): never => {
      throw new TypeError('no such table');
    };
    const tool = { schema: { '~standard': { validate } } };
    expect(await scene({ tool }).run()).toMatchObject({
      kind: 'refused',
      code: 'ARGS_INVALID',
      problems: [{ message: 'the schema of the tool threw: no such table' }],
    });
    const observed = scene({ tool, mode: 'observe' });
    expect(await observed.run()).toMatchObject({ kind: 'succeeded' });
    expect(observed.troubles).toEqual(['ARGS_INVALID']);
  });

  it('captures the prior value where the contract wants it, or refuses', async () => {
    const overwriting = refundUnder({ overwrites: true, requires_prior_value_capture: true });
    expect(await scene({ contract: overwriting }).run()).toMatchObject({
      kind: 'refused',
      code: 'PRIOR_VALUE_MISSING',
    });
    const captured = scene({ contract: overwriting, tool: { capturePriorValue: () => Promise.resolve({ limit: 3 }) } });
    await captured.run();
    expect(captured.outcomes[0]?.priorValue).toEqual({ limit: 3 });
  });

  it('refuses what the registry would refuse, with every problem and its remedy (A10, A100)', async () => {
    const ungated = refundUnder({ ...FOR_GOOD, impact: 'destructive', forward_approval: 'policy' });
    const { run, told } = scene({ contract: ungated });
    expect(await run()).toMatchObject({
      kind: 'refused',
      code: 'CONTRACT_REFUSED',
      problems: [{ code: 'IRREVERSIBLE_UNGATED', path: '/forward_approval' }],
    });
    const short = refundUnder({
      ...FOR_GOOD,
      forward_approval: undefined,
      commit_hold_ms: 1,
      cancel_capability: 'payments.cancel_refund',
    });
    expect(await scene({ contract: short }).run()).toMatchObject({ problems: [{ code: 'HOLD_TOO_SHORT' }] });
    expect(told).toEqual([]);
  });

  it('refuses a tool that is another than was approved, and no reversal makes it another (D7)', async () => {
    const approved = toolFingerprint(contract);
    const guarded = (changes: ContractDraft) => scene({ contract: refundUnder(changes), toolFingerprint: approved });
    const another = guarded({ effect: 'A customer gets a voucher.' });
    expect(await another.run()).toMatchObject({ kind: 'refused', code: 'TOOL_CHANGED' });
    expect(another.told).toEqual([]);
    expect(await guarded({ reversal_window_ms: 60_000, residue: 'Nothing.' }).run()).toMatchObject({
      kind: 'succeeded',
    });
  });

  it('refuses an overwrite that its tool can see and its contract does not admit (A9)', async () => {
    const capturing = { capturePriorValue: () => Promise.resolve({ limit: 3 }) };
    const hidden = scene({ tool: capturing });
    expect(await hidden.run()).toMatchObject({ kind: 'refused', code: 'OVERWRITE_UNDECLARED' });
    expect(await scene({ contract: refundUnder({ overwrites: false }), tool: capturing }).run()).toMatchObject({
      code: 'OVERWRITE_UNDECLARED',
    });
    expect(hidden.told).toEqual([]);
    const first = scene({ tool: { capturePriorValue: () => Promise.resolve(null) } });
    expect(await first.run()).toMatchObject({ kind: 'succeeded' });
  });

  it('refuses where a prior value is there to be captured and could not be, whatever the contract asks for (A9)', async () => {
    const { run, told } = scene({ tool: { capturePriorValue: () => Promise.reject(new Error('timeout')) } });
    expect(await run()).toMatchObject({ kind: 'refused', code: 'PRIOR_VALUE_MISSING' });
    expect(told).toEqual([]);
  });

  it('reserves before it acts, keeps within the ceiling and gives back what failed', async () => {
    const budget = new MemoryBudget(500_000);
    const failed = scene({ budget, tool: { execute: () => Promise.reject(new ToolRejected('closed', 'closed')) } });
    await failed.run();
    expect(await scene({ budget }).run()).toMatchObject({ kind: 'succeeded' });
    const beyond = scene({ budget });
    expect(await beyond.run({ order: '4712', amount_minor: 1 })).toMatchObject({
      kind: 'refused',
      code: 'BUDGET_ESCALATED',
    });
    expect(beyond.told).toEqual([]);
  });

  it.each([404, 409])('keeps reserved what may have been done: status %i', async (status) => {
    const budget = new MemoryBudget(500_000);
    const error = Object.assign(new Error('there is one already'), { status });
    const unknown = scene({ budget, tool: { execute: () => Promise.reject(error) } });
    expect(await unknown.run()).toMatchObject({
      kind: 'uncertain',
      error_kind: 'UNKNOWN',
      directive: { do: 'reconcile' },
    });
    expect(await scene({ budget }).run({ order: '4712', amount_minor: 1 })).toMatchObject({ code: 'BUDGET_ESCALATED' });
  });

  it('does not act when its intent cannot be published', async () => {
    const { run, told } = scene({ producer: { toolPlanned: () => Promise.reject(new Error('no broker')) } });
    expect(await run()).toMatchObject({ kind: 'refused', code: 'INTENT_NOT_PUBLISHED' });
    expect(told).toEqual([]);
  });

  it('does not hide that an outcome could not be published', async () => {
    const { run } = scene({ producer: { toolExecuted: () => Promise.reject(new Error('no broker')) } });
    await expect(run()).rejects.toThrow('no broker');
  });
});

describe('a guard that only observes', () => {
  it('hears every objection and refuses nothing', async () => {
    const { run, told, troubles } = scene({
      mode: 'observe',
      budget: new MemoryBudget(0),
      producer: { toolPlanned: () => Promise.reject(new Error('no broker')) },
    });
    expect(await run({ order: '4711', amount_minor: 5, note: 'x' })).toMatchObject({ kind: 'succeeded' });
    expect(troubles).toEqual(['ARGS_INVALID', 'BUDGET_ESCALATED', 'INTENT_NOT_PUBLISHED']);
    expect(told).toEqual(['called', 'succeeded']);
  });
});

describe('a guard that is off', () => {
  it('calls the tool and tells nobody', async () => {
    const { run, told } = scene({ mode: 'off' });
    expect(await run({ anything: 1 })).toEqual({
      kind: 'succeeded',
      mutation_refs: [],
      error_kind: null,
      value: { status: 'settled' },
    });
    expect(told).toEqual(['called']);
  });
});
