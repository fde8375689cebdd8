// Runs docs/guides/contracts.md and docs/guides/ask-and-stop.md: every command of their shell blocks, in order, against a running system;
// of docs/guides/ceilings.md those that need no escalation.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { forwardDigest } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cli, commandsIn, put, runCommand, yamlIn } from './guide.testing.js';
import { ADMINISTRATOR, itemsOf, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, Person, System } from './system.testing.js';

const NAMES = ['payments.get_refund', 'payments.reverse_refund', 'payments.issue_refund'];
const EDITOR: Person = { subject: 'mira', roles: ['contract_editor', 'operator'] };
/** Who edits contracts approves nothing under them. */
const APPROVER: Person = { subject: 'olga', roles: ['approver'] };
const SECOND: Person = { subject: 'dana', roles: ['contract_editor'] };
const AGENT: Person = { subject: 'svc:refunds', roles: ['agent'] };
const RUN = 'run-guide';
const example = (name: string): Facts => JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Facts;
const variables: Record<string, string> = {};
let system: System;
let folder = '';

/** What the commands of the guides find in the reader's folder. */
function prepareFolder(): void {
  put(folder, 'tools.json', {
    tools: [
      {
        name: 'set_label',
        description: 'Sets a label.',
        inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
        annotations: { destructiveHint: false },
      },
    ],
  });
  put(
    folder,
    'openapi.yaml',
    'openapi: 3.1.0\npaths:\n  /orders/{id}:\n    delete:\n      operationId: cancelOrder\n      responses: {}\n',
  );
  put(folder, 'main/payments.yaml', example('payments.issue_refund'));
  put(folder, 'charters/refunds.yaml', yamlIn('ask-and-stop'));
  put(
    folder,
    'policies/refunds.yaml',
    'name: refunds\nowner: otto\ndoc: Small refunds only.\nadmission:\n  - { name: small, when: gate.value.amount_minor < 1000000, reason: too large }\nrecovery: []\n',
  );
  put(folder, 'sources/crm.json', {
    name: 'crm',
    owner: 'otto',
    doc: 'Customers.',
    sensitivity: 'personal',
    access: 'read',
    ttl_ms: 60_000,
  });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-guides-'));
  prepareFolder();
  system = await startSystem();
}, 400_000);
afterAll(async () => {
  await system.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const weaken = async (days: number): Promise<string> =>
  String(
    (
      await system.post(
        'registry',
        '/v1/contracts',
        { ...example('payments.issue_refund'), version: undefined, reversal_window_ms: days * 86_400_000 },
        { person: SECOND },
      )
    ).body['digest'],
  );
/** Two that undo each other, each with an argument that only the next version of the other takes. */
const weakenTogether = async (): Promise<readonly string[]> => {
  const label = example('labels.add_label');
  const pair = [
    { ...label, inverse_capability: 'labels.remove_label' },
    { ...label, name: 'labels.remove_label', inverse_capability: 'labels.add_label' },
  ];
  const { properties, ...schema } = label['args_schema'] as Facts & { readonly properties: Facts };
  const forced = pair.map((contract) => ({
    ...contract,
    version: undefined,
    args_schema: { ...schema, properties: { ...properties, force: { type: 'boolean' } } },
    reversal_args: { ...(label['reversal_args'] as Facts), force: { from: 'constant', value: true } },
  }));
  const sent = async (contracts: unknown): Promise<readonly Facts[]> => {
    const { body } = await system.post('registry', '/v1/contracts/together', { contracts }, { person: SECOND });
    return body['contracts'] as readonly Facts[];
  };
  await system.post('registry', '/v1/contracts', example('labels.get_labels'), { person: SECOND });
  await sent(pair);
  return (await sent(forced)).map(({ digest }) => String(digest));
};
const digestOf = async (name: string): Promise<string> =>
  String((await system.get('registry', `/v1/contracts/${name}`)).body['digest']);

/** An execution under the registered contract, as the ledger has it. */
async function executed(): Promise<string> {
  const contractDigest = Buffer.from(await digestOf('payments.issue_refund'), 'hex');
  const args = { order_id: '4711', amount_minor: 5_000, currency: 'INR' };
  const action = {
    tenant: TENANT,
    runId: RUN,
    agentId: 'agent-7',
    initiator: 'asha',
    objective: 'give the money back',
    stepId: 's',
    callId: 'call-guide',
    capability: 'payments.issue_refund',
    contractDigest,
    effectKey: 'eff-guide',
    idempotencyKey: 'key-guide',
    subjectRef: '4711',
    args,
    assumptionRefs: [],
  };
  await system.producer.toolExecuted(action, {
    outcome: 'succeeded',
    result: { refund_id: 'rf_1', status: 'settled' },
    priorValue: null,
    externalTransactionRef: 'rf_1',
    committedAt: Date.now(),
    errorKind: null,
  });
  const id = deriveId('mut', TENANT, RUN, 'eff-guide');
  await until('the mutation', async () =>
    (await system.get('ledger', `/v1/mutations/${id}`)).status === 200 ? id : null,
  );
  return id;
}

/** A question an agent asks. */
async function asked(effectKey: string): Promise<string> {
  const contractDigest = await digestOf('payments.issue_refund');
  const of = {
    tenant: TENANT,
    runId: RUN,
    effectKey,
    capability: 'payments.issue_refund',
    contractDigest,
    subjectRef: '4711',
    args: { order_id: '4711', amount_minor: 5_000, currency: 'INR' },
  };
  const body = {
    run_id: RUN,
    effect_key: effectKey,
    capability: of.capability,
    contract_digest: contractDigest,
    subject_ref: '4711',
    initiator: 'asha',
    objective: 'settle ticket 99',
    agent_id: 'agent-7',
    mode: 'human',
    action_digest: forwardDigest(of),
    args: of.args,
    rehearsal: null,
  };
  return String(
    (await system.post('orchestrator', '/v1/forward-approvals', body, { person: AGENT })).body['approval_id'],
  );
}

/** What has to be there before a command, what it has to show, and with which exit code where that is not 0. */
const SHOWS: readonly {
  readonly of: RegExp;
  readonly shows: RegExp;
  readonly code?: number;
  readonly before?: () => Promise<void>;
}[] = [
  { of: /contract draft tools/, shows: /name: crm\.set_label/ },
  { of: /contract draft openapi/, shows: /name: shop\.cancel_order/ },
  // A draft never registers: the linter says so. From here on the folder holds what people made of it.
  {
    of: /contract lint/,
    shows: /CONTRACT_IS_DRAFT/,
    code: 1,
    before: () => {
      put(folder, 'contracts/payments.yaml', { ...example('payments.issue_refund'), reversal_window_ms: 60_000 });
      return Promise.resolve();
    },
  },
  { of: /contract diff/, shows: /strengthening/ },
  {
    of: /contract register/,
    shows: /payments\.issue_refund/,
    before: () => {
      rmSync(join(folder, 'contracts'), { recursive: true });
      for (const name of NAMES) put(folder, `contracts/${name}.json`, example(name));
      return Promise.resolve();
    },
  },
  {
    of: /contract proposals/,
    shows: /payments\.issue_refund/,
    before: async () => {
      variables['DIGEST'] = await weaken(1);
    },
  },
  {
    of: /contract confirm labels.*--with/,
    shows: /registered/,
    before: async () => {
      [variables['DIGEST'] = '', variables['OTHER'] = ''] = await weakenTogether();
    },
  },
  { of: /contract confirm/, shows: /registered/ },
  {
    of: /contract withdraw/,
    shows: /payments\.issue_refund/,
    before: async () => {
      await weaken(2);
    },
  },
  { of: /contract retire payments/, shows: /state +retired/ },
  { of: /contract answer payments/, shows: /to an equivalent state: payments\.reverse_refund/ },
  {
    of: /contract answer "/,
    shows: /now, to an equivalent state: payments\.reverse_refund/,
    before: async () => {
      variables['MUTATION'] = await executed();
    },
  },
  { of: /entry register agent-charter/, shows: /refunds/ },
  { of: /entry list agent-charter/, shows: /refunds +1 +acme +otto +agent-7/ },
  { of: /entry show agent-charter/, shows: /payments\.send_wire/ },
  { of: /entry register policy-bundle/, shows: /policy_bundle/ },
  { of: /entry register context-source/, shows: /context_source/ },
  {
    of: /approvals list/,
    shows: /payments\.issue_refund +agent-7 +awaiting/,
    before: async () => {
      [variables['APPROVAL'], variables['OTHER_APPROVAL']] = [await asked('eff-1'), await asked('eff-2')];
    },
  },
  { of: /approvals show/, shows: /on behalf of +asha/ },
  { of: /approvals approve/, shows: /approved/ },
  { of: /approvals deny/, shows: /denied/ },
  { of: /kill-switch on/, shows: /refunds/ },
  { of: /kill-switch list/, shows: /refunds +acme +capability payments\.issue_refund +sev1/ },
  { of: /kill-switch off/, shows: /refunds/ },
  { of: /entry retire/, shows: /refunds/ },
];

describe.each(['contracts', 'ask-and-stop'])('the guide %s', (guide) => {
  const commands = commandsIn(guide);

  it('has commands, all of them known', () => {
    expect(commands.length).toBeGreaterThan(5);
    expect(commands.filter((command) => !SHOWS.some(({ of }) => of.test(command)))).toEqual([]);
  });

  it.each(commands.map((command, at) => [at + 1, command] as const))(
    'runs command %i: %s',
    async (_at, command) => {
      const expected = SHOWS.find(({ of }) => of.test(command));
      await expected?.before?.();
      const ran = await runCommand(command, {
        system,
        person: / approvals /.test(command) ? APPROVER : EDITOR,
        folder,
        variables,
      });
      expect(ran).toMatchObject({ code: expected?.code ?? 0 });
      expect(ran.out).toMatch(expected?.shows ?? /$^/);
    },
    60_000,
  );
});

it('what the guide retired and lifted is gone', async () => {
  for (const kind of ['agent-charter', 'kill-switch'])
    expect((await cli(system, EDITOR, folder, 'entry', 'list', kind)).out).toBe('none');
  expect(itemsOf(await system.get('registry', '/v1/entries/kill_switch?retired=true'))).toMatchObject([
    { name: 'refunds', reason: 'fixed in 4.2' },
  ]);
});

it('the guide ceilings sets, moves and reads, by an administrator of the tenant, and the platform’s by one of all', async () => {
  const commands = commandsIn('ceilings').filter((command) => !command.includes('$ESCALATION'));
  expect(commands).toHaveLength(11);
  const person: Person = { subject: 'root', roles: ['administrator'], tenant: TENANT };
  for (const command of commands) {
    const asker = command.includes('--scope platform') ? ADMINISTRATOR : person;
    const { code, note } = await runCommand(command, { system, person: asker, folder, variables });
    // A raise waits for another person: it has no outcome, and stands as an escalation.
    if (!command.includes('--until')) expect([command, note, code]).toEqual([command, '', 0]);
  }
  expect((await cli(system, person, folder, 'budgets', 'escalations')).out).toMatch(/raise .*root .*open/);
}, 180_000);
