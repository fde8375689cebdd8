import { beforeAll, describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import { testStack } from '../testing/real-broker.js';
import { createSchemaRegistry } from './registry.confluent.js';
import { registryContract } from './registry.contract.js';
import { MemoryRegistry } from './registry.memory.js';

/** A port that nobody can listen on. */
const NOWHERE = 'http://127.0.0.1:1';

registryContract('memory', () => {
  const registry = new MemoryRegistry();
  const away = new MemoryRegistry();
  away.available = false;
  return { fresh: () => registry.forActor('spec'), unreachable: () => away.forActor('spec') };
});

registryContract('a Confluent interface', () => {
  const { registryUrl } = testStack();
  return {
    fresh: () => createSchemaRegistry({ url: registryUrl }),
    unreachable: () => createSchemaRegistry({ url: NOWHERE, timeoutMs: 2_000 }),
  };
});

describe('a subject of a real registry', () => {
  const marker = `s${String(Date.now())}p${String(process.pid)}`;
  const record = (...fields: object[]): string =>
    JSON.stringify({ type: 'record', name: 'Thing', namespace: `test.${marker}`, fields });
  let url = '';

  beforeAll(() => {
    url = testStack().registryUrl;
  });

  it('is FULL_TRANSITIVE from its first schema on', async () => {
    await createSchemaRegistry({ url }).idOf(`${marker}-first`, record({ name: 'id', type: 'string' }), {
      register: true,
    });
    const answer = await fetch(`${url}/config/${marker}-first`);
    expect(await answer.json()).toMatchObject({ compatibilityLevel: 'FULL_TRANSITIVE' });
  }, 20_000);

  it('that exists without a setting of its own is set before the next registration', async () => {
    await fetch(`${url}/subjects/${marker}-bare/versions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ schema: record({ name: 'id', type: 'string' }) }),
    });
    const id = await createSchemaRegistry({ url }).idOf(`${marker}-bare`, record({ name: 'id', type: 'string' }), {
      register: true,
    });
    expect(id).toBeGreaterThan(0);
    expect(await (await fetch(`${url}/config/${marker}-bare`)).json()).toMatchObject({
      compatibilityLevel: 'FULL_TRANSITIVE',
    });
  }, 20_000);

  it('refuses a schema that older readers could not read', async () => {
    const registry = createSchemaRegistry({ url });
    await registry.idOf(`${marker}-strict`, record({ name: 'id', type: 'string' }), { register: true });
    const refused = registry.idOf(
      `${marker}-strict`,
      record({ name: 'id', type: 'string' }, { name: 'must', type: 'string' }),
      { register: true },
    );
    await expect(refused).rejects.toBeInstanceOf(Failure);
    await expect(refused).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  }, 20_000);

  it('of another producer that uses references is answered self-contained', async () => {
    const money = JSON.stringify({
      type: 'record',
      name: 'Money',
      namespace: `test.${marker}`,
      fields: [{ name: 'amount_minor', type: 'long' }],
    });
    const post = (subject: string, body: object): Promise<Response> =>
      fetch(`${url}/subjects/${subject}/versions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    await post(`${marker}-money`, { schema: money });
    const answer = await post(`${marker}-order`, {
      schema: record({ name: 'total', type: `test.${marker}.Money` }),
      references: [{ name: `test.${marker}.Money`, subject: `${marker}-money`, version: 1 }],
    });
    const { id } = (await answer.json()) as { readonly id: number };
    const text = await createSchemaRegistry({ url }).schemaById(id);
    expect(text).toContain('amount_minor');
    expect(JSON.parse(text)).toMatchObject({ type: 'record', name: `test.${marker}.Thing` });
  }, 20_000);
});
