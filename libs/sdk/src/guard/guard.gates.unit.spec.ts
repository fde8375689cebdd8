import { describe, expect, it } from '@jest/globals';
import { forwardApprovalId } from '@recourse/contract';
import { Failure } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { releaseDiff, releaseRef } from '../release.js';
import type { ReleaseTuple } from '../release.js';
import { MemoryProducer } from '../producer/producer.memory.js';
import { MemoryClaimStore } from '../stores/claim-store.memory.js';
import { ToolRejected } from '../tool/tool.js';
import { actionOf, mutationOf } from './action.js';
import { MemoryApprovals } from './approval.memory.js';
import { HttpBudget } from './budget.http.js';
import { MemoryBudget } from './budget.memory.js';
import { READS, refund, refundCall } from './guard.testing.js';
import { HttpStanding } from './standing.http.js';
import { MemoryStanding } from './standing.memory.js';
import { earlierCall } from './standing.decisions.js';

const idOf = (options: Parameters<typeof actionOf>[1]): string => mutationOf(actionOf(refundCall, options));

describe('a guarded tool whose contract wants people asked', () => {
  it('waits for them, calls nothing meanwhile, and acts once they agree', async () => {
    const approvals = new MemoryApprovals();
    const { run, told, calls } = refund({ contract: { forward_approval: 'human' }, options: { approvals } });
    const refused = await run();
    expect(refused).toMatchObject({ kind: 'refused', code: 'APPROVAL_PENDING' });
    expect([calls(), told()]).toEqual([0, []]);
    const [question] = approvals.open();
    expect(question).toMatchObject({ mode: 'human', initiator: 'asha', args: refundCall.args });
    const { tenant = '', runId = '', effectKey = '', actionDigest = '' } = question ?? {};
    expect(JSON.stringify(refused)).toContain(forwardApprovalId(tenant, runId, effectKey, actionDigest));
    if (question !== undefined) approvals.approve(question);
    expect(await run()).toMatchObject({ kind: 'succeeded' });
  });

  it('asks again when the arguments change', async () => {
    const approvals = new MemoryApprovals();
    const { run } = refund({ contract: { forward_approval: 'dual_control' }, options: { approvals } });
    await run();
    approvals.open().forEach((question) => {
      approvals.approve(question);
    });
    expect(await run({ args: { order: '4711', amount_minor: 500_001 } })).toMatchObject({ code: 'APPROVAL_PENDING' });
  });

  it('takes no approval of another action', async () => {
    const { run, calls } = refund({
      contract: { forward_approval: 'human' },
      options: { approvals: { ask: () => Promise.resolve({ kind: 'approved', actionDigest: 'ab' }) } },
    });
    expect(await run()).toMatchObject({ code: 'APPROVAL_DENIED' });
    expect(calls()).toBe(0);
  });

  it('refuses when they deny, when they cannot be reached, and when nobody can be asked', async () => {
    const approvals = new MemoryApprovals();
    const denied = refund({ contract: { forward_approval: 'human' }, options: { approvals } });
    await denied.run();
    approvals.open().forEach((question) => {
      approvals.deny(question, 'too much');
    });
    expect(await denied.run()).toMatchObject({ code: 'APPROVAL_DENIED', problems: [{ message: 'too much' }] });
    const away = refund({
      contract: { forward_approval: 'human' },
      options: { approvals: { ask: () => Promise.resolve({ kind: 'unavailable', cause: new Error('x') }) } },
    });
    expect(await away.run()).toMatchObject({ code: 'APPROVAL_UNAVAILABLE' });
    expect(await refund({ contract: { forward_approval: 'human' } }).run()).toMatchObject({
      code: 'APPROVAL_UNAVAILABLE',
    });
  });
});

