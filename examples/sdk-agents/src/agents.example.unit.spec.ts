import { describe, expect, it } from '@jest/globals';
import { play } from './agents.example.js';

describe('a function tool of an agents SDK under its contract', () => {
  it('tells intent and outcome, and shows the model the answer with mutation ids', async () => {
    const { seen, told, text } = await play();
    expect(told).toEqual(['ToolPlanned', 'ToolExecuted succeeded']);
    expect(seen).toEqual([
      {
        kind: 'succeeded',
        mutation_refs: [expect.stringMatching(/^mut_/)],
        error_kind: null,
        value: { message_id: 'msg_1' },
      },
    ]);
    expect(text).toBe('Sent.');
  });

  it('is uncertain when it broke off, however the kit words errors for its model', async () => {
    const { seen, told } = await play(true);
    expect(told).toEqual(['ToolPlanned', 'ToolExecuted uncertain']);
    expect(seen).toMatchObject([{ kind: 'uncertain', error_kind: 'UNKNOWN' }]);
  });
});
