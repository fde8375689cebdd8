import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MemorySchemaMemory } from '@recourse/kafka';
import type { SchemaMemory } from '@recourse/kafka';
import { PostgresSchemaMemory } from './postgres-schema-memory.js';
import { asAdmin, HAS_STACK, urlOf } from './postgres.testing.js';

/** Two handles on one memory, as two processes have them. */
function memoryContract(fresh: () => Promise<readonly [SchemaMemory, SchemaMemory]>): void {
  it('tells another process what was kept, the last kept last, and a text once for each id', async () => {
    const [one, other] = await fresh();
    expect(await Promise.all([one.all(), other.all()])).toEqual([[], []]);
    await one.keep({ id: 7, schema: '"string"' });
    await other.keep({ id: 3, schema: '"long"' });
    expect(await other.all()).toEqual([
      { id: 7, schema: '"string"' },
      { id: 3, schema: '"long"' },
    ]);
    await other.keep({ id: 7, schema: '"bytes"' });
    expect(await one.all()).toEqual([
      { id: 3, schema: '"long"' },
      { id: 7, schema: '"bytes"' },
    ]);
  });
}

describe('schemas kept in memory', () => {
  memoryContract(() => {
    const memory = new MemorySchemaMemory();
    return Promise.resolve([memory, memory]);
  });
});

(HAS_STACK ? describe : describe.skip)('schemas kept on PostgreSQL', () => {
  const name = `schema_memory_contract_${String(process.pid)}`;
  const opened: PostgresSchemaMemory[] = [];
  const open = (): PostgresSchemaMemory => {
    const memory = new PostgresSchemaMemory(urlOf(name));
    opened.push(memory);
    return memory;
  };

  beforeAll(() => asAdmin(`CREATE DATABASE ${name}`));
  afterAll(async () => {
    await Promise.all(opened.map((memory) => memory.close()));
    await asAdmin(`DROP DATABASE ${name} WITH (FORCE)`);
  });

  memoryContract(async () => {
    await asAdmin('DROP TABLE IF EXISTS recourse_known_schema', name);
    return [open(), open()];
  });

  it('are kept again where their table was dropped under the process', async () => {
    const memory = open();
    await memory.keep({ id: 1, schema: '"string"' });
    await asAdmin('DROP TABLE recourse_known_schema', name);
    await expect(memory.all()).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    await memory.keep({ id: 2, schema: '"long"' });
    expect(await memory.all()).toEqual([{ id: 2, schema: '"long"' }]);
  });
});
