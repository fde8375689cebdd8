// Logs without the heads that an auditor signed of them: whoever takes heads away is found by what is no longer compared.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { headsText } from '@recourse/audit';
import type { SignedHead } from '@recourse/audit';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { desk, table } from '../desk.testing.js';
import { uncovered, withCoverage } from './coverage.js';
import { withFirstHeads } from './first-heads.js';
import { auditReport, describeReport, unverified } from './report.js';
import type { AuditReport } from './report.js';
import { withScratch } from './scratch.js';
import { AUDITOR_KEY, chained, HEADS, LOG, LOG_ID, writeSignedDump } from './signed-dump.testing.js';
import { lengthsOf } from './topics.js';
import { watchTopics } from './watch.js';
import type { WatchOptions } from './watch.js';

const folder = mkdtempSync(join(tmpdir(), 'recourse-coverage-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Takes away from a dump every head in it. */
function withoutHeads(dump: string): void {
  const path = join(folder, dump, `${HEADS}-0.jsonl`);
  writeFileSync(path, `${readFileSync(path, 'utf8').split('\n')[0] ?? ''}\n`);
}

async function verify(
  dump: string,
  ...more: readonly string[]
): Promise<{ readonly code: number; readonly out: string }> {
  const { call, out } = desk(table({}), { environment: {}, folder });
  const code = await call('audit', 'verify', '--dump', dump, '--log', LOG, '--auditor-key', AUDITOR_KEY, ...more);
  return { code, out: out() };
}
// The command printed it; a spec that reads another shape fails.
const reportIn = ({ out }: { readonly out: string }): AuditReport => JSON.parse(out) as AuditReport;

describe('a log that no head of the auditor covers', () => {
  it('is found in a dump that heads and manifest were taken out of, and so is every log under a key that signed nothing', async () => {
    await writeSignedDump(join(folder, 'cut'), { sizes: [4], count: 6 });
    withoutHeads('cut');
    const found = await verify('cut', '--json');
    expect(found.code).toBe(1);
    expect(reportIn(found)).toMatchObject({
      ok: false,
      auditor: 'auditor.example',
      partitions: expect.arrayContaining([
        expect.objectContaining({
          topic: LOG,
          signed_head: null,
          findings: [expect.objectContaining({ kind: 'heads_missing' })],
        }),
      ]),
    });
    expect((await verify('cut')).out).toContain('No head of auditor.example was there to compare with.');
  });

  it('is not found where heads kept elsewhere cover it, which are as good to begin behind', async () => {
    const heads = await writeSignedDump(join(folder, 'kept'), { sizes: [4], count: 6 });
    withoutHeads('kept');
    writeFileSync(join(folder, 'kept.notes'), headsText(heads));
    expect((await verify('kept', '--heads', 'kept.notes')).code).toBe(0);
    expect((await verify('kept', '--from-head', 'kept.notes')).code).toBe(0);
  });

  it('is told of beside the others by name, of the auditor alone not, and of empty ones only where there is no head at all', () => {
    const log = (topic: string, head_seq: number) => ({ ...unverified(topic, 0), head_seq });
    const reports = [log('recourse.mutations', 3), log('recourse.budgets', 0), log(HEADS, 9)];
    const found = (heads: readonly SignedHead[], of = reports): readonly string[] =>
      withCoverage(of, { heads, held: [], alone: [] })
        .filter(({ findings }) => findings.some(({ kind }) => kind === 'heads_missing'))
        .map(({ topic }) => topic);
    expect(found([])).toEqual(['recourse.mutations']);
    expect(found([], reports.slice(1))).toEqual(['recourse.budgets']);
    expect(found([headOf('recourse.mutations', 2)])).toEqual([]);
    expect(found([headOf('recourse.budgets', 2)])).toEqual(['recourse.mutations']);
    expect(uncovered(reports, [headOf('recourse.mutations', 0)])).toHaveLength(1);
  });

  it('is found as watching begins', async () => {
    const looks = await watched([]);
    expect(looks[0]?.map(({ partition, finding }) => [partition, finding.kind])).toEqual([
      [`${LOG}/0`, 'heads_missing'],
    ]);
    expect(await watched([headOf(LOG, 1)])).toEqual([[]]);
    expect(await watched(null)).toEqual([[]]);
    const [news = []] = await watched([headOf(LOG, 1), { ...headOf(LOG, 1), generation: 1 }]);
    expect(news.map(({ finding }) => finding.kind)).toEqual(['heads_given_up']);
  });

  it('of which a witness that is named did not sign the newest is found as watching begins, as a verification finds it', async () => {
    const kindsOf = async (heads: readonly SignedHead[], alone: readonly SignedHead[]): Promise<readonly string[]> => {
      const [news = []] = await watched(heads, {}, alone);
      return news.map(({ finding }) => finding.kind);
    };
    expect(await kindsOf([], [headOf(LOG, 1)])).toEqual(['heads_unwitnessed']);
    expect(await kindsOf([headOf(LOG, 1)], [headOf(LOG, 2)])).toEqual(['heads_unwitnessed']);
    expect(await kindsOf([headOf(LOG, 1)], [headOf(LOG, 1)])).toEqual([]);
  });
});

describe('watching that begins where a log is gone', () => {
  it('finds a topic that is not there, and a partition that a head names', async () => {
    const known = new Map([`${LOG}/0`, `${LOG}/3`, `${HEADS}/1`, 'recourse.contracts/0'].map((name) => [name, []]));
    const [news = []] = await watched(null, { topics: [LOG, HEADS], known });
    expect(news.map(({ partition, finding }) => [partition, finding.kind])).toEqual([
      [`${HEADS}/0`, 'topic_missing'],
      [`${LOG}/3`, 'log_missing'],
      [`${HEADS}/1`, 'log_missing'],
    ]);
  });
});

describe('a log at the brokers that has only begun', () => {
  /** Looks that find so many logs without heads, one after the other, on a clock that rests move. */
  async function waited(opens: readonly number[]) {
    let [at, looks] = [0, 0];
    const told: number[] = [];
    const trusted = await withFirstHeads(
      () => Promise.resolve({ trusted: (looks += 1), open: opens[Math.min(looks, opens.length) - 1] ?? 0 }),
      {
        now: () => at,
        rest: (ms) => Promise.resolve(void (at += ms)),
        onWait: (open) => {
          told.push(open);
        },
      },
    );
    return { trusted, at, told };
  }

  it('is waited for until the auditor has come to it, and no longer than it may take', async () => {
    expect(await waited([0])).toEqual({ trusted: 1, at: 0, told: [] });
    expect(await waited([2, 1, 0])).toEqual({ trusted: 3, at: 2_000, told: [2] });
    expect(await waited([1])).toEqual({ trusted: 31, at: 30_000, told: [1] });
  });

  it('is known by its offsets', async () => {
    const kafka = new MemoryBroker({}).forActor('spec');
    await (await kafka.admin()).ensureTopics([{ name: LOG, partitions: 2 }]);
    await (await kafka.logProducer()).send(LOG, 1, [{ key: Buffer.from('k'), value: Buffer.from('v') }]);
    expect(await lengthsOf(kafka, [LOG, HEADS])).toEqual([
      { topic: LOG, partition: 0, head_seq: 0 },
      { topic: LOG, partition: 1, head_seq: 1 },
    ]);
  });
});

describe('a log with heads', () => {
  it('is told with the log whose newest head is the oldest: one that was cut to an older head shows beside the others', () => {
    const signed = (topic: string, signed_at: string) => ({
      ...unverified(topic, 0),
      signed_head: { size: 1, generation: 0, signed_at },
    });
    const logs = [signed('recourse.mutations', '2027-01-15T08:00:00.000Z'), signed(LOG, '2026-01-15T08:00:00.000Z')];
    const report = auditReport('log-1', logs, { signing: null, auditor: 'auditor.example' });
    expect(describeReport(report)).toContain(
      `; the newest of ${LOG}/0 was signed at 2026-01-15T08:00:00.000Z, that of recourse.mutations/0 at 2027-01-15T08:00:00.000Z.`,
    );
  });

  it('is told with the newest it was compared with, and when that was signed', async () => {
    await writeSignedDump(join(folder, 'sound'), { sizes: [4, 9], count: 12 });
    const signed_head = { size: 9, generation: 0, signed_at: '2027-01-15T08:00:00.000Z' };
    expect(reportIn(await verify('sound', '--json')).partitions[0]).toMatchObject({ topic: LOG, signed_head });
    const { code, out } = await verify('sound');
    expect(code).toBe(0);
    expect(out).toContain('SIGNED TO');
    expect(out).toContain('9 at 2027-01-15T08:00:00.000Z');
    expect(out).toContain('Compared with heads of auditor.example; the newest was signed at 2027-01-15T08:00:00.000Z.');
  });

  it('is told with the id of the logs that it is one of, whether anything was found or not', async () => {
    expect((await verify('sound')).out).toContain(` partition of the logs ${LOG_ID}.`);
    expect((await verify('cut')).out).toContain(`1 finding in the logs ${LOG_ID}:`);
  });

  it('is not covered by heads of another deployment, and a dump is of one deployment', async () => {
    await writeSignedDump(join(folder, 'other'), { sizes: [9], count: 12 });
    const path = join(folder, 'other', `${LOG}-0.jsonl`);
    const text = readFileSync(path, 'utf8');
    const kindsOf = async (): Promise<readonly string[]> =>
      reportIn(await verify('other', '--json')).partitions.flatMap(({ findings }) => findings.map(({ kind }) => kind));
    writeFileSync(path, text.replace(`"log_id":"${LOG_ID}"`, '"log_id":"staging"'));
    expect(await kindsOf()).toContain('heads_missing');
    await writeSignedDump(join(folder, 'mixed'), { sizes: [9], count: 12 });
    const heads = join(folder, 'mixed', `${HEADS}-0.jsonl`);
    writeFileSync(heads, readFileSync(heads, 'utf8').replace(`"log_id":"${LOG_ID}"`, '"log_id":"staging"'));
    const { call, out } = desk(table({}), { environment: {}, folder });
    await call('audit', 'verify', '--dump', 'mixed', '--json');
    expect(
      reportIn({ out: out() }).partitions.filter(({ findings }) => findings.some(({ kind }) => kind === 'other_log')),
    ).toMatchObject([{ topic: HEADS }]);
  });
});

/** News of the first look at a log of one record. */
async function watched(
  signed: readonly SignedHead[] | null,
  { topics = [LOG], known = new Map() }: Partial<Pick<WatchOptions, 'topics' | 'known'>> = {},
  alone: readonly SignedHead[] = [],
) {
  const broker = new MemoryBroker({}).forActor('spec');
  const registry = new MemoryRegistry().forActor('spec');
  const codecs = createCodecs(registry);
  await codecs.prepareWriter(LOG, { register: true });
  await (await broker.admin()).ensureTopics([{ name: LOG, partitions: 1 }]);
  const { line } = chained(codecs, LOG)('Progress', { cursors: [], reacted_seq: 1 }, 'key');
  await (await broker.logProducer()).send(LOG, 0, [line]);
  return withScratch(async (scratch) => {
    const trusted = signed === null ? null : { heads: signed, held: signed, alone };
    const asked = { kafka: broker, registry, logId: LOG_ID, topics, known, scratch, signed: trusted };
    for await (const { news } of watchTopics(asked)) return [news];
    return [];
  });
}

function headOf(topic: string, size: number): SignedHead {
  const of = { logId: LOG_ID, topic, partition: 0, generation: 0, size, nextOffset: size, firstOffset: 0, signedAt: 1 };
  return { ...of, root: Buffer.alloc(32), head: Buffer.alloc(32), note: '' };
}
