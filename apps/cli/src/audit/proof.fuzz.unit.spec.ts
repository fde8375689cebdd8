// Proofs that hold, and the same with one octet of any of their parts altered: what still holds proves the same.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseVerifier, readSignedHead } from '@recourse/audit';
import type { NoteKey, Proof } from '@recourse/audit';
import { FRAME_SIZE } from '@recourse/chain';
import { flip, flipped, fuzzed, near, WITHIN } from '../fuzzing.testing.js';
import type { Flip } from '../fuzzing.testing.js';
import { problemOfProof } from './check-proof.js';
import { logInDump, prove } from './prove.js';
import { withScratch } from './scratch.js';
import { AUDITOR_KEY, LOG, writeSignedDump } from './signed-dump.testing.js';

const SIZES = [1, 4, 7, 13];
const folder = mkdtempSync(join(tmpdir(), 'recourse-fuzz-proof-'));
let keys: readonly NoteKey[];
let proofs: readonly Proof[];

beforeAll(async () => {
  const heads = await writeSignedDump(folder, { sizes: SIZES, count: 15 });
  keys = [AUDITOR_KEY].flatMap((text) => parseVerifier(text) ?? []);
  const made: Proof[] = [];
  for (const [at, size] of SIZES.entries())
    for (let seq = 1; seq <= size; seq += 1) {
      const place = { log: LOG, partition: 0, seq };
      const more = heads.slice(0, at + 1);
      made.push(
        await withScratch(async (scratch) =>
          prove(await logInDump({ folder, signing: null }, place), place, { heads: more, scratch }),
        ),
      );
    }
  proofs = made;
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const base64 = (text: string, by: Flip): string => flipped(Buffer.from(text, 'base64'), by).toString('base64');
const hex = (text: string, by: Flip): string => flipped(Buffer.from(text, 'hex'), by).toString('hex');
const utf8 = (text: string, by: Flip): string => flipped(Buffer.from(text), by).toString();
const step = (path: readonly string[], by: Flip): string[] =>
  path.map((one, at) => (at === by.at % path.length ? hex(one, { ...by, at: by.mask }) : one));

/** Each part of a proof, altered; the shape stays that of a proof. */
const PARTS: readonly (readonly [string, (proof: Proof, by: Flip) => Proof])[] = [
  ['log id', (proof, by) => ({ ...proof, log: { ...proof.log, log_id: utf8(proof.log.log_id, by) } })],
  ['topic', (proof, by) => ({ ...proof, log: { ...proof.log, topic: utf8(proof.log.topic, by) } })],
  ['partition', (proof, { mask }) => ({ ...proof, log: { ...proof.log, partition: mask } })],
  ['place', (proof, { mask }) => ({ ...proof, record: { ...proof.record, seq: proof.record.seq + mask } })],
  ['key', (proof, by) => ({ ...proof, record: { ...proof.record, key: base64(proof.record.key, by) } })],
  ['value', (proof, by) => ({ ...proof, record: { ...proof.record, value: base64(proof.record.value, by) } })],
  ['schema', (proof, by) => ({ ...proof, record: { ...proof.record, schema: utf8(proof.record.schema, by) } })],
  ['print', (proof, by) => ({ ...proof, record: { ...proof.record, fingerprint: hex(proof.record.fingerprint, by) } })],
  ['leaf', (proof, by) => ({ ...proof, record: { ...proof.record, leaf: hex(proof.record.leaf, by) } })],
  ['index', (proof, { mask }) => ({ ...proof, inclusion: { ...proof.inclusion, index: mask + 13 } })],
  ['size', (proof, { mask }) => ({ ...proof, inclusion: { ...proof.inclusion, size: proof.inclusion.size + mask } })],
  ['path', (proof, by) => ({ ...proof, inclusion: { ...proof.inclusion, path: step(proof.inclusion.path, by) } })],
  ['head', (proof, by) => ({ ...proof, head: utf8(proof.head, by) })],
  [
    'older head',
    (proof, by) => ({
      ...proof,
      consistency: proof.consistency && { ...proof.consistency, from: utf8(proof.consistency.from, by) },
    }),
  ],
  [
    'consistency',
    (proof, by) => ({
      ...proof,
      consistency: proof.consistency && { ...proof.consistency, path: step(proof.consistency.path, by) },
    }),
  ],
];

/** What a proof says that holds: the offset and the id in the frame are where to look, and the text of a schema is its print. */
function claimOf({ log, record: { seq, key, value, fingerprint, leaf }, inclusion, head, consistency }: Proof): object {
  const said = (note: string): unknown => readSignedHead(note, keys)?.root.toString('hex');
  const body = Buffer.from(value, 'base64').subarray(FRAME_SIZE).toString('hex');
  const keyOctets = Buffer.from(key, 'base64').toString('hex');
  const older = consistency && [said(consistency.from), consistency.path];
  return { log, seq, keyOctets, body, fingerprint, leaf, inclusion, head: said(head), older };
}

describe('a proof', () => {
  it('of each record in each head holds', async () => {
    for (const proof of proofs) expect(await problemOfProof(proof, keys)).toBeNull();
    expect(proofs).toHaveLength(25);
  });

  it.each(PARTS)(
    'whose %s has another octet proves nothing else',
    async (_part, alter) => {
      const made = fc.record({ which: fc.nat(proofs.length - 1), by: flip });
      let refused = 0;
      await fuzzed(made, async ({ which, by }) => {
        const proof = proofs[which]!;
        const altered = alter(proof, by);
        if ((await problemOfProof(altered, keys)) === null) expect(claimOf(altered)).toEqual(claimOf(proof));
        else refused += 1;
      });
      expect(refused).toBeGreaterThan(0);
    },
    WITHIN,
  );

  it(
    'is answered whatever its octets are',
    async () => {
      await fuzzed(near(JSON.stringify(proofs.at(-1))), async (bytes) => {
        const value = jsonOf(bytes);
        if ((await problemOfProof(value, keys)) === null)
          expect(claimOf(value as Proof)).toEqual(claimOf(proofs.at(-1)!)); // it was read as one
      });
      for (const value of [null, 7, 'text', [], {}, { record: null }])
        expect(await problemOfProof(value, keys)).toBe('NOT_A_PROOF');
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
