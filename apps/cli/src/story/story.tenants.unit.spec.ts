// A story by the command line from a dump in which two tenants chose the same name for a run.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { chained, writeLog } from '../audit/signed-dump.testing.js';
import { desk, table } from '../desk.testing.js';

const LOG = 'recourse.recoveries';
const RUN = 'run-1';
const folder = mkdtempSync(join(tmpdir(), 'recourse-tenants-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

beforeAll(async () => {
  const registry = new MemoryRegistry().forActor('owner');
  const codecs = createCodecs(registry);
  await codecs.prepareWriter(LOG, { register: true });
  const write = chained(codecs, LOG);
  const lines = ['acme', 'evil', 'evil'].map(
    (tenant) =>
      write('ReportRefused', { tenant, run_id: RUN, leg_id: `leg of ${tenant}`, attempt: 1, code: 'LEG_UNKNOWN' }, RUN)
        .line,
  );
  await writeLog(join(folder, `${LOG}-0.jsonl`), { topic: LOG, lines }, registry);
});

async function story(...args: readonly string[]) {
  const { call, out, note } = desk(table({}), { environment: {}, folder });
  const code = await call('audit', 'story', RUN, '--dump', '.', ...args);
  return { code, out: out(), note: note() };
}

describe('a run whose name several tenants have', () => {
  it('is refused offline until one of them is named', async () => {
    for (const more of [[], ['--tenant', '*']])
      expect(await story(...more)).toMatchObject({
        code: 64,
        note: expect.stringMatching(/TENANT_AMBIGUOUS[^]*acme, evil[^]*--tenant/u),
      });
  });

  it('is told of the one that is named, which stands in its head line, its page and its packet', async () => {
    const { code, out } = await story('--tenant', 'evil', '--packet', 'evil.json', '--html', 'evil.html');
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^Story of run run-1 of tenant evil\n[^]*\n2 lines of 2 records/u),
    ]);
    expect(readFileSync(join(folder, 'evil.html'), 'utf8')).toContain('<h1>Story of run run-1 of tenant evil</h1>');
    expect(readFileSync(join(folder, 'evil.json'), 'utf8')).toContain('"tenant": "evil"');
    const { call, out: checked } = desk(table({}), { environment: {}, folder });
    expect([await call('audit', 'check-story', 'evil.json', '--dump', '.'), checked()]).toEqual([
      0,
      expect.stringContaining('2 records'),
    ]);
  });

  it('is not there under a tenant that has none', async () => {
    expect(await story('--tenant', 'other')).toMatchObject({
      code: 3,
      note: expect.stringContaining('of tenant other'),
    });
  });
});