describe('a guarded tool with a dry run', () => {
  const contract = { techniques: { dry_run_capability: 'payments.preview_refund' } };

  it('rehearses first, and shows people what it would do', async () => {
    const approvals = new MemoryApprovals();
    const { run } = refund({
      contract: { ...contract, forward_approval: 'human' },
      tool: { rehearse: () => Promise.resolve({ fee_minor: 20 }) },
      options: { approvals },
    });
    await run();
    expect(approvals.open()).toMatchObject([{ rehearsal: { fee_minor: 20 } }]);
  });

  it('refuses what fails in rehearsal, and a tool that has none', async () => {
    const carried = refund({
      contract,
      tool: { rehearse: () => Promise.resolve({ error: { code: 'POLICY_DENIED' } }) },
    });
    const thrown = refund({ contract, tool: { rehearse: () => Promise.reject(new Error('closed')) } });
    expect([await carried.run(), await thrown.run(), await refund({ contract }).run()]).toMatchObject([
      { code: 'REHEARSAL_FAILED' },
      { code: 'REHEARSAL_FAILED' },
      { code: 'REHEARSAL_MISSING' },
    ]);
    expect(carried.calls() + thrown.calls()).toBe(0);
  });

  it('only rehearses when asked to', async () => {
    const { run, calls, told } = refund({ tool: { rehearse: () => Promise.resolve({ fee_minor: 20 }) } });
    expect(await run({ isRehearsal: true })).toEqual({ kind: 'rehearsed', mutation_refs: [], error_kind: null });
    expect([calls(), told()]).toEqual([0, []]);
  });
});

describe('a guarded tool whose effect is held', () => {
  const contract = { commit_hold_ms: 60_000, cancel_capability: 'payments.cancel_refund' };

  it('tells its intent and leaves the effect to the ledger', async () => {
    const { run, told, calls, options } = refund({ contract });
    expect(await run()).toEqual({ kind: 'held', mutation_refs: [idOf(options)], error_kind: null, hold_ms: 60_000 });
    expect([calls(), told()]).toEqual([0, ['planned']]);
  });

  it('is told no second time while it is held, and never after it was cancelled', async () => {
    const standing = new MemoryStanding();
    const { run, told, options } = refund({ contract, options: { standing } });
    standing.record(idOf(options), 'planned', 'pending_commit');
    expect(await run()).toMatchObject({ kind: 'held' });
    standing.record(idOf(options), 'planned', 'cancelled');
    expect(await run()).toMatchObject({ kind: 'refused', code: 'CANCELLED' });
    expect(told()).toEqual([]);
  });

  it('is not answered as done once it was rolled back, and never done again', async () => {
    const standing = new MemoryStanding();
    const { run, calls, told, options } = refund({ options: { standing } });
    standing.record(idOf(options), 'succeeded', 'compensated', true);
    expect(await run()).toMatchObject({ kind: 'refused', code: 'ROLLED_BACK' });
    standing.record(idOf(options), 'failed', 'planned', true);
    expect(await run()).toMatchObject({ kind: 'refused', code: 'ROLLED_BACK' });
    expect([calls(), told()]).toEqual([0, []]);
  });

  it('that only reads is made again whatever the record and its claims say of it (A8)', async () => {
    const [claims, standing] = [new MemoryClaimStore(), new MemoryStanding()];
    const { run, calls, options } = refund({ contract: READS, options: { claims, standing } });
    for (const state of ['executing', 'uncertain', 'succeeded'] as const) {
      standing.record(idOf(options), state, 'committed', true);
      expect(await run()).toMatchObject({ kind: 'succeeded' });
    }
    expect(calls()).toBe(3);
  });

  it('goes at once where the guard only observes, which is heard', async () => {
    const { run, calls, troubles } = refund({ contract, options: { mode: 'observe' } });
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    expect([calls(), troubles]).toEqual([1, ['HOLD_SKIPPED']]);
  });
});

