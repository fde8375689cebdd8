// Heads that witnesses signed, too: without their signatures two readers may be shown two logs.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { headsText, noteSigner, verifierText } from '@recourse/audit';
import { generateKeyPairSync } from 'node:crypto';
import { desk, table } from '../desk.testing.js';
import type { AuditReport, PartitionReport } from './report.js';
import { AUDITOR_KEY, LOG, WITNESS_KEY, writeSignedDump } from './signed-dump.testing.js';

const folder = mkdtempSync(join(tmpdir(), 'recourse-witnessed-'));
const VECTOR = join(import.meta.dirname, '../../../../test/interop/proofs/witnessed.json');
const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const OTHER = verifierText(noteSigner('witness.other', 'witness', pem).key);
const [TRUST, WITNESS] = [
  ['--auditor-key', AUDITOR_KEY],
  ['--witness-key', WITNESS_KEY],
] as const;
beforeAll(async () => {
  const both = await writeSignedDump(join(folder, 'both'), { sizes: [4, 9], count: 12, witnessed: [4, 9] });
  writeFileSync(join(folder, 'kept.notes'), headsText(both.slice(0, 1)));
  await writeSignedDump(join(folder, 'older'), { sizes: [4, 9], count: 12, witnessed: [4] });
  const alone = await writeSignedDump(join(folder, 'alone'), { sizes: [4, 9], count: 12 });
  writeFileSync(join(folder, 'alone.notes'), headsText(alone));
  const first = await writeSignedDump(join(folder, 'first'), { sizes: [5] });
  writeFileSync(join(folder, 'first.notes'), headsText(first));
  await writeSignedDump(join(folder, 'anew'), { sizes: [8], witnessed: [8], mark: 1 });
  await writeSignedDump(join(folder, 'renewed'), { sizes: [8], witnessed: [8], mark: 1, generation: 1 });
  await writeSignedDump(join(folder, 'short'), { sizes: [4], witnessed: [4] });
  await writeSignedDump(join(folder, 'forged'), { sizes: [4, 9], witnessed: [4, 9], forgedFrom: 5 });
  await writeSignedDump(join(folder, 'cut'), { sizes: [4, 9], witnessed: [4] });
  copyFileSync(join(folder, 'short', `${LOG}-0.jsonl`), join(folder, 'cut', `${LOG}-0.jsonl`));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function recourse(
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly out: string; readonly note: string }> {
  const { call, out, note } = desk(table({}), { environment: {}, folder });
  const code = await call('audit', ...args);
  return { code, out: out(), note: note() };
}

async function verified(dump: string, ...more: readonly string[]): Promise<AuditReport> {
  const { out } = await recourse('verify', '--dump', dump, '--log', LOG, '--json', ...TRUST, ...more);
  // The command printed it; a spec that reads another shape fails.
  return JSON.parse(out) as AuditReport;
}
const ofLog = ({ partitions }: AuditReport): PartitionReport | undefined =>
  partitions.find(({ topic }) => topic === LOG);
const kindsOf = (report: AuditReport): readonly string[] | undefined => ofLog(report)?.findings.map(({ kind }) => kind);

describe('a verification by the key of a witness', () => {
  it('is of heads that the witness signed, too, and says whose they are', async () => {
    const report = await verified('both', ...WITNESS);
    expect([kindsOf(report), report.witnesses]).toEqual([[], ['witness.example']]);
    expect((await verified('both')).witnesses).toEqual([]);
    const { out } = await recourse('verify', '--dump', 'both', '--log', LOG, ...TRUST, ...WITNESS);
    expect(out).toContain('Compared with heads of auditor.example that witness.example signed, too; the newest');
  });

  it('finds a log whose newest head the witness did not sign, and counts no such head', async () => {
    const older = await verified('older', ...WITNESS);
    expect([kindsOf(older), ofLog(older)?.signed_head?.size]).toEqual([['heads_unwitnessed'], 4]);
    const alone = await verified('alone', ...WITNESS);
    expect([kindsOf(alone), ofLog(alone)?.signed_head]).toEqual([['heads_unwitnessed'], null]);
    expect(kindsOf(await verified('both', ...WITNESS, '--heads', 'alone.notes'))).toEqual([]);
    expect(kindsOf(await verified('alone'))).toEqual([]);
  });

  it('begins behind a head only where its roots grow on: a witness signs those, and not which record is the last', async () => {
    const refused = async (file: string) => {
      const args = ['--dump', 'forged', '--log', LOG, ...TRUST, ...WITNESS, '--from-head', file];
      const { code, note } = await recourse('verify', ...args);
      return [code, note];
    };
    const says = [64, expect.stringMatching(/ROOTS_UNKNOWN[^]*verify --json/u)];
    expect(await refused('kept.notes')).toEqual(says);
    const { out } = await recourse('verify', '--dump', 'short', '--log', LOG, '--json');
    writeFileSync(join(folder, 'earlier.json'), out);
    const begun = await verified('both', ...WITNESS, '--from-head', 'earlier.json');
    expect([kindsOf(begun), ofLog(begun)?.from_seq, ofLog(begun)?.signed_head?.size]).toEqual([[], 4, 9]);
    expect(kindsOf(await verified('forged', ...WITNESS, '--from-head', 'earlier.json'))).toEqual(['regrown']);
    writeFileSync(join(folder, 'rootless.json'), out.replaceAll(/"peaks": \[[^\]]+\]/gu, '"peaks": null'));
    expect(await refused('rootless.json')).toEqual(says);
    expect(await refused('forged/none.json')).toEqual(says);
  });

  it('compares with heads that the witness did not sign, too: naming it takes no finding away', async () => {
    for (const more of [[], WITNESS]) {
      const renewed = kindsOf(await verified('renewed', ...more, '--heads', 'first.notes'));
      expect(renewed).toEqual(['heads_given_up', 'rewritten']);
      expect(kindsOf(await verified('anew', ...more, '--heads', 'first.notes'))).toEqual(['rewritten']);
      expect(kindsOf(await verified('short', ...more, '--heads', 'alone.notes'))).toContain('cut_tail');
      expect(kindsOf(await verified('cut', ...more))).toContain('cut_tail');
    }
  });

  it('wants the signature of each witness that is named', async () => {
    expect(kindsOf(await verified('both', ...WITNESS, '--witness-key', OTHER))).toEqual(['heads_unwitnessed']);
  });

  it('takes the key of an auditor for none of a witness, the other way round neither, and no witness without an auditor', async () => {
    const noteOf = async (...args: readonly string[]): Promise<string> =>
      (await recourse('verify', '--dump', 'both', '--log', LOG, ...args)).note;
    expect(await noteOf(...TRUST, '--witness-key', AUDITOR_KEY)).toContain('KEY_UNREADABLE');
    expect(await noteOf('--auditor-key', WITNESS_KEY)).toContain('KEY_UNREADABLE');
    expect(await noteOf(...WITNESS)).toContain('KEY_MISSING');
  });
});

describe('watching by the key of a witness', () => {
  it('takes that key as a verification does, and none without the key of an auditor (P11)', async () => {
    expect((await recourse('watch', ...WITNESS)).note).toContain('KEY_MISSING');
    expect((await recourse('watch', ...TRUST, '--witness-key', AUDITOR_KEY)).note).toContain('KEY_UNREADABLE');
  });
});

describe('a proof by the key of a witness', () => {
  const proved = async (dump: string, ...more: readonly string[]): Promise<string> => {
    const { out } = await recourse('prove', `${LOG}/0/3`, '--dump', dump, ...TRUST, ...more);
    writeFileSync(join(folder, 'proof.json'), out);
    return out;
  };
  const checked = (...more: readonly string[]): ReturnType<typeof recourse> =>
    recourse('check-proof', 'proof.json', ...TRUST, ...more);

  it('is of the newest head that the witness signed, too, and is the one that the checker in Python is given', async () => {
    await proved('older', ...WITNESS);
    expect(await checked(...WITNESS)).toMatchObject({ code: 0, out: 'The proof holds.' });
    const proof = JSON.parse(await proved('both', ...WITNESS)) as unknown;
    expect(await checked(...WITNESS)).toMatchObject({ code: 0, out: 'The proof holds.' });
    const vector = { key: AUDITOR_KEY, witness: WITNESS_KEY, proof };
    if (process.env['RECOURSE_WRITE_VECTORS'] !== undefined)
      writeFileSync(VECTOR, `${JSON.stringify(vector, null, 2)}\n`);
    expect(vector).toEqual(JSON.parse(readFileSync(VECTOR, 'utf8')));
  });

  it('does not hold where the witness did not sign its head, or the older one that it extends', async () => {
    await proved('alone');
    expect(await checked(...WITNESS)).toMatchObject({ code: 1, out: expect.stringContaining('HEAD_UNWITNESSED') });
    expect((await recourse('prove', `${LOG}/0/3`, '--dump', 'alone', ...TRUST, ...WITNESS)).note).toContain(
      'NOT_SIGNED_YET',
    );
    const both = JSON.parse(await proved('both')) as { consistency: { from: string } };
    const [, lines = ''] = both.consistency.from.split('\n\n');
    const auditorsOnly = `${lines.split('\n')[0] ?? ''}\n`;
    both.consistency.from = both.consistency.from.replace(lines, auditorsOnly);
    writeFileSync(join(folder, 'proof.json'), JSON.stringify(both));
    expect(await checked()).toMatchObject({ code: 0 });
    expect(await checked(...WITNESS)).toMatchObject({ code: 1, out: expect.stringContaining('HEAD_UNWITNESSED') });
  });
});
