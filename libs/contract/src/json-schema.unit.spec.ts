import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { exampleContract, mailContract } from './fixtures.testing.js';
import { CONTRACT_FIELD_DOCS, contractJsonSchema } from './json-schema.js';
import { contractSchema } from './shape.js';

const FILE = 'schemas/reversal-contract.schema.json';
const published = JSON.parse(readFileSync(FILE, 'utf8')) as Parameters<typeof z.fromJSONSchema>[0] & {
  readonly properties: Readonly<Record<string, { description?: string }>>;
};

describe('the published JSON Schema of a contract', () => {
  const shape = z.fromJSONSchema(published);

  it('is the one that follows from the shape', () => {
    expect(published).toEqual(contractJsonSchema());
  });

  it('describes every field, and no other', () => {
    expect(Object.keys(published.properties).sort()).toEqual(['$schema', ...Object.keys(contractSchema.shape)].sort());
    expect(Object.keys(CONTRACT_FIELD_DOCS).sort()).toEqual(Object.keys(contractSchema.shape).sort());
    expect(Object.entries(published.properties).filter(([, { description }]) => description === undefined)).toEqual([]);
  });

  it.each(readdirSync('examples/contracts').filter((file) => file.endsWith('.json')))('takes %s', (file) => {
    expect(shape.safeParse(exampleContract(file.slice(0, -'.json'.length))).success).toBe(true);
  });

  it.each([
    ['an unknown field', { colour: 'red' }],
    ['a free text for a capability', { compensation_capability: 'undo it' }],
    ['an impact there is not', { impact: 'small' }],
    ['half a check', { verification: { max_attempts: 0 } }],
  ])('refuses %s', (_, change) => {
    expect(shape.safeParse({ ...mailContract(), ...change }).success).toBe(false);
  });

  it('takes the link that editors follow', () => {
    expect(shape.safeParse({ $schema: './x.json', ...mailContract() }).success).toBe(true);
  });
});
