// Durable timers in memory over a store that holds more of them than memory takes at a time.
import { describe, expect, it } from '@jest/globals';
import type { Change, RowAddress } from './service-core.js';
import type { PartitionStore } from './store.port.js';
import { HORIZON_MS, Timers } from './timers.js';

interface Due {
  readonly address: RowAddress;
  readonly dueAt: number;
}

const NOW = 1_000_000;
const address = (key: string): RowAddress => ({ kind: 'mutation', group: 'g', key });

/** A store of due rows that counts how often it is asked. */
class DueRows {
  readonly rows = new Map<string, Due>();
  asked = 0;

  constructor(dueAt: readonly number[]) {
    for (const [n, at] of dueAt.entries()) this.put(`k${String(n).padStart(6, '0')}`, at);
  }

  put(key: string, dueAt: number): void {
    this.rows.set(key, { address: address(key), dueAt });
  }

  readonly store = {
    due: (until: number, limit: number): Promise<readonly Due[]> => {
      this.asked += 1;
      return Promise.resolve(
        [...this.rows.values()]
          .filter(({ dueAt }) => dueAt <= until)
          .sort((a, b) => a.dueAt - b.dueAt)
          .slice(0, limit),
      );
    },
  } as unknown as PartitionStore; // timers ask a store for what is due and for nothing else
}

/** Fires everything up to a moment as the loop does: load when needed, fire, change the row. */
async function fireAll(timers: Timers, due: DueRows, now: number): Promise<readonly number[]> {
  const fired: number[] = [];
  for (;;) {
    if (timers.needsLoad(now)) await timers.load(due.store, now);
    const ready = timers.ready(now);
    if (ready.length === 0) return fired;
    for (const {
      address: { key },
      dueAt,
    } of ready) {
      fired.push(dueAt);
      due.rows.delete(key);
    }
    timers.apply(
      ready.map((timer) => ({ op: 'delete', address: timer.address })),
      0,
    );
    timers.written(0);
  }
}

describe('timers of a store', () => {
  it('fire each once and in order, and are fetched a few thousand at a time', async () => {
    const due = new DueRows(Array.from({ length: 20_000 }, (_, n) => NOW + n));
    const fired = await fireAll(new Timers(), due, NOW + 20_000);
    expect(fired).toEqual(Array.from({ length: 20_000 }, (_, n) => NOW + n));
    expect(due.asked).toBeLessThan(12);
  });

  it('fire each once where more end at one instant than are fetched at a time', async () => {
    const due = new DueRows(Array.from({ length: 12_000 }, () => NOW));
    expect(await fireAll(new Timers(), due, NOW)).toHaveLength(12_000);
  });

  it('are fetched again although many of them fired without effect', async () => {
    const due = new DueRows(Array.from({ length: 9_000 }, (_, n) => NOW + n));
    const timers = new Timers();
    await timers.load(due.store, NOW);
    for (let left = 5_000; left > 0; left -= 200) timers.spend(timers.ready(NOW + 4_999));
    expect(timers.needsLoad(NOW + 4_999)).toBe(true);
  });

  it('count a row that is put within what was fetched, and leave a later one to the store', async () => {
    const due = new DueRows(Array.from({ length: 9_000 }, (_, n) => NOW + 2 * n));
    const timers = new Timers();
    await timers.load(due.store, NOW);
    timers.apply(
      [1, HORIZON_MS - 1].map((ms) => ({
        op: 'put',
        row: { ...address(`late-${String(ms)}`), dueAt: NOW + ms, doc: {} },
      })),
      1,
    );
    expect(timers.ready(NOW + 1).map((timer) => timer.dueAt)).toEqual([NOW, NOW + 1]);
  });

  it('fire at the time their row was given last, however often it was changed, and once until it changes again', async () => {
    const timers = new Timers();
    await timers.load(new DueRows([]).store, NOW);
    const dueAt = (key: string, ms: number): Change => ({
      op: 'put',
      row: { ...address(key), dueAt: NOW + ms, doc: {} },
    });
    const keys = Array.from({ length: 100 }, (_, n) => `k${String(n).padStart(3, '0')}`);
    for (let ms = 1_000; ms > 0; ms -= 10)
      timers.apply(
        keys.map((key, n) => dueAt(key, ms + (n % 7))),
        1,
      );
    expect(timers.next()).toBe(NOW + 10);
    const fired = timers.ready(NOW + 16);
    expect(fired.map((timer) => timer.dueAt - NOW)).toEqual(keys.map((_, n) => 10 + (n % 7)).sort((a, b) => a - b));
    expect(timers.ready(NOW + 16)).toEqual(fired);
    timers.spend(fired);
    timers.apply([dueAt('k000', 10), dueAt('k001', 12)], 2);
    expect(timers.ready(NOW + 16).map(({ address: { key } }) => key)).toEqual(['k001']);
  });
});

