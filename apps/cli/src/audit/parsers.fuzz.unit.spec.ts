// Parsers of bytes that nobody vouches for: whatever they are given, they answer, and what they take they would write alike.
//
// A short run here; `npm run fuzz` gives each ten minutes. A seed that once failed stands in SEEDS and is tried first.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { checkProof, headsText, parseHeadText, parseNote, parseProof, parseVerifier, readHeads } from '@recourse/audit';
import { readHead, schemaIdOf } from '@recourse/chain';
import { CliProblem } from '../problem.js';
import { auditDump } from './dump.js';
import { AUDITOR_KEY, LOG, writeSignedDump } from './signed-dump.testing.js';

/** Milliseconds for each parser; a few hundred runs without. */
const FUZZ_MS = Number(process.env['RECOURSE_FUZZ_MS'] ?? '0');
/** Seeds of runs that failed once. */
const SEEDS: readonly number[] = [];
const folder = mkdtempSync(join(tmpdir(), 'recourse-fuzz-'));
let samples: Readonly<Record<'note' | 'heads' | 'dump' | 'proof', string>>;

beforeAll(async () => {
  const heads = await writeSignedDump(join(folder, 'dump'), { sizes: [2, 5] });
  const proof = join(import.meta.dirname, '../../../../test/interop/proofs/record.json');
  samples = {
    note: heads[0]?.note ?? '',
    heads: headsText(heads),
    dump: readFileSync(join(folder, 'dump', `${LOG}-0.jsonl`), 'utf8'),
    // The file holds the key and the proof.
    proof: JSON.stringify((JSON.parse(readFileSync(proof, 'utf8')) as { readonly proof: unknown }).proof),
  };
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A sample with some octets changed, put in or taken out; or any octets at all. */
function near(sample: string): fc.Arbitrary<Buffer> {
  const bytes = Buffer.from(sample);
  const edit = fc.record({ at: fc.nat(bytes.length), drop: fc.nat(3), put: fc.uint8Array({ maxLength: 3 }) });
  const edited = fc
    .array(edit, { minLength: 1, maxLength: 4 })
    .map((edits) =>
      edits.reduce(
        (text, { at, drop, put }) => Buffer.concat([text.subarray(0, at), put, text.subarray(at + drop)]),
        bytes,
      ),
    );
  return fc.oneof(
    { weight: 4, arbitrary: edited },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((octets) => Buffer.from(octets)) },
  );
}

async function fuzzed(sample: string, takes: (bytes: Buffer) => void | Promise<void>, runs = 200): Promise<void> {
  const property = fc.asyncProperty(near(sample), async (bytes) => {
    await takes(bytes);
  });
  for (const seed of SEEDS) await fc.assert(property, { seed, numRuns: 50 });
  await fc.assert(
    property,
    FUZZ_MS === 0
      ? { numRuns: runs }
      : { numRuns: 10 ** 9, interruptAfterTimeLimit: FUZZ_MS, markInterruptAsFailure: false },
  );
}

const WITHIN = FUZZ_MS + 60_000;

describe('whatever octets it is given,', () => {
  it(
    'the frame and the head of a record answer',
    async () => {
      await fuzzed('\0\0\0\0\x01\x02' + 'h'.repeat(32) + 'body', (bytes) => {
        const head = readHead(bytes);
        if (head !== null) expect([schemaIdOf(bytes) !== null, Number.isSafeInteger(head.seq)]).toEqual([true, true]);
      });
    },
    WITHIN,
  );

  it(
    'a note, a head and a verifier key answer',
    async () => {
      await fuzzed(samples.note, (bytes) => {
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
      await fuzzed(samples.heads, (bytes) => {
        for (const { note } of readHeads(bytes.toString('utf8'), key === null ? [] : [key]).heads)
          expect(whole).toContain(note);
      });
    },
    WITHIN,
  );

  it(
    'a proof answers, and an altered one does not hold',
    async () => {
      const key = parseVerifier(AUDITOR_KEY);
      await fuzzed(samples.proof, (bytes) => {
        const value = jsonOf(bytes);
        const proof = parseProof(value);
        if (proof === null) return;
        const problem = checkProof(value, { keys: key === null ? [] : [key], fingerprintOf: () => null });
        expect(problem).not.toBeNull();
      });
    },
    WITHIN,
  );

  it(
    'a dump has findings, or a problem with a code',
    async () => {
      const altered = join(folder, 'altered');
      await writeSignedDump(altered, { sizes: [] });
      await fuzzed(samples.dump, async (bytes) => {
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

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return null;
  }
}
