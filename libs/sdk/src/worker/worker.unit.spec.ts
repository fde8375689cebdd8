import { afterEach, describe, expect, it } from '@jest/globals';
import { spanIdOf, traceIdOf, TRACEPARENT, traceparentOf } from '@recourse/kernel';
import { ToolRejected } from '../tool/tool.js';
import { legOf, legStep, NOT_AFTER } from './legs.testing.js';
import { outcomes, turns, WorkerStage } from './worker.testing.js';

let stage = new WorkerStage();
afterEach(async () => {
  await stage.stop();
  stage = new WorkerStage();
});

describe('a worker', () => {
  it('checks, executes and verifies a leg, and reports what it saw', async () => {
    await stage.start();
    await stage.ask(legOf());
    const [report] = await stage.reports(1);
    expect(report).toMatchObject({
      leg_id: 'leg_1',
      tenant: 'acme',
      run_id: 'run-1',
      attempt: 1,
      lease_id: 'lease_1',
      worker_id: 'worker',
    });
    expect(report?.steps[0]).toMatchObject({ outcome: 'verified', error_kind: null });
    expect(report?.steps[0]?.observations.map(({ phase, observed }) => [phase, observed.body.toString()])).toEqual([
      ['stale_check', '{"status":"settled"}'],
      ['execute', '{"status":"reversed"}'],
      ['verify', '{"status":"reversed"}'],
    ]);
    expect(stage.provider.calls[1]?.context).toMatchObject({
      runId: 'run-1',
      idempotencyKey: 'rev_key',
      reason: 'agent_effect_compensation',
      attempt: 1,
      callId: 'rev_mut_1',
    });
  });

  it('stops a leg at the first step that does not succeed', async () => {
    await stage.start();
    await stage.ask(
      legOf({ steps: [legStep({ stale_condition: 'observed.status == "other"' }), legStep({ step_id: 'step_2' })] }),
    );
    expect(outcomes(await stage.reports(1))).toEqual([['stale']]);
    expect(stage.provider.reversals).toBe(0);
  });

  it('reports a provider that says yes and does nothing as unverified', async () => {
    stage.provider.reverse = () => Promise.resolve({ status: 'reversed' });
    await stage.start();
    await stage.ask(legOf());
    await turns();
    await stage.clock.advance(100);
    expect(outcomes(await stage.reports(1))).toEqual([['unverified']]);
  });

  it('refuses what comes too late', async () => {
    await stage.start();
    await stage.clock.advance(NOT_AFTER);
    await stage.ask(legOf());
    expect(outcomes(await stage.reports(1))).toEqual([['refused_late']]);
    expect(stage.provider.calls).toHaveLength(0);
  });

  it('takes a tool that does not answer for unknown', async () => {
    stage.provider.reverse = () => new Promise(() => undefined);
    await stage.start();
    await stage.ask(legOf());
    await turns();
    await stage.clock.advance(500);
    const [report] = await stage.reports(1);
    expect(report?.steps[0]).toMatchObject({ outcome: 'unknown', error_kind: 'TOOL_TIMEOUT' });
  });

  it('knows a refusal of the tool from an error of it', async () => {
    stage.provider.reverse = ({ runId }) =>
      Promise.reject(runId === 'run-1' ? new ToolRejected('not_found', 'no such refund') : new Error('socket hang up'));
    await stage.start();
    await stage.ask(legOf(), legOf({ leg_id: 'leg_2', run_id: 'run-2' }));
    const reports = await stage.reports(2);
    expect(Object.fromEntries(reports.map(({ run_id, steps }) => [run_id, steps[0]?.outcome]))).toEqual({
      'run-1': 'failed',
      'run-2': 'unknown',
    });
  });

  it('goes on with other runs while one tool hangs, and keeps a run in order', async () => {
    stage.provider.reverse = ({ runId }) =>
      runId === 'run-1' ? new Promise(() => undefined) : Promise.resolve({ status: 'reversed' });
    await stage.start();
    await stage.ask(
      legOf(),
      legOf({ leg_id: 'leg_1b' }),
      ...['run-2', 'run-3', 'run-4'].map((run_id) =>
        legOf({ leg_id: `leg-${run_id}`, run_id, steps: [legStep({ success_condition: 'type(observed) == map' })] }),
      ),
    );
    const reports = await stage.reports(3);
    expect(reports.map(({ run_id }) => run_id).sort()).toEqual(['run-2', 'run-3', 'run-4']);
    expect(
      stage.provider.calls.filter(({ context }) => context.runId === 'run-1' && context.phase === 'execute'),
    ).toHaveLength(1);
  });

  it('answers a repeated request with the same report and no second call', async () => {
    await stage.start();
    await stage.ask(legOf(), legOf());
    const [first, second] = await stage.reports(2);
    expect(second).toEqual(first);
    expect(stage.provider.reversals).toBe(1);
  });

  it('passes over what is no request, and says so', async () => {
    await stage.start();
    await stage.garbage();
    await stage.ask(legOf());
    expect(outcomes(await stage.reports(1))).toEqual([['verified']]);
    expect(stage.notes).toContainEqual(expect.objectContaining({ type: 'unreadable', reason: 'UNFRAMED' }));
  });

  it('waits for the registry rather than lose a request', async () => {
    await stage.start();
    await stage.ask(legOf());
    stage.registry.available = false;
    await turns();
    expect(stage.provider.calls).toHaveLength(0);
    stage.registry.available = true;
    await stage.clock.advance(500);
    expect(outcomes(await stage.reports(1))).toEqual([['verified']]);
  });
});

