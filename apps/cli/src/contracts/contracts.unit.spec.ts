import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { EXIT_CODES } from '../problem.js';
import { desk, table } from '../desk.testing.js';
import type { Respond } from '../desk.testing.js';

type Json = Record<string, unknown>;
const EXAMPLES = ['payments.get_refund', 'payments.reverse_refund', 'payments.issue_refund'];
const example = (name: string): Json => JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Json;
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-contracts-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Writes a file and gives its name back. */
function file(name: string, content: unknown): string {
  writeFileSync(
    join(folder, name),
    typeof content === 'string' ? content : name.endsWith('.json') ? JSON.stringify(content) : stringify(content),
  );
  return name;
}

async function call(args: readonly string[], answers: Readonly<Record<string, object>> = {}) {
  const { call: recourse, asked, out, note } = desk(table(answers), { folder });
  const code = await recourse('contract', ...args);
  const requests = asked.map(({ method, pathname, body }) => ({ path: `${method} ${pathname}`, body }));
  return { code, out: out(), note: note(), asked: requests };
}
const json = ({ out }: { out: string }): Json => JSON.parse(out) as Json;

describe('linting contracts', () => {
  it('asks no service and finds nothing in what registers, YAML or JSON, however they name each other', async () => {
    const files = EXAMPLES.map((name, at) =>
      file(`${name}.${at === 1 ? 'json' : 'yaml'}`, { $schema: './schema.json', ...example(name) }),
    );
    const answer = await call(['lint', ...files.reverse()]);
    expect([answer.code, answer.asked, answer.note]).toEqual([0, [], '']);
    expect(answer.out).toContain('3 contracts, 0 with problems');
  });

  it('exits with 1 and lists everything with code, path and remedy', async () => {
    const answer = await call([
      'lint',
      file('bad.yaml', {
        ...example('payments.issue_refund'),
        residue: '',
        recovery_approval_mode: 'auto',
        colour: 'red',
      }),
      '--known',
      'payments.get_refund,payments.reverse_refund',
      '--json',
    ]);
    expect(answer.code).toBe(EXIT_CODES.found.code);
    const [report] = json(answer)['contracts'] as { problems: { code: string; path: string; message: string }[] }[];
    expect(report?.problems.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'CONTRACT_FIELD_INVALID /residue',
      'CONTRACT_FIELD_UNKNOWN /colour',
      'AUTO_RECOVERY_FORBIDDEN /recovery_approval_mode',
      'COMPENSATION_MODE_CONTRADICTORY /compensation_mode/mode',
    ]);
  });

  it.each([
    ['customer_visible', 'RAISE_BY_HOLD', 'commit_hold'],
    ['destructive', 'RAISE_BY_TOMBSTONE', 'tombstone'],
    ['financial', 'RAISE_BY_RESERVATION', 'reservation'],
  ])('names what would raise the class of an irreversible %s effect (A20)', async (impact, code, technique) => {
    const contract = { ...example('payments.reverse_refund'), impact, approval_mode: 'network' };
    const answer = await call(['lint', file('raise.yaml', contract), '--known', 'payments.get_refund', '--json']);
    expect([answer.code, answer.note]).toEqual([0, '']);
    const [report] = json(answer)['contracts'] as { advice: { code: string; technique: string | null }[] }[];
    expect(report?.advice).toEqual(expect.arrayContaining([expect.objectContaining({ code, technique })]));
    expect((await call(['lint', 'raise.yaml', '--known', 'payments.get_refund', '--strict'])).code).toBe(
      EXIT_CODES.found.code,
    );
  });

  it.each([
    ['there is none', 'none.yaml'],
    ['it is no YAML', 'broken.yaml'],
    ['a key stands twice', 'twice.yaml'],
    ['an alias blows up', 'bomb.yaml'],
  ])('exits as a call that is wrong when %s', async (_, name) => {
    file('broken.yaml', 'a: [1');
    file('twice.yaml', 'name: a\nname: b\n');
    file(
      'bomb.yaml',
      `a: &a [${'x,'.repeat(40)}x]\nb: &b [${'*a,'.repeat(40)}*a]\nc: &c [${'*b,'.repeat(40)}*b]\nd: [${'*c,'.repeat(40)}*c]\n`,
    );
    expect(await call(['lint', name])).toMatchObject({
      code: EXIT_CODES.usage.code,
      note: expect.stringContaining('FILE_UNREADABLE'),
    });
  });
});

