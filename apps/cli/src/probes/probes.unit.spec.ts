import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { desk } from '../desk.testing.js';
import { harnessShape } from './harness.js';
import { readinessShape } from './readiness.js';

type Doc = Readonly<Record<string, unknown>>;

const file = (name: string): Doc => JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Doc;
const HASH = 'aa'.repeat(32);
const registered = (contract: Doc, more: Doc = {}): Doc => {
  const { $schema: _schema, ...body } = contract;
  return {
    name: body['name'],
    tenant: '*',
    version: 1,
    registered_by: 'ravi',
    confirmed_by: null,
    contract: body,
    ...more,
  };
};
const entry = (name: string, body: Doc): Doc => ({
  name,
  tenant: '*',
  version: 1,
  entry: { owner: 'otto', doc: 'x', ...body },
});
/** Its example caps no subjects; a sound one does. */
const cappedFully = (contract: Doc): Doc =>
  contract['blast_radius'] === undefined
    ? contract
    : { ...contract, blast_radius: { ...(contract['blast_radius'] as Doc), max_subjects_per_run: 1 } };
const [REFUND, REVERSE, LOOK] = ['payments.issue_refund', 'payments.reverse_refund', 'payments.get_refund'].map(
  (name) => cappedFully(file(name)),
);

const EFFECT: Doc = {
  mutation_id: 'mut_1',
  run_id: 'run-1',
  capability: 'payments.issue_refund',
  execution_state: 'succeeded',
  recoverability: 'compensated',
  is_seen_undone: true,
  reason: null,
  rollback_id: 'rb_1',
  recorded_hash: HASH,
  recorded_seq: 4,
  planned_sha256: HASH,
  expires_at: 9_000,
  awaited: null,
  terms: { compensation: { mode: 'approval_required' } },
  ref: {
    reversal_class: 'compensable',
    reversal_args: { sha256: HASH },
    assumption_refs: ['order/4711#not_shipped'],
    reversal_expires_at: 9_000,
  },
  execution: {
    tenant: 'acme',
    agent_id: 'agent-7',
    initiator: 'asha',
    objective: 'give the money back',
    release: { model: 'm-1' },
    value: { amount_minor: 5, currency: 'INR' },
  },
};
/** One that happened before its capability had a contract. */
const UNCONTRACTED: Doc = {
  ...EFFECT,
  mutation_id: 'mut_2',
  recoverability: 'manual_resolution_required',
  reason: 'UNCONTRACTED',
  terms: null,
  is_seen_undone: false,
  rollback_id: null,
  ref: { ...(EFFECT['ref'] as Doc), reversal_class: 'irreversible', reversal_args: null, reversal_expires_at: null },
};
const STEP: Doc = {
  step_id: 'st_1',
  mutation_id: 'mut_1',
  first_dispatched_at: 5,
  required_approvals: 1,
  approvals: [{ by: 'olga' }],
  glass: [],
  execution: EFFECT['execution'],
};

/** A budget as the accountant shows it. */
const ceiling = (more: Doc = {}): Doc => ({
  tenant: 'acme',
  scope: 'tenant',
  scope_id: 'acme',
  currency: 'INR',
  window: 'life',
  ceiling_minor: 500_000,
  value_ceiling_minor: null,
  used_minor: 1,
  ...more,
});

/** What was counted for an effect, as the accountant shows it. */
const reservation = (more: Doc = {}): Doc => ({
  tenant: 'acme',
  run_id: 'run-1',
  agent_id: 'agent:Agent-7',
  phase: 'settled',
  debits: [{ currency: 'INR', value_minor: 5, debit_minor: 0 }],
  ...more,
});

