// A packet of a story that proves its records: by the command line, from a recorded history whose heads the auditor signed.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { headsText } from '@recourse/audit';
import { acceptedInDump } from '../audit/accepted.js';
import { auditorKey } from '../audit/heads.js';
import { AUDITOR_KEY, headsOverDump, WITNESS_KEY } from '../audit/signed-dump.testing.js';
import { run } from '../program.js';
import { STORY_LOGS } from './selection.js';
import { settingsIn } from './settings.js';
import { checkStory, readStoryPacket, recordsOf } from './story.packet.js';
import type { StoryCheck } from './story.packet.js';
import { storyOf } from './story.js';
import type { Story } from './story.js';

const ROOT = join(import.meta.dirname, '../../../..');
const HISTORY = join(ROOT, 'test/histories/0.1.0');
const VECTOR = join(ROOT, 'test/interop/proofs/story.json');
const TRUST = ['--auditor-key', AUDITOR_KEY] as const;
const folder = mkdtempSync(join(tmpdir(), 'recourse-story-'));
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

/** A packet as it is edited. */
interface Editable {
  readonly records: {
    log: string;
    hash: string;
    seq: number;
    proof: { head: string; inclusion: { path: string[] } } | null;
  }[];
}
const packetIn = (file: string): Editable => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Editable;

/** What a check of the packet says after it was edited. */
async function checked(edit: (packet: Editable) => void): Promise<StoryCheck & { readonly code: number }> {
  const packet = packetIn('story.json');
  edit(packet);
  writeFileSync(join(folder, 'edited.json'), JSON.stringify(packet));
  const { code, out } = await recourse('audit', 'check-story', 'edited.json', ...TRUST, '--json');
  return { ...(JSON.parse(out) as StoryCheck), code };
}
const codesOf = ({ problems }: StoryCheck): readonly string[] => problems.map(({ code }) => code);

/** The story of a mutation with fewest records among those that tell of a member of a record about several. */
async function shortest(): Promise<string> {
  const records = await acceptedInDump({ folder: HISTORY, signing: null }, STORY_LOGS);
  const told = records
    .filter(({ type }) => type === 'MutationRecorded')
    .flatMap(({ body }) => storyOf(records, String((body as Readonly<Record<string, unknown>>)['mutation_id'])) ?? [])
    .filter(({ story }) => story.lines.some(({ index }) => index !== null))
    .sort((a, b) => a.records.length - b.records.length);
  return told[0]?.story.about.id ?? '';
}

beforeAll(async () => {
  writeFileSync(join(folder, 'heads.notes'), headsText(await headsOverDump(HISTORY)));
  const id = await shortest();
  const from = ['--dump', HISTORY, ...TRUST, '--heads', 'heads.notes'] as const;
  const { code, note } = await recourse('audit', 'story', id, ...from, '--packet', 'story.json');
  if (code !== 0) throw new Error(note);
});