describe('comparing contracts', () => {
  it('exits with 1 when the newer is weaker, and says what becomes of what is open', async () => {
    const older = file('older.yaml', example('payments.issue_refund'));
    const newer = file('newer.yaml', { ...example('payments.issue_refund'), reversal_window_ms: 7_200_000 });
    const answer = await call(['diff', older, newer, '--open', '3']);
    expect(answer).toMatchObject({ code: EXIT_CODES.found.code, asked: [] });
    expect(answer.out).toContain('weakening      /reversal_window_ms  3600000 -> 7200000');
    expect(answer.out).toContain('WINDOW_NOT_LENGTHENED');
    expect(await call(['diff', newer, older, '--json'])).toMatchObject({ code: 0 });
  });

  it('says that what is open is bound by what is stricter', async () => {
    const older = file('older.yaml', example('payments.issue_refund'));
    const newer = file('newer.yaml', { ...example('payments.issue_refund'), reversal_window_ms: 60_000 });
    const { code, out } = await call(['diff', older, newer, '--open', '3']);
    expect(code).toBe(0);
    expect(out).toContain('strengthening  /reversal_window_ms  3600000 -> 60000');
    expect(out).toMatch(/WINDOW_SHORTENED: .*open is bound by it as well/u);
  });

  it('exits as a call that is wrong where they are of two capabilities', async () => {
    const refund = file('refund.yaml', example('payments.issue_refund'));
    const reverse = file('reverse.yaml', example('payments.reverse_refund'));
    expect(await call(['diff', refund, reverse])).toMatchObject({
      code: EXIT_CODES.usage.code,
      note: expect.stringContaining('CAPABILITIES_DIFFER'),
      out: '',
    });
  });
});