describe('timers whose decision failed', () => {
  const put = (key: string, dueAt: number): Change => ({ op: 'put', row: { ...address(key), dueAt, doc: {} } });
  const failedOf = (timers: Timers, now: number) => timers.ready(now).map((timer) => ({ timer, problem: 'broken' }));

  it('leave a time alone that their row was given in the same batch', async () => {
    const timers = new Timers();
    await timers.load(new DueRows([]).store, NOW);
    timers.apply([put('moved', NOW + 1)], 1);
    const failed = failedOf(timers, NOW + 1);
    timers.apply([put('moved', NOW + 9)], 2);
    timers.putOff(failed, NOW + 1);
    expect([timers.next(), timers.trouble]).toEqual([NOW + 9, null]);
  });

  it('hide none that the store has behind them, however many fail', async () => {
    const due = new DueRows(Array.from({ length: 5_001 }, (_, n) => NOW + n));
    const timers = new Timers();
    const now = NOW + 5_000;
    for (let at = now; timers.needsLoad(at); at += 1) {
      await timers.load(due.store, at);
      for (let ready = failedOf(timers, at); ready.length > 0; ready = failedOf(timers, at)) {
        if (ready.some(({ timer }) => timer.dueAt === now)) return;
        timers.putOff(ready, at);
      }
      if (due.asked > 10) break;
    }
    expect('the last one fired').toBe(due.asked);
  });
});

describe('timers of a store that is behind', () => {
  const put = (key: string, dueAt: number): Change => ({ op: 'put', row: { ...address(key), dueAt, doc: {} } });
  const firing = (timers: Timers, now: number): readonly string[] =>
    timers.ready(now).map((timer) => `${timer.address.key}@${String(timer.dueAt - NOW)}`);

  it('fire where a row that it does not have yet lies beyond what was fetched before', async () => {
    const due = new DueRows([]);
    const timers = new Timers();
    await timers.load(due.store, NOW);
    timers.apply([put('later', NOW + HORIZON_MS + 1)], 1);
    await timers.load(due.store, NOW + HORIZON_MS);
    expect(firing(timers, NOW + HORIZON_MS + 1)).toEqual([`later@${String(HORIZON_MS + 1)}`]);
  });

  it('fire at the time of the last change, not at the one it still has', async () => {
    const due = new DueRows([]);
    const timers = new Timers();
    due.put('moved', NOW + 1);
    due.put('gone', NOW + 1);
    timers.apply([put('moved', NOW + 5), { op: 'delete', address: address('gone') }], 1);
    await timers.load(due.store, NOW);
    expect(firing(timers, NOW + 9)).toEqual(['moved@5']);
  });

  it('are asked for again once it has taken what it did not have', async () => {
    const due = new DueRows(Array.from({ length: 5_000 }, (_, n) => NOW + n));
    due.put('k-last', NOW + 5_000);
    const timers = new Timers();
    const gone = [...due.rows.values()].slice(0, 5_000).map((row): Change => ({ op: 'delete', address: row.address }));
    timers.apply(gone, 1);
    await timers.load(due.store, NOW);
    expect([timers.needsLoad(NOW), firing(timers, NOW + 5_000)]).toEqual([false, []]);
    for (const change of gone) if (change.op === 'delete') due.rows.delete(change.address.key);
    timers.written(1);
    expect(timers.needsLoad(NOW)).toBe(true);
    await timers.load(due.store, NOW);
    expect(firing(timers, NOW + 5_000)).toEqual(['k-last@5000']);
  });

  it('forget no row that it takes while it is asked', async () => {
    const due = new DueRows([]);
    const timers = new Timers();
    timers.apply([put('taken', NOW + 1)], 1);
    const asked = timers.load(due.store, NOW);
    timers.written(1);
    await asked;
    expect(firing(timers, NOW + 1)).toEqual(['taken@1']);
  });
});
