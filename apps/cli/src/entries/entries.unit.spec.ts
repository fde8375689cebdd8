import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reviewEntry } from '@recourse/contract';
import { stringify } from 'yaml';
import { EXIT_CODES } from '../problem.js';
import { desk } from '../desk.testing.js';

type Json = Readonly<Record<string, unknown>>;
const CHARTER = {
  name: 'refunds',
  owner: 'ops',
  doc: 'Refunds.',
  agent: 'agent-7',
  purpose: 'Refunds.',
  allowed: ['payments.*'],
  denied: ['payments.send_wire'],
};
const SOURCE = {
  name: 'orders',
  owner: 'ops',
  doc: 'Orders.',
  sensitivity: 'internal',
  access: 'query',
  ttl_ms: 1_000,
};
const SWITCH = {
  kind: 'kill_switch',
  name: 'refunds',
  version: 1,
  tenant: 'acme',
  retired: false,
  registered_at: 0,
  registered_by: 'dana',
  entry: {
    owner: 'ops',
    scope: { over: 'capability', capability: 'payments.issue_refund' },
    severity: 'sev1',
    reason: 'double refunds',
    runbook: 'r.md',
  },
};
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-entries-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function file(name: string, ...documents: readonly unknown[]): string {
  writeFileSync(
    join(folder, name),
    name.endsWith('.json') ? JSON.stringify(documents[0]) : documents.map((each) => stringify(each)).join('---\n'),
  );
  return name;
}

async function call(args: readonly string[], answers: Readonly<Record<string, readonly [number, Json]>> = {}) {
  const {
    call: recourse,
    asked,
    out,
    note,
  } = desk(
    ({ method, pathname }) => {
      const answer = answers[`${method} ${pathname}`];
      return answer === undefined ? undefined : Response.json(answer[1], { status: answer[0] });
    },
    { folder },
  );
  const code = await recourse(...args);
  const requests = asked.map(({ method, path, body, key }) => ({ path: `${method} ${path}`, body, key }));
  return { code, out: out(), note: note(), asked: requests };
}