describe('drafting contracts', () => {
  const tools = {
    tools: [
      {
        name: 'getUser',
        description: 'Reads a user.',
        inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
        annotations: { readOnlyHint: true },
      },
      {
        name: 'write_note',
        inputSchema: { type: 'object' },
        annotations: { destructiveHint: false, openWorldHint: false },
      },
      { name: 'post_message', inputSchema: { type: 'object' }, annotations: { destructiveHint: false } },
      { name: 'dropTable', inputSchema: { type: 'object' } },
    ],
  };

  it('proposes the four defaults from a tool list whose hints nobody has checked (D6)', async () => {
    const drafts = json(await call(['draft', file('tools.json', tools), '--adapter', 'crm', '--json']))['drafts'] as {
      contract: Json;
    }[];
    expect(
      drafts.map(({ contract: { name, reversal_class, approval_mode } }) => [name, reversal_class, approval_mode]),
    ).toEqual([
      ['crm.get_user', 'reversible', 'read_only'],
      ['crm.write_note', 'reversible', 'local_write'],
      ['crm.post_message', 'compensable', 'network'],
      ['crm.drop_table', 'irreversible', 'destructive'],
    ]);
    expect(drafts.map(({ contract }) => String(contract['draft'])).join('\n')).toContain('unverified');
  });

  it('proposes nothing that would register', async () => {
    const { out } = await call(['draft', file('tools.json', tools), '--owner', 'crm-team']);
    const answer = await call(['lint', file('drafts.yaml', out), '--json']);
    expect(answer.code).toBe(EXIT_CODES.found.code);
    const reports = json(answer)['contracts'] as { problems: { code: string }[] }[];
    expect(reports).toHaveLength(4);
    for (const { problems } of reports) expect(problems.map(({ code }) => code)).toContain('CONTRACT_IS_DRAFT');
  });

  it('reads an OpenAPI document', async () => {
    const api = {
      openapi: '3.1.0',
      paths: {
        '/orders/{id}': {
          parameters: [],
          get: { operationId: 'getOrder', responses: {} },
          delete: {
            parameters: [{ name: 'id', required: true, schema: { type: 'string' } }],
            responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } } } },
          },
        },
      },
      components: { schemas: { Order: { type: 'object', properties: { id: { type: 'string' } } } } },
    };
    const drafts = json(await call(['draft', file('api.yaml', api), '--adapter', 'shop', '--json']))['drafts'] as {
      contract: Json;
    }[];
    expect(drafts.map(({ contract }) => contract['name'])).toEqual(['shop.get_order', 'shop.delete_orders_id']);
    expect(drafts[1]?.contract).toMatchObject({
      reversal_class: 'irreversible',
      forward_approval: 'human',
      args_schema: { required: ['id'] },
      result_schema: { properties: { id: { type: 'string' } } },
    });
  });

  it('maps every field of a tool declaration (D4, D5)', async () => {
    const declared = {
      tools: [
        {
          tool_id: 'payments.issue_refund',
          name: 'Issue a refund',
          safety_class: 'NETWORK',
          reversal: {
            class: 'COMPENSABLE',
            compensation_capability: 'payments.reverse_refund',
            recovery_approval_mode: 'HUMAN',
            reversal_window_ms: 3_600_000,
            max_calls_per_run: 1,
            max_value_per_run: 5_000,
          },
          metadata: { risk_dimension: 'money', value_arg: 'amount' },
        },
      ],
    };
    const [draft] = json(await call(['draft', file('declared.json', declared), '--json']))['drafts'] as {
      contract: Json;
    }[];
    expect(draft?.contract).toMatchObject({
      name: 'payments.issue_refund',
      effect: 'Issue a refund',
      approval_mode: 'network',
      impact: 'financial',
      reversal_class: 'compensable',
      compensation_capability: 'payments.reverse_refund',
      recovery_approval_mode: 'human',
      reversal_window_ms: 3_600_000,
      value: { amount: '/amount', currency: 'INR' },
      consequence: { money: 'args.amount' },
      blast_radius: {
        max_calls_per_run: 1,
        max_value_per_run: { amount_minor: 500_000, currency: 'INR' },
        scope: 'single_subject',
      },
    });
  });

  it('says when a document is none of these', async () => {
    expect(await call(['draft', file('other.json', { hello: 1 })])).toMatchObject({
      code: EXIT_CODES.usage.code,
      note: expect.stringContaining('DOCUMENT_UNKNOWN'),
    });
  });
});

describe('answering for a capability', () => {
  it('says on one screen whether, until when, by whom, how verified, at what cost and with which residue (A103)', async () => {
    const { code, out, asked, note } = await call(['answer', file('refund.yaml', example('payments.issue_refund'))]);
    expect([code, asked, note]).toEqual([0, [], '']);
    expect(out.split('\n')).toHaveLength(8);
    for (const part of [
      'payments.reverse_refund compensates it',
      'within 1 h of the commit',
      'after one person has approved, or two where nobody is known to answer for the agent',
      "observed.status == 'reversed'",
      '2500 minor units of INR',
      'processing fee',
    ])
      expect(out).toContain(part);
  });

  it('says of a file that would not register that it would not', async () => {
    const forbidden = { ...example('payments.issue_refund'), impact: 'destructive', recovery_approval_mode: 'auto' };
    const { out, note } = await call(['answer', file('forbidden.yaml', forbidden)]);
    expect(out).toContain('payments.reverse_refund');
    expect(note).toMatch(/would not register \(\d+ problems?\): recourse contract lint forbidden\.yaml/);
  });

  it('asks the registry for one that is registered', async () => {
    const { out } = await call(['answer', 'payments.get_refund'], {
      'GET /v1/contracts/payments.get_refund': { contract: example('payments.get_refund') },
    });
    expect(out).toContain('there is nothing to undo');
  });
});

