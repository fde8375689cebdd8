import { describe, expect, it } from '@jest/globals';
import { play } from './ai.example.js';

describe('a tool of the Vercel AI SDK under its contract', () => {
  it('acts once, tells intent and outcome, and shows the model the answer with mutation ids', async () => {
    const { seen, told, labels, text } = await play();
    expect(labels).toEqual(['7:bug']);
    expect(told).toEqual(['ToolPlanned', 'ToolExecuted succeeded']);
    expect(seen).toEqual([
      {
        kind: 'succeeded',
        mutation_refs: [expect.stringMatching(/^mut_/)],
        error_kind: null,
        value: { node_id: 'node_1' },
      },
    ]);
    expect(text).toBe('Labelled.');
  });
});
