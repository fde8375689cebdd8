// How much is told of contracts that differ in more places, or are wrong in more, than anybody reads.
import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { RecordInput } from '@recourse/event-log';
import { fact, harness, WAYS, wire } from '@recourse/testing';
import { registryCore, REGISTRY_COMMANDS } from './core.js';

type Json = Record<string, unknown>;
const NAME = 'payments.get_refund';
const LEAVES = 300;
/** Less than a record and its answer may have together. */
const ROOM = 450_000;
const text = JSON.parse(readFileSync(`examples/contracts/${NAME}.json`, 'utf8')) as Json;
const ACME = { tenant: 'acme', principal: 'dana', roles: ['contract_editor'] };
const PLATFORM = { tenant: '*', principal: 'pia', roles: ['platform_editor'] };

/** Arguments below twenty long names; each leaf says something, or nothing. */
function deep(leaf: Json, name = NAME): Json {
  const names = Array.from({ length: LEAVES }, (_, at) => [`f${at}`, leaf] as const);
  let schema: Json = { type: 'object', properties: Object.fromEntries(names) };
  for (let depth = 0; depth < 20; depth += 1) schema = { type: 'object', properties: { ['n'.repeat(200)]: schema } };
  const args = text['args_schema'] as { properties: Json };
  const { version: _numbered, ...contract } = text;
  return { ...contract, name, args_schema: { ...args, properties: { ...args.properties, deep: schema } } };
}
function register(who: Json, ...[first = {}, ...others]: readonly Json[]): RecordInput {
  const envelope = {
    command_id: 'cmd_1',
    accounts: [] as readonly string[],
    route: 'r',
    idempotency_key: 'k',
    body_sha256: Buffer.alloc(32),
    issued_at: 0,
    signature: Buffer.alloc(0),
    ...who,
  };
  const told = { name: first['name'], body: JSON.stringify(first), together: others.map((one) => JSON.stringify(one)) };
  return wire(REGISTRY_COMMANDS, 'RegisterContract', { envelope, ...told }, { key: String(first['name']) });
}

describe.each(WAYS)('what is told of a contract, $way', ({ isRebuilt }) => {
  const start = () => harness(registryCore(), { isRebuilt });

  it('is the first hundred differences, cut, and how many more there are, in the record and in the answer', () => {
    const registry = start()
      .when(register(ACME, deep({ type: 'string' })), 1)
      .when(register(ACME, deep({})), 2)
      .then(fact('RegistrationProposed', { version: 2 }));
    const [record] = registry.records().slice(-1);
    const { differences } = registry.decision().answer?.body as { differences: readonly Json[] };
    const weakenings = record?.body['weakenings'] as readonly string[];
    expect([differences.length, weakenings.length]).toEqual([101, 101]);
    expect([weakenings.at(-1), differences.at(-1)?.['reason']]).toEqual(['and 201 more', 'and 200 more']);
    expect(differences.at(-1)).toMatchObject({ kind: 'weakening', path: '' });
    expect(JSON.stringify([record, differences]).length).toBeLessThan(ROOM);
  });

  it('is the first hundred problems, cut, and how many there are', () => {
    const registry = start()
      .when(register(PLATFORM, deep({ type: 'string' })), 1)
      .when(register(ACME, deep({})), 2)
      .thenNothing()
      .thenAnswer({ status: 'rejected', code: 'CONTRACT_REFUSED' });
    const { message, problems } = registry.decision().answer?.body as { message: string; problems: readonly Json[] };
    expect(message).toBe(`${NAME} has 300 problems; the first 100 are told`);
    expect(problems).toHaveLength(100);
    expect(JSON.stringify(problems).length).toBeLessThan(ROOM);
  });

  it('is no more of contracts that are registered together', () => {
    const names = Array.from({ length: 10 }, (_, at) => `payments.get_refund_${String.fromCharCode(97 + at)}`);
    const registry = start();
    for (const name of names) registry.when(register(ACME, deep({ type: 'string' }, name)), 1);
    registry.when(register(ACME, ...names.map((name) => deep({}, name))), 2);
    const records = registry.records().slice(-names.length);
    expect(records.map(({ type, body }) => [type, (body['weakenings'] as readonly string[]).at(-1)])).toEqual(
      names.map(() => ['RegistrationProposed', 'and 291 more']),
    );
    expect(JSON.stringify([records, registry.decision().answer?.body]).length).toBeLessThan(ROOM);
  });
});
