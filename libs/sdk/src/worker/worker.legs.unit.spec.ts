// Legs of several steps as a worker takes them: what it tells on the way, what stops it, and where it goes on.
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Json } from '@recourse/kernel';
import type { LegReported, LegRequested } from '@recourse/messages';
import { MemoryEntries } from '../entries/entries.memory.js';
import { legOf, legStep } from './legs.testing.js';
import { noteLine } from '../connect/plainly.js';
import { outcomes, turns, WorkerStage } from './worker.testing.js';

const ELEVEN = 11;
const CAPABILITY = 'payments.reverse_refund';

/** Steps that need no look before or after but one that is always content. */
const steps = (count: number): LegRequested['steps'] =>
  Array.from({ length: count }, (_, index) =>
    legStep({
      step_id: `step_${String(index + 1)}`,
      call: { ...legStep().call, idempotency_key: `rev_${String(index + 1)}` },
      stale_capability: null,
      success_condition: 'type(observed) == map',
    }),
  );
const named = (reports: readonly LegReported[]) => reports.map(({ steps: told }) => told.map(({ step_id }) => step_id));
const first = (count: number): readonly string[] => steps(count).map(({ step_id }) => step_id);

let stage = new WorkerStage();
afterEach(async () => {
  await stage.stop();
  stage = new WorkerStage();
});

/** Every reversal takes this long. */
function slow(ms: number): void {
  stage.provider.reverse = async (): Promise<Json> => {
    await stage.clock.sleep(ms);
    return { status: 'reversed' };
  };
}

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    await stage.clock.advance(10);
    await turns(5);
  }
}

describe('a leg of several steps', () => {
  it('is answered by one report, which names every step in order', async () => {
    await stage.start();
    await stage.ask(legOf({ steps: steps(ELEVEN) }));
    const reports = await stage.reports(1);
    expect(named(reports)).toEqual([first(ELEVEN)]);
    expect(reports).toMatchObject([{ complete: true }]);
    expect(
      stage.provider.calls
        .filter(({ capability }) => capability === 'reverse')
        .map((call) => call.context.idempotencyKey),
    ).toEqual(steps(ELEVEN).map(({ call }) => call.idempotency_key));
  });

  it('that is slow tells how far it has come every 250 ms, if it has come further', async () => {
    slow(100);
    await stage.start();
    await stage.ask(legOf({ steps: steps(6) }));
    await turns();
    await pass(700);
    const reports = await stage.reports(3);
    expect(named(reports)).toEqual([first(2), first(4), first(6)]);
    expect(reports.map(({ complete }) => complete)).toEqual([false, false, true]);
  });

  it('tells nothing while no further step has ended', async () => {
    slow(400);
    await stage.start();
    await stage.ask(legOf({ steps: steps(2) }));
    await turns();
    await pass(390);
    expect(await stage.reports(0)).toEqual([]);
    await pass(600);
    expect(named(await stage.reports(2))).toEqual([first(1), first(2)]);
  });

  it('is answered all the same when what it told on its way is lost', async () => {
    slow(100);
    const kafka = stage.broker.forActor('worker');
    const connect = kafka.wireProducer.bind(kafka);
    kafka.wireProducer = async () => {
      const producer = await connect();
      const send = producer.send.bind(producer);
      let isFirst = true;
      producer.send = (topic, messages) => {
        if (!isFirst) return send(topic, messages);
        isFirst = false;
        return Promise.reject(new Error('no broker'));
      };
      return producer;
    };
    await stage.start('worker', { kafka });
    await stage.ask(legOf({ steps: steps(4) }));
    await turns();
    await pass(500);
    const reports = await stage.reports(1);
    expect([named(reports), reports[0]?.complete]).toEqual([[first(4)], true]);
    expect(stage.notes).toContainEqual(expect.objectContaining({ type: 'trouble', doing: 'tell progress' }));
  });

  it.each([
    ['no steps', []],
    ['more than 64', steps(65)],
    ['a step twice', [...steps(3), ...steps(1)]],
  ])('that has %s is no request: it is noted and passed over', async (_case, bad) => {
    await stage.start();
    await stage.ask(legOf({ leg_id: 'leg_bad', steps: bad }), legOf({ leg_id: 'leg_good' }));
    expect((await stage.reports(1)).map(({ leg_id }) => leg_id)).toEqual(['leg_good']);
    expect(stage.notes.filter(({ type }) => type === 'unreadable')).toHaveLength(1);
  });
});

describe('a tool', () => {
  it.each([
    ['compensate', 'compensation'],
    ['observe', 'compensation'],
    ['reconcile', 'forward'],
    ['release', 'forward'],
  ] as const)('is told in a leg of the kind %s that it is about %s', async (kind, about) => {
    await stage.start();
    await stage.ask(legOf({ kind, steps: steps(1) }));
    await stage.reports(1);
    const told = stage.provider.calls.map(({ context }) => context.about);
    expect([...new Set(told)]).toEqual([about]);
  });
});

