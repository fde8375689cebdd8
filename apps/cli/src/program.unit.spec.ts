import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { EXIT_CODES } from './problem.js';
import { desk as deskOf } from './desk.testing.js';
import { createProgram } from './program.js';

type Answers = Readonly<
  Record<string, { readonly status?: number; readonly body: unknown; readonly location?: string }>
>;

const DIGEST = 'ab'.repeat(32);
const STEP = {
  step_id: 'step_1',
  tenant: 'demo',
  run_id: 'run_1',
  phase: 'awaiting_approval',
  action_digest: DIGEST,
  execution: { capability: 'payments.issue_refund', value: { amount_minor: 500_000, currency: 'INR' } },
};
/** Services that answer from a table, and a person who answers once. */
function desk(answers: Answers, said: string | null = null, environment?: Readonly<Record<string, string>>) {
  return deskOf(
    ({ method, pathname }) => {
      const answer = answers[`${method} ${pathname}`];
      return answer === undefined
        ? undefined
        : Response.json(answer.body, {
            status: answer.status ?? 200,
            headers: answer.location === undefined ? {} : { location: answer.location },
          });
    },
    { said, ...(environment !== undefined && { environment }) },
  );
}

describe('a list', () => {
  it('follows the pages and sends the token', async () => {
    const { call, asked, out } = desk({
      'GET /v1/mutations': { body: { items: [{ mutation_id: 'mut_1' }], next_cursor: null } },
    });
    expect(await call('mutations', 'list', '--run', 'run_1', '--state', 'reversal_available', '--json')).toBe(0);
    expect(asked[0]).toMatchObject({
      path: '/v1/mutations?run_id=run_1&state=reversal_available&limit=200',
      authorization: 'Bearer secret',
    });
    expect(JSON.parse(out())).toEqual({ items: [{ mutation_id: 'mut_1' }], more: false });
  });
  it('says when there is more than was asked for', async () => {
    const { call, out } = desk({
      'GET /v1/mutations': { body: { items: [{ mutation_id: 'mut_1' }], next_cursor: 'next' } },
    });
    expect(await call('mutations', 'list', '--limit', '1')).toBe(0);
    expect(out()).toContain('raise --limit');
  });
  it('says so when it is empty', async () => {
    const { call, out } = desk({ 'GET /v1/budgets': { body: { items: [], next_cursor: null } } });
    await call('budgets', 'list');
    expect(out()).toBe('none');
  });
});

describe('a drill', () => {
  const folder = mkdtempSync(join(tmpdir(), 'recourse-kit-'));
  const kit = join(folder, 'kit.mjs');
  writeFileSync(kit, 'export default () => ({ adapter: "payments", tools: {}, canaries: {} });\n');
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const contract = (version: number, mode: string) => ({
    name: 'payments.issue_refund',
    version,
    tenant: '*',
    contract: {
      name: 'payments.issue_refund',
      version,
      owner: 'o',
      effect: 'e',
      impact: 'write',
      approval_mode: 'delegated',
      args_schema: { type: 'object' },
      result_schema: { type: 'object' },
      reversal_class: 'compensable',
      compensation_capability: 'payments.reverse_refund',
      reversal_window_ms: 1_000,
      compensation_mode: { mode, reason: 'r', accepted_by: 'a' },
    },
  });

  it('goes by no older contract where the newest is retired', async () => {
    const items = [contract(1, 'automatic'), { ...contract(2, 'automatic'), retired: true }];
    const { call, note } = desk({ 'GET /v1/contracts': { body: { items, next_cursor: null } } });
    expect(await call('--tenant', 'demo', 'drill', 'payments', '--module', kit)).toBe(EXIT_CODES.usage.code);
    expect(note()).toContain('ADAPTER_UNKNOWN');
  });

  it('goes by the newest contract that stands, and does not call clean what it could not exercise', async () => {
    const { call, asked, out } = desk({
      'GET /v1/contracts': {
        body: { items: [contract(1, 'not_supported'), contract(2, 'automatic')], next_cursor: null },
      },
    });
    expect(await call('--tenant', 'demo', 'drill', 'payments', '--module', kit, '--json')).toBe(
      EXIT_CODES.unavailable.code,
    );
    expect(asked[0]?.path).toContain('/v1/contracts?tenant=demo');
    expect(JSON.parse(out())).toMatchObject({
      adapter: 'payments',
      verdict: 'not_run',
      findings: [
        {
          capability: 'payments.issue_refund',
          path: 'forward',
          verdict: 'not_run',
          detail: 'there is no canary for it',
        },
      ],
    });
  });

  it('shows its report before it says that it cannot be written', async () => {
    const { call, out, note } = desk({
      'GET /v1/contracts': { body: { items: [contract(1, 'automatic')], next_cursor: null } },
    });
    expect(await call('drill', 'payments', '--module', kit, '--out', join(folder, 'nowhere', 'x.jsonl'))).toBe(
      EXIT_CODES.usage.code,
    );
    expect(out()).toContain('there is no canary for it');
    expect(note()).toMatch(/^FILE_UNWRITABLE: .*x\.jsonl/u);
    expect(await call('drill', 'payments', '--module', kit, '--out', join(folder, 'x.jsonl'))).toBe(
      EXIT_CODES.unavailable.code,
    );
    expect(JSON.parse(readFileSync(join(folder, 'x.jsonl'), 'utf8'))).toMatchObject({ verdict: 'not_run' });
  });

  it('says what is wrong with a kit, or with the name of the adapter', async () => {
    const { call, note } = desk({
      'GET /v1/contracts': { body: { items: [contract(1, 'automatic')], next_cursor: null } },
    });
    expect([
      await call('drill', 'payments', '--module', join(folder, 'none.mjs')),
      await call('drill', 'tickets', '--module', kit),
    ]).toEqual([EXIT_CODES.usage.code, EXIT_CODES.usage.code]);
    expect(note()).toMatch(/^KIT_UNREADABLE[^]*ADAPTER_UNKNOWN/);
  });
});

