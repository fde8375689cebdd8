import { describe, expect, it } from '@jest/globals';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import { auditReport, describeReport } from './report.js';
import { chained, LOG, LOG_ID } from './signed-dump.testing.js';
import { auditTopics, CAUSES_LAST, LOG_TOPICS, partitionCounts, readPartition } from './topics.js';

/** Findings of a log of four records whose first ones were deleted at the broker, without a head to compare with. */
async function reportAfterTrim(toOffset: number) {
  const broker = new MemoryBroker();
  broker.ensureTopics([{ name: LOG, partitions: 1 }]);
  const registry = new MemoryRegistry().forActor('owner');
  const codecs = createCodecs(registry);
  await codecs.prepareWriter(LOG, { register: true });
  const write = chained(codecs, LOG);
  const kafka = broker.forActor('spec');
  const producer = await kafka.logProducer();
  const lines = Array.from({ length: 4 }, () => write('Progress', { cursors: [], reacted_seq: 0 }, 'key').line);
  await producer.send(LOG, 0, lines);
  if (toOffset > 0) broker.trim(LOG, 0, toOffset);
  const reports = await auditTopics({ kafka, registry, logId: LOG_ID, topics: [LOG], known: new Map() });
  return auditReport(LOG_ID, reports, { signing: null, auditor: null });
}

describe('a log at the brokers, verified without any head', () => {
  it('is sound where it begins at its beginning', async () => {
    expect(await reportAfterTrim(0)).toMatchObject({ ok: true, partitions: [{ records: 4, findings: [] }] });
  });

  it.each([
    ['was emptied', 4, ['cut_front']],
    ['lost its front', 2, ['cut_front', 'missing']],
  ])('that %s is found', async (_how, toOffset, kinds) => {
    const report = await reportAfterTrim(toOffset);
    expect(report.ok).toBe(false);
    expect(report.partitions.flatMap(({ findings }) => findings.map(({ kind }) => kind))).toEqual(kinds);
    expect(describeReport(report)).toContain(
      `cut_front in ${LOG}/0: the front was cut: the broker holds nothing before offset ${String(toOffset)}`,
    );
  });
});

describe('a log at the brokers that whoever asks may not see', () => {
  const asked = async (passesHidden: boolean): Promise<unknown> => {
    const kafka = new MemoryBroker().forActor('spec');
    const admin = await kafka.admin();
    const hidden = {
      ...admin,
      close: () => admin.close(),
      partitionCount: () => Promise.reject(new Failure('BROKER_REFUSED', 'TOPIC_AUTHORIZATION_FAILED')),
    };
    const asOne = { ...kafka, admin: () => Promise.resolve(hidden) };
    return partitionCounts({ kafka: asOne, topics: [LOG], passesHidden });
  };

  it('is refused, and left out of what is told of the others', async () => {
    await expect(asked(false)).rejects.toMatchObject({ code: 'BROKER_REFUSED' });
    expect(await asked(true)).toEqual([[LOG, null]]);
  });
});

describe('a log at the brokers that an older head names', () => {
  const known = new Map([
    [`${LOG}/0`, [{ seq: 0, hash: Buffer.alloc(32) }]],
    [`${LOG}/2`, [{ seq: 5, hash: Buffer.alloc(32) }]],
    ['recourse.contracts/7', [{ seq: 5, hash: Buffer.alloc(32) }]],
  ]);
  /** Findings of partition 1 and up, in a topic that was made anew with so many; null: it is gone. */
  async function foundIn(partitions: number | null, heads: 'known' | 'starts' = 'known') {
    const broker = new MemoryBroker();
    if (partitions !== null) broker.ensureTopics([{ name: LOG, partitions }]);
    const registry = new MemoryRegistry().forActor('owner');
    const asked = { kafka: broker.forActor('spec'), registry, logId: LOG_ID, topics: [LOG] };
    const start = { seq: 5, hash: Buffer.alloc(32), nextOffset: 5, peaks: null };
    const trusted = heads === 'known' ? { known } : { known: new Map(), starts: new Map([[`${LOG}/2`, start]]) };
    const reports = auditReport(LOG_ID, await auditTopics({ ...asked, ...trusted }), { signing: null, auditor: null });
    return reports.partitions.flatMap(({ topic, partition, findings }) =>
      findings.filter(({ kind }) => /missing/.test(kind)).map(({ kind }) => `${topic}/${String(partition)} ${kind}`),
    );
  }

  it('is missed where the topic was made anew with fewer partitions, or is gone, among the topics that are asked for', async () => {
    expect(await foundIn(3)).toEqual([]);
    expect(await foundIn(2)).toEqual([`${LOG}/2 log_missing`]);
    expect(await foundIn(null)).toEqual([`${LOG}/0 topic_missing`, `${LOG}/2 log_missing`]);
  });

  it('is missed by a verification that would begin behind that head', async () => {
    expect(await foundIn(2, 'starts')).toEqual([`${LOG}/2 log_missing`]);
  });
});

describe('the order in which a dump is made', () => {
  it('reads what speaks of other logs before those, so that it holds whatever they speak of', () => {
    expect([...CAUSES_LAST].sort()).toEqual([...LOG_TOPICS].sort());
    const at = (name: string): number => CAUSES_LAST.indexOf(`recourse.${name}`);
    const order = ['signed-heads', 'rollback-notifications', 'recoveries', 'mutations', 'assumptions', 'contracts'];
    const places = order.map(at);
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(at('signed-heads')).toBe(0);
  });
});

describe('a log whose broker says where it ends, and hands out nothing', () => {
  it('is not verified as one that ends there', async () => {
    const nothing = { topic: LOG, partition: 0, fetchedOffset: 0, nextOffset: 0, records: [] };
    const reader = { range: () => Promise.resolve({ low: 0, high: 4 }), read: () => Promise.resolve(nothing) };
    await expect(readPartition(reader, LOG, 0, 0).next()).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
  });
});
