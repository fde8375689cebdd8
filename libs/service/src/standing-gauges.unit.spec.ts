import { describe, expect, it } from '@jest/globals';
import type { LoopHealth } from '@recourse/event-log';
import type { RawReader } from '@recourse/kafka';
import { Metrics } from '@recourse/telemetry';
import { gauge } from './runtime-events.js';
import { StandingGauges } from './standing-gauges.js';
import type { ReadingLoop } from './standing-gauges.js';

const LOG = 'recourse.things';
const WIRE = 'recourse.thing-events';
const OTHER = 'recourse.contracts';

const ENDS: Readonly<Record<string, number>> = { [`${WIRE}/0`]: 100, [`${WIRE}/1`]: 50, [`${OTHER}/0`]: 7 };

/** A loop that has read its inputs up to these offsets. */
const loop = (partition: number, read: Readonly<Record<string, number>>): ReadingLoop => ({
  health: () => ({ log: LOG, partition }),
  inputPartitions: () =>
    Object.keys(read).map((id) => ({ topic: id.split('/')[0] ?? '', partition: Number(id.split('/')[1]) })),
  expected: (topic, at) => read[`${topic}/${String(at)}`],
});

interface Given {
  readonly loops?: readonly ReadingLoop[];
  readonly range?: RawReader['range'];
  readonly parkedOpen?: () => Promise<number>;
}

function gaugesOf({ loops = [], range, parkedOpen = () => Promise.resolve(0) }: Given) {
  const metrics = new Metrics();
  const asked: string[] = [];
  const reader: RawReader = {
    range:
      range ??
      ((topic, partition) => {
        asked.push(`${topic}/${String(partition)}`);
        return Promise.resolve({ low: 0, high: ENDS[`${topic}/${String(partition)}`] ?? 0 });
      }),
    read: () => Promise.reject(new Error('not read')),
    readMany: () => Promise.reject(new Error('not read')),
    close: () => Promise.resolve(),
  };
  return {
    metrics,
    asked,
    gauges: new StandingGauges({
      metrics,
      logs: [LOG],
      loops: () => loops,
      reader: () => Promise.resolve(reader),
      parkedOpen,
      patienceMs: 50,
    }),
  };
}