const TWO = { recovery_approval_mode: 'dual_control' };

describe('answering for a mutation', () => {
  const HOUR = 3_600_000;
  const found = (more: Json = {}): Json => ({
    mutation_id: 'mut_1',
    capability: 'payments.issue_refund',
    execution_state: 'succeeded',
    recoverability: 'reversal_available',
    reason: null,
    execution: { agent_id: 'agent-7', initiator: 'asha' },
    ref: { committed_at: Date.now(), reversal_expires_at: Date.now() + HOUR },
    terms: { contract_name: 'payments.issue_refund', contract_version: 3, contract_digest: 'ab' },
    ...more,
  });
  const versionOf = (version: number, digest: string, more: Json = {}, row: Json = {}): Json => ({
    ...{ name: 'payments.issue_refund', version, tenant: '*', digest, retired: false },
    contract: { ...example('payments.issue_refund'), version, ...more },
    ...row,
  });
  const listed = (...items: readonly Json[]) => ({ 'GET /v1/contracts': { items, next_cursor: null } });
  const registry = listed(versionOf(3, 'ab'));

  it('says on one screen whether it can be undone now, by when and by whom, under the version it executed under (A103)', async () => {
    const { code, out, asked } = await call(['answer', 'mut_1'], { ...registry, 'GET /v1/mutations/mut_1': found() });
    expect([code, asked.map(({ path }) => path)]).toEqual([0, ['GET /v1/mutations/mut_1', 'GET /v1/contracts']]);
    expect(out.split('\n').length).toBeLessThanOrEqual(24);
    for (const part of [
      'under version 3',
      'recoverability reversal_available',
      'now, to an equivalent state: payments.reverse_refund',
      '59 min',
      'one person with the role approver, neither agent-7 nor asha',
      "observed.status == 'reversed'",
      'processing fee',
    ])
      expect(out).toContain(part);
  });

  it.each<[string, readonly Json[], number]>([
    ['the newest version, though it is retired', [versionOf(4, 'cd', TWO, { retired: true })], 2],
    ['the tenant’s own, where it is stricter', [versionOf(1, 'cd', TWO, { tenant: 'acme' })], 2],
    ['the tenant’s own no more once it is retired', [versionOf(1, 'cd', TWO, { tenant: 'acme', retired: true })], 1],
    ['no other tenant’s', [versionOf(1, 'cd', TWO, { tenant: 'globex' })], 1],
    [
      'a person, where its undo calls what people agree to',
      [
        versionOf(5, 'ab', { impact: 'write', recovery_approval_mode: 'auto', compensation_mode: undefined }),
        versionOf(1, 'ef', { name: 'payments.reverse_refund' }, { name: 'payments.reverse_refund' }),
      ],
      1,
    ],
  ])('counts %s', async (_what, others, people) => {
    const versions = others.some(({ digest }) => digest === 'ab') ? others : [versionOf(3, 'ab'), ...others];
    const execution = { agent_id: 'agent-7', initiator: 'asha', tenant: 'acme' };
    const answers = { ...listed(...versions), 'GET /v1/mutations/mut_1': found({ execution }) };
    expect(json(await call(['answer', 'mut_1', '--json'], answers))).toMatchObject({ people_needed: people });
  });

  it('is one document for scripts', async () => {
    const answer = json(
      await call(['answer', 'mut_1', '--json'], {
        ...registry,
        'GET /v1/mutations/mut_1': found({ execution: { agent_id: 'agent-7', initiator: null } }),
      }),
    );
    expect(answer).toMatchObject({
      mutation_id: 'mut_1',
      version: 3,
      is_undoable_now: true,
      people_needed: 2,
      undoability: 'compensated',
    });
  });

  it('says no of what executed without a contract', async () => {
    const { out } = await call(['answer', 'mut_1'], {
      'GET /v1/mutations/mut_1': found({
        terms: null,
        recoverability: 'manual_resolution_required',
        reason: 'UNCONTRACTED',
      }),
    });
    expect(out).toContain('without a contract');
    expect(out).toContain('a person with the role administrator');
  });

  it.each([
    ['another contract under the same version', listed(versionOf(3, 'cd')), found(), 'CONTRACT_DIFFERS'],
    ['a state it does not know', registry, found({ recoverability: 'exploded' }), 'MUTATION_UNREADABLE'],
  ])('refuses %s', async (_, contracts, mutation, refusal) => {
    const { code, note } = await call(['answer', 'mut_1'], { ...contracts, 'GET /v1/mutations/mut_1': mutation });
    expect([code, note]).toEqual([EXIT_CODES.refused.code, expect.stringContaining(refusal)]);
  });
});

