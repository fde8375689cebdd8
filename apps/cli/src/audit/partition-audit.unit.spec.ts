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

/** A log whose owner lost what these records followed and accepts that, with one that was put behind them. */
function reportAfter(explained: number) {
  const of = { logId: LOG_ID, topic: LOG, partition: 0, partitionCount: 1 };
  const audit = new PartitionAudit(of, { codecs, known: [], from: null });
  const write = chained(codecs, LOG);
  const key = Buffer.from('key');
  const after = ({ seq, hash }: typeof LOST, reacted_seq: number) => ({
    key,
    value: codecs.encode(LOG, 'Progress', { seq: seq + 1, prev_hash: hash, decided_at: 1, cursors: [], reacted_seq }),
  });
  const lines = [
    write('Progress', { cursors: [], reacted_seq: 1 }, 'key').line,
    ...Array.from({ length: explained }, (_, n) => after(LOST, n)),
    after({ seq: 3, hash: Buffer.alloc(32, 9) }, 0),
    write(
      'CutAccepted',
      { lost_from_seq: 2, lost_to_seq: LOST.seq, lost_head_hash: LOST.hash, by: 'a', reason: 'b' },
      'key',
    ).line,
  ];
  for (const [offset, line] of lines.entries()) audit.add({ offset, ...line });
  return auditReport(LOG_ID, [audit.report()], { signing: null, auditor: null });
}
const kindsIn = ({ partitions }: ReturnType<typeof reportAfter>): readonly string[] =>
  partitions.flatMap(({ findings }) => findings.map(({ kind }) => kind));

describe('a record that was put behind those that an accepted loss explains', () => {
  it('is found by its name while all of them are kept', () => {
    expect(kindsIn(reportAfter(999))).toEqual(['missing']);
  });

  it('leaves a log that is not sound where they are too many to keep, which the report says', () => {
    const report = reportAfter(1_000);
    expect(report).toMatchObject({ ok: false, partitions: [{ unlisted: 1 }] });
    expect(kindsIn(report)).toEqual(['unlisted']);
    expect(describeReport(report)).toContain(`unlisted in ${LOG}/0: 1 `);
  });
});