describe('registering entries', () => {
  it('sends every document of the files with its name, YAML or JSON', async () => {
    const paths = [
      file('charters.yaml', CHARTER, { ...CHARTER, name: 'more' }),
      file('third.json', { $schema: './s.json', ...CHARTER, name: 'third' }),
    ];
    const { code, asked } = await call(['entry', 'register', 'agent-charter', ...paths, '--idempotency-key', 'k'], {
      'POST /v1/entries/agent_charter': [201, { kind: 'agent_charter', version: 1 }],
    });
    const { name: _name, ...entry } = CHARTER;
    expect([code, asked.map(({ body }) => body)]).toEqual([
      0,
      ['refunds', 'more', 'third'].map((name) => ({ name, entry })),
    ]);
    expect(asked.map(({ key }) => key)).toEqual(['k-1', 'k-2', 'k-3']);
    expect(reviewEntry('agent_charter', JSON.stringify(entry), 'acme').ok).toBe(true);
  });

  it('takes the name from the call for a single one, and the tenant', async () => {
    const { name: _name, ...nameless } = SOURCE;
    const { asked } = await call(
      ['--tenant', 'acme', 'entry', 'register', 'context-sources', file('source.yaml', nameless), '--name', 'orders'],
      { 'POST /v1/entries/context_source': [201, {}] },
    );
    expect(asked[0]?.body).toEqual({ name: 'orders', tenant: 'acme', entry: nameless });
  });

  it('lists every problem the registry finds, with its path', async () => {
    const problems = [
      { code: 'ENTRY_FIELD_INVALID', path: '/ttl_ms', message: 'too small' },
      { code: 'ENTRY_FIELD_INVALID', path: '/owner', message: 'missing' },
    ];
    const { code, note } = await call(
      ['entry', 'register', 'context_source', file('bad.yaml', { name: 'x', ttl_ms: 0 })],
      {
        'POST /v1/entries/context_source': [
          422,
          { code: 'ENTRY_REFUSED', message: 'the entry has 2 problems', problems },
        ],
      },
    );
    expect(code).toBe(EXIT_CODES.refused.code);
    for (const part of ['ENTRY_REFUSED', '/ttl_ms', '/owner']) expect(note).toContain(part);
  });

  it.each([
    [422, 'ENTRY_REFUSED', EXIT_CODES.partly.code, ['registered', 'refused', 'registered']],
    [401, 'TOKEN_REFUSED', EXIT_CODES.partly.code, ['registered', 'refused', 'not sent']],
    [503, 'NOT_READY', EXIT_CODES.unavailable.code, ['registered', 'unknown', 'not sent']],
  ])('says what became of each of several where the registry answers %d to one', async (status, code, end, became) => {
    const files = ['a', 'b', 'c'].map((name) => file(`${name}.yaml`, { ...CHARTER, name }));
    const {
      call: recourse,
      out,
      note,
    } = desk(
      ({ body }) => {
        const { name = '' } = body as { readonly name?: string };
        const [of, said] = name === 'b' ? [status, { code, message: 'no' }] : [201, { name, version: 1 }];
        return Response.json(said, { status: of });
      },
      { folder },
    );
    expect(await recourse('entry', 'register', 'agent-charter', ...files, '--json')).toBe(end);
    const { items } = JSON.parse(out()) as { readonly items: readonly Readonly<Record<string, unknown>>[] };
    expect(items.map((one) => [one['file'], one['name'], one['became']])).toEqual(
      ['a', 'b', 'c'].map((name, at) => [`${name}.yaml`, name, became[at]]),
    );
    expect(note()).toContain(code);
  });

  it('ends as refused where it took none of several', async () => {
    const files = ['a', 'b'].map((name) => file(`${name}.yaml`, { ...CHARTER, name }));
    const { code, note } = await call(['entry', 'register', 'agent-charter', ...files], {
      'POST /v1/entries/agent_charter': [403, { code: 'ROLE_REQUIRED', message: 'it needs a role' }],
    });
    expect(code).toBe(EXIT_CODES.refused.code);
    expect(note).toContain('ROLE_REQUIRED: 2 of 2 entries are refused: a.yaml, b.yaml');
  });

  it.each([
    [['entry', 'register', 'wish', 'x.yaml'], 'FILE_UNREADABLE'],
    [['entry', 'list', 'wish'], 'ENTRY_KIND_UNKNOWN'],
    [['entry', 'register', 'context_source', 'nameless.yaml'], 'ENTRY_NAME_MISSING'],
    [['entry', 'retire', 'context_source', 'orders'], '--reason'],
    [
      ['kill-switch', 'on', 'x', '--over', 'planet', '--reason', 'r', '--runbook', 'r'],
      'tenant, agent:<id> or capability:<name>',
    ],
    [
      ['kill-switch', 'on', 'x', '--over', 'tenant', '--halts-recovery', '--reason', 'r', '--runbook', 'r'],
      'INPUT_INVALID: --halts-recovery is for a switch over an agent',
    ],
  ])('refuses %j without asking anybody', async (args, said) => {
    file('nameless.yaml', { owner: 'ops' });
    const { code, note, asked } = await call(args);
    expect([code, asked]).toEqual([EXIT_CODES.usage.code, []]);
    expect(note).toContain(said);
  });
});

describe('reading entries', () => {
  it('lists those that stand, or those that were retired', async () => {
    const { code, out, asked } = await call(['entry', 'list', 'kill-switches', '--retired', '--limit', '5'], {
      'GET /v1/entries/kill_switch': [200, { items: [SWITCH], next_cursor: null }],
    });
    expect([code, asked[0]?.path]).toEqual([0, 'GET /v1/entries/kill_switch?retired=true&limit=5']);
    expect(out).toMatch(/NAME +VERSION +TENANT.*\nrefunds +1 +acme +ops +capability payments\.issue_refund/);
  });

  it('shows one with every field, as text and as JSON', async () => {
    const answers = { 'GET /v1/entries/kill_switch/refunds': [200, SWITCH] } as const;
    const { out } = await call(['entry', 'show', 'kill_switch', 'refunds'], answers);
    for (const part of ['state       stands', 'by dana', 'double refunds', 'r.md']) expect(out).toContain(part);
    expect(JSON.parse((await call(['entry', 'show', 'kill_switch', 'refunds', '--json'], answers)).out)).toEqual(
      SWITCH,
    );
  });

  it('that are not there says so', async () => {
    const { code, note } = await call(['entry', 'show', 'kill_switch', 'x'], {
      'GET /v1/entries/kill_switch/x': [404, { code: 'NOT_FOUND', detail: 'no entry under this name' }],
    });
    expect([code, note]).toEqual([EXIT_CODES.refused.code, expect.stringContaining('NOT_FOUND')]);
  });

  it('retires one for a reason', async () => {
    const { code, asked } = await call(['entry', 'retire', 'subscription', 'mailer', '--reason', 'gone'], {
      'POST /v1/entries/subscription/mailer/retire': [200, { name: 'mailer' }],
    });
    expect([code, asked[0]?.body]).toEqual([0, { reason: 'gone' }]);
  });
});