describe('retiring a version', () => {
  const retire = (answer: Json) =>
    call(['retire', 'payments.issue_refund', '--contract-version', '2'], {
      'POST /v1/contracts/payments.issue_refund/retire': {
        ...{ name: 'payments.issue_refund', version: 2, digest: 'ab' },
        ...answer,
      },
    });

  it('says that it is retired, or that a second person confirms it first, and how', async () => {
    const done = await retire({ state: 'retired' });
    expect([done.code, sentIn(done.asked)]).toEqual([
      0,
      [{ path: 'POST /v1/contracts/payments.issue_refund/retire', body: { version: 2 } }],
    ]);
    expect(done.out).toMatch(/state +retired/);
    const { out } = await retire({ state: 'proposed', expires_at: 1, differences: [] });
    expect(out).toContain('a looser one may bind in its place. A second person confirms it before 1970');
    expect(out).toContain('recourse contract confirm payments.issue_refund --digest ab');
  });
});

describe('listing contracts', () => {
  it('tells the versions that new calls are under from older ones, also where the newest is retired', async () => {
    const row = (name: string, version: number, retired = false): Json => ({ name, version, tenant: '*', retired });
    const rows = [row('a.one', 1), row('a.one', 2, true), row('a.two', 1), row('a.two', 2), row('a.six', 1)];
    const answers = { 'GET /v1/contracts': { items: rows, next_cursor: null } };
    const shown = async (...args: readonly string[]) =>
      (json(await call(['list', '--json', ...args], answers))['items'] as readonly Json[]).map(
        ({ name, version, stands }) => [name, version, stands],
      );
    expect(await shown()).toEqual([
      ['a.one', 1, false],
      ['a.two', 1, false],
      ['a.two', 2, true],
      ['a.six', 1, true],
    ]);
    expect(await shown('--retired')).toEqual([['a.one', 2, false]]);
    expect(await shown('--limit', '2')).toHaveLength(2);
    expect((await call(['list'], answers)).out).toMatch(/a\.one +1 [^\n]* older/);
  });
});

const sentIn = (asked: readonly { readonly path: string; readonly body: unknown }[]) =>
  asked.filter(({ path }) => path.startsWith('POST'));