/** What a sound system answers, by path. */
const SOUND: Readonly<Record<string, readonly Doc[] | Doc>> = {
  '/v1/contracts': [REFUND, REVERSE, LOOK].map((one) => registered(one ?? {})),
  '/v1/entries/agent_charter': [entry('refunds', { agent: 'agent-7', allowed: ['payments.issue*'], denied: [] })],
  '/v1/entries/context_source': [entry('warehouse', { ttl_ms: 60_000 })],
  '/v1/entries/policy_bundle': [entry('refund-reversal', { routine: [] })],
  '/v1/entries/subscription': [entry('loyalty', { consumer: 'loyalty' })],
  '/v1/mutations': [EFFECT],
  '/v1/assumptions': [{ ref: 'order/4711#not_shipped', sources: [{ source: 'warehouse' }], is_disputed: false }],
  '/v1/sources': [{ source: 'warehouse', confirmed: 1, rejected: 0 }],
  '/v1/trends': [],
  '/v1/horizon': { as_of: 1_000, at_stake: [], items: [], next_cursor: null },
  '/v1/reports/exposure': { items: [] },
  '/v1/reports/consumers': { items: [] },
  '/v1/reports/manual-reasons': { items: [] },
  '/v1/reports/recoveries': { items: [] },
  '/v1/steps': [STEP],
  '/v1/tasks': [],
  '/v1/incidents': [],
  '/v1/budgets': [ceiling()],
  '/v1/reservations': [reservation()],
  '/v1/endpoints': [{ name: 'chat', state: 'on' }],
  '/v1/items': [],
  '/v1/parked': [],
};

/** Where each fact is read, as service/path. */
const PLACES = [
  'contracts/v1/contracts',
  ...['agent_charter', 'context_source', 'policy_bundle', 'subscription'].map((kind) => `contracts/v1/entries/${kind}`),
  ...['mutations', 'assumptions', 'sources', 'trends', 'horizon'].map((name) => `ledger/v1/${name}`),
  ...['exposure', 'consumers', 'manual-reasons'].map((name) => `ledger/v1/reports/${name}`),
  ...['steps', 'tasks', 'incidents', 'reports/recoveries'].map((name) => `recoveries/v1/${name}`),
  ...['budgets', 'reservations'].map((name) => `budget/v1/${name}`),
  'notifier/v1/endpoints',
  'notifier/v1/items',
  'ledger/v1/parked',
  'ledger/health/ready',
  'ledger/metrics',
];

interface Weakness {
  readonly answers?: Readonly<Record<string, readonly Doc[] | Doc>>;
  /** Hosts whose edge lets anybody in. */
  readonly open?: readonly string[];
  /** Paths that answer 503, as host/path. */
  readonly down?: readonly string[];
}

function system({ answers = {}, open = [], down = [] }: Weakness = {}, folder = '/') {
  return desk(
    ({ host, pathname, path, authorization }) => {
      const service = host.replace('.test', '');
      if (down.includes(`${service}${pathname}`)) return Response.json({ code: 'NOT_READY' }, { status: 503 });
      if (pathname === '/health/ready') return Response.json({ status: 'ok' });
      if (pathname === '/metrics') return new Response('# HELP recourse_up\n');
      if (authorization !== 'Bearer secret' && !open.includes(service))
        return Response.json({ code: authorization === null ? 'TOKEN_MISSING' : 'TOKEN_REFUSED' }, { status: 401 });
      if (path.includes('no_such_member')) return Response.json({ code: 'INPUT_INVALID' }, { status: 400 });
      const found = { ...SOUND, ...answers }[pathname];
      if (found === undefined) return undefined;
      return Response.json(Array.isArray(found) ? { items: found, next_cursor: null } : found);
    },
    { folder },
  );
}

async function audited(weakness: Weakness = {}) {
  const { call, out } = system(weakness);
  const code = await call('harness', 'audit', '--json');
  const report = harnessShape.parse(JSON.parse(out()));
  return {
    code,
    report,
    lacking: report.outcomes.flatMap(({ controls }) => controls).filter(({ result }) => result !== 'pass'),
  };
}

async function reviewed(weakness: Weakness = {}, ...more: readonly string[]) {
  const { call, out } = system(weakness);
  const code = await call('readiness', 'agent-7', '--json', ...more);
  const report = readinessShape.parse(JSON.parse(out()));
  return { code, report, lacking: report.areas.filter(({ result }) => result !== 'pass').map(({ id }) => id) };
}