describe('the gauges of inputs', () => {
  it('tell how far what is read is behind the end of each input, each end asked once', async () => {
    const loops = [
      loop(0, { [`${WIRE}/0`]: 90, [`${OTHER}/0`]: 7 }),
      loop(1, { [`${WIRE}/1`]: 50, [`${OTHER}/0`]: 2 }),
    ];
    const { gauges, metrics, asked } = gaugesOf({ loops });
    await gauges.refresh();
    const text = await metrics.text();
    for (const [partition, topic, records] of [
      [0, WIRE, 10],
      [1, WIRE, 0],
      [0, OTHER, 5],
    ]) {
      expect(text).toContain(
        `recourse_cursor_lag_records{log="${LOG}",partition="${String(partition)}",topic="${String(topic)}"} ${String(records)}`,
      );
    }
    expect(asked.sort()).toEqual([`${OTHER}/0`, `${WIRE}/0`, `${WIRE}/1`].sort());
  });

  it('count an input that every loop of a log reads once, by the loop that is furthest behind', async () => {
    const loops = [0, 1].map((partition) => loop(partition, { [`${WIRE}/0`]: 90 + partition, [`${WIRE}/1`]: 20 }));
    const { gauges, metrics } = gaugesOf({ loops });
    await gauges.refresh();
    expect((await metrics.text()).match(/(?<=recourse_cursor_lag_records)\{.*/g)).toEqual([
      `{log="${LOG}",partition="0",topic="${WIRE}"} 10`,
      `{log="${LOG}",partition="1",topic="${WIRE}"} 30`,
    ]);
  });

  it('ask many ends side by side, some at a time: what waits for the slowest of them waits for no sum', async () => {
    const ends = Array.from({ length: 150 }, (_, partition) => [`${WIRE}/${String(partition)}`, 0] as const);
    let [open, most] = [0, 0];
    const answers: (() => void)[] = [];
    const range: RawReader['range'] = async () => {
      open += 1;
      most = Math.max(most, open);
      await new Promise<void>((resolve) => answers.push(resolve));
      open -= 1;
      return { low: 0, high: 3 };
    };
    const { gauges, metrics } = gaugesOf({ loops: [loop(0, Object.fromEntries(ends))], range });
    const refreshed = gauges.refresh();
    let rounds = 0;
    for (let answered = 0; answered < ends.length; rounds += 1) {
      while (answers.length === 0) await new Promise(setImmediate);
      answered += answers.length;
      for (const answer of answers.splice(0)) answer();
    }
    await refreshed;
    expect([rounds, most]).toEqual([3, 64]);
    expect((await metrics.text()).match(/recourse_cursor_lag_records\{.* 3$/gm)).toHaveLength(150);
  });

  it('are told as they were while the new is asked for, and no more once nobody can say', async () => {
    let answer: ReturnType<RawReader['range']> = Promise.resolve({ low: 0, high: 100 });
    let parked = Promise.resolve(3);
    const told = [`recourse_cursor_lag_records{log="${LOG}",partition="0",topic="${WIRE}"} 10`, '} 3'];
    const { gauges, metrics } = gaugesOf({
      loops: [loop(0, { [`${WIRE}/0`]: 90 })],
      range: () => answer,
      parkedOpen: () => parked,
    });
    await gauges.refresh();
    const slow = Promise.withResolvers<never>();
    answer = parked = slow.promise;
    await gauges.refresh();
    for (const one of told) expect(await metrics.text()).toContain(one);
    slow.reject(new Error('away'));
    await gauges.refresh();
    expect(await metrics.text()).not.toMatch(/recourse_(cursor_lag_records|parked_open)\{/);
  });

  it("tell the service's own beside them, and lose none where those cannot be asked", async () => {
    const metrics = new Metrics();
    const gauges = new StandingGauges({
      metrics,
      logs: [LOG],
      loops: () => [],
      reader: () => Promise.reject(new Error('no broker')),
      parkedOpen: () => Promise.resolve(3),
      own: () => {
        metrics.set('escalationsOpen', { about: 'ceiling' }, 2);
        return Promise.reject(new Error('no database'));
      },
    });
    await gauges.refresh();
    const text = await metrics.text();
    expect(text).toContain('recourse_escalations_open{about="ceiling"} 2');
    expect(text).toContain(`recourse_parked_open{log="${LOG}"} 3`);
  });

  it('tell how many parked records are open', async () => {
    const { gauges, metrics } = gaugesOf({ parkedOpen: () => Promise.resolve(3) });
    await gauges.refresh();
    expect(await metrics.text()).toContain(`recourse_parked_open{log="${LOG}"} 3`);
  });

  it('are absent while nobody can say, and nothing fails or waits for long', async () => {
    const loops = [loop(0, { [`${WIRE}/0`]: 90 })];
    for (const range of [() => Promise.reject(new Error('away')), () => new Promise<never>(() => undefined)]) {
      const { gauges, metrics } = gaugesOf({ loops, range, parkedOpen: () => Promise.reject(new Error('away')) });
      await gauges.refresh();
      await gauges.refresh();
      expect(await metrics.text()).not.toMatch(/recourse_(cursor_lag_records|parked_open)\{/);
    }
  });
});

describe('the gauges of loops', () => {
  const health = (partition: number, owedSince: number | null = null): LoopHealth => ({
    log: LOG,
    partition,
    state: 'ready',
    seq: 10,
    projectedSeq: 8,
    movedSeq: 8,
    reactedSeq: 9,
    owedSince,
    waiting: 4,
    problem: null,
  });

  it('tell lags and the age of what is owed', async () => {
    const metrics = new Metrics();
    gauge({ logs: [LOG], loops: [health(0, 5_000), health(1), health(2)] }, metrics, 12_500);
    const text = await metrics.text();
    expect(text).toContain(`recourse_projection_lag_records{log="${LOG}",partition="0"} 2`);
    expect(text).toContain(`recourse_obligation_age_seconds{log="${LOG}",partition="0"} 7.5`);
    expect(text).toContain(`recourse_obligation_age_seconds{log="${LOG}",partition="1"} 0`);
    expect(text).toContain(`recourse_partitions_owned{log="${LOG}"} 3`);
  });

  it('tell nothing of a partition that went to another process', async () => {
    const metrics = new Metrics();
    gauge({ logs: [LOG], loops: [health(0), health(1)] }, metrics, 0);
    gauge({ logs: [LOG], loops: [health(1)] }, metrics, 0);
    expect((await metrics.text()).match(/recourse_projection_lag_records\{.*/g)).toEqual([
      `recourse_projection_lag_records{log="${LOG}",partition="1"} 2`,
    ]);
  });

  it('tell of a log of which a process has no partition that it has none', async () => {
    const metrics = new Metrics();
    gauge({ logs: [LOG, OTHER], loops: [health(0)] }, metrics, 0);
    expect((await metrics.text()).match(/recourse_partitions_owned\{.*/g)).toEqual([
      `recourse_partitions_owned{log="${LOG}"} 1`,
      `recourse_partitions_owned{log="${OTHER}"} 0`,
    ]);
  });

  it('count no partition that is halted among those a process owns', async () => {
    const metrics = new Metrics();
    gauge({ logs: [LOG], loops: [{ ...health(0), state: 'halted', problem: 'LOG_CUT: short' }] }, metrics, 0);
    expect(await metrics.text()).toContain(`recourse_partitions_owned{log="${LOG}"} 0`);
  });

  it.each([
    ['is ready', 'ready', null, 0],
    ['reads its log for the first time', 'catching_up', null, 0],
    ['waits for a clock', 'waiting', 'CLOCK_AHEAD: by 3 h', 1],
    ['cannot read its log', 'catching_up', 'BROKER_UNAVAILABLE: no answer', 1],
    ['is halted', 'halted', 'LOG_CUT: short', 1],
  ] as const)('tell of a partition that %s whether it is stuck', async (_how, state, problem, stuck) => {
    const metrics = new Metrics();
    gauge({ logs: [LOG], loops: [{ ...health(3), state, problem }] }, metrics, 0);
    expect(await metrics.text()).toContain(`recourse_partition_stuck{log="${LOG}",partition="3"} ${String(stuck)}`);
  });
});
