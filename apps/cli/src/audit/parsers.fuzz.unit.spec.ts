// Parsers of bytes that nobody vouches for: whatever they are given, they answer, and what they take they would write alike.
//
// Proofs: proof.fuzz.unit.spec.ts. Packets, contracts and suites: documents.fuzz.unit.spec.ts.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { headsText, parseHeadText, parseNote, parseVerifier, readHeads } from '@recourse/audit';
import { readHead, schemaIdOf } from '@recourse/chain';
import { fuzzed, near, WITHIN } from '../fuzzing.testing.js';
import { CliProblem } from '../problem.js';
import { auditDump } from './dump.js';
import { AUDITOR_KEY, LOG, writeSignedDump } from './signed-dump.testing.js';

const folder = mkdtempSync(join(tmpdir(), 'recourse-fuzz-'));
let samples: Readonly<Record<'note' | 'heads' | 'dump', string>>;

beforeAll(async () => {
  const heads = await writeSignedDump(join(folder, 'dump'), { sizes: [2, 5] });
  samples = {
    note: heads[0]?.note ?? '',
    heads: headsText(heads),
    dump: readFileSync(join(folder, 'dump', `${LOG}-0.jsonl`), 'utf8'),
  };
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('whatever octets it is given,', () => {
  it(
    'the frame and the head of a record answer',
    async () => {
      await fuzzed(near('\0\0\0\0\x01\x02' + 'h'.repeat(32) + 'body'), (bytes) => {
        const head = readHead(bytes);
        if (head !== null) expect([schemaIdOf(bytes) !== null, Number.isSafeInteger(head.seq)]).toEqual([true, true]);
      });
    },
    WITHIN,
  );

  it(
    'a note, a head and a verifier key answer',
    async () => {
      await fuzzed(near(samples.note), (bytes) => {
        const text = bytes.toString('utf8');
        parseNote(text);
        parseHeadText(text);
        expect(parseVerifier(text)).toBeNull();
      });
    },
    WITHIN,
  );

  it(
    'a file of heads takes only what was signed',
    async () => {
      const key = parseVerifier(AUDITOR_KEY);
      const whole = readHeads(samples.heads, key === null ? [] : [key]).heads.map(({ note }) => note);
      await fuzzed(near(samples.heads), (bytes) => {
        for (const { note } of readHeads(bytes.toString('utf8'), key === null ? [] : [key]).heads)
          expect(whole).toContain(note);
      });
    },
    WITHIN,
  );

  it(
    'a dump has findings, or a problem with a code',
    async () => {
      const altered = join(folder, 'altered');
      await writeSignedDump(altered, { sizes: [] });
      await fuzzed(near(samples.dump), async (bytes) => {
        writeFileSync(join(altered, `${LOG}-0.jsonl`), bytes);
        const audit = { folder: altered, logId: null, known: new Map(), topics: [LOG], only: null };
        await auditDump(audit).catch((problem: unknown) => {
          expect(problem).toBeInstanceOf(CliProblem);
        });
      });
    },
    WITHIN,
  );
});
