// More void records that follow nothing than are kept: what is not listed is not sound for that.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { PartitionAudit } from './partition-audit.js';
import { auditReport, describeReport } from './report.js';
import { chained, LOG, LOG_ID } from './signed-dump.testing.js';

const LOST = { seq: 9, hash: Buffer.alloc(32, 7) };
const codecs = createCodecs(new MemoryRegistry().forActor('owner'));
beforeAll(async () => {
  await codecs.prepareWriter(LOG, { register: true });
});

type After = { readonly seq: number; readonly hash: Buffer };
const elsewhere = (n: number): After => ({ seq: 3, hash: Buffer.from(String(n).padStart(32, '0')) });

/** A log whose owner lost what the first of these follow and accepts that; the others follow what was never there. */
function reportAfter(explained: number, others: readonly After[]) {
  const of = { logId: LOG_ID, topic: LOG, partition: 0, partitionCount: 1 };
  const audit = new PartitionAudit(of, { codecs, known: [], from: null });
  const write = chained(codecs, LOG);
  const key = Buffer.from('key');
  const after = ({ seq, hash }: After, reacted_seq: number) => ({
    key,
    value: codecs.encode(LOG, 'Progress', { seq: seq + 1, prev_hash: hash, decided_at: 1, cursors: [], reacted_seq }),
  });
  const late = (from: number) => Array.from({ length: explained }, (_, n) => after(LOST, from + n));
  const lines = [
    write('Progress', { cursors: [], reacted_seq: 1 }, 'key').line,
    ...late(0),
    ...others.map((one) => after(one, 0)),
    write(
      'CutAccepted',
      { lost_from_seq: 2, lost_to_seq: LOST.seq, lost_head_hash: LOST.hash, by: 'a', reason: 'b' },
      'key',
    ).line,
    ...late(explained),
  ];
  for (const [offset, line] of lines.entries()) audit.add({ offset, ...line });
  return auditReport(LOG_ID, [audit.report()], { signing: null, auditor: null });
}
const kindsIn = ({ partitions }: ReturnType<typeof reportAfter>): readonly string[] =>
  partitions.flatMap(({ findings }) => findings.map(({ kind }) => kind));

describe('a record that was put behind those that an accepted loss explains', () => {
  it.each([0, 999, 1_000, 3_000])('is found by its name behind %s of them, which are no evidence', (explained) => {
    expect(kindsIn(reportAfter(explained, []))).toEqual([]);
    const report = reportAfter(explained, [elsewhere(1)]);
    expect(kindsIn(report)).toEqual(['missing']);
    expect(report).toMatchObject({ partitions: [{ unlisted: 0 }] });
  });
});

describe('an offset without a record', () => {
  const written = (count: number) => {
    const write = chained(codecs, LOG);
    return Array.from({ length: count }, (_, n) => write('Progress', { cursors: [], reacted_seq: n }, 'key').line);
  };
  const reportOf = (offsets: readonly number[]) => {
    const of = { logId: LOG_ID, topic: LOG, partition: 0, partitionCount: 1 };
    const audit = new PartitionAudit(of, { codecs, known: [], from: null });
    for (const [at, line] of written(offsets.length).entries()) audit.add({ offset: offsets[at] ?? 0, ...line });
    return auditReport(LOG_ID, [audit.report()], { signing: null, auditor: null });
  };

  it('is no finding, and is counted and told: a marker lies there, or what counted for nobody was taken out', () => {
    const report = reportOf([0, 1, 4, 6]);
    expect(report).toMatchObject({ ok: true, partitions: [{ records: 4, accepted: 4, skipped: 3 }] });
    expect(describeReport(report)).toContain(`3 offsets of ${LOG}/0 hold no record`);
    expect(describeReport(reportOf([0, 1, 3]))).toContain(`1 offset of ${LOG}/0 holds no record`);
  });

  it('is not told of a log that has none', () => {
    expect(describeReport(reportOf([0, 1, 2]))).not.toContain('no record');
  });
});

describe('evidence that is more than is kept', () => {
  it.each([
    ['each behind another record', Array.from({ length: 1_001 }, (_, n) => elsewhere(n)), 1],
    ['all behind one record', Array.from({ length: 1_001 }, () => elsewhere(1)), 901],
  ])('leaves a log that is not sound, which the report says: %s', (_, others, count) => {
    const report = reportAfter(0, others);
    expect(report).toMatchObject({ ok: false, partitions: [{ unlisted: count }] });
    expect(kindsIn(report)).toContain('unlisted');
    expect(describeReport(report)).toContain(`unlisted in ${LOG}/0: ${String(count)} `);
  });
});