const effects = (more: Doc): Weakness => ({ answers: { '/v1/mutations': [{ ...EFFECT, ...more }] } });
const refund = (more: Doc): Weakness => ({
  answers: { '/v1/contracts': [registered({ ...REFUND, ...more }), registered(REVERSE ?? {}), registered(LOOK ?? {})] },
});
const without = (...fields: readonly string[]): Weakness => {
  const contract = Object.fromEntries(Object.entries(REFUND ?? {}).filter(([field]) => !fields.includes(field)));
  return { answers: { '/v1/contracts': [registered(contract), registered(REVERSE ?? {}), registered(LOOK ?? {})] } };
};
const AGENTS = (more: Doc): Doc => ceiling({ scope: 'agent', scope_id: 'agent-7', ...more });
const RUNS = (more: Doc): Doc => ceiling({ scope: 'run', scope_id: 'run-1', ...more });
const STALE = (REFUND?.['stale_check'] as Doc)['condition'];
/** Its name as another guard spells it. */
const SPELT: Doc = { ...(EFFECT['execution'] as Doc), agent_id: 'agent:Agent-7' };
/** Effects, of which the last has more, where all contracts are of one tenant. */
const acting = (more: Doc, tenant: string, ...before: readonly Doc[]): Weakness => ({
  answers: {
    '/v1/mutations': [...before, { ...EFFECT, ...more }],
    '/v1/contracts': [REFUND, REVERSE, LOOK].map((one) => registered(one ?? {}, { tenant })),
  },
});
const answering = (path: string, ...rows: readonly Doc[]): Weakness => ({ answers: { [path]: rows } });

