import { describe, expect, it } from '@jest/globals';
import { judgeReplay } from './replay.decisions.js';

const state = (seq: number, hash: number, stateHash = 'aa') => ({ seq, hash: Buffer.alloc(32, hash), stateHash });

describe('a rebuilt state beside the projection', () => {
  it('is the same behind the same record with the same rows', () => {
    expect(judgeReplay(state(5, 5), state(5, 5))).toBe('same');
  });
  it('differs when the rows do', () => {
    expect(judgeReplay(state(5, 5), state(5, 5, 'bb'))).toBe('differs');
  });
  it('differs in a column when a row is the same and a column of it is not', () => {
    const strays = [{ kind: 'step', group: 'run-1', key: 'step_1', column: 'phase' }];
    expect(judgeReplay(state(5, 5), { ...state(5, 5), strays })).toBe('columns_differ');
    expect(judgeReplay(state(5, 5), { ...state(5, 5), strays: [] })).toBe('same');
  });
  it('shows a cut log: it ends before what was projected', () => {
    expect(judgeReplay(state(4, 4), state(5, 5))).toBe('log_cut');
  });
  it('shows another history: a different record, whatever its rows', () => {
    expect(judgeReplay(state(5, 9), state(5, 5))).toBe('rewritten');
  });
});
