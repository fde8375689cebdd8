import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Accepted } from '../audit/accepted.js';
import { desk } from '../desk.testing.js';
import { evalReportShape } from './grade.js';
import { nearTo } from './forbidden.js';
import { callsFromLog, capabilitiesInLog } from './runs.js';
import { fits, readSuite } from './suite.js';
import type { Trajectory } from './suite.js';
import { gradeTrajectory } from './trajectory.decisions.js';
import type { Call } from './trajectory.decisions.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-eval-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const call = (tool: string, args: Call['args'] = {}, state = 'succeeded'): Call => ({
  tool,
  args,
  is_readable: true,
  state,
  mutation_id: `mut_${tool}`,
});
const step = (tool: string, more: Partial<Trajectory['steps'][number]> = {}): Trajectory['steps'][number] => ({
  tool,
  optional: false,
  require_success: false,
  ...more,
});
const graded = (asked: Partial<Trajectory>, ...calls: readonly (Call | string)[]) =>
  gradeTrajectory(
    { mode: 'strict', forbid: [], steps: [], ...asked },
    calls.map((one) => (typeof one === 'string' ? call(one) : one)),
  );
const [GET, REFUND, MAIL] = ['orders.get_order', 'payments.issue_refund', 'mail.send_message'];
const STEPS = [step(GET), step(REFUND), step(MAIL)];

describe('a trajectory', () => {
  it('strict: every step in its order and nothing else (D50)', () => {
    expect(graded({ steps: STEPS }, GET, REFUND, MAIL)).toMatchObject({ passed: true, score: 1 });
    expect(graded({ steps: STEPS }, GET, MAIL, REFUND).passed).toBe(false);
    expect(graded({ steps: STEPS }, GET, REFUND, REFUND, MAIL)).toMatchObject({ score: 0.75, unexpected: [REFUND] });
    expect(graded({ steps: STEPS }, GET, MAIL)).toMatchObject({ score: 0.666, missing: [REFUND] });
  });

  it('subsequence: the steps in their order, whatever lies between (D50)', () => {
    const steps = [step(GET), step(MAIL)];
    expect(graded({ mode: 'subsequence', steps }, REFUND, GET, REFUND, MAIL, REFUND).passed).toBe(true);
    expect(graded({ mode: 'subsequence', steps }, MAIL, GET)).toMatchObject({ passed: false, missing: [MAIL] });
  });

  it('unordered: the same set, in any order, each call once (D50)', () => {
    expect(graded({ mode: 'unordered', steps: STEPS }, MAIL, GET, REFUND).passed).toBe(true);
    expect(graded({ mode: 'unordered', steps: STEPS }, MAIL, GET, REFUND, REFUND)).toMatchObject({
      passed: false,
      unexpected: [REFUND],
    });
    const any = { ...step(''), tool: undefined, tool_pattern: 'mail.*' };
    expect(graded({ mode: 'unordered', steps: [any, step(MAIL)] }, MAIL, 'mail.cancel_message').passed).toBe(true);
  });

  it('a forbidden tool fails it, wherever it stands and however it ended (D51)', () => {
    const asked: Partial<Trajectory> = { mode: 'subsequence', forbid: ['payments.*'], steps: [step(MAIL)] };
    expect(graded(asked, MAIL, call(REFUND, {}, 'failed'))).toMatchObject({
      passed: false,
      score: 0.5,
      forbidden: [REFUND],
    });
  });

  it('arguments: exactly, or a part at any depth (D51)', () => {
    const made = call(REFUND, { order: '4711', money: { amount: 5, currency: 'INR' } });
    const asked = (more: Partial<Trajectory['steps'][number]>) => graded({ steps: [step(REFUND, more)] }, made);
    expect(asked({ args: { money: { currency: 'INR', amount: 5 }, order: '4711' } }).passed).toBe(true);
    expect(asked({ args: { order: '4711' } })).toMatchObject({ passed: false, arguments: [REFUND] });
    expect(asked({ args_subset: { money: { amount: 5 } } }).passed).toBe(true);
    expect(asked({ args_subset: { money: { amount: 6 } } })).toMatchObject({ arguments: [REFUND] });
    expect(asked({ args_subset: { constructor: {} } }).passed).toBe(false);
    const sealed = { ...made, args: null, is_readable: false };
    expect(graded({ steps: [step(REFUND, { args: {} })] }, sealed)).toMatchObject({ unreadable: [REFUND] });
  });

  it('optional steps may be left out, and success may be asked for (D51)', () => {
    const steps = [step(GET, { optional: true }), step(REFUND, { require_success: true })];
    expect(graded({ steps }, REFUND).passed).toBe(true);
    expect(graded({ steps }, GET, REFUND).passed).toBe(true);
    expect(graded({ steps }, GET, call(REFUND, {}, 'uncertain'))).toMatchObject({ unsuccessful: [REFUND] });
    expect(graded({ mode: 'subsequence', steps }, call(REFUND, {}, 'failed'), REFUND).passed).toBe(true);
  });

  it('scores 1 exactly when it passes, and says the same of the same calls', () => {
    const tool = fc.constantFrom(GET, REFUND, MAIL);
    const asked = fc.record({
      mode: fc.constantFrom('strict' as const, 'subsequence' as const, 'unordered' as const),
      forbid: fc.subarray([REFUND]),
      steps: fc.array(
        fc.tuple(tool, fc.boolean()).map(([name, optional]) => step(name, { optional })),
        { maxLength: 5 },
      ),
    });
    fc.assert(
      fc.property(asked, fc.array(tool, { maxLength: 7 }), (path, tools) => {
        const grade = gradeTrajectory(
          path,
          tools.map((name) => call(name)),
        );
        expect(grade.score === 1).toBe(grade.passed);
        expect(grade.score).toBeGreaterThanOrEqual(0);
        expect(
          gradeTrajectory(
            path,
            tools.map((name) => call(name)),
          ),
        ).toEqual(grade);
      }),
    );
  });

  it('grades the longest run there is in less than a second, whatever its pattern', () => {
    const steps = Array.from({ length: 500 }, () => step(REFUND, { optional: true }));
    expect(graded({ steps }, ...Array.from({ length: 5_000 }, () => MAIL)).unexpected).toHaveLength(5_000);
    expect(fits('*a*a*a*a*a*b', 'a'.repeat(10_000))).toBe(false);
    expect(['payments.*', '*', '*.issue_refund', REFUND].every((one) => fits(one, REFUND))).toBe(true);
    expect(['payments', 'p*s', '*x*', 'payments.issue_refund*refund'].some((one) => fits(one, REFUND))).toBe(false);
  });
});