describe('the harness audit', () => {
  it('has forty controls in eight outcomes, and a sound system passes them all (D43, D48)', async () => {
    const { code, report, lacking } = await audited();
    expect(lacking).toEqual([]);
    expect(report).toMatchObject({ passed: 40, partial: 0, failed: 0, score: 1, blockers: [] });
    expect(report.outcomes.map(({ controls }) => controls.length)).toEqual([5, 5, 5, 5, 5, 5, 5, 5]);
    expect(code).toBe(0);
  });

  it('says the same of the same system (D44)', async () => {
    expect(await audited()).toEqual(await audited());
    expect(await audited(effects({ ref: {} }))).toEqual(await audited(effects({ ref: {} })));
  });

  it('fails every control whose facts it cannot read, and claims none of them (D48)', async () => {
    const { call, out } = desk(() => undefined);
    expect(await call('harness', 'audit', '--json')).toBe(2);
    const report = harnessShape.parse(JSON.parse(out()));
    expect(report).toMatchObject({ passed: 0, partial: 0, failed: 40, score: 0 });
    const controls = report.outcomes.flatMap(({ controls: five }) => five);
    expect(controls.flatMap(({ evidence }) => evidence).every((line) => line.startsWith('not probed: '))).toBe(true);
  });

  it.each(PLACES)('claims nothing of a control that reads %s when nobody answers there (D48, D55)', async (place) => {
    const whole = await audited();
    const { report } = await audited({ down: [place] });
    const before = whole.report.outcomes.flatMap(({ controls }) => controls);
    const after = report.outcomes.flatMap(({ controls }) => controls);
    // Either it fails, or what it says does not come from there.
    expect(
      after.filter((one, at) => one.result !== 'fail' && one.evidence.join() !== before[at]?.evidence.join()),
    ).toEqual([]);
    expect(after.some(({ result }) => result === 'fail')).toBe(true);
  });

  it('ends with 2 on a blocker, with 1 below the threshold, else with 0 (D47)', async () => {
    const weak = answering('/v1/endpoints');
    expect((await audited(weak)).code).toBe(1);
    const { call } = system(weak);
    expect(await call('harness', 'audit', '--fail-under', '0.9')).toBe(0);
    expect(await call('harness', 'audit', '--fail-under', '0.99')).toBe(1);
    expect(await system(effects({ ref: { assumption_refs: [] } })).call('harness', 'audit', '--fail-under', '0')).toBe(
      2,
    );
    expect(await call('harness', 'audit', '--fail-under', '1.5')).toBe(64);
  });

  it('sums up by outcome, with evidence and what to do (D45)', async () => {
    const { call, out } = system(answering('/v1/endpoints'));
    await call('harness', 'audit');
    expect(out()).toMatch(/observability\.notices +fail +P1/u);
    expect(out()).toContain(
      'observability.notices: fail, P1\n  nobody is told: the notifier has no endpoint\n  What to do: Start the notifier with an endpoint.',
    );
    expect(out()).toMatch(/\nobservability +4 +0 +1 +0\.800\n/u);
    expect(out()).toMatch(/\n39 pass, 0 partial, 1 fail, score 0\.975$/u);
  });

  it.each<[string, string, Weakness]>([
    [
      'context.sources',
      'a source nobody registered',
      answering('/v1/assumptions', { ref: 'r', sources: [{ source: 'ghost' }] }),
    ],
    [
      'context.freshness',
      'a source that never grows old',
      answering('/v1/entries/context_source', entry('warehouse', {})),
    ],
    [
      'context.reliance',
      'an effect that relies on nothing',
      effects({ ref: { ...(EFFECT['ref'] as Doc), assumption_refs: [] } }),
    ],
    [
      'context.disputes',
      'sources that contradict each other',
      answering('/v1/assumptions', { ref: 'r', sources: [], is_disputed: true }),
    ],
    [
      'context.release',
      'an effect without its release',
      effects({ execution: { ...(EFFECT['execution'] as Doc), release: null } }),
    ],
    ['policy.charters', 'an agent without a charter', answering('/v1/entries/agent_charter')],
    ['policy.rules', 'a contract that breaks a rule', without('verification')],
    [
      'policy.irreversible',
      'an irreversible capability that just goes',
      refund({ reversal_class: 'irreversible', forward_approval: 'policy' }),
    ],
    [
      'policy.apart',
      'a contract by whom the agent acts for',
      {
        answers: {
          '/v1/contracts': [
            registered(REFUND ?? {}, { registered_by: 'asha' }),
            registered(REVERSE ?? {}),
            registered(LOOK ?? {}),
          ],
        },
      },
    ],
    [
      'policy.routine',
      'a routine rule that lets money go',
      answering(
        '/v1/entries/policy_bundle',
        entry('refund-reversal', { routine: [{ name: 'all', capabilities: ['payments.issue_refund'] }] }),
      ),
    ],
    ['tools.contracts', 'a capability without a contract', { answers: { '/v1/contracts': [registered(LOOK ?? {})] } }],
    ['tools.arguments', 'arguments nobody described', refund({ args_schema: { type: 'object' } })],
    ['tools.repeats', 'a repeat that nobody can tell', without('idempotency')],
    ['tools.reconciliation', 'an end that nobody can find out', without('idempotency', 'reconcile_capability')],
    [
      'tools.observers',
      'a look that acts',
      {
        answers: {
          '/v1/contracts': [
            registered(REFUND ?? {}),
            registered(REVERSE ?? {}),
            registered({ ...LOOK, impact: 'write' }),
          ],
        },
      },
    ],
    ['validation.strangers', 'an edge that lets strangers in', { open: ['ledger'] }],
    ['validation.forgeries', 'an edge that believes anybody', { open: ['recoveries'] }],
    ['validation.verification', 'an undo that nobody verifies', without('verification')],
    [
      'validation.verification',
      'an undo that is verified by what always holds',
      refund({ verification: { ...(REFUND?.['verification'] as Doc), success_condition: 'true' } }),
    ],
    ['validation.stale_checks', 'an undo without a look', without('stale_check')],
    ['observability.ready', 'a service that is not ready', { down: ['budget/health/ready'] }],
    ['observability.metrics', 'a service nobody measures', { down: ['ledger/metrics'] }],
    ['observability.parked', 'a record that waits unread', answering('/v1/parked', { code: 'KEY_MISMATCH' })],
    ['observability.proof', 'an effect without a record', effects({ recorded_hash: null })],
    ['observability.notices', 'endpoints that are off', answering('/v1/endpoints', { name: 'chat', state: 'off' })],
    [
      'reversibility.bound',
      'an effect with nothing bound',
      effects({ ref: { ...(EFFECT['ref'] as Doc), reversal_args: null } }),
    ],
    [
      'reversibility.windows',
      'a handle without a window',
      effects({ ref: { ...(EFFECT['ref'] as Doc), reversal_expires_at: null } }),
    ],
    ['reversibility.loop', 'a loop that is off', { down: ['recoveries/health/ready'] }],
    ['reversibility.governance', 'a recovery nobody agreed to', answering('/v1/steps', { ...STEP, approvals: [] })],
    ['reversibility.observed', 'an undo nobody saw', effects({ is_seen_undone: false })],
    ['measurement.ceilings', 'no ceiling', answering('/v1/budgets')],
    [
      'measurement.ceilings',
      'an agent without one, beside one that has',
      {
        answers: {
          '/v1/budgets': [AGENTS({})],
          '/v1/mutations': [
            EFFECT,
            { ...EFFECT, mutation_id: 'mut_2', execution: { ...(EFFECT['execution'] as Doc), agent_id: 'agent-8' } },
          ],
        },
      },
    ],
    ['measurement.caps', 'no caps', without('blast_radius')],
    ['measurement.exposure', 'exposure nobody can read', { down: ['ledger/v1/reports/exposure'] }],
    ['measurement.reasons', 'reasons nobody can read', { down: ['recoveries/v1/reports/recoveries'] }],
    ['measurement.consumers', 'consumers nobody can read', { down: ['ledger/v1/reports/consumers'] }],
    [
      'improvement.deadlines',
      'an item that is overdue',
      answering('/v1/items', { kind: 'approval', id: 'st_1', is_overdue: true }),
    ],
    [
      'improvement.sources',
      'triggers nobody judged',
      answering('/v1/sources', { source: 'warehouse', confirmed: 0, rejected: 0 }),
    ],
    ['improvement.rises', 'a rise nobody looked at', answering('/v1/trends', { trend_id: 't' })],
    ['improvement.tasks', 'a task past its deadline', answering('/v1/tasks', { task_id: 't', deadline_at: 1 })],
    ['improvement.consumers', 'nobody who hears', answering('/v1/entries/subscription')],
  ])('names in %s %s', async (control, _what, weakness) => {
    const { lacking } = await audited(weakness);
    expect(lacking.map(({ id }) => id)).toContain(control);
  });
});