const REVIEW = {
  ...STEP,
  ready: false,
  missing: ['objective'],
  why: 'The action moved money.',
  action: { capability: 'payments.issue_refund', value: { amount_minor: 500_000, currency: 'INR' } },
  facts: { then: { refs: ['order/4711#not_shipped'], at: 1 }, now: { ref: 'order/4711#not_shipped' } },
};

describe('an approval', () => {
  const answers: Answers = {
    'GET /v1/reviews/step_1': { body: REVIEW },
    'POST /v1/steps/step_1/approve': { body: { step_id: 'step_1', phase: 'approved' } },
  };

  it('shows all that a review item shows, what is missing first (C60)', async () => {
    const { call, note } = desk(answers, 'n');
    await call('recoveries', 'approve', 'step_1');
    expect(note()).toMatch(/no; missing: objective[^]*The facts then and now[^]*order\/4711#not_shipped/);
  });
  it('shows the action, asks, and sends the digest that was shown', async () => {
    const { call, asked, note } = desk(answers, 'y');
    expect(await call('recoveries', 'approve', 'step_1', '--reason', 'the goods left')).toBe(0);
    expect(note()).toContain('5000.00 INR');
    expect(asked.at(-1)).toMatchObject({ method: 'POST', body: { action_digest: DIGEST, reason: 'the goods left' } });
  });
  it('does nothing when the person says no', async () => {
    const { call, asked } = desk(answers, 'n');
    expect(await call('recoveries', 'approve', 'step_1')).toBe(EXIT_CODES.declined.code);
    expect(asked.map(({ method }) => method)).toEqual(['GET']);
  });
  it('does nothing when nobody is there to ask', async () => {
    const { call, asked, note } = desk(answers);
    expect(await call('recoveries', 'approve', 'step_1')).toBe(EXIT_CODES.usage.code);
    expect(note()).toContain('CONFIRMATION_NEEDED');
    expect(asked.map(({ method }) => method)).toEqual(['GET']);
  });
  it.each(['approve', 'deny'])('does not %s without a reason of whoever decides: none is made up', async (verb) => {
    const { call, asked, note } = desk(answers);
    for (const given of [[], ['--reason', ' ']])
      expect(await call('recoveries', verb, 'step_1', '--yes', ...given)).toBe(EXIT_CODES.usage.code);
    expect(note()).toContain('REASON_NEEDED');
    expect(note()).toContain('--reason <text>');
    expect(asked.map(({ method }) => method)).toEqual(['GET', 'GET']);
  });
  it('asks whoever sits there for the reason, and sends what they say', async () => {
    const { call, asked } = desk(answers, 'the goods left');
    expect(await call('recoveries', 'approve', 'step_1', '--yes')).toBe(0);
    expect(asked.at(-1)).toMatchObject({ method: 'POST', body: { reason: 'the goods left' } });
  });
  it('does nothing when the action is no longer the one that was meant', async () => {
    const { call, asked, note } = desk(answers);
    expect(await call('recoveries', 'approve', 'step_1', '--yes', '--digest', 'cd'.repeat(32))).toBe(
      EXIT_CODES.refused.code,
    );
    expect(note()).toContain('DIGEST_MISMATCH');
    expect(asked.map(({ method }) => method)).toEqual(['GET']);
  });
  it('follows a command that has no outcome yet', async () => {
    const { call, asked } = desk({
      ...answers,
      'POST /v1/steps/step_1/deny': { status: 202, body: {}, location: '/v1/commands/cmd_1' },
      'GET /v1/commands/cmd_1': { body: { phase: 'denied' } },
    });
    expect(await call('recoveries', 'deny', 'step_1', '--yes', '--reason', 'the goods left')).toBe(0);
    expect(asked.at(-1)?.path).toBe('/v1/commands/cmd_1');
  });
  it('prints the code, the facts and the remedy of a refusal', async () => {
    const { call, note } = desk({
      ...answers,
      'POST /v1/steps/step_1/approve': {
        status: 403,
        body: { code: 'SELF_APPROVAL', message: 'Nobody approves their own action.' },
      },
    });
    expect(await call('recoveries', 'approve', 'step_1', '--yes', '--reason', 'the goods left', '--json')).toBe(
      EXIT_CODES.refused.code,
    );
    expect(JSON.parse(note())).toMatchObject({
      error: { code: 'SELF_APPROVAL', exit_code: 3, remedy: expect.stringContaining('Somebody else') },
    });
  });
  it.each([
    ['approve', ['--yes', '--reason', 'the goods left'], 'y', '', 0],
    ['deny', [], null, 'CONFIRMATION_NEEDED', EXIT_CODES.usage.code],
    ['approve', ['--yes'], null, 'REASON_NEEDED', EXIT_CODES.usage.code],
  ])('prints no table beside the JSON of %s %j, which asks nobody', async (verb, given, said, error, code) => {
    const { call, note, out } = desk(answers, said);
    expect(await call('recoveries', verb, 'step_1', '--json', ...given)).toBe(code);
    if (error === '') expect([note(), JSON.parse(out())]).toEqual(['', { step_id: 'step_1', phase: 'approved' }]);
    else expect(JSON.parse(note())).toMatchObject({ error: { code: error } });
  });
  it.each([[[]], [['--yes']]])('shows it with --json too to whoever is asked at a terminal: %j', async (given) => {
    const { call, note, questions } = desk(answers, 'y');
    expect(await call('recoveries', 'approve', 'step_1', '--json', ...given)).toBe(0);
    expect([questions.length > 0, note()]).toEqual([true, expect.stringContaining('The facts then and now')]);
  });
});

describe('a review item', () => {
  const ITEM = {
    step_id: 'step_1',
    ready: false,
    missing: ['facts.now'],
    reason: 'HIGH_IMPACT',
    why: 'A person decides.',
    run_id: 'run_1',
    phase: 'awaiting_approval',
    may: ['deny'],
    may_not: [{ word: 'approve', code: 'SELF_APPROVAL', message: 'Nobody approves their own action.' }],
    time_left_ms: 90_000,
    lookalikes: [['1nes', 'ines']],
    action_digest: DIGEST,
    untrusted: { objective: 'approve me' },
    proposed_by: {
      agent_id: 'agent-7',
      initiator: 'asha',
      decision: 'toolu_7',
      release: { prompt: 'p3', model: 'm2' },
    },
    action: { capability: 'payments.issue_refund', args: { json: { order_id: '4711' } }, value: null, rehearsal: null },
    resource: { subject_ref: 'order/4711' },
    facts: {
      then: { refs: ['order/4711#not_shipped'], at: 0 },
      now: {
        ref: 'order/4711#not_shipped',
        source: 'warehouse',
        stated_at: 1,
        statement: { folded: 'xxx', length: 5_000, sha256: 'cd' },
      },
    },
    forward: {
      state: 'succeeded',
      found_out: {
        how: 'reconcile',
        by: null,
        verdict: 'met',
        reason: 'FOUND',
        attempt: 2,
        observations: [
          { phase: 'reconcile', capability: 'payments.get_refund', observed: { json: { status: 'issued' } } },
        ],
      },
    },
    compensation_mode: {
      mode: 'manual_runbook',
      reason: 'by telephone',
      runbook: 'runbooks/recall.md',
      accepted_by: null,
    },
    lacking: ['result/refund/id'],
    reconciliation: {
      outcome: 'stale',
      reason: 'STALE_CONDITION_FALSE',
      attempt: 1,
      calls: { done: ['payments.reverse_refund'], stopped_at: 'payments.reset_balance' },
      error_kind: 'TOOL_REJECTED',
      said: { json: 'the bank blocks it' },
      looked: {
        reason: 'SUCCESS_NOT_OBSERVED',
        at: 0,
        error_kind: 'TOOL_MISSING',
        said: { sealed_sha256: 'ab', opens_with: ['payload_reader'] },
      },
      observations: [
        { phase: 'stale_check', call: 2, capability: 'payments.get_refund', observed: { sealed_sha256: 'ef' } },
      ],
    },
    compensation: {
      capability: 'payments.reverse_refund',
      args: { json: {} },
      impact: 'financial',
      risk: null,
      risk_level: 'medium',
      residue: 'a line',
      then: [
        {
          capability: 'payments.reset_balance',
          args: { json: { balance: 'b-1' } },
          taken: [{ name: 'receipt', call: 1, path: '/void_receipt' }],
          success_condition: 'observed.ok',
        },
      ],
    },
    approvals: {
      given: [{ by: 'olga', at: 0, reason: 'seen' }],
      required: 2,
      why_two: 'The contract asks two people.',
    },
    links: {
      mutation: { service: 'mutation-ledger', path: '/v1/mutations/mut_1' },
      recovery: { service: 'recovery-orchestrator', path: '/v1/recoveries?run_id=run_1' },
      record: {
        service: 'recovery-orchestrator',
        path: '/v1/steps/step_1',
        log: 'recourse.recoveries',
        partition: 1,
        seq: 7,
        record_hash: DIGEST,
      },
      trace: { trace_id: 'ab', url: 'https://traces.example.com/ab' },
    },
  };

  it('says which names read alike', async () => {
    const { call, out } = desk({ 'GET /v1/reviews/step_1': { body: ITEM } });
    await call('reviews', 'show', 'step_1');
    expect(out()).toContain('different people, whose names read alike: 1nes, ines');
  });

  it('says what whoever reads it may do, and why not the rest', async () => {
    const { call, out } = desk({ 'GET /v1/reviews/step_1': { body: ITEM } });
    await call('reviews', 'show', 'step_1');
    expect(out()).toMatch(/you may +deny\n/u);
    expect(out()).toMatch(/you may not +approve: SELF_APPROVAL: Nobody approves their own action\./u);
  });

  it("is shown with its facts, what is missing, where to read on, and the agent's words apart", async () => {
    const { call, asked, out } = desk({ 'GET /v1/reviews/step_1': { body: ITEM } });
    expect(await call('reviews', 'show', 'step_1')).toBe(0);
    expect(asked[0]?.path).toBe('/v1/reviews/step_1');
    for (const part of [
      'receipt from call 1/void_receipt',
      'payments.reset_balance',
      'no; missing: facts.now',
      'HIGH_IMPACT: A person decides.',
      '{"order_id":"4711"}',
      'toolu_7',
      'prompt p3, model m2',
      'a worker (reconcile)',
      'reconcile by payments.get_refund: {"status":"issued"}',
      'runbooks/recall.md',
      'result/refund/id',
      'https://traces.example.com/ab',
      'order/4711#not_shipped',
      'xxx… (5000 characters, sha256 cd)',
      'stale_check of call 2 by payments.get_refund: erased, nobody opens it any more, sha256 ef',
      'TOOL_REJECTED',
      'the bank blocks it',
      'SUCCESS_NOT_OBSERVED, 1970-01-01 00:00:00Z',
      'TOOL_MISSING',
      'sealed (opened by payload_reader), sha256 ab',
      'medium: the contract does not say',
      '1 of 2',
      'The contract asks two people.',
      '/v1/mutations/mut_1 of mutation-ledger',
      'recourse.recoveries, partition 1, seq 7',
      '1 min 30 s',
    ])
      expect(out()).toContain(part);
    expect(out().indexOf('approve me')).toBeGreaterThan(out().indexOf('not a fact'));
  });
  it('is one of a list', async () => {
    const { call, asked, out } = desk({
      'GET /v1/reviews': {
        body: {
          items: [
            {
              step_id: 'step_1',
              tenant: 'demo',
              run_id: 'run_1',
              phase: 'manual',
              reason: 'UNCONTRACTED',
              owner: 'role:administrator',
              deadline_at: 0,
            },
          ],
          next_cursor: null,
        },
      },
    });
    expect(await call('reviews', 'list', '--run', 'run_1')).toBe(0);
    expect([asked[0]?.path, out()]).toEqual([
      '/v1/reviews?run_id=run_1&limit=200',
      expect.stringMatching(/step_1 +demo +run_1 +manual +UNCONTRACTED +role:administrator/),
    ]);
  });
});

describe('a question before an effect', () => {
  const QUESTION = {
    approval_id: 'fwa_1',
    tenant: 'demo',
    run_id: 'run_1',
    phase: 'awaiting',
    capability: 'payments.issue_refund',
    agent_id: 'agent-7',
    initiator: 'asha',
    args: { encoding: 'plain', body: '{"amount_minor":500000}' },
    approvals: [{ by: 'olga', at: 0, reason: 'seen' }],
    required_approvals: 2,
    action_digest: DIGEST,
    deadline_at: Date.now() + 60_000,
  };
  const answers: Answers = {
    'GET /v1/forward-approvals/fwa_1': { body: QUESTION },
    'POST /v1/forward-approvals/fwa_1/approve': { body: { status: 'approved' } },
    'POST /v1/forward-approvals/fwa_1/deny': { body: { status: 'denied' } },
  };

  it('is listed while it waits', async () => {
    const { call, asked, out } = desk({
      'GET /v1/forward-approvals': { body: { items: [QUESTION], next_cursor: null } },
    });
    expect(await call('approvals', 'list', '--run', 'run_1')).toBe(0);
    expect(asked[0]?.path).toBe('/v1/forward-approvals?run_id=run_1&limit=200');
    expect(out()).toMatch(/fwa_1 +demo +run_1 +payments\.issue_refund +agent-7 +awaiting +1 of 2/);
  });
  it('shows what would be done, for whom, and who agreed', async () => {
    const { call, out } = desk(answers);
    await call('approvals', 'show', 'fwa_1');
    for (const part of ['{"amount_minor":500000}', 'on behalf of', 'asha', 'olga at 1970-01-01', DIGEST, ' left)'])
      expect(out()).toContain(part);
  });
  it('is answered about exactly the action that was shown', async () => {
    const { call, asked } = desk(answers);
    expect(await call('approvals', 'approve', 'fwa_1', '--yes', '--reason', 'seen')).toBe(0);
    expect(asked.at(-1)).toMatchObject({
      path: '/v1/forward-approvals/fwa_1/approve',
      body: { action_digest: DIGEST, reason: 'seen' },
    });
    expect(await call('approvals', 'deny', 'fwa_1', '--yes', '--digest', 'cd'.repeat(32))).toBe(
      EXIT_CODES.refused.code,
    );
    expect(await desk(answers, 'n').call('approvals', 'deny', 'fwa_1')).toBe(EXIT_CODES.declined.code);
  });
});

describe('a call that cannot work', () => {
  it('says which address is missing', async () => {
    const { call, note } = desk({}, null, {});
    expect(await call('contracts', 'list')).toBe(EXIT_CODES.usage.code);
    expect(note()).toContain('ADDRESS_UNKNOWN');
  });
  it('says who does not answer', async () => {
    const { call, note } = desk({});
    expect(await call('contracts', 'list')).toBe(EXIT_CODES.unavailable.code);
    expect(note()).toContain('SERVICE_UNREACHABLE');
  });
  it.each([
    [['nonsense']],
    [['mutations', 'show']],
    [['mutations', 'list', '--limit', '0']],
    [['parked', 'discard', 'p1']],
  ])('refuses %j', async (args) => {
    expect(await desk({}).call(...args)).toBe(EXIT_CODES.usage.code);
  });
  it.each([
    [['nonsense'], "unknown command 'nonsense'"],
    [['mutations', 'show'], "missing required argument 'id'"],
    [
      ['mutations', 'list', '--limit', '0'],
      "option '--limit <n>' argument '0' is invalid. It must be a whole number from 1.",
    ],
    [['mutations', 'list', '--nonsense'], "unknown option '--nonsense'"],
    [['parked', 'discard', 'p1'], "required option '--reason <text>' not specified"],
    [['undos'], 'no command is named'],
  ])('refuses %j with a code and what to do, for people too', async (args, words) => {
    const { call, note } = desk({});
    expect(await call(...args)).toBe(EXIT_CODES.usage.code);
    expect(note()).toContain(`CALL_INVALID: ${words}\nWhat to do: \`recourse <command> --help\` shows`);
    expect(note()).not.toContain('error: ');
  });
  it.each([[['nonsense']], [['mutations', 'show']], [['mutations', 'list', '--limit', '0']]])(
    'refuses %j as JSON where a script reads it',
    async (args) => {
      const { call, note } = desk({});
      expect(await call(...args, '--json')).toBe(EXIT_CODES.usage.code);
      expect(JSON.parse(note())).toMatchObject({
        error: { code: 'CALL_INVALID', remedy: expect.stringContaining('--help'), exit_code: EXIT_CODES.usage.code },
      });
    },
  );
  it.each([
    [['recoveries', 'show', ''], '<id> is empty'],
    [['undos', 'show', ' '], '<undo> is empty'],
    [['parked', 'redrive', '', '--reason', 'mended'], '<id> is empty'],
  ])('refuses the empty id of %j before it asks anybody', async (args, words) => {
    const { call, note, asked } = desk({});
    expect(await call(...args)).toBe(EXIT_CODES.usage.code);
    expect(note()).toBe(
      `CALL_INVALID: ${words}\nWhat to do: Name it. Where it comes from a variable of the shell, that variable is not set.`,
    );
    expect(asked).toEqual([]);
  });
  it.each([
    ...['--log-id', '--as', '--brokers', '--token', '--data-dir'].flatMap((flag) => [
      [flag, ''],
      [flag, ' '],
    ]),
  ])('refuses %s %j as empty before it asks anybody', async (flag, value) => {
    const { call, note, asked } = desk({});
    expect(await call('recoveries', 'list', flag, value)).toBe(EXIT_CODES.usage.code);
    expect(note()).toMatch(new RegExp(`^CALL_INVALID: option '${flag} .*It is empty`, 'u'));
    expect(asked).toEqual([]);
  });
  it.each([
    ['--brokers', 'nonsense', '"nonsense" is no address\nWhat to do: Write host:port, several separated by commas.'],
    ['--brokers', 'a:1,b', '"a:1,b" is no address\nWhat to do: Write host:port, several separated by commas.'],
    ['--recoveries-url', 'notaurl', '"notaurl" is no address\nWhat to do: Write it as http://host:port.'],
    ['--registry', 'localhost:8081', '"localhost:8081" is no address\nWhat to do: Write it as http://host:port.'],
    [
      '--database-url',
      'user:secret@host',
      'what it was given is no address\nWhat to do: Write it as postgres://host:port.',
    ],
    [
      '--database-url',
      'host=db.test user=dana password=secret dbname=x',
      'what it was given is no address\nWhat to do: Write it as postgres://host:port.',
    ],
    [
      '--ledger-url',
      'ftp://dana:secret@host',
      'what it was given is no address\nWhat to do: Write it as http://host:port.',
    ],
  ])('says of %s %s that it is no address, and asks nobody', async (flag, value, words) => {
    const { call, note, asked } = desk({});
    expect(await call('recoveries', 'list', flag, value)).toBe(EXIT_CODES.usage.code);
    expect(note()).toBe(`ADDRESS_INVALID: ${flag}: ${words}`);
    expect(asked).toEqual([]);
  });
  it.each([
    ['--registry', 'http://dana:secret@registry.test', 'it carries a user or a password'],
    ['--ledger-url', 'https://dana@ledger.test', 'it carries a user or a password'],
    ['--recoveries-url', ' http://recoveries.test', 'there are blanks around it'],
    [
      '--database-url',
      'postgres://dana:secret@db.test/x?application_name=y',
      'the program sets application_name itself',
    ],
  ])(
    'refuses what no variable may say in %s either, by the same rule, and does not show it',
    async (flag, value, why) => {
      const { call, note, asked } = desk({});
      expect(await call('recoveries', 'list', flag, value)).toBe(EXIT_CODES.usage.code);
      expect(note()).toContain(`ADDRESS_INVALID: ${flag}: ${why}`);
      expect([note().includes('secret'), asked]).toEqual([false, []]);
    },
  );
  it('names every variable that cannot be used', async () => {
    const { call, note } = desk({}, null, { RECOURSE_LEDGER_URL: 'nowhere', RECOURSE_KAFKA_BROKERS: 'x' });
    expect(await call('mutations', 'list')).toBe(EXIT_CODES.usage.code);
    expect(note()).toContain('RECOURSE_LEDGER_URL');
    expect(note()).toContain('RECOURSE_KAFKA_BROKERS');
  });
  it('takes a call for help as done, and says the exit codes', async () => {
    const { call, out } = desk({});
    expect(await call('--help')).toBe(0);
    expect(out()).toContain('Exit codes:');
  });
  it('says its version', async () => {
    const { call, out } = desk({});
    expect(await call('--version')).toBe(0);
    expect(out()).toMatch(/^\d+\.\d+\.\d+$/);
  });
});

describe('what a person decides beside agreeing', () => {
  it('closes an item with how, why and what shows it', async () => {
    const { call, asked } = desk({ 'POST /v1/steps/step_1/resolve': { body: { step_id: 'step_1' } } });
    expect(
      await call(
        'recoveries',
        'resolve',
        'step_1',
        '--resolution',
        'accepted',
        '--reason',
        'goodwill',
        '--evidence',
        'agreed by mail',
      ),
    ).toBe(0);
    expect(asked[0]?.body).toEqual({
      resolution: 'accepted',
      reason: 'goodwill',
      evidence: { note: 'agreed by mail' },
    });
  });
  it('ends a task in words', async () => {
    const { call, asked } = desk({ 'POST /v1/tasks/task_1/close': { body: { task_id: 'task_1' } } });
    expect(
      await call(
        'tasks',
        'close',
        'task_1',
        '--outcome',
        'done',
        '--message',
        'said sorry',
        '--safe-state',
        'as before',
        '--reason',
        'asked for',
      ),
    ).toBe(0);
    expect(asked[0]?.body).toEqual({
      outcome: 'done',
      content: { message: 'said sorry', safe_state: 'as before' },
      reason: 'asked for',
    });
  });
});

describe('payloads of a step', () => {
  const sealed = (body: unknown) => ({
    content_type: 'application/json',
    encoding: 'aes_256_gcm',
    sha256: 'cd'.repeat(32),
    body,
  });
  it.each([
    ['as they were opened for the reader', sealed({ order_id: '4711' }), 'args        {"order_id":"4711"}'],
    [
      'as sealed, with their hash, where nobody opened them',
      sealed('ef'.repeat(60)),
      `args        erased, nobody opens it any more, sha256 ${'cd'.repeat(32)}`,
    ],
  ])('are shown %s', async (_how, args, line) => {
    const { call, out } = desk({
      'GET /v1/steps/step_1': { body: { ...STEP, execution: { capability: 'payments.issue_refund', args } } },
    });
    expect(await call('recoveries', 'show', 'step_1')).toBe(0);
    expect(out()).toContain(line);
  });
});

describe('the options of the commands', () => {
  it('never have the name of one of the whole program, which would swallow them', () => {
    const program = createProgram(
      {
        terminal: { out: () => undefined, note: () => undefined, isInteractive: false, ask: () => Promise.resolve('') },
        environment: {},
        folder: '/',
        fetch,
      },
      () => undefined,
    );
    const taken = new Set(program.options.map(({ long }) => long));
    const below = (command: Command): readonly Command[] => [...command.commands, ...command.commands.flatMap(below)];
    expect(
      below(program).flatMap((command) =>
        command.options.filter(({ long }) => taken.has(long)).map(({ long }) => `${command.name()} ${String(long)}`),
      ),
    ).toEqual([]);
  });
});

describe('what is held', () => {
  const HELD = {
    rollback_id: 'rb_1',
    tenant: 'demo',
    run_id: 'run_1',
    mutation_id: 'mut_1',
    phase: 'held',
    owner: 'role:approver',
    deadline_at: 1_000,
    evidence: { source: 'warehouse', kind: 'observation', event_id: 'e' },
    held: { reason: 'SOURCE_UNTRUSTED', detail: 'its source weighs 500' },
  };
  const answers: Answers = {
    'GET /v1/rollbacks': { body: { items: [HELD], next_cursor: null } },
    'GET /v1/rollbacks/rb_1': { body: HELD },
    'POST /v1/rollbacks/rb_1/confirm': { body: { phase: 'opened' } },
    'POST /v1/rollbacks/rb_1/reject': { status: 409, body: { code: 'TRIGGER_JUDGED', message: 'judged' } },
    'GET /v1/breakers': {
      body: {
        items: [
          { breaker_id: 'brk_1', run_id: 'run_1' },
          { breaker_id: 'brk_1', run_id: 'run_2' },
        ],
        next_cursor: null,
      },
    },
    'POST /v1/breakers/run_1/brk_1/close': { body: { phase: 'closed' } },
    'POST /v1/breakers/run_2/brk_1/close': { body: { phase: 'closed' } },
    'GET /v1/sources': {
      body: { items: [{ source: 'warehouse', precision: 0.25, confirmed: 1, rejected: 3 }], more: false },
    },
    'GET /v1/limits': {
      body: {
        settings: { storm_limit: 600, closure_max: null },
      },
    },
    'GET /v1/rates': {
      body: {
        settings: { tenant_per_minute: 60 },
        rates: [{ scope: 'tenant', name: 'demo', next_at: 1_000, waiting: 7 }],
        more: false,
      },
    },
    'GET /v1/reports/rollbacks': { body: { items: [{ name: 'agent:a1', rollbacks: 3 }], more: false } },
  };

  it('is listed, shown and judged', async () => {
    const { call, asked, out, note } = desk(answers);
    expect([
      await call('rollbacks', 'list', '--phase', 'held'),
      await call('rollbacks', 'show', 'rb_1'),
      await call('rollbacks', 'confirm', 'rb_1', '--reason', 'true', '--idempotency-key', 'k'),
    ]).toEqual([0, 0, 0]);
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v1/rollbacks?phase=held&limit=500',
      'GET /v1/rollbacks/rb_1',
      'POST /v1/rollbacks/rb_1/confirm',
    ]);
    expect(out()).toContain('SOURCE_UNTRUSTED');
    expect(await call('rollbacks', 'reject', 'rb_1', '--reason', 'wrong')).toBe(EXIT_CODES.refused.code);
    expect(note()).toContain('recourse rollbacks show');
  });

  it('beyond a bound is listed and reviewed; a verdict is one of two', async () => {
    const { call, asked } = desk({
      ...answers,
      'POST /v1/rollbacks/rb_1/review': { body: { phase: 'reviewed', verdict: 'stands' } },
    });
    expect([
      await call('rollbacks', 'list', '--phase', 'beyond'),
      await call(
        'rollbacks',
        'review',
        'rb_1',
        '--verdict',
        'stands',
        '--reason',
        'it was shipped',
        '--idempotency-key',
        'k',
      ),
    ]).toEqual([0, 0]);
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v1/rollbacks?phase=beyond&limit=500',
      'POST /v1/rollbacks/rb_1/review',
    ]);
    expect(await call('rollbacks', 'review', 'rb_1', '--verdict', 'maybe', '--reason', 'x')).not.toBe(0);
  });

  it('by a breaker goes on once it is closed, on every partition that opened one', async () => {
    const { call, asked } = desk(answers);
    expect(await call('breakers', 'close', 'brk_1', '--reason', 'a bad feed')).toBe(0);
    expect(asked.filter(({ method }) => method === 'POST').map(({ path, body }) => [path, body])).toEqual([
      ['/v1/breakers/run_1/brk_1/close', { reason: 'a bad feed' }],
      ['/v1/breakers/run_2/brk_1/close', { reason: 'a bad feed' }],
    ]);
  });

  it('by a breaker goes on behind a partition that refuses, and where no path can name the run', async () => {
    const items = ['run_1', '..', 'run_2'].map((run_id) => ({ breaker_id: 'brk_1', run_id }));
    const { call, asked, note } = desk({
      ...answers,
      'GET /v1/breakers': { body: { items, next_cursor: null } },
      'POST /v1/breakers/run_1/brk_1/close': { status: 404, body: { code: 'NOT_FOUND', message: 'nothing of yours' } },
      'POST /v1/breakers/in-body/brk_1/close': { body: { phase: 'closed' } },
    });
    expect(await call('breakers', 'close', 'brk_1', '--reason', 'a bad feed')).toBe(EXIT_CODES.partly.code);
    expect(asked.filter(({ method }) => method === 'POST').map(({ path, body }) => [path, body])).toEqual([
      ['/v1/breakers/run_1/brk_1/close', { reason: 'a bad feed' }],
      ['/v1/breakers/in-body/brk_1/close', { reason: 'a bad feed', run_id: '..' }],
      ['/v1/breakers/run_2/brk_1/close', { reason: 'a bad feed' }],
    ]);
    expect(note()).toContain('1 of 3 stays open');
  });

  it('that comes steadily faster is listed with its windows, and reviewed (E47)', async () => {
    const rising = {
      trend_id: 'trd_1',
      tenant: 'acme',
      scope: 'agent',
      name: 'a1',
      counts: [0, 1, 1, 1, 1, 30, 40, 50],
      owner: 'role:operator',
      raised_at: 0,
      deadline_at: 86_400_000,
    };
    const { call, out, asked } = desk({
      'GET /v1/trends': { body: { items: [rising], next_cursor: null } },
      'POST /v1/trends/trd_1/review': { body: { trend_id: 'trd_1', reviewed: true } },
    });
    expect([
      await call('trends', 'list'),
      await call('trends', 'review', 'trd_1', '--reason', 'the feed is stale', '--idempotency-key', 'k'),
    ]).toEqual([0, 0]);
    expect(out()).toMatch(/trd_1 +acme +agent a1 +1 1 1 30 40 50 +1970-01-01 00:00:00Z +role:operator +1970-01-02/);
    expect(asked.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['GET', '/v1/trends?limit=500', null],
      ['POST', '/v1/trends/trd_1/review', { reason: 'the feed is stale' }],
    ]);
  });

  it('is told by source, by limit and by what it is counted by', async () => {
    const { call, out } = desk(answers);
    expect([
      await call('sources', 'list'),
      await call('limits'),
      await call('report', 'rollbacks', '--by', 'agent'),
    ]).toEqual([0, 0, 0]);
    for (const word of ['25', 'agent:a1', 'closure max', 'tenant per minute', 'off']) expect(out()).toContain(word);
  });
});
