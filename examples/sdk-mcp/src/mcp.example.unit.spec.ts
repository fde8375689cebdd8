import { beforeAll, describe, expect, it } from '@jest/globals';
import { play } from './mcp.example.js';
import type { Played } from './mcp.example.js';

let played: Played;
beforeAll(async () => {
  played = await play();
});

describe('an MCP server under contracts', () => {
  it("lists what has a contract, with the contract's schema, how it is undone, and no annotations", () => {
    expect(played.listed).toEqual([
      {
        name: 'delete_note',
        description: 'Deletes a note. Cannot be undone.',
        inputSchema: {
          type: 'object',
          properties: { id: { type: 'string', minLength: 1 } },
          required: ['id'],
          additionalProperties: false,
        },
      },
    ]);
  });

  it('deletes nothing for good before a person has agreed (A10)', () => {
    expect(played.asked).toMatchObject([
      { isError: true, structuredContent: { kind: 'refused', code: 'APPROVAL_PENDING' } },
      { isError: true, structuredContent: { kind: 'refused', code: 'APPROVAL_PENDING' } },
    ]);
    expect(played.leftUnasked).toEqual(['a', 'b']);
  });

  it('answers what the server returned with mutation ids, never the handle', () => {
    expect(played.answers[0]).toMatchObject({
      isError: false,
      structuredContent: {
        kind: 'succeeded',
        mutation_refs: [expect.stringMatching(/^mut_/)],
        value: { deleted: 'a' },
      },
    });
    expect(JSON.stringify(played.answers)).not.toContain('secret');
  });

  it('tells intent and outcome, whatever the annotations say about reading only', () => {
    expect(played.told).toEqual(['ToolPlanned', 'ToolExecuted succeeded', 'ToolPlanned', 'ToolExecuted failed']);
    expect(played.answers[1]).toMatchObject({
      isError: true,
      structuredContent: { kind: 'failed', error_kind: 'REJECTED' },
    });
  });

  it('refuses the tool without a contract', () => {
    expect(played.answers[2]).toMatchObject({
      isError: true,
      structuredContent: { kind: 'refused', code: 'CONTRACT_MISSING' },
    });
    expect(played.left).toEqual(['b']);
  });
});
