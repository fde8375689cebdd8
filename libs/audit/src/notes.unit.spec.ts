// Notes and heads: the C2SP formats, byte by byte, and nothing that was altered passes for one.
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  headsText,
  headText,
  isSignedBy,
  noteSigner,
  notesIn,
  noteText,
  parseHeadText,
  parseNote,
  parseVerifier,
  readHeads,
  readSignedHead,
  verifierText,
} from './index.js';
import type { NoteSigner, TreeHead } from './index.js';

const pem = (): string => generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const auditor = noteSigner('auditor.example', 'log', pem());
const witness = noteSigner('witness.example', 'witness', pem());
const HEAD: TreeHead = {
  logId: 'log-1',
  topic: 'recourse.mutations',
  partition: 2,
  generation: 0,
  size: 4711,
  root: Buffer.alloc(32, 7),
  head: Buffer.alloc(32, 9),
  nextOffset: 4720,
  firstOffset: 0,
  signedAt: 1_800_000_000_000,
};

function signed(head: TreeHead, signers: readonly NoteSigner[] = [auditor]): string {
  const text = headText(head);
  return noteText({ text, signatures: signers.map((one) => one.sign(text, 1_800_000_000)) });
}

describe('a signed note', () => {
  // The example of golang.org/x/mod/sumdb/note, which C2SP signed-note takes over.
  const VKEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
  const GO_NOTE =
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n" +
    '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n';

  it('of another implementation is read and verified with its verifier key', () => {
    const key = parseVerifier(VKEY);
    const note = parseNote(GO_NOTE);
    expect(key === null ? null : verifierText(key)).toBe(VKEY);
    expect(note === null || key === null ? null : isSignedBy(note, key)).toBe(true);
    expect(note === null ? null : noteText(note)).toBe(GO_NOTE);
  });

  it('bears the cosignature of a witness beside that of the log', () => {
    const note = parseNote(signed(HEAD, [auditor, witness]));
    expect([auditor, witness].map(({ key }) => note !== null && isSignedBy(note, key))).toEqual([true, true]);
  });

  it('is of nobody once any octet of it is another', () => {
    const bytes = Buffer.from(signed(HEAD));
    fc.assert(
      fc.property(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, by) => {
        const altered = Buffer.from(bytes);
        altered.writeUInt8(altered.readUInt8(at) ^ by, at);
        return readSignedHead(altered.toString('utf8'), [auditor.key]) === null;
      }),
      { numRuns: 500 },
    );
  });

  it('is not signed by who only has the same name', () => {
    expect(readSignedHead(signed(HEAD), [noteSigner('auditor.example', 'log', pem()).key])).toBeNull();
    expect(readSignedHead(signed(HEAD, [witness]), [auditor.key])).toBeNull();
  });
});

describe('a head', () => {
  it('says what was signed', () => {
    expect(readSignedHead(signed(HEAD), [auditor.key])).toMatchObject(HEAD);
    expect(headText(HEAD).split('\n').slice(0, 2)).toEqual(['log-1/recourse.mutations/2', '4711']);
  });

  it('of a wire says where its tree begins, and commits to no chain', () => {
    const wire = { ...HEAD, topic: 'recourse.tool-results', head: null, firstOffset: 17, generation: 3 };
    expect(parseHeadText(headText(wire))).toEqual(wire);
  });

  it('of any text is a head or null, and one that was read is written alike', () => {
    const lines = fc.array(
      fc.oneof(
        fc.string(),
        fc.constantFrom('log-1/recourse.a/0', '0', '12', 'A'.repeat(43) + '=', 'head x', 'next 4', 'time 5', ''),
      ),
    );
    fc.assert(
      fc.property(lines, (parts) => {
        const head = parseHeadText(parts.join('\n'));
        return head === null || parseHeadText(headText(head)) !== null;
      }),
    );
  });
});

describe('a file of heads', () => {
  it('gives back those that a known key signed, and counts the rest', () => {
    const heads = [1, 2, 3].map((size) => ({ note: signed({ ...HEAD, size }) }));
    const other = { note: signed({ ...HEAD, size: 9 }, [noteSigner('auditor.example', 'log', pem())]) };
    const read = readHeads(headsText([...heads, other]), [auditor.key]);
    expect(read.heads.map(({ size }) => size)).toEqual([1, 2, 3]);
    expect(read.refused).toBe(1);
  });

  it('is read in pieces, wherever they are cut, and what is no note ends where the next one does', () => {
    const notes = [1, 2, 3].map((size) => signed({ ...HEAD, size }, [auditor, witness]));
    const text = headsText(notes.map((note) => ({ note })));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), (length) => {
        const pieces = Array.from({ length: Math.ceil(text.length / length) }, (_, n) =>
          text.slice(n * length, (n + 1) * length),
        );
        expect([...notesIn(pieces)]).toEqual(notes);
      }),
    );
    expect([...notesIn(['torn\n', text])].slice(1)).toEqual(notes.slice(1));
    const noise = 'noise\n'.repeat(20_000);
    const read = [...notesIn([noise, text])];
    expect([read[0]?.length, read.slice(1)]).toEqual([expect.any(Number), notes.slice(1)]);
    expect(read[0]?.length).toBeLessThan(noise.length);
  });
});
