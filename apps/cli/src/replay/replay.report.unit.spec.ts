import { describe, expect, it } from '@jest/globals';
import { describeReplay, replayReport } from './replay.report.js';
import type { ReplayedPartition } from './replay.report.js';

const HASH = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);
const one = (over: Partial<ReplayedPartition> = {}): ReplayedPartition => ({
  log: 'recourse.budgets',
  partition: 0,
  seq: 7,
  hash: HASH,
  decided_at: 1_795_311_257_159,
  rows: 3,
  voids: 0,
  state_hash: HASH,
  ended_by: 'log',
  projected: null,
  ...over,
});
const compared = (verdict: NonNullable<ReplayedPartition['projected']>['verdict']): ReplayedPartition =>
  one({ projected: { seq: 9, state_hash: OTHER, verdict, columns: [] } });

describe('a report of a replay', () => {
  it('is good when nothing was compared, and when everything is the same', () => {
    expect([replayReport([one()]).ok, replayReport([compared('same'), compared('same')]).ok]).toEqual([true, true]);
  });
  it.each(['differs', 'columns_differ', 'log_cut', 'rewritten'] as const)(
    'is not when one partition says %s',
    (verdict) => {
      expect(replayReport([compared('same'), compared(verdict)]).ok).toBe(false);
    },
  );
});

describe('its table', () => {
  it('shows the record, its instant, the rows and the whole hash', () => {
    expect(describeReplay(replayReport([one()]), null).split('\n')[1]).toBe(
      `recourse.budgets/0       7  2026-11-22 01:34:17Z     3  ${HASH}`,
    );
  });
  it('has a dash for the instant of an empty log', () => {
    expect(describeReplay(replayReport([one({ seq: 0, decided_at: null })]), null)).toContain('  -  ');
  });
  it('says what the database holds in its place', () => {
    expect(describeReplay(replayReport([compared('differs')]), null)).toContain(`differs: ${OTHER}`);
  });
  it('names the columns that say another thing than their rows', () => {
    const columns = [{ kind: 'step', group: 'run-1', key: 'step_1', column: 'phase' }];
    const one = compared('columns_differ');
    const shown = { ...one, projected: { seq: 9, state_hash: OTHER, verdict: 'columns_differ', columns } as const };
    expect(describeReplay(replayReport([shown]), null)).toContain('columns differ: phase of step step_1');
  });
  it('says how far a database went that a cut log no longer reaches', () => {
    expect(describeReplay(replayReport([compared('log_cut')]), null)).toContain('log cut: 9 records were projected');
  });
  it('says when the log ends before the record that was asked for', () => {
    expect(describeReplay(replayReport([one()]), 8)).toContain('recourse.budgets/0 ends at record 7, before 8.');
    expect(describeReplay(replayReport([one()]), 7)).not.toContain('ends at');
  });
});