describe('the spans of a worker', () => {
  const PLACE = { name: 'leg', which: '1 answered' };
  const headers = { [TRACEPARENT]: traceparentOf('rb_1', PLACE) };

  it('are one per call, below the span that the request names (C50)', async () => {
    await stage.start();
    await stage.askWith(headers, legOf());
    await stage.reports(1);
    expect(
      stage.spans.map(({ name, traceId, parentSpanId, problem }) => [name, traceId, parentSpanId, problem]),
    ).toEqual(
      ['stale_check', 'execute', 'verify'].map((name) => [name, traceIdOf('rb_1'), spanIdOf('rb_1', PLACE), null]),
    );
  });

  it('tell a call that gave no answer as a problem, with the time it took', async () => {
    stage.provider.reverse = () => new Promise(() => undefined);
    await stage.start();
    await stage.askWith(headers, legOf());
    await turns();
    await stage.clock.advance(500);
    await stage.reports(1);
    expect(stage.spans.at(-1)).toMatchObject({
      name: 'execute',
      startAt: 1_000,
      endAt: 1_500,
      problem: 'TOOL_TIMEOUT',
    });
  });

  it.each([
    ['without a place', {}],
    ['with one that is none', { [TRACEPARENT]: 'rb_1' }],
  ])('are none for a request %s, which is answered all the same', async (_case, none) => {
    await stage.start();
    await stage.askWith(none, legOf());
    expect(outcomes(await stage.reports(1))).toEqual([['verified']]);
    expect(stage.spans).toEqual([]);
  });

  it('stop nothing when they cannot be taken', async () => {
    stage.onSpan = () => {
      throw new Error('no room');
    };
    await stage.start();
    await stage.askWith(headers, legOf());
    expect(outcomes(await stage.reports(1))).toEqual([['verified']]);
    expect(stage.notes).toContainEqual(expect.objectContaining({ type: 'trouble', doing: 'trace' }));
  });
});

describe('a worker whose log fails', () => {
  it.each([
    ['throws', () => JSON.parse('{')],
    ['is answered late', () => Promise.reject(new Error('disk full'))],
  ])('answers each leg once, and goes on with other runs: it %s', async (_, onNote: () => unknown) => {
    const heard: string[] = [];
    await stage.start('worker', {
      concurrencyMax: 1,
      onNote: ({ type }) => {
        heard.push(type);
        return onNote();
      },
    });
    await stage.ask(legOf(), legOf({ leg_id: 'leg_2', run_id: 'run-2' }));
    // The second finds what the first has changed.
    expect(outcomes(await stage.reports(2))).toEqual([['verified'], ['stale']]);
    expect(heard.filter((type) => type === 'answered')).toHaveLength(2);
  });
});

describe('a worker that comes back', () => {
  it('goes on after what it answered', async () => {
    const first = await stage.start('one');
    await stage.ask(legOf());
    await stage.reports(1);
    await turns();
    await first.stop();
    await stage.start('two');
    await stage.ask(legOf({ leg_id: 'leg_2', run_id: 'run-1' }));
    expect((await stage.reports(2)).map(({ leg_id }) => leg_id)).toEqual(['leg_1', 'leg_2']);
  });

  it('asks the claim store before it calls a tool without keys a second time', async () => {
    const keyless = legOf({ steps: [legStep({ key_lifetime_ms: null, stale_capability: null })] });
    stage.provider.reverse = () => new Promise(() => undefined);
    await stage.start('one');
    await stage.ask(keyless);
    await turns();
    expect(stage.provider.reversals).toBe(1);
    stage.broker.crash('one');
    stage.broker.expireMember('one');
    await stage.start('two');
    const [report] = await stage.reports(1);
    expect(report).toMatchObject({ worker_id: 'two', steps: [{ outcome: 'unknown', error_kind: 'CLAIM_TAKEN' }] });
    expect(stage.provider.reversals).toBe(1);
  });

  it('executes nothing when claims cannot be kept', async () => {
    stage.claimStore = { claim: () => Promise.reject(new Error('disk full')) };
    await stage.start();
    await stage.ask(legOf({ steps: [legStep({ key_lifetime_ms: null, stale_capability: null })] }));
    const [report] = await stage.reports(1);
    expect(report?.steps[0]).toMatchObject({ outcome: 'not_executed', error_kind: 'CLAIM_FAILED' });
    expect(stage.provider.reversals).toBe(0);
  });
});