describe('registering contracts', () => {
  it('sends each after those it names, and shows what waits for a second person', async () => {
    const files = EXAMPLES.map((name) => file(`${name}.yaml`, example(name))).reverse();
    const proposed = {
      name: 'payments.issue_refund',
      version: 2,
      digest: 'ab',
      state: 'proposed',
      expires_at: 1,
      differences: [{ kind: 'weakening', path: '/reversal_window_ms', reason: 'r' }],
    };
    const { code, asked, out } = await call(['register', ...files], { 'POST /v1/contracts': proposed });
    expect([code, sentIn(asked).map(({ body }) => (body as Json)['name'])]).toEqual([0, EXAMPLES]);
    expect(out).toContain('recourse contract confirm payments.issue_refund --digest ab');
  });
  it('says of a stricter version that it binds what is open, and of no other', async () => {
    const told = async (kind: string) => {
      const differences = [{ kind, path: '/reversal_window_ms', reason: 'so it is' }];
      const registered = { name: 'payments.issue_refund', version: 2, state: 'registered', differences };
      const one = file('one.yaml', example('payments.issue_refund'));
      return (await call(['register', one], { 'POST /v1/contracts': registered })).out;
    };
    expect(await told('strengthening')).toMatch(/strengthening {2}\/reversal_window_ms[^]*Effects that are open/u);
    expect(await told('neutral')).not.toContain('Effects that are open');
  });
  it('sends those that name each other in a circle together, after what they name', async () => {
    const add = example('labels.add_label');
    const remove = { ...add, name: 'labels.remove_label', inverse_capability: 'labels.add_label' };
    const files = [add, remove, example('labels.get_labels')].map((each) => file(`${String(each['name'])}.json`, each));
    const { code, asked, out } = await call(['register', ...files], {
      'POST /v1/contracts': { name: 'labels.get_labels', state: 'registered' },
      'POST /v1/contracts/together': { contracts: [{ name: 'labels.remove_label' }, { name: 'labels.add_label' }] },
    });
    const sent = sentIn(asked);
    expect([code, sent.map(({ path }) => path)]).toEqual([0, ['POST /v1/contracts', 'POST /v1/contracts/together']]);
    const { contracts } = sent[1]?.body as { readonly contracts: readonly Json[] };
    expect(contracts.map(({ name }) => name).sort()).toEqual(['labels.add_label', 'labels.remove_label']);
    expect(out).toContain('labels.add_label');
  });
  it('confirms by the digest that was looked at', async () => {
    const { code, asked } = await call(['confirm', 'payments.issue_refund', '--digest', 'ab'.repeat(32)], {
      'POST /v1/contracts/payments.issue_refund/confirm': { state: 'registered' },
    });
    expect([code, asked[0]?.body]).toEqual([0, { digest: 'ab'.repeat(32) }]);
  });
  it('says of those that wait together how they are confirmed together, and confirms them so', async () => {
    const add = example('labels.add_label');
    const remove = { ...add, name: 'labels.remove_label', inverse_capability: 'labels.add_label' };
    const files = [add, remove].map((each) => file(`${String(each['name'])}.json`, each));
    const contracts = [add, remove].map(({ name }, at) => ({
      name,
      digest: `d${at}`,
      state: 'proposed',
      expires_at: 1,
    }));
    const { out } = await call(['register', ...files], { 'POST /v1/contracts/together': { contracts } });
    const both = ['confirm', 'labels.add_label', '--digest', 'd0', '--with', 'labels.remove_label=d1'];
    expect(out).toContain(`recourse contract ${both.join(' ')}\n`);
    const confirmed = await call(both, {
      'POST /v1/contracts/labels.add_label/confirm': { contracts: [{ name: 'labels.remove_label', version: 7 }] },
    });
    expect(confirmed.asked[0]?.body).toEqual({ digest: 'd0', together: { 'labels.remove_label': 'd1' } });
    expect([confirmed.code, confirmed.out]).toEqual([0, expect.stringMatching(/version +7/)]);
    const twice = await call([...both, '--with', 'labels.remove_label=d2']);
    expect([twice.code, twice.asked]).toEqual([64, []]);
  });
});