describe('a packet of a story with proofs', () => {
  it('proves every record by a head of the auditor, without its log', async () => {
    const { records } = packetIn('story.json');
    expect(await checked(() => undefined)).toMatchObject({
      code: 0,
      outcome: 'equal',
      records: records.length,
      proved: records.length,
      problems: [],
    });
    const unproved = await recourse('audit', 'check-story', 'story.json');
    expect([unproved.code, unproved.out]).toEqual([8, expect.stringContaining('places in a log were not checked')]);
  });

  it('holds proofs that `audit check-proof` takes on their own', async () => {
    for (const [at, { proof }] of packetIn('story.json').records.entries()) {
      writeFileSync(join(folder, `proof-${at}.json`), JSON.stringify(proof));
      expect(await recourse('audit', 'check-proof', `proof-${at}.json`, ...TRUST)).toMatchObject({ code: 0 });
    }
  });

  it('is not called equal while one record is not proved', async () => {
    const one = await checked(({ records: [first] }) => {
      if (first !== undefined) first.proof = null;
    });
    expect([one.code, one.outcome, one.records - one.proved]).toEqual([8, 'incomplete', 1]);
  });

  it('differs where a record stands in it twice, at its place, its offset or another', async () => {
    const again = (more: object) => (packet: Editable) => {
      const at = packet.records.findIndex(({ log }) => log === 'recourse.recoveries');
      const [one] = packet.records.slice(at);
      if (one !== undefined) packet.records.push({ ...one, ...more });
    };
    for (const more of [{}, { offset: 999 }, { seq: 999, proof: null }, { hash: '0'.repeat(64), proof: null }]) {
      const found = await checked(again(more));
      expect([found.code, codesOf(found)]).toEqual([1, expect.arrayContaining(['STORY_RECORD_REPEATED'])]);
    }
    // It is not told twice either.
    expect(codesOf(await checked(again({})))).not.toContain('STORY_LINES_DIFFER');
    expect(await recourse('audit', 'replay-story', 'edited.json')).toMatchObject({
      code: 1,
      note: expect.stringContaining('STORY_RECORD_REPEATED'),
    });
  });

  it('differs where a proof is of another record, or its head or path was altered', async () => {
    const swapped = await checked(({ records: [first, second] }) => {
      if (first !== undefined && second !== undefined) [first.proof, second.proof] = [second.proof, first.proof];
    });
    expect([swapped.code, codesOf(swapped)]).toEqual([1, ['STORY_PROOF_FAILS', 'STORY_PROOF_FAILS']]);
    const altered = await checked(({ records: [first, second] }) => {
      first?.proof?.inclusion.path.push('0'.repeat(64));
      Object.assign(second?.proof ?? {}, { head: second?.proof?.head.replace('time 1', 'time 2') });
    });
    expect(codesOf(altered)).toEqual(['STORY_PROOF_FAILS', 'STORY_PROOF_FAILS']);
    expect(codesOf(await checked(({ records }) => records.map((one) => (one.seq += 1))))).toContain(
      'STORY_PROOF_FAILS',
    );
  });

  it('is not called equal in words that are no longer told: it is told in those of today beside', async () => {
    const told = packetIn('story.json') as Editable & { story: Story };
    const records = (await recordsOf(readStoryPacket('story.json', folder))).flatMap((one) => one.accepted ?? []);
    const { id, tenant = null } = told.story.about;
    const older = storyOf(records, id, new Map(), { tenant, words: 1 })?.story;
    writeFileSync(join(folder, 'older.json'), JSON.stringify({ ...told, story: older }));
    const { code, out } = await recourse('audit', 'check-story', 'older.json', ...TRUST);
    expect([code, out]).toEqual([
      8,
      expect.stringMatching(/STORY_WORDS_OLD[^]*in words 1[^]*In words 3:\n\nStory of/u),
    ]);
    for (const { what } of told.story.lines) expect(out).toContain(what);
    const { out: json } = await recourse('audit', 'check-story', 'older.json', ...TRUST, '--json');
    expect(JSON.parse(json)).toMatchObject({ outcome: 'incomplete', words: 1, today: told.story });
    expect(await checked(() => undefined)).toMatchObject({ words: 3, today: null });
  });

  it('proves what was signed, and says how much of it was', async () => {
    const signed = await headsOverDump(HISTORY, (topic) => topic === 'recourse.mutations');
    writeFileSync(join(folder, 'some.notes'), headsText(signed));
    const from = ['--dump', HISTORY, ...TRUST, '--heads', 'some.notes'] as const;
    const { note } = await recourse('audit', 'story', await shortest(), ...from, '--packet', 'some.json');
    const { records } = packetIn('some.json');
    const proved = records.filter(({ proof }) => proof !== null).length;
    expect(proved).toBeGreaterThan(0);
    expect(proved).toBeLessThan(records.length);
    expect(note).toContain(`${String(proved)} of its ${String(records.length)} records are proved`);
  });

  it('proves by heads that a witness signed, too, where its key is named, and by no others (P11)', async () => {
    const witness = ['--witness-key', WITNESS_KEY] as const;
    writeFileSync(
      join(folder, 'witnessed.notes'),
      headsText(await headsOverDump(HISTORY, () => true, { isWitnessed: true })),
    );
    const told = async (heads: string, packet: string): Promise<string> => {
      const from = ['--dump', HISTORY, ...TRUST, ...witness, '--heads', heads, '--packet', packet] as const;
      return (await recourse('audit', 'story', await shortest(), ...from)).note;
    };
    const count = packetIn('story.json').records.length;
    expect(await told('heads.notes', 'alone.json')).toContain(`0 of its ${String(count)} records are proved`);
    expect(await told('witnessed.notes', 'both.json')).toContain(`${String(count)} of its ${String(count)} records`);
    const checkedBy = async (packet: string): Promise<number> =>
      (await recourse('audit', 'check-story', packet, ...TRUST, ...witness)).code;
    expect([await checkedBy('both.json'), await checkedBy('story.json')]).toEqual([0, 1]);
    expect((await recourse('audit', 'check-story', 'both.json', ...witness)).note).toContain('KEY_MISSING');
  });

  it('is what the checker in Python is given', async () => {
    if (process.env['RECOURSE_WRITE_VECTORS'] !== undefined)
      writeFileSync(VECTOR, `${JSON.stringify({ key: AUDITOR_KEY, packet: packetIn('story.json') }, null, 2)}\n`);
    const { key, packet } = JSON.parse(readFileSync(VECTOR, 'utf8')) as {
      readonly key: string;
      readonly packet: object;
    };
    writeFileSync(join(folder, 'vector.json'), JSON.stringify(packet));
    const keys = [auditorKey(key, '')];
    const check = await checkStory(readStoryPacket('vector.json', folder), { logged: null, keys });
    expect(check.proved).toBe(check.records);
    // Its words may have changed since: the other checker does not read them.
    const ofWords = ['STORY_LINES_DIFFER', 'STORY_WORDS_OLD'];
    expect(codesOf(check).filter((code) => !ofWords.includes(code))).toEqual([]);
  });
});