describe('a guarded tool whose contract reserves', () => {
  const contract = {
    commit_hold_ms: 60_000,
    cancel_capability: 'payments.cancel_refund',
    techniques: { reservation: true },
  };

  it('stages under the keys of the call, tells the handle with its intent, and leaves the rest to the ledger', async () => {
    const staged: unknown[] = [];
    const { run, told, calls, producer, options } = refund({
      contract,
      tool: {
        stage: (args, context) => {
          staged.push([args, context]);
          return Promise.resolve('hold_9');
        },
      },
    });
    expect(await run()).toEqual({ kind: 'held', mutation_refs: [idOf(options)], error_kind: null, hold_ms: 60_000 });
    const { idempotencyKey, callId, runId } = actionOf(refundCall, options);
    expect(staged).toEqual([[refundCall.args, { idempotencyKey, callId, runId }]]);
    expect([calls(), told()]).toEqual([0, ['planned']]);
    expect(producer.told).toMatchObject([{ preparation: { isHeld: true, stagedRef: 'hold_9' } }]);
  });

  it('stages nothing before people, budget and arguments agree', async () => {
    let staged = 0;
    const tool = {
      stage: () => {
        staged += 1;
        return Promise.resolve('hold_9');
      },
    };
    await refund({
      contract: { ...contract, forward_approval: 'human' },
      tool,
      options: { approvals: new MemoryApprovals() },
    }).run();
    await refund({ contract, tool, options: { budget: new MemoryBudget(0) } }).run();
    await refund({ contract, tool }).run({ args: { order: '4711' } });
    expect(staged).toBe(0);
  });

  it('is refused when its tool refuses to stage, or cannot, and its budget is given back', async () => {
    const budget = new MemoryBudget(500_000);
    const refused = refund({
      contract,
      options: { budget },
      tool: { stage: () => Promise.reject(new ToolRejected('LIMIT', 'too much')) },
    });
    const missing = refund({ contract, options: { budget } });
    expect([await refused.run(), await missing.run()]).toMatchObject([
      { kind: 'refused', code: 'STAGE_REFUSED' },
      { kind: 'refused', code: 'STAGE_MISSING' },
    ]);
    expect([...refused.told(), ...missing.told()]).toEqual([]);
    expect(await refund({ options: { budget } }).run()).toMatchObject({ kind: 'succeeded' });
  });

  it('is told without a handle when nobody knows whether anything is staged', async () => {
    for (const stage of [() => Promise.reject(new Error('socket hang up')), () => Promise.resolve('')]) {
      const { run, producer, troubles } = refund({ contract, tool: { stage } });
      expect(await run()).toMatchObject({ kind: 'held' });
      expect(troubles).toEqual(['STAGE_UNCERTAIN']);
      expect(producer.told).toMatchObject([{ preparation: { isHeld: true, stagedRef: null } }]);
    }
  });

  it('waits for its tool no longer than the contract says', async () => {
    const { run, clock, producer } = refund({
      contract: { ...contract, call_timeout_ms: 1_000 },
      tool: { stage: () => new Promise(() => undefined) },
    });
    const ended = run();
    for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
    await clock.advance(1_000);
    expect(await ended).toMatchObject({ kind: 'held' });
    expect(producer.told).toMatchObject([{ preparation: { stagedRef: null } }]);
  });

  it('gives back what it staged for an intent that could not be told, or says that it stays', async () => {
    const given: unknown[] = [];
    const unheard = new MemoryProducer();
    unheard.toolPlanned = () => Promise.reject(new Failure('KEY_NOT_BELIEVED', 'it is not sent'));
    const stage = () => Promise.resolve('hold_9');
    const giving = refund({
      contract,
      options: { producer: unheard },
      tool: {
        stage,
        unstage: (_args, { stagedRef }) => {
          given.push(stagedRef);
          return Promise.resolve();
        },
      },
    });
    const leaving = refund({ contract, options: { producer: unheard }, tool: { stage } });
    expect([await giving.run(), await leaving.run()]).toMatchObject([
      { code: 'INTENT_NOT_PUBLISHED' },
      { code: 'INTENT_NOT_PUBLISHED' },
    ]);
    expect([given, giving.troubles, leaving.troubles]).toEqual([
      ['hold_9'],
      ['INTENT_NOT_PUBLISHED'],
      ['INTENT_NOT_PUBLISHED', 'STAGED_LEFT'],
    ]);
  });

  it('stages nothing where the guard only observes, nor for a recovery, nor a second time', async () => {
    let staged = 0;
    const tool = {
      stage: () => {
        staged += 1;
        return Promise.resolve('hold_9');
      },
    };
    expect(await refund({ contract, tool, options: { mode: 'observe' } }).run()).toMatchObject({ kind: 'succeeded' });
    expect(
      await refund({ contract, tool }).run({ recovery: { callId: 'rev_1', idempotencyKey: 'rev_k', attempt: 1 } }),
    ).toMatchObject({ kind: 'succeeded' });
    const standing = new MemoryStanding();
    const again = refund({ contract, tool, options: { standing } });
    standing.record(idOf(again.options), 'planned', 'pending_commit');
    expect(await again.run()).toMatchObject({ kind: 'held' });
    expect(staged).toBe(0);
  });
});

