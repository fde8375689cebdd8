import { describe, expect, it } from '@jest/globals';
import { complaintsOf, onceOf, verdictOf } from './heard.decisions.js';
import type { Word } from './heard.decisions.js';

const commit = (name: string, runId = 'run-1'): Word => ({
  id: `commit ${name}`,
  kind: 'commit',
  runId,
  commitId: name,
});
const rollback = (name: string, runId = 'run-1'): Word => ({
  id: `rollback ${name}`,
  kind: 'rollback',
  runId,
  commitId: name,
});
const SAID = [commit('a'), rollback('a'), commit('b'), rollback('b'), commit('x', 'run-2'), rollback('x', 'run-2')];
const [A, RA, B, RB, X, RX] = SAID as [Word, Word, Word, Word, Word, Word]; // six, see above
const complaints = (heard: readonly Word[]): readonly string[] => complaintsOf('mailer', verdictOf(SAID, heard));

describe('what a consumer heard', () => {
  it('is right when it is what the log says; runs may come in any order beside each other', () => {
    expect(complaints(SAID)).toEqual([]);
    expect(complaints([X, A, RX, RA, B, RB])).toEqual([]);
    expect(verdictOf(SAID, SAID)).toMatchObject({ said: 6, heard: 6, rollbacks: 3 });
  });

  it('is wrong when a word is lost', () => {
    expect(complaints([A, RA, B, X, RX])).toEqual(['mailer: 1 words lost, the first rollback b']);
  });

  it('is wrong when a word is kept twice, unless its place is kept beside it', () => {
    expect(complaints([A, RA, A, RA, B, RB, X, RX])).toEqual(['mailer: 2 words heard twice, the first commit a']);
    expect(complaints(onceOf([A, RA, A, RA, B, RB, X, RX]))).toEqual([]);
  });

  it('is wrong when a rollback comes before its commit', () => {
    expect(verdictOf(SAID, [RA, A, B, RB, X, RX])).toMatchObject({ early: ['rollback a'], disordered: ['commit a'] });
    expect(verdictOf(SAID, [RA, B, RB, X, RX])).toMatchObject({ early: ['rollback a'], lost: ['commit a'] });
  });

  it('is wrong when the words of a run come in another order', () => {
    expect(complaints([B, RB, A, RA, X, RX])).toEqual(['mailer: 2 words out of order, the first commit a']);
  });

  it('is wrong when nobody said it', () => {
    expect(complaints([...SAID, commit('c')])).toEqual(['mailer: 1 words that nobody said to it, the first commit c']);
  });
});