describe('retiring what is not there', () => {
  const unknown = [404, { code: 'ENTRY_UNKNOWN', message: 'there is no loyalty' }] as const;
  const of = (...tenants: readonly string[]) =>
    [200, { items: tenants.map((tenant) => ({ name: 'loyalty', tenant })), next_cursor: null }] as const;
  const retire = (list: readonly [number, Json], ...more: readonly string[]) =>
    call(['entry', 'retire', 'subscription', 'loyalty', '--reason', 'gone', ...more], {
      'POST /v1/entries/subscription/loyalty/retire': unknown,
      'GET /v1/entries/subscription': list,
    });

  it.each([
    [['demo'], 'demo', '--tenant demo.'],
    [['*'], '*', "--tenant '*'."],
    [['demo', 'acme', 'demo'], 'acme, demo', '--tenant acme, or another of them.'],
  ])('names the tenants for which it stands, and what to add: %j', async (tenants, named, added) => {
    const { code, note, asked } = await retire(of(...tenants));
    expect([code, note]).toEqual([
      EXIT_CODES.refused.code,
      `ENTRY_UNKNOWN: there is no loyalty there; it stands for ${named}\nWhat to do: Add ${added}`,
    ]);
    expect(asked.at(-1)?.path).toMatch(/^GET .*\?name=loyalty&retired=false&limit=\d+$/);
  });

  it.each([
    ['it stands nowhere', of()],
    ['nobody says where it stands', [503, { code: 'NOT_READY', message: 'reading' }] as const],
  ])('says what the registry says where %s', async (_, list) => {
    const { code, note } = await retire(list);
    expect([code, note]).toEqual([
      EXIT_CODES.refused.code,
      expect.stringMatching(/^ENTRY_UNKNOWN: there is no loyalty\n.*List those that stand/),
    ]);
  });
});

describe('a kill switch', () => {
  it.each([
    ['tenant', { over: 'tenant' }],
    ['agent:agent:7', { over: 'agent', agent: 'agent:7' }],
    ['capability:payments.issue_refund', { over: 'capability', capability: 'payments.issue_refund' }],
  ])('is turned on over %s with what the registry wants', async (over, scope) => {
    const { code, asked } = await call(
      ['kill-switch', 'on', 'stop', '--over', over, '--reason', 'double refunds', '--runbook', 'r.md'],
      { 'POST /v1/entries/kill_switch': [201, {}] },
    );
    const { entry } = asked[0]?.body as { entry: Json };
    expect([code, entry['scope']]).toEqual([0, scope]);
    expect(reviewEntry('kill_switch', JSON.stringify(entry), 'acme')).toMatchObject({ ok: true });
  });

  it('is lifted for a reason, and listed while it is on', async () => {
    const { asked } = await call(['kill-switch', 'off', 'refunds', '--reason', 'fixed'], {
      'POST /v1/entries/kill_switch/refunds/retire': [200, {}],
    });
    expect(asked[0]?.body).toEqual({ reason: 'fixed' });
    const { out, asked: listed } = await call(['kill-switch', 'list'], {
      'GET /v1/entries/kill_switch': [200, { items: [SWITCH], next_cursor: null }],
    });
    expect(listed[0]?.path).toContain('retired=false');
    expect(out).toMatch(/refunds +acme +capability payments\.issue_refund +sev1 +double refunds +r\.md/);
  });
});