describe('registering several files, of which the registry refuses some', () => {
  const [GET = '', REVERSE = '', ISSUE = ''] = EXAMPLES;
  const BAD = { name: 'payments.bad' };
  const problems = [{ code: 'CONTRACT_FIELD_INVALID', path: '/owner', message: 'is missing' }];
  const REFUSAL = { status: 422, body: { code: 'CONTRACT_REFUSED', message: 'payments.bad has 1 problem', problems } };

  /** Registers files; an answer with a status is what the registry says of a contract instead. */
  async function registering(
    contracts: readonly Json[],
    answers: Readonly<Record<string, { readonly status: number; readonly body: object }>>,
    more: readonly string[] = [],
  ) {
    const registry: Respond = ({ method, body }) => {
      if (method === 'GET') return Response.json({ items: [{ name: GET, version: 1, digest: 'd' }] });
      const name = String((body as Json)['name']);
      const { status, body: said } = answers[name] ?? { status: 201, body: {} };
      return Response.json(status < 300 ? { name, version: 1, digest: 'd', state: 'registered', ...said } : said, {
        status,
      });
    };
    const { call: recourse, asked, out, note } = desk(registry, { folder });
    const files = contracts.map((one) => file(`some-${String(one['name'])}.json`, one));
    const code = await recourse('contract', 'register', ...files, ...more);
    const sent = asked.filter(({ method }) => method === 'POST').map(({ body }) => (body as Json)['name']);
    return { code, out: out(), note: note(), sent };
  }

  it('says what became of each, and ends as done in part', async () => {
    const given = [BAD, example(GET), example(REVERSE)];
    const { code, out, note, sent } = await registering(given, { [BAD.name]: REFUSAL });
    expect([code, sent]).toEqual([EXIT_CODES.partly.code, [GET, REVERSE, BAD.name]]);
    expect(out.split('\n').map((line) => line.split(/ +/).join(' '))).toEqual([
      'FILE CONTRACT VERSION BECAME',
      'some-payments.bad.json payments.bad - refused',
      `some-${GET}.json ${GET} 1 unchanged`,
      `some-${REVERSE}.json ${REVERSE} 1 registered`,
    ]);
    expect(note).toContain('CONTRACT_REFUSED: 1 of 3 contracts is refused: some-payments.bad.json');
    expect(note).toContain('  CONTRACT_FIELD_INVALID at /owner: some-payments.bad.json: is missing');
  });

  it('tells scripts the same, with one error', async () => {
    const given = [example(GET), example(REVERSE), BAD];
    const { out, note } = await registering(given, { [BAD.name]: REFUSAL }, ['--json']);
    expect((JSON.parse(out) as { items: Json[] }).items.map(({ became, state }) => [became, state])).toEqual([
      ['unchanged', 'registered'],
      ['registered', 'registered'],
      ['refused', undefined],
    ]);
    expect(JSON.parse(note)).toMatchObject({ error: { code: 'CONTRACT_REFUSED', exit_code: EXIT_CODES.partly.code } });
  });

  it('ends as refused where nothing was registered', async () => {
    const { code, note } = await registering([example(GET), BAD], { [BAD.name]: REFUSAL });
    expect([code, note]).toEqual([EXIT_CODES.refused.code, expect.stringContaining('1 of 2 contracts is refused')]);
    const none = { status: 403, body: { code: 'ROLE_REQUIRED', message: 'it needs the role contract_editor' } };
    const all = await registering([example(GET), example(REVERSE)], { [GET]: none, [REVERSE]: none });
    expect([all.code, all.sent]).toEqual([EXIT_CODES.refused.code, [GET, REVERSE]]);
    expect(all.note).toContain(`ROLE_REQUIRED: some-${REVERSE}.json: it needs the role contract_editor`);
  });

  it.each([
    [401, 'TOKEN_REFUSED', EXIT_CODES.partly.code, 'refused'],
    [503, 'NOT_READY', EXIT_CODES.unavailable.code, 'unknown'],
  ])('sends nothing more after a %d, and says what was', async (status, code, end, became) => {
    const given = [example(GET), example(REVERSE), example(ISSUE)];
    const answer = { status, body: { code, message: 'no' } };
    const fresh = { status: 201, body: { version: 2 } };
    const told = await registering(given, { [GET]: fresh, [REVERSE]: answer });
    expect([told.code, told.sent]).toEqual([end, [GET, REVERSE]]);
    expect(told.out).toMatch(new RegExp(`2 +registered\\n.*- +${became}\\n.*- +not sent$`));
    expect(told.note).toContain(code);
  });

  it('registers all the same where nobody says what stood before', async () => {
    const files = [GET, REVERSE].map((name) => file(`alone-${name}.json`, example(name)));
    const { code, out } = await call(['register', ...files], { 'POST /v1/contracts': { state: 'registered' } });
    expect([code, out.match(/registered/g)?.length]).toEqual([0, 2]);
  });
});
