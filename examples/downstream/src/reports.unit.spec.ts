import { describe, expect, it } from '@jest/globals';
import { MemoryInbox } from '@recourse/sdk';
import type { BarrierOutcome, MemoryRows, OwnRecord } from '@recourse/sdk';
import { RefundReports } from './reports.js';
import type { Report, ReportRows } from './reports.js';

const ROWS: ReportRows<MemoryRows> = {
  put: ({ rows }, report) => {
    rows.set(report.id, JSON.stringify(report));
    return Promise.resolve();
  },
  find: ({ rows }, id) => Promise.resolve(rows.has(id) ? (JSON.parse(rows.get(id) ?? '') as Report) : null), // put wrote it
  withdraw: ({ rows }, ids) => {
    for (const id of ids)
      rows.set(id, JSON.stringify({ ...(JSON.parse(rows.get(id) ?? '{}') as Report), state: 'withdrawn' }));
    return Promise.resolve();
  }, // put wrote it
};
const REFUNDS = [
  { runId: 'run-1', mutationId: 'mut_1', amountMinor: 4_200 },
  { runId: 'run-2', mutationId: 'mut_2', amountMinor: 800 },
];

/** A service whose consumer hears nothing by itself. */
function service(barrier: BarrierOutcome = { kind: 'clear' }, fallen: readonly string[] = []) {
  const inbox = new MemoryInbox();
  const reports = new RefundReports(ROWS, () => 7);
  const told: string[] = [];
  const own: OwnRecord = {
    derive: ({ parents }) => Promise.resolve(!parents.some(({ commit_id }) => fallen.includes(commit_id))),
    emitted: (commit, { kind, emitted_at }) => {
      told.push(`${kind} ${commit.commit_id} ${String(emitted_at)}`);
      return Promise.resolve(!fallen.includes(commit.run_id));
    },
  };
  const consumer = {
    transact: <T>(work: (tx: MemoryRows, record: OwnRecord) => Promise<T>) =>
      inbox.transact('derive', (session) => work(session.tx, own)),
    barrier: () => Promise.resolve(barrier),
  };
  const stateOf = (id: string): string => (JSON.parse(inbox.rows.get(id) ?? '{"state":"none"}') as Report).state; // put wrote it
  return { inbox, reports, consumer, told, stateOf };
}

describe('a refund report', () => {
  it('is made from refunds that stand, and shown behind the barrier', async () => {
    const { reports, consumer, told, stateOf } = service();
    const report = await reports.make(consumer, 'ada', REFUNDS);
    expect(report).toMatchObject({ customer: 'ada', amountMinor: 5_000, state: 'draft' });
    const id = report?.id ?? '';
    expect([await reports.publish(consumer, id, 100), stateOf(id), told]).toEqual([
      'published',
      'published',
      [`report ${id} 7`],
    ]);
  });

  it('is not made from a refund that was rolled back', async () => {
    const { reports, consumer, inbox } = service({ kind: 'clear' }, ['mut_2']);
    expect([await reports.make(consumer, 'ada', REFUNDS), inbox.rows.size]).toEqual([null, 0]);
  });

  it('is not shown when the barrier does not open, or something in it fell', async () => {
    for (const [barrier, fallen, outcome] of [
      [{ kind: 'timeout', code: 'BARRIER_TIMEOUT', behind: [] }, [], 'not_known'],
      [{ kind: 'fallen', commit: { run_id: 'a', commit_id: 'b' } }, [], 'fallen'],
      [{ kind: 'clear' }, ['refund-reports'], 'fallen'],
    ] as const) {
      const { reports, consumer, stateOf } = service(barrier, fallen);
      const id = (await reports.make(consumer, 'ada', REFUNDS))?.id ?? '';
      expect([await reports.publish(consumer, id, 100), stateOf(id)]).toEqual([outcome, 'draft']);
    }
  });

  it('is withdrawn with a refund in it', async () => {
    const { reports, consumer, inbox, stateOf } = service();
    const id = (await reports.make(consumer, 'ada', REFUNDS))?.id ?? '';
    await inbox.transact('apply', (session) =>
      reports.withdraw({ derived: [{ run_id: 'refund-reports', commit_id: id }] }, session.tx),
    );
    expect(stateOf(id)).toBe('withdrawn');
  });
});
