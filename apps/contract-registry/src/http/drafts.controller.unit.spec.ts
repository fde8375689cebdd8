import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { EdgeRefusal } from '@recourse/service';
import { ContractDraftsController } from './drafts.controller.js';

const edge = new ContractDraftsController();
const TOOLS = {
  tools: [
    { name: 'getParcel', annotations: { readOnlyHint: true } },
    { name: 'sendParcel', annotations: { destructiveHint: false } },
  ],
};

describe('a document that tools come with', () => {
  it('is drafted tool by tool, with what a person has to decide, under the adapter and owner that are named', () => {
    const { source, drafts } = edge.draft({ document: TOOLS, adapter: 'logistics', owner: 'role:logistics' });
    expect(source).toBe('mcp');
    expect(drafts.map(({ contract }) => [contract.name, contract.reversal_class, contract.owner])).toEqual([
      ['logistics.get_parcel', 'reversible', 'role:logistics'],
      ['logistics.send_parcel', 'compensable', 'role:logistics'],
    ]);
    expect(drafts.every(({ contract, decide }) => contract.draft !== undefined && decide.length > 0)).toBe(true);
  });

  it.each([
    ['is neither a tool list nor an OpenAPI document', { document: { hello: 'world' } }],
    ['is not there', {}],
    ['is deeper than anybody reads', { document: JSON.parse('['.repeat(200) + ']'.repeat(200)) as unknown }],
  ])('that %s is refused, and says so', (_what, body) => {
    expect(() => edge.draft(body)).toThrow(EdgeRefusal);
  });
});
