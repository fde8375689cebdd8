// Documents that people hand over: packets of stories, contracts, suites. Each is taken or refused with a code, and what was altered in a
// packet is not called equal.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { contractBody, parseContract } from '@recourse/contract';
import { canonicalJson } from '@recourse/kernel';
import { acceptedInDump } from './audit/accepted.js';
import type { Accepted } from './audit/accepted.js';
import { schemaOfDump } from './audit/dump-schemas.js';
import { readOne } from './contracts/files.js';
import { contractIn } from './contracts/reading.js';
import { evalReport, gradeCase } from './eval/grade.js';
import { readSuite } from './eval/suite.js';
import { flip, flipped, fuzzed, near, WITHIN } from './fuzzing.testing.js';
import { CliProblem } from './problem.js';
import { placeName } from './story/place-name.js';
import { checkStory, readStoryPacket, storyPacket } from './story/story.packet.js';
import type { StoryPacket } from './story/story.packet.js';
import { STORY_LOGS } from './story/selection.js';
import { storyOf } from './story/story.js';

const HISTORY = 'test/histories/0.1.0';
const folder = mkdtempSync(join(tmpdir(), 'recourse-fuzz-documents-'));
let text: string;
let packet: StoryPacket;
/** What a log holds at the places of the packet. */
let logged: ReadonlyMap<string, string>;

beforeAll(async () => {
  const records = await acceptedInDump({ folder: HISTORY, signing: null }, STORY_LOGS);
  text = await storyPacket(longest(records), schemaOfDump(HISTORY));
  writeFileSync(join(folder, 'whole.json'), text);
  packet = readStoryPacket('whole.json', folder);
  logged = new Map(packet.records.map(({ hash, ...place }) => [placeName(place), hash]));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The mutation of the history with most to tell of. */
function longest(records: readonly Accepted[]): NonNullable<ReturnType<typeof storyOf>> {
  const ids = records.flatMap(({ type, body }) =>
    type === 'MutationRecorded' ? [String((body as Readonly<Record<string, unknown>>)['mutation_id'])] : [],
  );
  const stories = ids.flatMap((id) => storyOf(records, id) ?? []);
  const [most] = stories.sort((a, b) => b.records.length - a.records.length);
  if (most === undefined) throw new Error(`${HISTORY} tells of no mutation`);
  return most;
}

/** Reads what was written down as a file; null where it is refused with a code. */
function taken<T>(file: string, bytes: Buffer, read: (file: string) => T): T | null {
  writeFileSync(join(folder, file), bytes);
  try {
    return read(file);
  } catch (problem) {
    expect(problem).toBeInstanceOf(CliProblem);
    return null;
  }
}

const claimOf = ({ story, records }: StoryPacket): string =>
  canonicalJson({
    story,
    records: records.map(({ log, partition, seq, hash, key, value }) => ({
      ...{ log, partition, seq, hash },
      ...{ key: key.toString('hex'), value: value.subarray(5).toString('hex') },
    })),
  });

describe('a packet of a story', () => {
  it('of a recorded history is equal to its log', async () => {
    expect(await checkStory(packet, { logged })).toMatchObject({ outcome: 'equal', problems: [] });
    expect(packet.records.length).toBeGreaterThan(3);
  });

  it(
    'is equal only where it says what it said, whatever octets of its file are others',
    async () => {
      await fuzzed(
        near(text),
        async (bytes) => {
          const altered = taken('packet.json', bytes, (file) => readStoryPacket(file, folder));
          if (altered === null) return;
          const { outcome } = await checkStory(altered, { logged });
          if (outcome === 'equal') expect(claimOf(altered)).toBe(claimOf(packet));
        },
        60,
      );
    },
    WITHIN,
  );

  it(
    'with decisions is read within bounds, or refused with a code',
    async () => {
      const place = { log: 'recourse.budgets', partition: 0, seq: 2, hash: 'a'.repeat(64) };
      const pin = {
        ...{ log: place.log, partition: 0, records: [place], progress: { ...place, seq: 1 } },
        input: { source: 'timer', kind: 'budget', group: 'g', key: 'k', due_at: 1 },
        groups: [
          { kind: 'budget', group: 'g', is_whole: true, rows: [{ key: 'k', doc: { a: [1] }, is_folded: true }] },
        ],
        entries: [{ view: 'entries', key: 'e', records: [place] }],
        payloads: [{ sha256: 'b'.repeat(64), wire: null }],
        positions: [{ view: 'entries', partition: 0, seq: 1 }],
      };
      const decisions = { settings: {}, partitions: { [place.log]: 1 }, pins: [pin], unpinned: [] };
      const bare = JSON.stringify({ ...(JSON.parse(text) as object), schemas: [], records: [], decisions });
      expect(taken('pins.json', Buffer.from(bare), (file) => readStoryPacket(file, folder))?.decisions?.pins).toEqual([
        pin,
      ]);
      await fuzzed(near(bare), (bytes) => {
        const read = taken('pins.json', bytes, (file) => readStoryPacket(file, folder));
        for (const { records } of read?.decisions?.pins ?? []) expect(records.length).toBeGreaterThan(0);
      });
    },
    WITHIN,
  );

  it(
    'differs where one octet of a record is another',
    async () => {
      const made = fc.record({ which: fc.nat(packet.records.length - 1), isKey: fc.boolean(), by: flip });
      await fuzzed(
        made,
        async ({ which, isKey, by }) => {
          const records = packet.records.map((record, at) => {
            if (at !== which) return record;
            // The id of the schema in the frame is the packet's own: the fingerprint of its text is what was hashed.
            const body = Buffer.concat([record.value.subarray(0, 5), flipped(record.value.subarray(5), by)]);
            return isKey ? { ...record, key: flipped(record.key, by) } : { ...record, value: body };
          });
          expect((await checkStory({ ...packet, records }, { logged })).outcome).toBe('differs');
        },
        60,
      );
    },
    WITHIN,
  );
});

describe('a contract', () => {
  it(
    'is read alike a second time, or refused with a code',
    async () => {
      await fuzzed(near(readFileSync('examples/contracts/payments.issue_refund.json')), (bytes) => {
        const contract = taken('contract.json', bytes, (file) => contractIn(file, folder));
        if (contract === null) return;
        const again = parseContract(contractBody(contract));
        expect(again.ok && contractBody(again.contract)).toBe(contractBody(contract));
      });
    },
    WITHIN,
  );
});

describe('a suite', () => {
  const [, suite = ''] =
    /^```yaml\n([\s\S]*?)^```/m.exec(readFileSync('docs/guides/gate-your-agent-in-ci.md', 'utf8')) ?? [];
  const call = { tool: 'payments.issue_refund', args: { order_id: '4711' }, is_readable: true };
  const calls = ['succeeded', 'failed'].map((state) => ({ ...call, state, mutation_id: `mut_${state}` }));

  it(
    'grades whatever it asks for, or is refused with a code',
    async () => {
      await fuzzed(near(suite), (bytes) => {
        const value = taken('suite.yaml', bytes, (file) => readOne(file, folder).value);
        const read = readSuite(value);
        if (!read.ok) {
          expect(read.problems.every(({ code, path }) => code !== '' && path !== undefined)).toBe(true);
          return;
        }
        const run = { run_id: 'run-1', calls, answer: 'refunded', is_known: true };
        const graded = read.suite.cases.map((one) => gradeCase(one, run));
        const { cases_passed, cases_failed } = evalReport(read.suite.name, graded);
        expect(cases_passed + cases_failed).toBe(read.suite.cases.length);
      });
    },
    WITHIN,
  );
});
