// What tells of the past reads no log that is not as it was written: it would leave out in silence what lies behind the break.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { acceptedInDump, acceptedInTopics } from './accepted.js';
import { chained, LOG, LOG_ID, writeLog } from './signed-dump.testing.js';
import type { Line } from './signed-dump.testing.js';
import { auditTopics } from './topics.js';

const folder = mkdtempSync(join(tmpdir(), 'recourse-accepted-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A log of four records, edited by somebody, at the brokers and in a dump: how many are told of, or the code of the refusal. */
async function told(edit: (lines: readonly Line[], others: readonly Line[]) => readonly Line[], isThere = true) {
  const registry = new MemoryRegistry().forActor('owner');
  const codecs = createCodecs(registry);
  await codecs.prepareWriter(LOG, { register: true });
  const logOf = (key: string): readonly Line[] => {
    const write = chained(codecs, LOG);
    return Array.from({ length: 4 }, () => write('Progress', { cursors: [], reacted_seq: 0 }, key).line);
  };
  const lines = edit(logOf('key'), logOf('other'));
  const broker = new MemoryBroker();
  if (isThere) broker.ensureTopics([{ name: LOG, partitions: 1 }]);
  const kafka = broker.forActor('spec');
  if (isThere) await (await kafka.logProducer()).send(LOG, 0, lines);
  await writeLog(join(folder, `${LOG}-0.jsonl`), { topic: LOG, lines }, registry);
  const ended = await Promise.allSettled([
    acceptedInTopics({ kafka, registry, logId: LOG_ID, topics: [LOG] }),
    acceptedInDump({ folder, signing: null }, [LOG]),
  ]);
  return ended.map((one) => (one.status === 'fulfilled' ? one.value.length : (one.reason as { code: string }).code));
}

describe('what tells of the past', () => {
  it('reads a log that is as it was written, at the brokers and in a dump', async () => {
    expect(await told((lines) => lines)).toEqual([4, 4]);
  });

  it.each<[string, (lines: readonly Line[]) => readonly Line[]]>([
    ['a record was altered', (lines) => lines.map((one, n) => (n === 1 ? { ...one, key: Buffer.from('other') } : one))],
    ['a record was taken out', (lines) => lines.toSpliced(1, 1)],
  ])('refuses one in which %s, and leaves out nothing in silence', async (_what, edit) => {
    expect(await told(edit)).toEqual(['LOG_NOT_SOUND', 'LOG_NOT_SOUND']);
  });

  it('tells of all that is in the chain, whatever a stranger put beside it', async () => {
    expect(await told((lines, others) => [...lines, ...others.slice(1, 2)])).toEqual([4, 4]);
  });

  it('leaves to a verification what other logs alone say of one', async () => {
    const registry = new MemoryRegistry().forActor('owner');
    const codecs = createCodecs(registry);
    const topics = [LOG, 'recourse.recoveries'] as const;
    for (const topic of topics) await codecs.prepareWriter(topic, { register: true });
    const broker = new MemoryBroker();
    broker.ensureTopics(topics.map((name) => ({ name, partitions: 1 })));
    const kafka = broker.forActor('spec');
    const read = [0, 1].map((partition) => ({ topic: LOG, partition, offset: 9, seq: 9, hash: Buffer.alloc(32) }));
    const producer = await kafka.logProducer();
    for (const topic of topics) {
      const { line } = chained(codecs, topic)(
        'Progress',
        { cursors: topic === LOG ? [] : read, reacted_seq: 0 },
        'key',
      );
      await producer.send(topic, 0, [line]);
    }
    const asked = { kafka, registry, logId: LOG_ID, topics };
    const kinds = (await auditTopics({ ...asked, known: new Map() })).flatMap(({ findings }) =>
      findings.map(({ kind }) => kind),
    );
    expect(kinds.sort()).toEqual(['cut_tail', 'log_missing']);
    expect(await acceptedInTopics(asked)).toHaveLength(2);
  });

  it('tells nothing of a log that the reader does not see, and refuses nothing for it', async () => {
    expect((await told((lines) => lines, false))[0]).toBe(0);
  });
});