describe('a packet that is asked to hold decisions', () => {
  it('is refused where a dump is all there is: decisions were made from wires', async () => {
    const asked = await recourse(
      'audit',
      'story',
      await shortest(),
      '--dump',
      HISTORY,
      '--packet',
      'd.json',
      '--decisions',
    );
    expect([asked.code, asked.note]).toEqual([64, expect.stringContaining('a dump holds no wires')]);
    expect(existsSync(join(folder, 'd.json'))).toBe(false);
  });

  it.each([
    [['--ceiling', 'run=100'], 'SCOPE/UNIT=MINOR'],
    [['--policy', 'refunds'], 'NAME=FILE'],
    [['--contract', 'c.json', '--ceiling', 'run/INR=1'], 'one change at a time'],
  ] as const)('is replayed under one change that can be read: not %j', async (options, says) => {
    const { code, note } = await recourse('audit', 'replay-story', 'story.json', ...options);
    expect([code, note]).toEqual([64, expect.stringContaining(says)]);
  });

  it('takes settings line by line, and names what is none', () => {
    writeFileSync(join(folder, 'some.env'), '# of the stack\n\nRECOURSE_LEASE_MS=5000\r\nRECOURSE_RISK_LIMIT=low\n');
    expect(settingsIn('some.env', folder)).toEqual({ RECOURSE_LEASE_MS: '5000', RECOURSE_RISK_LIMIT: 'low' });
    writeFileSync(join(folder, 'bad.env'), 'PATH=/bin\n');
    expect(() => settingsIn('bad.env', folder)).toThrow('no setting');
  });
});
