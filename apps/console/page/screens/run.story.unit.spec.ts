// A run's story is saved whole, or says what it lacks.
import { describe, expect, it } from '@jest/globals';
import { fileOf, toldOf } from './run.story.js';

const WHOLE = { items: [{ at: 1 }], isCut: false };
const LISTS = { mutations: WHOLE, commits: WHOLE, rollbacks: WHOLE, deliveries: WHOLE, undos: WHOLE, steps: WHOLE };

describe('the story of a run', () => {
  it('is read once every list of it is', () => {
    expect(toldOf(LISTS)).toMatchObject({ isRead: true, cut: [] });
    expect(toldOf({ ...LISTS, steps: undefined })).toMatchObject({ isRead: false, rows: { steps: [] } });
  });

  it('says which lists go on behind what was read, in its file too', () => {
    const told = toldOf({ ...LISTS, commits: { ...WHOLE, isCut: true } });
    expect(told.cut).toEqual(['commits']);
    expect(JSON.parse(fileOf('run-1', told))).toMatchObject({
      run_id: 'run-1',
      cut: ['commits'],
      commits: [{ at: 1 }],
    });
  });
});
