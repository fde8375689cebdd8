import { describe, expect, it } from '@jest/globals';
import { play } from './function.example.js';

describe('a guarded function', () => {
  it('reserves once, finds the retry, fails without stock and refuses what does not fit', async () => {
    const { answers, told, troubles, left } = await play('enforce');
    expect(answers).toMatchObject([
      { kind: 'succeeded' },
      { kind: 'succeeded' },
      { kind: 'failed', error_kind: 'REJECTED' },
      { kind: 'refused', code: 'ARGS_INVALID' },
    ]);
    expect(answers[0]).toMatchObject({ value: { left: 2 } });
    expect(answers[1]).toEqual({ kind: 'succeeded', error_kind: null, mutation_refs: answers[0]?.mutation_refs });
    expect(left).toEqual({ pen: 2 });
    expect(told).toEqual(['ToolPlanned', 'ToolExecuted succeeded', 'ToolPlanned', 'ToolExecuted failed']);
    expect(troubles).toEqual(['ALREADY_EXECUTED', 'ARGS_INVALID']);
  });

  it('is never refused by a guard that observes, which hears what it would have been', async () => {
    const { answers, troubles } = await play('observe');
    expect(answers.map(({ kind }) => kind)).not.toContain('refused');
    expect(troubles).toContain('ARGS_INVALID');
  });

  it('is left alone by a guard that is off', async () => {
    expect(await play('off')).toMatchObject({ told: [], troubles: [], answers: [{ mutation_refs: [] }, {}, {}, {}] });
  });
});