describe('the log of a run', () => {
  const record = (type: string, body: object): Accepted => ({
    log: 'recourse.mutations',
    partition: 0,
    offset: 0,
    seq: 1,
    hash: '',
    type,
    body,
    raw: { key: null, value: Buffer.alloc(0) },
  });
  const execution = (capability: string, run_id = 'run-1') => ({
    run_id,
    capability,
    args: { encoding: 'plain', body: Buffer.from('{"order":"4711"}') },
  });

  it('gives its calls in the order they were announced in, each in its last state', () => {
    const calls = callsFromLog(
      [
        record('MutationPlanned', { mutation_id: 'a', execution: execution(REFUND) }),
        record('MutationPlanned', { mutation_id: 'b', execution: execution(MAIL) }),
        record('MutationRecorded', { mutation_id: 'b', execution: execution(MAIL), execution_state: 'succeeded' }),
        record('MutationRecorded', { mutation_id: 'a', execution: execution(REFUND), execution_state: 'failed' }),
        record('MutationRecorded', { mutation_id: 'c', execution: execution(GET, 'run-2'), execution_state: 'failed' }),
      ],
      'run-1',
      null,
    );
    expect(calls.map(({ tool, state, args }) => [tool, state, args])).toEqual([
      [REFUND, 'failed', { order: '4711' }],
      [MAIL, 'succeeded', { order: '4711' }],
    ]);
  });
});

