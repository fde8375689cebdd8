import { describe, expect, it } from '@jest/globals';
import { logsOf } from './projected-logs.js';
import { schemaStatements } from './outbound/postgres-schema.js';

describe('the rows of a log', () => {
  const core = { log: 'recourse.mutations', kinds: [] } as unknown as Parameters<typeof logsOf>[0][number]; // what is asked of one
  const tables = (edition?: number): string =>
    schemaStatements(logsOf([edition === undefined ? core : { ...core, edition }])).join(';');

  it('are of the edition that their core says', () => {
    expect(tables(1)).toBe(tables());
    expect(new Set([tables(), tables(2), tables(3)]).size).toBe(3);
  });
});
