// Contracts that name each other: adding and taking off, closing and opening again.
import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { RecordInput } from '@recourse/event-log';
import { fact, harness, WAYS, wire } from '@recourse/testing';
import { registryCore, REGISTRY_COMMANDS } from './core.js';
import { PROPOSAL_KIND } from './rows.js';

type Json = Readonly<Record<string, unknown>>;
const envelope = {
  command_id: 'cmd_1',
  tenant: 'acme',
  principal: 'dana',
  accounts: [] as readonly string[],
  roles: ['contract_editor'],
  route: 'POST /contracts',
  idempotency_key: 'k',
  body_sha256: Buffer.alloc(32),
  issued_at: 0,
  signature: Buffer.alloc(0),
};
const example = (name: string): Json => JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Json;
const read = example('labels.get_labels');
const add = example('labels.add_label');
/** Undone by adding the label again. */
const remove: Json = {
  ...add,
  name: 'labels.remove_label',
  effect: 'Takes a label off.',
  inverse_capability: 'labels.add_label',
};

function register(...contracts: readonly Json[]): RecordInput {
  const [first = {}, ...others] = contracts;
  const told = {
    name: String(first['name']),
    body: JSON.stringify(first),
    together: others.map((each) => JSON.stringify(each)),
  };
  return wire(REGISTRY_COMMANDS, 'RegisterContract', { envelope, ...told }, { key: told.name });
}

/** A version that is undone with an argument which only the new version of the other takes. */
function forced(contract: Json): Json {
  const schema = contract['args_schema'] as { readonly properties: Json };
  const force = { from: 'constant', value: true };
  return {
    ...contract,
    args_schema: { ...schema, properties: { ...schema.properties, force: { type: 'boolean' } } },
    reversal_args: { ...(contract['reversal_args'] as Json), force },
  };
}

type Registry = ReturnType<typeof harness>;
/** Digests of what waits, by name. */
const waitingIn = (registry: Registry): Readonly<Record<string, string>> =>
  Object.fromEntries(
    registry.rows(PROPOSAL_KIND).map(({ doc }) => [String(doc['name']), String(doc['digest'])] as const),
  );

function confirm(digests: Readonly<Record<string, string>>, principal = 'ravi'): RecordInput {
  const [[name, digest] = ['', ''], ...others] = Object.entries(digests);
  const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
  const told = {
    name,
    digest: bytes(digest),
    together: Object.fromEntries(others.map(([other, hex]) => [other, bytes(hex)])),
  };
  const who = { ...envelope, principal };
  return wire(REGISTRY_COMMANDS, 'ConfirmRegistration', { envelope: who, ...told }, { key: name });
}

