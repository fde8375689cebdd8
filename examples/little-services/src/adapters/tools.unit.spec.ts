import { describe, expect, it } from '@jest/globals';
import { capabilitiesNamed } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { ToolRejected } from '@recourse/sdk';
import type { ToolContext } from '@recourse/sdk';
import { contractFiles } from '../kit/contract-files.js';
import { OPERATIONS } from '../services/operations.js';
import { EMPTY_WORLD, perform, seed, thingIn, wordOf } from '../services/world.js';
import type { Doc, World } from '../services/world.js';
import { ADAPTERS, FORWARD, INVERSE, READ } from './capabilities.js';
import type { Services } from './client.js';
import { forwardTool, heldTools, workerTools } from './tools.js';

/** The services without a network between. */
class NearServices implements Services {
  constructor(public world: World = EMPTY_WORLD) {}

  operate(
    operation: string,
    body: Doc,
    { key = null, ifMatch = null }: { readonly key?: string | null; readonly ifMatch?: string | null } = {},
  ): Promise<Doc> {
    const known = OPERATIONS[operation];
    if (known === undefined) throw new Error(`no operation ${operation}`);
    const answered = perform(this.world, known, { operation, body, key, ifMatch, now: 1_000 });
    this.world = answered.world;
    return answered.status === 200
      ? Promise.resolve(answered.body)
      : Promise.reject(new ToolRejected(wordOf(answered.body['code']), 'refused'));
  }
  find(service: string, id: string): Promise<Doc | null> {
    return Promise.resolve(thingIn(this.world, service, id) ?? null);
  }
  things(service: string, where: Readonly<Record<string, string>>): Promise<readonly Doc[]> {
    return Promise.resolve(
      Object.entries(this.world.things)
        .filter(
          ([name, doc]) =>
            name.startsWith(`${service}/`) && Object.entries(where).every(([field, value]) => doc[field] === value),
        )
        .map(([, doc]) => doc),
    );
  }
  madeUnder(operation: string, key: string): Promise<string | null> {
    return Promise.resolve(
      this.world.effects.find((effect) => effect.operation === operation && effect.key === key)?.thing ?? null,
    );
  }
}

/** Arguments of each forward call, on things that are there. */
const ARGS: Readonly<Record<string, Doc>> = {
  'mail.send_notice': { to: 'a', subject: 's', body: 'b' },
  'channels.post_message': { channel: 'c', text: 't' },
  'tickets.open_ticket': { subject: 'a', body: 'b' },
  'payments.charge_card': { order_id: 'o', amount_minor: 1, currency: 'EUR' },
  'travel.book_trip': { trip: 't', traveller: 'a' },
  'shipping.dispatch_parcel': { order_id: 'o', address_id: 'h' },
  'calendar.send_invite': { invite: 'i', title: 't', at: 'n', attendees: ['a'] },
  'crm.update_contact': { contact: 'c', phone: '2' },
  'documents.archive_document': { document: 'd' },
  'labels.add_label': { issue: 'i', label: 'l' },
  'config.update_config': { resource: 'r', value: 'new' },
  'inventory.reserve_stock': { order_id: 'o', sku: 's', quantity: 1 },
};
const before = (): NearServices =>
  new NearServices(
    [
      ['crm', 'c', { contact: 'c', phone: '1', version: 1 }],
      ['documents', 'd', { document: 'd', state: 'present', version: 1 }],
      ['labels', 'i', { issue: 'i', labels: [], version: 1 }],
      ['config', 'r', { resource: 'r', value: 'old', version: 1 }],
    ].reduce((world, [service, id, doc]) => seed(world, service as string, id as string, doc as Doc), EMPTY_WORLD),
  );
const forwardContext = { idempotencyKey: 'fwd_1', callId: 'call_1', runId: 'run_1' };
const legContext = (idempotencyKey: string, phase: ToolContext['phase']): ToolContext => ({
  runId: 'run_1',
  tenant: 't',
  callId: 'c',
  idempotencyKey,
  reason: 'r',
  attempt: 1,
  phase,
  about: 'compensation',
  subjectRef: null,
  externalTransactionRef: null,
});
const readOf = (capability: string): string =>
  Object.entries(READ).find(([, { finds }]) => finds === capability)?.[0] ?? '';
async function look(services: Services, capability: string, args: Json): Promise<Json> {
  const read = readOf(capability);
  return (
    (await workerTools(services, read.slice(0, read.indexOf('.')))[read]?.(args, legContext('fwd_1', 'reconcile'))) ??
    null
  );
}

describe.each(Object.keys(FORWARD))('%s', (capability) => {
  const args = ARGS[capability] ?? {};

  it('is found out: not there before the call, there after it, with what the agent would have been told', async () => {
    const services = before();
    expect(await look(services, capability, args)).toEqual({ happened: false });
    const tool = forwardTool(services, capability);
    const result = await tool.execute(args, forwardContext);
    expect(await look(services, capability, args)).toEqual({
      happened: true,
      result,
      external_transaction_ref: tool.externalTransactionRef?.(result) ?? null,
    });
  });

  it('has one effect, however often the same call is made', async () => {
    const services = before();
    for (let time = 0; time < 3; time += 1) await forwardTool(services, capability).execute(args, forwardContext);
    expect(services.world.effects).toHaveLength(1);
  });

  it('has a worker for everything its contract names', () => {
    const [contract] = contractFiles([capability]).slice(-1);
    const named = contract === undefined ? [] : capabilitiesNamed(contract).map(({ name }) => name);
    expect(
      named.filter(
        (name) => !Object.hasOwn(INVERSE, name) && !Object.hasOwn(READ, name) && !Object.hasOwn(FORWARD, name),
      ),
    ).toEqual([]);
    expect(contract?.reversal_class).toBe(
      ['mail.send_notice', 'channels.post_message'].includes(capability)
        ? 'irreversible'
        : contract?.compensation_capability === undefined
          ? 'reversible'
          : 'compensable',
    );
  });
});

describe('the tools of a worker', () => {
  it('restore a configuration under the version that was left, and not over somebody else (B19)', async () => {
    const services = before();
    await forwardTool(services, 'config.update_config').execute({ resource: 'r', value: 'new' }, forwardContext);
    const restore = (expected_version: number): Promise<Json> | undefined =>
      workerTools(services, 'config')['config.restore_config']?.(
        { resource: 'r', value: 'old', expected_version },
        legContext('rev_1', 'execute'),
      );
    await expect(restore(1)).rejects.toMatchObject({ kind: 'VERSION_MOVED' });
    expect(await restore(2)).toMatchObject({ value: 'old', version: 3 });
  });

  it('look at a compensation by its thing, not by a key', async () => {
    const services = before();
    await forwardTool(services, 'payments.charge_card').execute(ARGS['payments.charge_card'] ?? {}, forwardContext);
    expect(
      await workerTools(services, 'payments')['payments.get_charge']?.(
        { charge_id: 'ch_0001', amount_minor: 1, currency: 'EUR' },
        legContext('rev_fwd_1', 'reconcile'),
      ),
    ).toMatchObject({ status: 'captured' });
  });

  it('let go what is held, for the adapter alone', () => {
    expect(Object.keys(heldTools(before(), 'mail'))).toEqual(['mail.send_notice']);
  });
  it('are there for twelve adapters', () => {
    expect(ADAPTERS).toHaveLength(12);
  });
  it('know no capability of nobody', () => {
    expect(() => forwardTool(before(), 'bank.send_wire')).toThrow(TypeError);
  });
});
