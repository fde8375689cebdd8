// Two deployments under one auditor whose logs hold the same names: what one decided is no part of the other's story.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { headsText } from '@recourse/audit';
import { MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { AUDITOR_KEY, chained, headsOverDump, writeLog } from '../audit/signed-dump.testing.js';
import { desk, table } from '../desk.testing.js';
import { readStoryPacket, recordsOf } from './story.packet.js';
import type { StoryCheck } from './story.packet.js';
import { storyOf } from './story.js';

const LOG = 'recourse.recoveries';
const RUN = 'run-1';
const folder = mkdtempSync(join(tmpdir(), 'recourse-deployments-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function recourse(...args: readonly string[]) {
  const { call, out, note } = desk(table({}), { environment: {}, folder });
  const code = await call('audit', ...args);
  return { code, out: out(), note: note() };
}
const TRUST = ['--auditor-key', AUDITOR_KEY] as const;
const file = (dump: string): string => join(folder, dump, `${LOG}-0.jsonl`);

/** The dump of a deployment, its heads, and the packet of its run with proofs; by heads of a generation, where one is named. */
async function deployed(name: string, count: number, { logId = name, generation = 0, mark = 0 } = {}): Promise<void> {
  const registry = new MemoryRegistry().forActor('owner');
  const codecs = createCodecs(registry);
  await codecs.prepareWriter(LOG, { register: true });
  const write = chained(codecs, LOG, logId);
  const refused = { tenant: 'acme', run_id: RUN, leg_id: 'leg', code: 'LEG_UNKNOWN' };
  const lines = Array.from(
    { length: count },
    (_, n) => write('ReportRefused', { ...refused, attempt: n + 1 + mark * n }, RUN).line,
  );
  mkdirSync(join(folder, name));
  await writeLog(file(name), { topic: LOG, lines, logId }, registry);
  const heads = await headsOverDump(join(folder, name), () => true, { generation });
  writeFileSync(join(folder, `${name}.notes`), headsText(heads));
  const { code, note } = await recourse(
    ...['story', RUN, '--dump', name, ...TRUST, '--heads', `${name}.notes`, '--packet', `${name}.json`],
  );
  if (code !== 0) throw new Error(note);
}

/** A packet that a third party puts together, with the lines that its records tell. */
async function mixed(edit: (own: unknown[], other: unknown[]) => unknown[], from = 'staging'): Promise<void> {
  const [own, other] = ['production', from].map(
    (name) => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as { records: unknown[] },
  );
  const packet = { ...own, records: edit(own?.records ?? [], other?.records ?? []) };
  writeFileSync(join(folder, 'mixed.json'), JSON.stringify(packet));
  const accepted = (await recordsOf(readStoryPacket('mixed.json', folder))).flatMap((one) => one.accepted ?? []);
  writeFileSync(join(folder, 'mixed.json'), JSON.stringify({ ...packet, story: storyOf(accepted, RUN)?.story }));
}
const checked = async (name: string, ...more: readonly string[]): Promise<StoryCheck> =>
  JSON.parse((await recourse('check-story', name, '--json', ...more)).out) as StoryCheck;

beforeAll(async () => {
  await deployed('production', 1);
  await deployed('staging', 2);
  // What production lost was accepted, its heads were given up, and it grew on otherwise.
  await deployed('regrown', 3, { logId: 'production', generation: 1, mark: 7 });
});

describe('a packet of a story', () => {
  it('is of one deployment, which its verdict names', async () => {
    expect(await checked('staging.json', ...TRUST)).toMatchObject({
      outcome: 'equal',
      log_id: 'staging',
      tenant: 'acme',
      proved: 2,
    });
    expect((await recourse('check-story', 'staging.json', ...TRUST)).out).toContain(
      '2 records of tenant acme, 2 proved, of the logs staging',
    );
    expect((await checked('staging.json')).log_id).toBeNull();
  });

  it('differs where another deployment proves one of its records', async () => {
    await mixed((own, staging) => [...own, ...staging.slice(1)]);
    const { outcome, problems, proved } = await checked('mixed.json', ...TRUST);
    expect([outcome, proved, problems]).toEqual([
      'differs',
      1,
      [{ code: 'STORY_LOG_DIFFERS', message: `${LOG}/0 seq 2 is proved of the logs staging, not of production` }],
    ]);
  });

  it('differs where one of its records is proved of heads that were given up, and another of those since', async () => {
    await mixed((own, regrown) => [...own, ...regrown.slice(1)], 'regrown');
    const { outcome, proved, problems } = await checked('mixed.json', ...TRUST);
    expect([outcome, proved, problems.map(({ code, message }) => [code, message])]).toEqual([
      'differs',
      2,
      [['STORY_LOG_DIFFERS', `${LOG}/0 seq 1 is proved of generation 0 of its log, which was given up, not of 1`]],
    ]);
    expect(await checked('regrown.json', ...TRUST)).toMatchObject({ outcome: 'equal', proved: 3 });
  });

  it('differs where it is of another than the one that is named, or than the dump at hand', async () => {
    const codes = async (...more: readonly string[]): Promise<readonly string[]> =>
      (await checked('staging.json', ...TRUST, ...more)).problems.map(({ code }) => code);
    expect(await codes('--log-id', 'production')).toEqual(['STORY_LOG_DIFFERS', 'STORY_LOG_DIFFERS']);
    expect(await codes('--log-id', 'staging')).toEqual([]);
    expect(await codes('--dump', 'production')).toContain('STORY_LOG_DIFFERS');
    expect(
      (await recourse('check-story', 'staging.json', '--dump', 'staging', '--log-id', 'production')).note,
    ).toContain('DUMP_UNREADABLE');
  });
});

describe('a proof', () => {
  it('is of the deployment that is named, or proves nothing', async () => {
    const { records } = readStoryPacket('staging.json', folder);
    writeFileSync(join(folder, 'proof.json'), JSON.stringify(records[0]?.proof));
    expect(await recourse('check-proof', 'proof.json', ...TRUST, '--log-id', 'production')).toMatchObject({
      code: 1,
      out: expect.stringContaining('OTHER_DEPLOYMENT'),
    });
    expect(await recourse('check-proof', 'proof.json', ...TRUST, '--log-id', 'staging')).toMatchObject({
      code: 0,
      out: 'The proof holds.',
      note: expect.stringContaining(`record 1 of ${LOG}/0 of the logs staging`),
    });
  });

  it('says by which head it holds: of how many records, of which generation, and when that was signed', async () => {
    const { records } = readStoryPacket('regrown.json', folder);
    writeFileSync(join(folder, 'regrown.proof.json'), JSON.stringify(records[2]?.proof));
    const { note } = await recourse('check-proof', 'regrown.proof.json', ...TRUST);
    expect(note).toContain('of the logs production, signed to 3 of generation 1 at 1970-01-01T00:00:00.001Z.');
    const { out } = await recourse('check-proof', 'regrown.proof.json', ...TRUST, '--json');
    expect(JSON.parse(out)).toMatchObject({ signed_head: { size: 3, generation: 1 } });
    expect((await recourse('check-proof', 'proof.json', ...TRUST)).note).toContain('signed to 2 at 1970');
  });

  it('is never made by a head of another deployment', async () => {
    const prove = await recourse('prove', `${LOG}/0/1`, '--dump', 'production', ...TRUST, '--heads', 'staging.notes');
    expect(prove.note).toContain('NOT_SIGNED_YET');
  });
});

describe('a dump with logs of two deployments', () => {
  it('is read by nobody', async () => {
    cpSync(join(folder, 'production'), join(folder, 'both'), { recursive: true });
    const text = readFileSync(file('staging'), 'utf8').replace(`"topic":"${LOG}"`, '"topic":"recourse.budgets"');
    writeFileSync(join(folder, 'both', 'recourse.budgets-0.jsonl'), text);
    expect((await recourse('story', RUN, '--dump', 'both')).note).toContain('DUMP_UNREADABLE');
  });
});