describe.each(WAYS)('contracts that name each other, $way', ({ isRebuilt }) => {
  const start = () => harness(registryCore(), { isRebuilt }).when(register(read), 1);

  it('register together, in either order, and are refused alone', () => {
    for (const both of [
      [add, remove],
      [remove, add],
    ]) {
      const registry = start();
      registry.when(register(add), 2).thenNothing().thenAnswer({ status: 'rejected', code: 'CONTRACT_REFUSED' });
      registry
        .when(register(...both), 3)
        .then(...both.map(({ name }) => fact('ContractRegistered', { name, version: 1 })))
        .thenAnswer({ status: 'accepted', httpStatus: 201 });
      expect(registry.decision().answer?.body).toMatchObject({
        contracts: both.map(({ name }) => ({ name, version: 1, state: 'registered' })),
      });
      registry
        .when(register(...both), 4)
        .thenNothing()
        .thenAnswer({ status: 'accepted', httpStatus: 200 });
    }
  });

  it('are refused as one, and every problem names its contract', () => {
    const registry = start()
      .when(register(add, { ...remove, verification: undefined, inverse_capability: 'labels.put_label' }), 2)
      .thenNothing()
      .thenAnswer({ status: 'rejected', httpStatus: 422, code: 'CONTRACT_REFUSED' });
    const { message, problems } = registry.decision().answer?.body as {
      readonly message: string;
      readonly problems: readonly { readonly code: string; readonly facts: Json }[];
    };
    expect(message).toBe('labels.remove_label has 2 problems');
    expect(problems.map(({ code, facts }) => [code, facts['contract']])).toEqual([
      ['VERIFICATION_MISSING', 'labels.remove_label'],
      ['CAPABILITY_UNKNOWN', 'labels.remove_label'],
    ]);
  });

  describe('and one of which is weaker', () => {
    const unnumbered = (name: string): Json => ({ ...example(name), version: undefined });
    const [observer, reversal] = [unnumbered('payments.get_refund'), unnumbered('payments.reverse_refund')];
    const refund = unnumbered('payments.issue_refund');
    const schema = reversal['args_schema'] as { readonly properties: Json };
    const taking = { ...schema, properties: { ...schema.properties, force: { type: 'boolean' } } };
    const weaker: Json = { ...reversal, risk_level: 'low', args_schema: taking };
    const args = { ...(refund['reversal_args'] as Json), force: { from: 'constant', value: true } };
    const needing: Json = { ...refund, reversal_args: args };
    const standing = () => start().when(register(observer), 2).when(register(reversal), 3);
    const name = 'payments.issue_refund';

    it('wait with it where they need it as it will be, and are confirmed with it or after it', () => {
      for (const both of [
        [weaker, needing],
        [needing, weaker],
      ]) {
        const registry = standing()
          .when(register(...both), 4)
          .then(...both.map((one) => fact('RegistrationProposed', { name: one['name'] })))
          .thenAnswer({ status: 'accepted', httpStatus: 201 });
        const proposed = registry.decision().records.find(({ body }) => body['name'] === name);
        expect(proposed?.body['weakenings']).toEqual([expect.stringMatching(/: payments\.reverse_refund$/u)]);
        registry
          .when(register(...both), 5)
          .thenNothing()
          .thenAnswer({ status: 'accepted', httpStatus: 200 });
        const digests = waitingIn(registry);
        registry
          .when(confirm({ [name]: digests[name] ?? '' }), 6)
          .thenNothing()
          .thenAnswer({ status: 'rejected', code: 'CONTRACT_REFUSED' })
          .when(confirm(digests, 'Dana'), 7)
          .thenNothing()
          .thenAnswer({ status: 'rejected', code: 'SELF_CONFIRMATION' })
          .when(confirm(digests), 8)
          .then(...Object.keys(digests).map((each) => fact('ContractRegistered', { name: each, confirmed_by: 'ravi' })))
          .thenAnswer({ status: 'accepted', httpStatus: 201 });
      }
    });

    it('register alone as soon as it is confirmed', () => {
      const registry = standing().when(register(weaker, needing), 4);
      const { 'payments.reverse_refund': digest = '' } = waitingIn(registry);
      registry
        .when(confirm({ 'payments.reverse_refund': digest }), 5)
        .then(fact('ContractRegistered', { name: 'payments.reverse_refund', version: 2 }))
        .when(register(needing), 6)
        .then(fact('RegistrationDropped', { name, cause: 'superseded' }), fact('ContractRegistered', { name }));
    });

    it('wait with it where they need another that waits with it, and hold up nothing else', () => {
      const { reversal_args: _args, ...taking } = forced(add);
      const weakerAdd = { ...taking, reversal_args: add['reversal_args'] };
      const lift = { ...forced({ ...add, name: 'labels.lift_label' }), inverse_capability: 'labels.add_label' };
      const hide = { ...add, name: 'labels.hide_label', inverse_capability: 'labels.lift_label' };
      const look = { ...read, name: 'labels.look_at_labels' };
      start()
        .when(register(add, remove), 2)
        .when(register(hide, lift, look, weakerAdd), 3)
        .then(
          ...['labels.hide_label', 'labels.lift_label'].map((each) => fact('RegistrationProposed', { name: each })),
          fact('ContractRegistered', { name: 'labels.look_at_labels' }),
          fact('RegistrationProposed', { name: 'labels.add_label', version: 2 }),
        );
    });

    it('name those that they need among all that wait with them', () => {
      const { reversal_args: _args, ...taking } = forced(add);
      const weakerAdd = { ...taking, reversal_args: add['reversal_args'] };
      const lift = { ...forced({ ...add, name: 'labels.lift_label' }), inverse_capability: 'labels.add_label' };
      const hide = { ...add, name: 'labels.hide_label', inverse_capability: 'labels.lift_label' };
      const registry = standing()
        .when(register(add, remove), 4)
        .when(register(weaker, needing, hide, lift, weakerAdd), 5);
      const needs = registry.decision().records.map(({ body }) => {
        const [reason] = body['weakenings'] as readonly string[]; // a proposal says why it waits
        return [body['name'], reason?.split('what waits with it: ')[1]];
      });
      expect(needs).toEqual([
        ['payments.reverse_refund', undefined],
        [name, 'payments.reverse_refund'],
        ['labels.hide_label', 'labels.lift_label'],
        ['labels.lift_label', 'labels.add_label'],
        ['labels.add_label', undefined],
      ]);
    });

    it('register at once where they are sound beside what stands', () => {
      standing()
        .when(register(weaker, refund), 4)
        .then(
          fact('RegistrationProposed', { name: 'payments.reverse_refund' }),
          fact('ContractRegistered', { name: 'payments.issue_refund' }),
        )
        .thenAnswer({ status: 'accepted', httpStatus: 201 });
    });
  });

  it('are named once each', () => {
    start()
      .when(register(add, remove, add), 2)
      .thenNothing()
      .thenAnswer({ status: 'rejected', httpStatus: 422, code: 'CONTRACT_NAMED_TWICE' });
  });

  it('alone are named in their refusal too', () => {
    const registry = start().when(register(add), 2);
    expect(registry.decision().answer?.body).toMatchObject({
      message: 'labels.add_label has 1 problem',
      problems: [{ code: 'CAPABILITY_UNKNOWN', facts: { contract: 'labels.add_label' } }],
    });
  });

  describe('and wait for a second person', () => {
    const [taken, off] = ['labels.add_label', 'labels.remove_label'];
    const waiting = () => {
      const registry = start()
        .when(register(add, remove), 2)
        .when(register(forced(add), forced(remove)), 3);
      return { registry, digests: waitingIn(registry) };
    };
    const both = [add, remove].map(({ name }) =>
      fact('ContractRegistered', { name, version: 2, confirmed_by: 'ravi' }),
    );

    it('are confirmed together where each needs the other as it will be, and neither alone', () => {
      const { registry, digests } = waiting();
      for (const name of [taken, off])
        registry
          .when(confirm({ [name]: digests[name] ?? '' }), 4)
          .thenNothing()
          .thenAnswer({ status: 'rejected', httpStatus: 422, code: 'CONTRACT_REFUSED' });
      registry
        .when(confirm(digests), 5)
        .then(...both)
        .thenAnswer({ status: 'accepted', httpStatus: 201 });
      expect(registry.decision().answer?.body).toMatchObject({
        contracts: [
          { name: taken, version: 2, state: 'registered' },
          { name: off, version: 2, state: 'registered' },
        ],
      });
      expect(registry.rows(PROPOSAL_KIND)).toEqual([]);
    });

    it.each<[string, string, (digests: Readonly<Record<string, string>>) => RecordInput]>([
      ['by who proposed them', 'SELF_CONFIRMATION', (digests) => confirm(digests, 'Dana')],
      ['by an agent', 'CONFIRMER_NOT_A_PERSON', (digests) => confirm(digests, 'agent:bot')],
      ['where one was not looked at', 'PROPOSAL_DIFFERS', (digests) => confirm({ ...digests, [off]: '00'.repeat(32) })],
      [
        'where one does not wait',
        'PROPOSAL_UNKNOWN',
        (digests) => confirm({ ...digests, 'labels.get_labels': '00'.repeat(32) }),
      ],
    ])('are none of them confirmed %s: %s', (_, code, asked) => {
      const { registry, digests } = waiting();
      registry.when(asked(digests), 4).thenNothing().thenAnswer({ status: 'rejected', code });
      expect(waitingIn(registry)).toEqual(digests);
    });

    it('are confirmed in groups that a batch holds, and refused beyond', () => {
      const large = (at: number, bound: Json): Json => ({
        ...read,
        version: undefined,
        name: `labels.get_labels_${String.fromCharCode(97 + at)}`,
        args_schema: {
          type: 'object',
          description: 'x'.repeat(60_000),
          properties: { issue: { type: 'string' }, most: { type: 'integer', ...bound } },
        },
      });
      const all = Array.from({ length: 12 }, (_, at) => at);
      const registry = start();
      for (const bound of [{ maximum: 5 }, {}]) for (const at of all) registry.when(register(large(at, bound)), 2);
      const digests = Object.entries(waitingIn(registry));
      expect(digests).toHaveLength(12);
      registry
        .when(confirm(Object.fromEntries(digests)), 3)
        .thenNothing()
        .thenAnswer({ status: 'rejected', httpStatus: 422, code: 'CONTRACTS_TOO_LARGE' });
      expect(registry.decision().answer?.body).toMatchObject({
        message: expect.stringMatching(/^12 versions have 7\d{2},\d{3} bytes .* 700,000 .* smaller groups/u),
        facts: { contracts: 12, bytes_max: 700_000 },
      });
      registry
        .when(confirm(Object.fromEntries(digests.slice(1))), 4)
        .then(...digests.slice(1).map(([name]) => fact('ContractRegistered', { name, version: 2 })))
        .thenAnswer({ status: 'accepted', httpStatus: 201 });
      const bodies = registry.decision().records.map(({ body }) => String(body['body']));
      expect(Buffer.byteLength(bodies.join(''))).toBeLessThan(700_000);
    });
  });
});
