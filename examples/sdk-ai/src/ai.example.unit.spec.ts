import { describe, expect, it } from '@jest/globals';
import { play } from './ai.example.js';

describe('a tool of the Vercel AI SDK under its contract', () => {
  it('acts once, tells intent and outcome, and shows the model mutation ids only', async () => {
    const { seen, told, labels, text } = await play();
    expect(labels).toEqual(['7:bug']);
    expect(told).toEqual(['ToolPlanned', 'ToolExecuted succeeded']);
    expect(seen).toEqual([{ kind: 'succeeded', mutation_refs: [expect.stringMatching(/^mut_/)], error_kind: null }]);
    expect(text).toBe('Labelled.');
  });
});