describe('a guarded tool of an agent with a charter', () => {
  const charter = {
    owner: 'ops',
    doc: 'Refunds.',
    agent: 'agent',
    purpose: 'refunds',
    allowed: ['payments.*'],
    denied: ['payments.issue_refund'],
  };

  it('reserves and does nothing that is denied, however much it is allowed', async () => {
    const budget = new MemoryBudget(500_000);
    const { run, calls, told } = refund({ options: { charter, budget } });
    expect(await run()).toMatchObject({ kind: 'refused', code: 'INTENT_DENIED' });
    expect([calls(), told()]).toEqual([0, []]);
    expect(await refund({ options: { charter: { ...charter, denied: [] }, budget } }).run()).toMatchObject({
      kind: 'succeeded',
    });
  });

  it('does nothing it is not allowed, and is only heard where the guard observes', async () => {
    expect(await refund({ options: { charter: { ...charter, allowed: [], denied: [] } } }).run()).toMatchObject({
      code: 'INTENT_NOT_ALLOWED',
    });
    const observed = refund({ options: { charter, mode: 'observe' } });
    expect(await observed.run()).toMatchObject({ kind: 'succeeded' });
    expect(observed.troubles).toEqual(['INTENT_DENIED']);
  });
});

describe('a guarded call that was begun before', () => {
  it('is not made again, whatever the record says of it but that it had no effect', async () => {
    const standing = new MemoryStanding();
    const { run, calls, options } = refund({ options: { standing } });
    for (const state of ['planned', 'executing', 'uncertain'] as const) {
      standing.record(idOf(options), state, 'planned');
      expect(await run()).toMatchObject({
        kind: 'uncertain',
        error_kind: 'RECONCILIATION_PENDING',
        mutation_refs: [idOf(options)],
      });
    }
    standing.record(idOf(options), 'succeeded', 'reversal_available');
    expect(await run()).toMatchObject({ kind: 'succeeded', mutation_refs: [idOf(options)] });
    expect(calls()).toBe(0);
    standing.record(idOf(options), 'failed', 'planned');
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    expect(calls()).toBe(1);
  });

  it('is not made while the record cannot be read', async () => {
    const { run, calls } = refund({
      options: { standing: { of: () => Promise.resolve({ kind: 'unavailable', cause: new Error('x') }) } },
    });
    expect(await run()).toMatchObject({ kind: 'refused', code: 'STANDING_UNAVAILABLE' });
    expect(calls()).toBe(0);
  });

  it('is refused with the address that was asked and what it answered, as by a budget', async () => {
    const away: typeof fetch = () => Promise.reject(new TypeError('fetch failed'));
    const asked = { token: () => Promise.resolve(null), fetch: away };
    const standing = new HttpStanding({ ...asked, url: 'http://ledger.test:4101' });
    const budget = new HttpBudget({ ...asked, url: 'http://accountant.test:4102' });
    const [unread, unreserved] = [refund({ options: { standing } }), refund({ options: { budget } })];
    expect([await unread.run(), await unreserved.run()]).toMatchObject([
      {
        code: 'STANDING_UNAVAILABLE',
        problems: [{ message: expect.stringMatching(/UNREACHABLE.*ledger\.test:4101/) }],
      },
      { code: 'BUDGET_UNAVAILABLE', problems: [{ message: expect.stringMatching(/UNREACHABLE.*ant\.test:4102/) }] },
    ]);
  });

  it('is known from its claim before the record has heard of it, and twice at most', async () => {
    const [claims, standing] = [new MemoryClaimStore(), new MemoryStanding()];
    const { run, calls, options } = refund({
      options: { claims, standing },
      tool: { execute: () => Promise.reject(new Error('gone')) },
    });
    await run();
    expect(await run()).toMatchObject({ kind: 'uncertain', error_kind: 'RECONCILIATION_PENDING' });
    standing.record(idOf(options), 'failed', 'planned');
    await run();
    expect(await run()).toMatchObject({ error_kind: 'RECONCILIATION_PENDING' });
    expect(calls()).toBe(2);
  });

  it('is not made when no claim can be kept, and gives its budget back', async () => {
    const budget = new MemoryBudget(500_000);
    const { run, calls } = refund({
      options: { budget, claims: { claim: () => Promise.reject(new Error('disk full')) } },
    });
    expect(await run()).toMatchObject({ kind: 'refused', code: 'CLAIM_UNAVAILABLE' });
    expect(calls()).toBe(0);
    expect(await refund({ options: { budget } }).run()).toMatchObject({ kind: 'succeeded' });
  });

  it('is told by nobody to have ended where no claim of it could be kept: another call of it may be under way', async () => {
    const [standing, told] = [new MemoryStanding(), [] as string[]];
    for (const claims of [new MemoryClaimStore(), { claim: () => Promise.reject(new Error('disk full')) }]) {
      const gate = Promise.withResolvers<Json>();
      const one = refund({ options: { standing, claims }, tool: { execute: () => gate.promise } });
      void one.run();
      for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
      told.push(...one.told());
    }
    expect(told).toEqual(['planned', 'planned']);
  });

  it('that certainly failed gives its budget back, also where another call of it lost the claim meanwhile', async () => {
    const [budget, gate] = [new MemoryBudget(500_000), Promise.withResolvers<Json>()];
    const tool = { execute: () => gate.promise };
    const { run, told } = refund({ options: { budget, claims: new MemoryClaimStore() }, tool });
    // Both look before either calls.
    const [failing, losing] = [run(), run()];
    expect(await losing).toMatchObject({ kind: 'uncertain', error_kind: 'RECONCILIATION_PENDING' });
    expect(told()).toEqual(['planned', 'planned']);
    gate.reject(new ToolRejected('RATE_LIMITED', 'later'));
    expect(await failing).toMatchObject({ kind: 'failed' });
    expect(await refund({ options: { budget } }).run({ stepId: 'other' })).toMatchObject({ kind: 'succeeded' });
  });

  it.each([
    ['with claims', { claims: new MemoryClaimStore() }],
    ['without claims', {}],
  ])('is tried again as often as it may be, each time on record, and then a person’s, %s', async (_, more) => {
    const standing = new MemoryStanding();
    const tool = { execute: () => Promise.reject(new ToolRejected('RATE_LIMITED', 'later')) };
    const { run, calls, options, producer } = refund({ tool, options: { standing, ...more } });
    const answers = [];
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      answers.push(await run());
      standing.record(idOf(options), 'failed', 'planned');
    }
    expect(answers).toMatchObject([
      { kind: 'failed', directive: { do: 'retry', backoffs: 1 } },
      { kind: 'failed', directive: { do: 'retry', backoffs: 2 } },
      { kind: 'failed', directive: { do: 'ask_person', reason: 'ATTEMPTS_EXHAUSTED' } },
    ]);
    expect(calls()).toBe(3);
    const handled = producer.told.flatMap((told) => (told.type === 'ToolExecuted' ? [told.outcome.handledAs] : []));
    expect(handled).toEqual(['retry_scheduled', 'retry_scheduled', 'escalated']);
  });

  it('is refreshed once where its evidence is stale, and then a person’s, though nobody counts the refreshes', async () => {
    const standing = new MemoryStanding();
    const tool = { execute: () => Promise.reject(new ToolRejected('EVIDENCE_STALE', 'the price changed')) };
    const { run, options, producer } = refund({ tool, options: { standing } });
    const answers = [];
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      answers.push(await run());
      standing.record(idOf(options), 'failed', 'planned');
    }
    expect(answers).toMatchObject([
      { kind: 'failed', directive: { do: 'refresh_then_retry' } },
      { kind: 'failed', directive: { do: 'ask_person', reason: 'STALE_AGAIN' } },
    ]);
    const handled = producer.told.flatMap((told) => (told.type === 'ToolExecuted' ? [told.outcome.handledAs] : []));
    expect(handled).toEqual(['evidence_refreshed', 'escalated']);
  });

  it('goes on where the guard only observes', async () => {
    const standing = new MemoryStanding();
    const { run, calls, options, troubles } = refund({ options: { standing, mode: 'observe' } });
    standing.record(idOf(options), 'uncertain', 'planned');
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    expect([calls(), troubles]).toEqual([1, ['RECONCILIATION_PENDING']]);
  });

  it('that is held and planned stays held', () => {
    const planned = {
      kind: 'recorded',
      execution: 'planned',
      recoverability: 'planned',
      ends: 0,
      fell: false,
    } as const;
    const { contract } = refund({ contract: { commit_hold_ms: 5_000 } }).options;
    expect(earlierCall(planned, contract)).toMatchObject({ end: 'held' });
  });
});