describe('a run whose name several tenants have', () => {
  const of = (tenant: string, id: string, capability: string): Accepted => ({
    log: 'recourse.mutations',
    partition: 0,
    offset: 0,
    seq: 1,
    hash: '',
    type: 'MutationRecorded',
    body: {
      mutation_id: id,
      execution_state: 'succeeded',
      execution: { tenant, run_id: 'run-1', capability, args: { encoding: 'sealed' } },
    },
    raw: { key: null, value: Buffer.alloc(0) },
  });
  const records = [of('acme', 'a', GET), of('globex', 'b', REFUND)];

  it('is graded by the calls of the tenant that is named', () => {
    expect(callsFromLog(records, 'run-1', 'acme').map(({ tool }) => tool)).toEqual([GET]);
    expect(callsFromLog(records, 'run-1', 'globex').map(({ tool }) => tool)).toEqual([REFUND]);
    expect(callsFromLog(records.slice(0, 1), 'run-1', null).map(({ tool }) => tool)).toEqual([GET]);
  });

  it('is graded by those of none until one is named, in a dump as by the ledger', async () => {
    expect(() => callsFromLog(records, 'run-1', null)).toThrow(
      expect.objectContaining({ code: 'TENANT_AMBIGUOUS', remedy: expect.stringContaining('--tenant') }),
    );
    writeFileSync(
      join(folder, 'suite.yaml'),
      'id: a\ninput: x\nrun: run-1\ntrajectory: { mode: strict, steps: [{ tool: a.b }] }\n',
    );
    const items = ['globex', 'acme'].map((tenant) => ({ capability: GET, execution: { tenant } }));
    const { call: recourse, note } = desk(
      ({ pathname }) => (pathname === '/v1/mutations' ? Response.json({ items, next_cursor: null }) : undefined),
      { folder },
    );
    expect(await recourse('eval', 'suite.yaml')).toBe(64);
    expect(note()).toContain('TENANT_AMBIGUOUS: several tenants have a run run-1: acme, globex');
  });

  it('knows no capability of a dump by the contract of another', () => {
    const contract = (name: string, tenant: string): Accepted => ({
      ...of(tenant, '', name),
      log: 'recourse.contracts',
      type: 'ContractRegistered',
      body: { name, tenant },
    });
    const dump = [contract(MAIL, '*'), contract('payments.own', 'acme'), ...records];
    expect(capabilitiesInLog(dump, 'globex')).toEqual([MAIL, REFUND]);
    expect(capabilitiesInLog(dump, null)).toEqual([MAIL, 'payments.own', GET, REFUND]);
  });
});

describe('capabilities of a dump', () => {
  it('are those that contracts are about, and those that were called', () => {
    const of = (log: string, type: string, body: object): Accepted => ({
      log,
      partition: 0,
      offset: 0,
      seq: 1,
      hash: '',
      type,
      body,
      raw: { key: null, value: Buffer.alloc(0) },
    });
    expect(
      capabilitiesInLog(
        [
          of('recourse.contracts', 'ContractRegistered', { name: REFUND }),
          of('recourse.contracts', 'ContractRegistered', { name: REFUND }),
          of('recourse.contracts', 'RegistrationProposed', { name: 'payments.never_stood' }),
          of('recourse.contracts', 'EntryRegistered', { name: 'refund-reversal' }),
          of('recourse.mutations', 'MutationRecorded', { execution: { capability: MAIL } }),
          of('recourse.mutations', 'ExecutionOverdue', {}),
        ],
        null,
      ),
    ).toEqual([REFUND, MAIL]);
  });
});

describe('names that come near', () => {
  it('are those a slip of the pen away, the nearest first', () => {
    const known = [REFUND, 'payments.issue_refunds', 'payments.charge_card', MAIL];
    expect(nearTo('payments.isue_refund', known)).toEqual([REFUND, 'payments.issue_refunds']);
    expect(nearTo('payment.issue_refund', known)[0]).toBe(REFUND);
    expect(nearTo('storage.drop_bucket', known)).toEqual([]);
  });
});

