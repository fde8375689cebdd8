// Which contract binds by name, as it is told over HTTP.
import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { RecordInput } from '@recourse/event-log';
import { Commands, Reads } from '@recourse/service';
import type { Caller } from '@recourse/service';
import { harness, wire } from '@recourse/testing';
import { registryCore, REGISTRY_COMMANDS } from '../core.js';
import { ContractsController } from './contracts.controller.js';

type Json = Record<string, unknown>;
type Registry = ReturnType<typeof harness>;
const NAME = 'payments.get_refund';
const ACME = { tenant: 'acme', principal: 'dana', roles: ['contract_editor'] };
const PLATFORM = { tenant: '*', principal: 'pia', roles: ['platform_editor'] };
const text = JSON.parse(readFileSync(`examples/contracts/${NAME}.json`, 'utf8')) as Json;
let asked = 0;

function sent(type: string, who: Json, body: Json): RecordInput {
  asked += 1;
  const envelope = {
    command_id: `cmd_${asked}`,
    accounts: [] as readonly string[],
    route: 'r',
    idempotency_key: `k${asked}`,
    body_sha256: Buffer.alloc(32),
    issued_at: 0,
    signature: Buffer.alloc(0),
    ...who,
  };
  return wire(REGISTRY_COMMANDS, type, { envelope, name: NAME, ...body }, { key: NAME });
}
const register = (owner: string, who: Json): RecordInput =>
  sent('RegisterContract', who, { body: JSON.stringify({ ...text, version: undefined, owner }), together: [] });
const retire = (version: number, who: Json): RecordInput => sent('RetireContract', who, { version });

/** Rows as the store pages them: by group and key, both text. */
function pageOf(registry: Registry, { kind, where, after, limit }: Json): unknown {
  const isAsked = (doc: Json): boolean =>
    Object.entries(where as Json).every(([column, value]) =>
      Array.isArray(value) ? value.includes(doc[column]) : doc[column] === value,
    );
  const place = ({ group, key }: { group: string; key: string }): string => `${group} ${key}`;
  const from = after === undefined ? '' : place(after as { group: string; key: string });
  const left = registry
    .rows(String(kind))
    .filter((row) => isAsked(row.doc) && place(row) > from)
    .sort((a, b) => (place(a) < place(b) ? -1 : 1));
  const rows = left.slice(0, Number(limit)).map((row) => ({ partition: 0, ...row }));
  return { rows, next: left.length > rows.length ? rows.at(-1) : null };
}

async function told(registry: Registry, query: Json = {}): Promise<Json> {
  const host = { page: (asked: Json) => Promise.resolve(pageOf(registry, asked)) };
  const service = { host, projection: { isReached: () => Promise.resolve(true) } };
  const controller = new ContractsController(
    {} as unknown as Commands, // reads alone are asked for
    new Reads(service as unknown as ConstructorParameters<typeof Reads>[0]), // its rows alone are read
  );
  const { tenant = 'acme', ...more } = query;
  const caller = { principal: { subject: 'svc:guard', tenant, roles: ['auditor'], accounts: [] } } as unknown as Caller;
  return { ...(await controller.one(caller, NAME, more)) };
}

describe('the contract that binds by name', () => {
  it('is the newest of the tenant', async () => {
    const registry = harness(registryCore()).when(register('first', ACME), 1).when(register('second', ACME), 2);
    expect(await told(registry)).toMatchObject({ version: 2, retired: false, contract: { owner: 'second' } });
    expect(await told(registry, { version: 1 })).toMatchObject({ version: 1, contract: { owner: 'first' } });
  });

  it('is the newest however many versions there are', async () => {
    const registry = harness(registryCore());
    for (let version = 1; version <= 550; version += 1) registry.when(register(`team-${version}`, ACME), version);
    expect(await told(registry)).toMatchObject({ version: 550, contract: { owner: 'team-550' } });
  });

  it('is none once the newest is retired: that one is told, as retired', async () => {
    const registry = harness(registryCore())
      .when(register('first', ACME), 1)
      .when(register('second', ACME), 2)
      .when(retire(2, ACME), 3);
    expect(await told(registry)).toMatchObject({ version: 2, retired: true });
    expect(await told(registry, { tenant: '*' })).toMatchObject({ version: 2, retired: true });
  });

  it("is the platform's once the newest of the tenant is retired", async () => {
    const registry = harness(registryCore())
      .when(register('all', PLATFORM), 1)
      .when(register('first', ACME), 2)
      .when(register('second', ACME), 3)
      .when(retire(2, ACME), 4);
    expect(await told(registry)).toMatchObject({ tenant: '*', version: 1, retired: false });
  });
});