describe('an error of a guarded tool', () => {
  it('inside a result is an error all the same', async () => {
    const failed = refund({ tool: { execute: () => Promise.resolve({ error: { code: 'VALIDATION_ERROR' } }) } });
    expect(await failed.run()).toMatchObject({ kind: 'failed', error_kind: 'ARGS_INVALID' });
    const uncertain = refund({ tool: { execute: () => Promise.resolve({ error: { status: 503 } }) } });
    expect(await uncertain.run()).toMatchObject({ kind: 'uncertain', error_kind: 'SERVER' });
    expect([...failed.told(), ...uncertain.told()]).toEqual(['planned', 'failed', 'planned', 'uncertain']);
  });

  it('is a time-out when the contract has one and the tool is silent', async () => {
    const { run, clock, told } = refund({
      contract: { call_timeout_ms: 1_000 },
      tool: { execute: () => new Promise(() => undefined) },
    });
    const ended = run();
    while (told().length === 0) await Promise.resolve();
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    await clock.advance(1_000);
    expect(await ended).toMatchObject({ kind: 'uncertain', error_kind: 'TIMEOUT' });
  });

  it('that the tool is sure of gives the budget back', async () => {
    const budget = new MemoryBudget(500_000);
    await refund({
      options: { budget },
      tool: { execute: () => Promise.reject(new ToolRejected('RATE_LIMITED', 'later')) },
    }).run();
    expect(await refund({ options: { budget } }).run({ stepId: 'other' })).toMatchObject({ kind: 'succeeded' });
  });
});