describe('the readiness of an agent', () => {
  it('has ten areas, and is ready once all of them pass (A93)', async () => {
    const { code, report, lacking } = await reviewed();
    expect(lacking).toEqual([]);
    expect(report).toMatchObject({
      agent: 'agent-7',
      ready: true,
      passed: 10,
      capabilities: ['payments.issue_refund'],
    });
    expect(report.areas).toHaveLength(10);
    expect(code).toBe(0);
  });

  it('is not ready by prevention alone: what never was undone is not known to be undoable (A93)', async () => {
    const { code, report, lacking } = await reviewed({
      answers: {
        '/v1/mutations': [
          { ...EFFECT, recoverability: 'reversal_available', rollback_id: null, is_seen_undone: false },
        ],
        '/v1/steps': [],
      },
    });
    expect(lacking).toEqual(['recovery', 'governance']);
    expect([report.ready, code]).toEqual([false, 1]);
  });

  it('is told to undo what it did in a tenant of its own, and not in a drill or a rehearsal, which record nothing', async () => {
    const never: Weakness = effects({ recoverability: 'reversal_available', rollback_id: null, is_seen_undone: false });
    const [one, all] = [await reviewed(never), await audited(never)];
    const remedies = [...one.report.areas, ...all.lacking].filter(({ id }) => /recovery$|loop$/u.test(id));
    expect(remedies.map(({ remedy }) => remedy)).toEqual([
      expect.stringContaining('`recourse undo`'),
      expect.stringContaining('`recourse undo`'),
    ]);
    expect(remedies.map(({ remedy }) => remedy).join()).not.toMatch(/drill|rehears/u);
    expect(JSON.stringify(one.report.areas)).not.toMatch(/rehears/u);
  });

  it('fails where the agent never acted', async () => {
    const { lacking } = await reviewed({ answers: { '/v1/mutations': [] } });
    expect(lacking).toEqual(['binding', 'lifecycle', 'recovery', 'governance', 'budget']);
  });

  it.each<[string, string, Weakness]>([
    [
      'classification',
      'an undeclared tool (A94)',
      { answers: { '/v1/mutations': [EFFECT, { ...EFFECT, mutation_id: 'mut_2', capability: 'mail.send_message' }] } },
    ],
    [
      'binding',
      'a ref without assumptions (A95)',
      effects({ ref: { ...(EFFECT['ref'] as Doc), assumption_refs: [] } }),
    ],
    [
      'binding',
      'an effect without a contract, beside one that has its way back (A95)',
      { answers: { '/v1/mutations': [EFFECT, UNCONTRACTED] } },
    ],
    [
      'binding',
      'an effect without terms, whatever a person made of it since (A95)',
      { answers: { '/v1/mutations': [EFFECT, { ...UNCONTRACTED, reason: 'DENIED' }] } },
    ],
    ['lifecycle', 'an open end that nobody owes (A96)', effects({ execution_state: 'uncertain', awaited: null })],
    ['lifecycle', 'effects that nobody announced (A96)', effects({ planned_sha256: null })],
    ['expiry', 'a windowless handle (A97)', without('reversal_window_ms', 'expires_after_commit_ms')],
    [
      'expiry',
      'an expired handle that nobody was asked about (A97)',
      { answers: { '/v1/mutations': [{ ...EFFECT, recoverability: 'reversal_expired' }], '/v1/steps': [] } },
    ],
    [
      'irreversible',
      'neither hold nor gate (A100)',
      refund({ reversal_class: 'irreversible', forward_approval: 'policy' }),
    ],
    ['recovery', 'a loop that is off (A98)', { down: ['recoveries/health/ready'] }],
    ['recovery', 'a fall without a step (A98)', { answers: { '/v1/steps': [] } }],
    ['governance', 'money that comes back by itself (A99)', refund({ recovery_approval_mode: 'auto' })],
    [
      'governance',
      'an agent that agrees to its own undo (A99)',
      answering('/v1/steps', { ...STEP, approvals: [{ by: 'asha' }] }),
    ],
    [
      'verification',
      'a capability that verifies itself (A99)',
      refund({ verification: { verify_capability: 'payments.reverse_refund' } }),
    ],
    [
      'blast_radius',
      'no cap on subjects (A99)',
      refund({ blast_radius: { scope: 'single_subject', max_calls_per_run: 1 } }),
    ],
    ['budget', 'no ceilings (A101)', answering('/v1/budgets')],
    ['budget', 'a ceiling in another currency (A101)', answering('/v1/budgets', ceiling({ currency: 'EUR' }))],
    ['budget', 'a ceiling of another agent (A101)', answering('/v1/budgets', AGENTS({ scope_id: 'agent-8' }))],
    ['budget', 'a ceiling of a run of another agent (A101)', answering('/v1/budgets', RUNS({ scope_id: 'run-8' }))],
    [
      'budget',
      'a ceiling of its name in another tenant (A101)',
      answering('/v1/budgets', AGENTS({ tenant: 'globex' }), ceiling({ tenant: 'globex', scope_id: 'globex' })),
    ],
    [
      'budget',
      'a budget that was counted and never bounded (A101)',
      answering('/v1/budgets', ceiling({ ceiling_minor: null })),
    ],
    [
      'budget',
      'a tenant of two without a ceiling (A101)',
      {
        answers: {
          '/v1/mutations': [
            EFFECT,
            { ...EFFECT, mutation_id: 'mut_2', execution: { ...(EFFECT['execution'] as Doc), tenant: 'globex' } },
          ],
        },
      },
    ],
    [
      'verification',
      'a condition that always holds, registered before that was refused (A27)',
      refund({ verification: { ...(REFUND?.['verification'] as Doc), success_condition: 'true' } }),
    ],
    [
      'verification',
      'a condition that its stale check asks, registered before that was refused (A27)',
      refund({ verification: { ...(REFUND?.['verification'] as Doc), success_condition: STALE } }),
    ],
    ['budget', 'debt that never accrued (A101)', answering('/v1/reservations')],
    ['budget', 'debt of nothing (A101)', answering('/v1/reservations', reservation({ debits: [] }))],
    [
      'budget',
      'debt of another agent in its run (A101)',
      answering('/v1/reservations', reservation({ agent_id: 'agent-8' })),
    ],
    [
      'budget',
      'debt in a run of its name of another tenant (A101)',
      answering('/v1/reservations', reservation({ tenant: 'globex' })),
    ],
    [
      'classification',
      'a contract of another tenant than one it acted in (A94)',
      acting({ execution: { ...(EFFECT['execution'] as Doc), tenant: 'globex' } }, 'acme'),
    ],
    [
      'binding',
      'an effect under another spelling of its name (A95)',
      { answers: { '/v1/mutations': [EFFECT, { ...UNCONTRACTED, execution: SPELT }] } },
    ],
    [
      'governance',
      'an agent that agrees to its own undo under another spelling (A99)',
      answering('/v1/steps', { ...STEP, approvals: [{ by: 'user:Asha' }] }),
    ],
  ])('fails %s by %s', async (area, _what, weakness) => {
    expect((await reviewed(weakness)).lacking).toContain(area);
  });

  it('takes the contract of each tenant it acted in, or one of all (A94)', async () => {
    const both = acting(
      { mutation_id: 'mut_2', execution: { ...(EFFECT['execution'] as Doc), tenant: 'globex' } },
      'acme',
      EFFECT,
    );
    const { report } = await reviewed(both);
    expect(report.areas.find(({ id }) => id === 'classification')?.evidence).toEqual([
      'payments.issue_refund: no contract stands for globex',
    ]);
    const whole = acting({}, 'acme');
    expect((await reviewed(whole)).lacking).toEqual([]);
  });

  it('takes no older version for one that stands, where the newest is retired', async () => {
    const versions = [registered(REFUND ?? {}), registered(REFUND ?? {}, { version: 2, retired: true })];
    const others = [REVERSE, LOOK].map((one) => registered(one ?? {}));
    expect((await reviewed(answering('/v1/contracts', ...others, ...versions))).lacking).toContain('classification');
  });

  it('is served by no bundle and no observer of another tenant', async () => {
    const bundle = { ...entry('refund-reversal', { routine: [] }), tenant: 'globex' };
    const refunds = [{ ...REFUND, recovery_policy_ref: 'refund-reversal' }, REVERSE ?? {}].map((one) =>
      registered(one),
    );
    const with_ = (look: Doc, ...bundles: readonly Doc[]): Weakness => ({
      answers: { '/v1/contracts': [...refunds, look], '/v1/entries/policy_bundle': bundles },
    });
    const own = await reviewed(with_(registered(LOOK ?? {}), { ...bundle, tenant: 'acme' }));
    expect(own.lacking).toEqual([]);
    const foreign = await reviewed(with_(registered(LOOK ?? {}, { tenant: 'globex' }), bundle));
    expect(foreign.lacking).toEqual(['governance', 'verification']);
  });

  it('looks at no contract of a tenant that it never was in', async () => {
    const foreign = registered({ ...REFUND, commit_hold_ms: 0, reversal_class: 'irreversible' }, { tenant: 'globex' });
    const standing = [...(SOUND['/v1/contracts'] as readonly Doc[]), foreign];
    expect((await reviewed(answering('/v1/contracts', ...standing))).lacking).toEqual([]);
  });

  it('is of one agent, however its name is spelt', async () => {
    const spelt: Weakness = {
      answers: {
        '/v1/mutations': [{ ...EFFECT, execution: SPELT }],
        '/v1/entries/agent_charter': [entry('refunds', { agent: 'AGENT-7', allowed: ['payments.issue*'] })],
        '/v1/budgets': [AGENTS({ scope_id: 'agent:agent-7' })],
      },
    };
    expect((await reviewed(spelt)).lacking).toEqual([]);
    expect((await audited(spelt)).lacking).toEqual([]);
  });

  it.each<[string, Doc]>([
    ['its own', AGENTS({})],
    ['one of its runs', RUNS({})],
    ['its tenant', ceiling()],
    ['the platform over its tenant', ceiling({ scope: 'platform' })],
    ['the value it moves', ceiling({ ceiling_minor: null, value_ceiling_minor: 500_000 })],
    ['the value one of its runs moves', RUNS({ ceiling_minor: null, value_ceiling_minor: 500_000 })],
    ['a day', ceiling({ window: 'day' })],
  ])('takes a ceiling of %s, as the accountant counts it (A101)', async (_whose, row) => {
    expect((await reviewed(answering('/v1/budgets', row))).lacking).toEqual([]);
  });

  it('names the ceilings that are missing, and where', async () => {
    const other = { ...EFFECT, mutation_id: 'mut_2', execution: { ...(EFFECT['execution'] as Doc), tenant: 'globex' } };
    const evidence = async (rows: readonly Doc[], ...more: readonly Doc[]) => {
      const answers = { '/v1/budgets': rows, '/v1/mutations': [EFFECT, ...more] };
      return (await reviewed({ answers })).report.areas.find(({ id }) => id === 'budget')?.evidence;
    };
    expect(await evidence([])).toEqual(['no ceiling is set']);
    expect(await evidence([AGENTS({ scope_id: 'agent-8' })])).toEqual(['no ceiling that is set counts what it does']);
    expect(await evidence([ceiling({ currency: 'EUR' })])).toEqual(['no ceiling for INR']);
    expect(await evidence([ceiling()], other)).toEqual(['no ceiling for INR in globex']);
  });

  it('looks at tools that were never called, too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'recourse-probes-'));
    writeFileSync(join(folder, 'tools.yaml'), '[mail.send_message]');
    const { call, out, note } = system({}, folder);
    expect(await call('readiness', 'agent-7', '--tools', 'tools.yaml')).toBe(2);
    expect(out()).toContain('classification: fail, P0\n  mail.send_message: no contract stands');
    expect(out()).toContain('agent-7 is not ready: 9 pass, 0 partial, 1 fail, score 0.900; blocked by classification');
    writeFileSync(join(folder, 'tools.yaml'), '[payments.issue_refund, { name: payments.send_wire }, "", 7]');
    expect(await call('readiness', 'agent-7', '--tools', 'tools.yaml')).toBe(64);
    expect(note()).toContain('FILE_UNREADABLE: tools.yaml: entries 2, 3, 4 are no names');
    writeFileSync(join(folder, 'tools.yaml'), '{}');
    expect(await call('readiness', 'agent-7', '--tools', 'tools.yaml')).toBe(64);
    expect(note()).toContain('FILE_UNREADABLE: tools.yaml lists no capability');
    rmSync(folder, { recursive: true });
  });
});

describe('readiness of an agent that nobody has heard of', () => {
  it('is no report: it says that nothing is on record, and what to do', async () => {
    const { call, out, note } = system();
    expect(await call('readiness', 'nobody-agent')).toBe(3);
    expect(note()).toMatch(/^AGENT_UNKNOWN: nobody has heard of nobody-agent[^]*What to do: Check its id/u);
    expect(out()).toBe('');
  });

  it('is a report of blockers where what is on record cannot be read', async () => {
    const { call, out } = system({ down: ['ledger/v1/mutations'] });
    expect(await call('readiness', 'nobody-agent')).toBe(2);
    expect(out()).toContain('nobody-agent is not ready');
  });
});