describe('recourse eval', () => {
  const row = (id: string, capability: string, created_at: number) => ({
    mutation_id: id,
    capability,
    created_at,
    recorded_seq: created_at,
    execution_state: 'succeeded',
    execution: { args: { encoding: 'plain', body: { order: '4711' } } },
  });
  const ONCE = [row('mut_2', MAIL, 2), row('mut_1', REFUND, 1)];
  const TWICE = [...ONCE, row('mut_3', REFUND, 3)];
  const suite = (text: string): string => {
    writeFileSync(join(folder, 'suite.yaml'), text);
    return 'suite.yaml';
  };
  const at = (items: readonly object[]) =>
    desk(
      ({ pathname, path }) => {
        if (pathname === '/v1/mutations') return Response.json({ items, next_cursor: null });
        if (pathname !== '/v1/contracts') return undefined;
        const name = new URLSearchParams(path.split('?')[1]).get('name');
        const rows = CONTRACTS.filter((one) => name === null || one === name).map((one) => ({ name: one }));
        return Response.json({ items: rows, next_cursor: null });
      },
      { folder },
    );
  const CONTRACTS = ['payments.charge_card', 'payments.get_refund', REFUND];
  const REFUND_PATH = `
name: support
cases:
  - id: refund_path
    input: refund order 4711
    run: run-1
    answer: Your order was refunded.
    matchers: [{ kind: contains, text: refunded }]
    trajectory:
      mode: strict
      forbid: [payments.charge_card]
      steps: [{ tool: payments.issue_refund }, { tool: mail.send_message, args_subset: { order: "4711" } }]
`;

  it('passes a run that went as its case says (D52)', async () => {
    const { call: recourse, paths, out } = at(ONCE);
    expect(await recourse('eval', suite(REFUND_PATH))).toBe(0);
    expect(paths()).toEqual([
      '/v1/mutations?run_id=run-1&limit=500',
      '/v1/contracts?name=payments.charge_card&limit=1',
    ]);
    expect(out()).toContain('support: 1 passed, 0 failed, trajectory_score=1.000');
  });

  it('fails a double refund whose answer is right (D49)', async () => {
    const { call: recourse, out } = at(TWICE);
    expect(await recourse('eval', suite(REFUND_PATH))).toBe(1);
    expect(out()).toContain('  [trajectory] score=0.666 (unexpected:payments.issue_refund)');
  });

  it('names what is forbidden and what is missing in one line (D53)', async () => {
    const { call: recourse, out } = at([row('mut_1', 'payments.charge_card', 1), row('mut_2', REFUND, 2)]);
    expect(await recourse('eval', suite(REFUND_PATH))).toBe(1);
    expect(out().split('\n').slice(-4)).toEqual([
      'refund_path',
      '  [trajectory] score=0.333 (forbidden:payments.charge_card, missing:mail.send_message)',
      '',
      'support: 0 passed, 1 failed, trajectory_score=0.333',
    ]);
  });

  it('fails where the answer is not as it should be, or nobody has one', async () => {
    const wrong = REFUND_PATH.replace('was refunded', 'is on its way');
    const { call: recourse, out } = at(ONCE);
    expect(await recourse('eval', suite(wrong))).toBe(1);
    expect(out()).toContain('[contains] "refunded" is not in the answer');
    expect(await recourse('eval', suite(REFUND_PATH.replace(/ {4}answer.*\n/, '')))).toBe(1);
    expect(out()).toContain('the run has no final answer on record, and the case none');
    writeFileSync(join(folder, 'answers.yaml'), 'run-1: it is refunded');
    expect(await recourse('eval', suite(REFUND_PATH.replace(/ {4}answer.*\n/, '')), '--answers', 'answers.yaml')).toBe(
      0,
    );
  });

  it('fails a run that nobody heard of, whatever the case asks', async () => {
    const alone = 'id: quiet\ninput: do nothing\nrun: run-9\ntrajectory: { mode: strict, forbid: ["*"] }\n';
    const { call: recourse, out } = at([]);
    expect(await recourse('eval', suite(alone))).toBe(1);
    expect(out()).toContain('[run] nothing is on record of run-9');
  });

  it('fails a run that never was, also where the case brings its own answer and asks for no way', async () => {
    const own =
      'id: told\ninput: x\nrun: run-9\nanswer: It is refunded.\nmatchers: [{ kind: contains, text: refunded }]\n';
    const { call: recourse, out } = at([]);
    expect(await recourse('eval', suite(own))).toBe(1);
    expect(out()).toContain('[run] nothing is on record of run-9');
    writeFileSync(join(folder, 'answers.yaml'), 'run-9: it is refunded');
    expect(await recourse('eval', suite(own.replace(/answer.*\n/, '')), '--answers', 'answers.yaml')).toBe(0);
  });

  it('gives scripts a report of the published shape, and CI its JUnit', async () => {
    const { call: recourse, out } = at(TWICE);
    const named = REFUND_PATH.replace('name: support', 'name: "a <b> & \\"c\\""');
    expect(await recourse('eval', suite(named), '--json', '--junit', 'report.xml')).toBe(1);
    const report: unknown = JSON.parse(out());
    expect(evalReportShape.parse(report)).toMatchObject({ passed: false, cases_failed: 1, trajectory_score: 0.666 });
    expect(readFileSync(join(folder, 'report.xml'), 'utf8')).toBe(
      readFileSync('apps/cli/src/eval/junit.golden.xml', 'utf8'),
    );
  });

  it('lists everything that is wrong with a suite, and grades nothing', async () => {
    const bad = `
cases:
  - { id: one, input: a }
  - { id: one, input: a, run: r, trajectory: { mode: subsequence, steps: [{ tool: a.b_c, optional: true }] } }
  - { id: three, input: a, run: r, trajectory: { mode: strict, forbid: ["a.*"], steps: [{ tool: a.b_c, tool_pattern: "*", args: {}, args_subset: {} }, {}] } }
`;
    const { call: recourse, note, paths } = at(ONCE);
    expect(await recourse('eval', suite(bad))).toBe(64);
    expect(paths()).toEqual([]);
    expect(
      note()
        .split('\n')
        .map((line) => line.trim().split(':')[0]),
    ).toEqual([
      'SUITE_INVALID',
      'CASE_EMPTY at /cases/0',
      'TRAJECTORY_EMPTY at /cases/1/trajectory',
      'CASE_ID_TAKEN at /cases/1/id',
      'STEP_TOOL_UNCLEAR at /cases/2/trajectory/steps/0',
      'STEP_ARGS_UNCLEAR at /cases/2/trajectory/steps/0',
      'STEP_FORBIDDEN at /cases/2/trajectory/steps/0',
      'STEP_TOOL_UNCLEAR at /cases/2/trajectory/steps/1',
      'What to do',
    ]);
    expect(readSuite({ cases: [{ id: 'a b', mode: 1 }] })).toMatchObject({ ok: false });
    expect(await recourse('eval', suite(REFUND_PATH.replace('run: run-1', '')), '--run', 'other=run-1')).toBe(64);
    expect(note()).toMatch(/CASE_WITHOUT_RUN at \/cases\/0\/run[^]*CASE_UNKNOWN: --run names other/u);
  });

  it('refuses to grade by a forbidden name that nobody knows, and names those that come near (D51)', async () => {
    const { call: recourse, note, out } = at(ONCE);
    const slip = REFUND_PATH.replace(
      'payments.charge_card',
      'payments.chrage_card, storage.drop_bucket, payments.get_refund',
    );
    expect(await recourse('eval', suite(slip))).toBe(64);
    expect(out()).toBe('');
    expect(note()).toContain(
      'FORBID_UNKNOWN at /cases/0/trajectory/forbid/0: payments.chrage_card has no contract and is in no case: forbidding it forbids nothing; near it: payments.charge_card',
    );
    expect(note()).toContain('FORBID_UNKNOWN at /cases/0/trajectory/forbid/1: storage.drop_bucket has no contract');
    expect(note()).not.toContain('/forbid/2');
    expect(note()).not.toMatch(/drop_bucket[^\n]*near/u);
  });

  it('grades by a pattern that fits nothing anybody knows, and names it where something begins nearly so', async () => {
    const { call: recourse, note } = at(ONCE);
    const slip = REFUND_PATH.replace('payments.charge_card', '"paymets.*", "storage.*", "*.get_refund"');
    expect(await recourse('eval', suite(slip))).toBe(0);
    expect(note()).toContain(
      'FORBID_PATTERN_IDLE at /cases/0/trajectory/forbid/0: paymets.* fits nothing that anybody knows: today it forbids nothing; near it: payments.',
    );
    expect(note()).not.toMatch(/forbid\/[12]/u);
  });

  it('knows a forbidden name that was called, or that another case asks for, and asks nobody of patterns that those fit', async () => {
    const bare = REFUND_PATH.replace('payments.charge_card', '"ghost.*", ghost.do_thing');
    const other = `  - { id: other, input: a, run: run-1, trajectory: { mode: subsequence, steps: [{ tool: ghost.do_thing }] } }\n`;
    const called = at([...ONCE, row('mut_3', 'ghost.do_thing', 3)]);
    expect(await called.call('eval', suite(bare))).toBe(1);
    expect(called.out()).toContain('forbidden:ghost.do_thing');
    const asked = at(ONCE);
    expect(await asked.call('eval', suite(`${bare}${other}`))).toBe(1);
    expect([...called.paths(), ...asked.paths()].filter((path) => path.startsWith('/v1/contracts'))).toEqual([]);
  });

  it('grades nothing where nobody says which capabilities there are', async () => {
    const { call: recourse, out } = desk(
      ({ pathname }) => (pathname === '/v1/mutations' ? Response.json({ items: ONCE, next_cursor: null }) : undefined),
      { folder },
    );
    expect(await recourse('eval', suite(REFUND_PATH))).toBeGreaterThan(2);
    expect(out()).toBe('');
  });

  it('takes the run of a case from the command line, before that of the file', async () => {
    const { call: recourse, paths } = at(ONCE);
    expect(await recourse('eval', suite(REFUND_PATH), '--run', 'refund_path=run-7')).toBe(0);
    expect(paths()[0]).toBe('/v1/mutations?run_id=run-7&limit=500');
  });
});