describe('the release of a guarded run', () => {
  const release: ReleaseTuple = {
    prompt: 'p1',
    model: 'm1',
    policy: 'b1',
    tools: 't1',
    context: 'c1',
    eval: 'e1',
    memory: 'y1',
  };

  it('is carried by each of its actions, and stated before the first', async () => {
    const { run, producer, told } = refund();
    await run({ run: { ...refundCall.run, release } });
    expect(told()).toEqual(['AssumptionDeclared', 'planned', 'succeeded']);
    const [stated, planned] = producer.told;
    expect(stated).toMatchObject({ statement: { ref: releaseRef(release), statement: release, tenant: 'acme' } });
    expect(planned).toMatchObject({ action: { assumptionRefs: ['order/4711#not_shipped', releaseRef(release)] } });
  });

  it('changes no effect key, and its difference from another is told part by part', () => {
    const { options } = refund();
    expect(actionOf({ ...refundCall, run: { ...refundCall.run, release } }, options).effectKey).toBe(
      actionOf(refundCall, options).effectKey,
    );
    const next = { ...release, model: 'm2', memory: 'y2' };
    expect(releaseDiff(release, next)).toEqual([
      { part: 'model', from: 'm1', to: 'm2' },
      { part: 'memory', from: 'y1', to: 'y2' },
    ]);
    expect(releaseRef(next)).not.toBe(releaseRef(release));
    expect(releaseRef({ ...release })).toMatch(/^release\/[0-9a-f]{64}#stands$/);
  });
});
