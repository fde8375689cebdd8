// A log against the heads that its auditor signed, on a machine that has nothing else: verified, resumed, proved.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { headsText, parseVerifier } from '@recourse/audit';
import { run } from '../program.js';
import type { AuditReport } from './report.js';
import { AUDITOR_KEY, HEADS, LOG, writeSignedDump } from './signed-dump.testing.js';

const folder = mkdtempSync(join(tmpdir(), 'recourse-signed-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function recourse(
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly out: string; readonly note: string }> {
  const [out, note]: [string[], string[]] = [[], []];
  const code = await run(args, {
    terminal: {
      out: (text) => {
        out.push(text);
      },
      note: (text) => {
        note.push(text);
      },
      isInteractive: false,
      ask: () => Promise.reject(new Error('nobody is asked')),
    },
    environment: {},
    folder,
    fetch,
  });
  return { code, out: out.join('\n'), note: note.join('\n') };
}

/** Findings of the log by name. */
async function foundIn(dump: string, ...more: readonly string[]): Promise<readonly string[]> {
  const { out } = await recourse('audit', 'verify', '--dump', dump, '--log', LOG, '--json', ...more);
  // The command printed it; a spec that reads another shape fails.
  const { partitions } = JSON.parse(out) as {
    readonly partitions: readonly { readonly topic: string; readonly findings: readonly { readonly kind: string }[] }[];
  };
  return partitions.filter(({ topic }) => topic === LOG).flatMap(({ findings }) => findings.map(({ kind }) => kind));
}
const TRUST = ['--auditor-key', AUDITOR_KEY] as const;

describe('a dump with signed heads', () => {
  it('is sound against the heads in it, and those that somebody kept', async () => {
    const heads = await writeSignedDump(join(folder, 'sound'), { sizes: [4, 9], count: 12 });
    writeFileSync(join(folder, 'heads.notes'), headsText(heads));
    writeFileSync(join(folder, 'auditor.vkey'), `${AUDITOR_KEY}\n`);
    expect(await foundIn('sound', '--auditor-key', 'auditor.vkey', '--heads', 'heads.notes')).toEqual([]);
  });

  it('shows that the whole log was written anew with a valid chain, which without heads nobody sees', async () => {
    await writeSignedDump(join(folder, 'anew'), { sizes: [], count: 12, mark: 1 });
    expect(await foundIn('anew')).toEqual([]);
    expect(await foundIn('anew', ...TRUST, '--heads', 'heads.notes')).toEqual(['rewritten']);
  });

  it('shows a cut where no earlier audit looked', async () => {
    await writeSignedDump(join(folder, 'cut'), { sizes: [4], count: 6 });
    expect(await foundIn('cut', ...TRUST, '--heads', 'heads.notes')).toEqual(['cut_tail']);
  });

  it('is compared with its manifest too, which may be of more records than the newest signed head', async () => {
    await writeSignedDump(join(folder, 'listed'), { sizes: [4], count: 12 });
    const { out } = await recourse('audit', 'verify', '--dump', 'listed', '--log', LOG, '--json');
    const { partitions } = JSON.parse(out) as AuditReport;
    const of = partitions.find(({ topic }) => topic === LOG);
    const listed = { ...of, file: `${LOG}-0.jsonl` };
    writeFileSync(join(folder, 'listed', 'manifest.json'), JSON.stringify({ dumped_at: 'now', partitions: [listed] }));
    expect(await foundIn('listed', ...TRUST)).toEqual([]);
    const path = join(folder, 'listed', `${LOG}-0.jsonl`);
    writeFileSync(path, readFileSync(path, 'utf8').trimEnd().split('\n').slice(0, -2).join('\n'));
    expect(await foundIn('listed')).toEqual(['cut_tail']);
    expect(await foundIn('listed', ...TRUST)).toEqual(['cut_tail']);
  });

  it('is verified on from a trusted head, and from an earlier verification', async () => {
    expect(await foundIn('sound', '--from-head', 'heads.notes', ...TRUST)).toEqual([]);
    expect(await foundIn('anew', '--from-head', 'heads.notes', ...TRUST, '--heads', 'heads.notes')).toContain(
      'rewritten',
    );
    const { out } = await recourse('audit', 'verify', '--dump', 'sound', '--log', LOG, '--json');
    writeFileSync(join(folder, 'earlier.json'), out);
    expect(await foundIn('sound', '--from-head', 'earlier.json')).toEqual([]);
    expect(await foundIn('cut', '--from-head', 'earlier.json')).toEqual(['cut_tail']);
    const resumed = await recourse(
      'audit',
      'verify',
      '--dump',
      'sound',
      '--log',
      LOG,
      '--json',
      '--from-head',
      'earlier.json',
    );
    // Both printed reports of one shape.
    const roots = [out, resumed.out].map(
      (text) => (JSON.parse(text) as { readonly partitions: readonly { readonly root: string }[] }).partitions[0]?.root,
    );
    expect(roots[0]).toBe(roots[1]);
  });

  it('is compared with the heads that somebody kept, also where its own are of a newer generation, and says so (P11)', async () => {
    await writeSignedDump(join(folder, 'given-up'), { sizes: [4], mark: 1, generation: 1 });
    expect(await foundIn('given-up', ...TRUST)).toEqual([]);
    expect(await foundIn('given-up', ...TRUST, '--heads', 'heads.notes')).toEqual(['heads_given_up', 'forked']);
    expect(await foundIn('given-up', ...TRUST, '--from-head', 'heads.notes')).toContain('heads_given_up');
    const newer = await writeSignedDump(join(folder, 'newer'), { sizes: [4], generation: 1 });
    writeFileSync(join(folder, 'newer.notes'), headsText(newer));
    expect(await foundIn('newer', ...TRUST, '--heads', 'newer.notes')).toEqual([]);
    const { out } = await recourse('audit', 'verify', '--dump', 'newer', '--log', LOG, ...TRUST);
    expect(out).toContain('4 of generation 1 at 2027-01-15T08:00:00.000Z');
  });

  it('is verified with the key that was printed into a file', async () => {
    const { code, out } = await recourse('audit', 'new-key', 'auditor.other', '--out', 'other.pem');
    writeFileSync(join(folder, 'other.vkey'), `${out}\n`);
    expect([code, parseVerifier(out)?.name]).toEqual([0, 'auditor.other']);
    // The other auditor signed none of these heads.
    expect(await foundIn('sound', '--auditor-key', 'other.vkey')).toEqual(['heads_missing']);
    expect((await recourse('audit', 'new-key', 'auditor.other', '--out', 'other.pem')).note).toContain(
      'KEY_NOT_WRITTEN',
    );
  });

  it('says which key is missing or is none', async () => {
    expect((await recourse('audit', 'verify', '--dump', 'sound', '--heads', 'heads.notes')).note).toContain(
      'KEY_MISSING',
    );
    expect((await recourse('audit', 'verify', '--dump', 'sound', '--auditor-key', 'x')).note).toContain(
      'KEY_UNREADABLE',
    );
    const other = AUDITOR_KEY.replace('auditor.example', 'auditor.other');
    expect((await recourse('audit', 'verify', '--dump', 'sound', '--auditor-key', other)).note).toContain(
      'KEY_UNREADABLE',
    );
  });
});

describe('a proof', () => {
  const VECTOR = join(import.meta.dirname, '../../../../test/interop/proofs/record.json');

  it('of a record holds by itself, and is the one that the checker in Python is given', async () => {
    const { out, code } = await recourse('audit', 'prove', `${LOG}/0/3`, '--dump', 'sound', ...TRUST);
    expect(code).toBe(0);
    if (process.env['RECOURSE_WRITE_VECTORS'] !== undefined)
      writeFileSync(VECTOR, JSON.stringify({ key: AUDITOR_KEY, proof: JSON.parse(out) as unknown }, null, 2) + '\n');
    expect({ key: AUDITOR_KEY, proof: JSON.parse(out) as unknown }).toEqual(JSON.parse(readFileSync(VECTOR, 'utf8')));
    writeFileSync(join(folder, 'proof.json'), out);
    expect(await recourse('audit', 'check-proof', 'proof.json', ...TRUST)).toMatchObject({
      code: 0,
      out: 'The proof holds.',
    });
  });

  const ALTERATIONS: readonly (readonly [string, (proof: Editable) => void])[] = [
    [
      'record',
      ({ record }) => {
        record.seq = 4;
      },
    ],
    [
      'key',
      ({ record }) => {
        record.key = 'eA==';
      },
    ],
    [
      'leaf',
      ({ record }) => {
        record.leaf = '0'.repeat(64);
      },
    ],
    ['path', ({ inclusion }) => void inclusion.path.pop()],
    [
      'head',
      (proof) => {
        proof.head = proof.head.replace('\n9\n', '\n8\n');
      },
    ],
    [
      'log',
      ({ log }) => {
        log.topic = HEADS;
      },
    ],
    [
      'schema',
      ({ record }) => {
        record.schema = record.schema.replace('Progress', 'Regress');
      },
    ],
    ['older head', ({ consistency }) => void consistency.path.reverse()],
  ];
  it.each(ALTERATIONS)('whose %s was altered proves nothing', async (_what, edit) => {
    const proof = JSON.parse(readFileSync(join(folder, 'proof.json'), 'utf8')) as Editable;
    edit(proof);
    writeFileSync(join(folder, 'altered.json'), JSON.stringify(proof));
    expect(await recourse('audit', 'check-proof', 'altered.json', ...TRUST)).toMatchObject({ code: 1 });
  });

  it.each(['null', '7', '{"record":null}', ''])('is not what a file with %s holds', async (text) => {
    writeFileSync(join(folder, 'none.json'), text);
    const { code, out, note } = await recourse('audit', 'check-proof', 'none.json', ...TRUST);
    expect([code, out + note]).toEqual(
      text === '' ? [64, expect.stringContaining('FILE_UNREADABLE')] : [1, expect.stringContaining('NOT_A_PROOF')],
    );
  });

  it('is refused of a record that nobody signed yet, that is not there, and of a log that is not as it was signed', async () => {
    const prove = (...args: readonly string[]): ReturnType<typeof recourse> =>
      recourse('audit', 'prove', ...args, ...TRUST);
    expect((await prove(`${LOG}/0/11`, '--dump', 'sound')).note).toContain('NOT_SIGNED_YET');
    expect((await prove(`${LOG}/9/1`, '--dump', 'sound')).note).toContain('RECORD_UNKNOWN');
    expect((await prove('nonsense', '--dump', 'sound')).note).toContain('RECORD_UNKNOWN');
    expect((await prove(`${LOG}/0/2`, '--dump', 'anew', '--heads', 'heads.notes')).note).toContain('LOG_NOT_AS_SIGNED');
  });
});

interface Editable {
  head: string;
  readonly log: { topic: string };
  readonly record: { seq: number; key: string; leaf: string; schema: string };
  readonly inclusion: { readonly path: string[] };
  readonly consistency: { readonly path: string[] };
}
