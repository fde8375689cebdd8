// The auditor's file of heads, compared with its log while both are read once.
import { describe, expect, it } from '@jest/globals';
import { noteSigner, noteText, parseNote } from '@recourse/audit';
import type { SignedHead } from '@recourse/audit';
import fc from 'fast-check';
import { freshPem } from '../auditor.testing.js';
import { headOf, SIGNER } from './heads.testing.js';
import { KeptHeads } from './kept-heads.js';

const WITNESS = noteSigner('witness.spec', 'witness', freshPem());
const COUNT = 60;
/** As they were signed: of three trees, the first of which has two generations. */
const SIGNED = Array.from({ length: COUNT }, (_, n) =>
  headOf(n < COUNT / 2 || n % 3 > 0 ? n + 1 : n - COUNT / 2, {
    partition: n % 3,
    generation: n >= COUNT / 2 && n % 3 === 0 ? 1 : 0,
  }),
);

/** How far the file was read when the log was at its end and before anybody else had a turn then, and what was lost. */
async function compared(
  log: readonly SignedHead[],
  file: readonly SignedHead[],
): Promise<{ read: number; readInOneGo: number; lost: readonly number[] }> {
  const lost: number[] = [];
  let read = 0;
  const notes = file.map(({ note }) => note).values();
  const counted = {
    next: () => {
      read += 1;
      return notes.next();
    },
  };
  const kept = new KeptHeads({ notes: counted, keys: [SIGNER.key], onLost: (head) => lost.push(head.signedAt) });
  for (const head of log) kept.stands(head);
  const readByThen = read;
  const turn = new Promise<number>((resolve) => setImmediate(() => resolve(read - readByThen)));
  await kept.end();
  return { read: readByThen, readInOneGo: await turn, lost };
}

describe('heads that the file has and the log lacks', () => {
  it('are found wherever they were taken out, and no others, also where the file lacks some', async () => {
    const some = fc.array(fc.boolean(), { minLength: COUNT, maxLength: COUNT });
    const where = (picks: readonly boolean[]): readonly SignedHead[] => SIGNED.filter((_, n) => picks[n]);
    await fc.assert(
      fc.asyncProperty(some, some, async (inLog, inFile) => {
        const { lost } = await compared(where(inLog), where(inFile));
        const missing = SIGNED.filter((_, n) => inFile[n] && !inLog[n]).map(({ signedAt }) => signedAt);
        expect([...lost].sort((a, b) => a - b)).toEqual(missing.sort((a, b) => a - b));
      }),
      { numRuns: 60 },
    );
  });

  it('are told where another head of the same length stands in the log', async () => {
    const [first, second, third] = [1, 2, 3].map((size) => headOf(size));
    const file = [first, headOf(2, { mark: 'another', signedAt: 22 }), third].filter((head) => head !== undefined);
    const log = [first, second, third].filter((head) => head !== undefined);
    expect((await compared(log, file)).lost).toEqual([22]);
  });

  it('are none where the file says a head twice, or bears what nobody signed', async () => {
    const unsigned = { ...headOf(2), note: headOf(2).note.replace('next 2', 'next 3') };
    const file = [headOf(1), headOf(1), unsigned, headOf(3), headOf(1)];
    expect((await compared([headOf(1), headOf(3)], file)).lost).toEqual([]);
  });

  it('are none where a head was published again with the signature of a witness and the file lacks either, and one where that is lost', async () => {
    const witnessed = (size: number): SignedHead => {
      const note = parseNote(headOf(size).note);
      const more = WITNESS.sign(note?.text ?? '', 7);
      return {
        ...headOf(size),
        note: noteText({ text: note?.text ?? '', signatures: [...(note?.signatures ?? []), more] }),
      };
    };
    const log = [headOf(1), witnessed(1), headOf(2), headOf(3), witnessed(3)];
    for (const file of [log, [headOf(1), headOf(2), headOf(3)], [witnessed(1), headOf(2), witnessed(3)]])
      expect((await compared(log, file)).lost).toEqual([]);
    expect((await compared([headOf(1), headOf(2)], [headOf(1), witnessed(1), headOf(2)])).lost).toEqual([1]);
  });

  it('are looked for in no more of the file than the log is behind, and a thousand heads that wait', async () => {
    const file = Array.from({ length: 1_200 }, (_, n) => headOf(n + 1));
    const { read, lost } = await compared(file.slice(0, 50), file);
    expect(read).toBeLessThanOrEqual(1_050);
    expect(lost).toHaveLength(1_150);
  });

  it('are looked for some at a time: whoever asks whether the auditor lives is answered meanwhile', async () => {
    const file = Array.from({ length: 1_200 }, (_, n) => headOf(n + 1));
    const { readInOneGo, lost } = await compared([], file);
    expect([readInOneGo, lost.length]).toEqual([500, 1_200]);
  });
});