describe('a leg that is to stop', () => {
  const THREE = legOf({ steps: steps(3) });

  /** Does something while the second step is made. */
  const meanwhile = (act: () => void): void => {
    stage.provider.reverse = ({ idempotencyKey }) => {
      if (idempotencyKey === 'rev_2') act();
      return Promise.resolve({ status: 'reversed' });
    };
  };

  it.each([
    ['the tenant', { over: 'tenant' }],
    ['the agent, with what it did', { over: 'agent', agent: 'agent', halts_recovery: true }],
    ['the capability', { over: 'capability', capability: CAPABILITY }],
  ] as const)('does so before its next step once a kill switch over %s is thrown', async (_case, scope) => {
    const entries = new MemoryEntries();
    meanwhile(() => {
      entries.register('kill_switch', 'acme', 'stop', {
        owner: 'ops',
        doc: 'd',
        severity: 'sev2',
        runbook: 'r',
        reason: 'an incident',
        scope,
      });
    });
    await stage.start('worker', { entries });
    await stage.ask(THREE);
    const reports = await stage.reports(1);
    expect([named(reports), outcomes(reports)]).toEqual([[first(2)], [['verified', 'verified']]]);
    expect([reports[0]?.complete, stage.provider.reversals]).toEqual([true, 2]);
    const held = stage.notes.find(({ type }) => type === 'held_back');
    expect(held).toMatchObject({ type: 'held_back', legId: 'leg_1', runId: 'run-1', stepId: 'step_3' });
    expect(held === undefined ? '' : noteLine(held)).toContain('the kill switch stop stops');
  });

  it('does not begin while nobody knows whether a switch stands, and says why once its time is over (P14)', async () => {
    const entries = new MemoryEntries();
    entries.isAway = true;
    await stage.start('worker', { entries });
    await stage.ask(THREE);
    while (stage.clock.now() < THREE.not_after) await pass(1_000);
    const [report] = await stage.reports(1);
    expect(report?.steps).toMatchObject([{ step_id: 'step_1', outcome: 'unknown', error_kind: 'SWITCHES_UNKNOWN' }]);
    expect(stage.provider.calls).toEqual([]);
    expect(stage.notes).toContainEqual(
      expect.objectContaining({ type: 'trouble', doing: 'ask the registry whether a kill switch stands' }),
    );
  });

  it('waits for a registry that is away, and goes on once it answers', async () => {
    const entries = new MemoryEntries();
    meanwhile(() => {
      entries.isAway = true;
    });
    await stage.start('worker', { entries });
    await stage.ask(THREE);
    await turns();
    expect([stage.provider.reversals, stage.notes.some(({ type }) => type === 'answered')]).toEqual([2, false]);
    entries.isAway = false;
    await pass(1_000);
    expect(named(await stage.reports(1)).at(-1)).toEqual(['step_1', 'step_2', 'step_3']);
  });

  it('goes on under a switch over the agent whose effects it takes back (D64)', async () => {
    const entries = new MemoryEntries();
    const scope = { over: 'agent', agent: 'agent' } as const;
    entries.register('kill_switch', 'acme', 'stop', {
      owner: 'o',
      doc: 'd',
      scope,
      severity: 'sev1',
      runbook: 'r',
      reason: 'x',
    });
    await stage.start('worker', { entries });
    await stage.ask(THREE);
    expect(named(await stage.reports(1))).toEqual([['step_1', 'step_2', 'step_3']]);
  });

  it('goes on under a switch where it only looks', async () => {
    const entries = new MemoryEntries();
    entries.isAway = true;
    await stage.start('worker', { entries });
    await stage.ask(legOf({ kind: 'observe' }));
    expect(named(await stage.reports(1))).toEqual([['step_1']]);
  });

  it.each([
    ['says no', () => false],
    ['cannot tell', () => Promise.reject(new Error('away'))],
  ])('does so where who is asked %s', async (_case, answer) => {
    await stage.start('worker', { mayGoOn: (_, { step_id }) => (step_id === 'step_2' ? answer() : true) });
    await stage.ask(THREE);
    expect([named(await stage.reports(1)), stage.provider.reversals]).toEqual([[first(1)], 1]);
  });

  it('is left to who takes over when its worker stops', async () => {
    let stopped: Promise<void> = Promise.resolve();
    const worker = await stage.start('one');
    meanwhile(() => {
      stopped = worker.stop();
    });
    await stage.ask(THREE);
    await turns();
    await stopped;
    expect([await stage.reports(0), stage.provider.reversals]).toEqual([[], 2]);
    await stage.start('two');
    expect(outcomes(await stage.reports(1))).toEqual([['verified', 'verified', 'verified']]);
  });
});

describe('the position of a worker', () => {
  const saves: number[] = [];
  const counting = (): void => {
    saves.length = 0;
    const save = stage.positions.save.bind(stage.positions);
    stage.positions.save = (topic, partition, position) => {
      saves.push(position.offset);
      return save(topic, partition, position);
    };
  };
  const legs = (count: number) =>
    Array.from({ length: count }, (_, index) => legOf({ leg_id: `leg_${String(index + 1)}` }));

  it('is saved once in 100 ms, however many legs end, and when it stops', async () => {
    counting();
    const worker = await stage.start();
    await stage.ask(...legs(5));
    await stage.reports(5);
    await turns();
    expect(saves).toEqual([1]);
    await stage.clock.advance(100);
    await turns();
    expect(saves).toEqual([1, 5]);
    await stage.ask(legOf({ leg_id: 'leg_6' }));
    await stage.reports(6);
    await worker.stop();
    expect(saves).toEqual([1, 5, 6]);
  });

  it('is not beyond a leg that is not answered when it stops, though others are', async () => {
    const runs = ['run-1', 'run-2', 'run-3', 'run-4', 'run-5', 'run-6'];
    stage.provider.reverse = ({ runId }) =>
      runId === 'run-1' ? new Promise(() => undefined) : Promise.resolve({ status: 'reversed' });
    const worker = await stage.start('one', { concurrencyMax: 10 });
    await stage.ask(...runs.map((run_id) => legOf({ leg_id: `leg of ${run_id}`, run_id, steps: steps(1) })));
    expect((await stage.reports(5)).map(({ run_id }) => run_id)).not.toContain('run-1');
    await worker.stop();
    stage.provider.reverse = () => Promise.resolve({ status: 'reversed' });
    await stage.start('two');
    expect((await stage.reports(6)).map(({ run_id }) => run_id)).toContain('run-1');
  });
});
