import { describe, expect, it } from '@jest/globals';
import { subjectId } from '@recourse/contract';
import type { Accepted } from '../audit/accepted.js';
import { openedIn } from './opened.js';
import { tenantsOf } from './selection.js';
import { storyHtml } from './story.html.js';
import { countedIn, storyOf, storyShape } from './story.js';
import type { Story } from './story.js';

const payload = (value: unknown): object => ({ encoding: 'plain', body: Buffer.from(JSON.stringify(value)) });
const HOSTILE = '<img src=x onerror=alert(1)>"\'&\u202e</td><script>';
const EXECUTION = {
  tenant: 'acme',
  run_id: 'run-1',
  agent_id: 'agent-7',
  initiator: 'asha',
  objective: HOSTILE,
  capability: 'payments.issue_refund',
  effect_key: 'eff-1',
  subject_ref: 'customer/7',
  args: payload({ order: '4711' }),
  result: payload({ refund_id: 're_1' }),
};
let seq = 0;
const record = (log: string, type: string, body: object): Accepted => {
  seq += 1;
  return {
    log: `recourse.${log}`,
    partition: 1,
    offset: seq,
    seq,
    hash: seq.toString(16).padStart(64, '0'),
    type,
    body: { decided_at: seq * 1_000, ...('execution' in body ? {} : { tenant: 'acme' }), ...body },
    raw: { key: Buffer.from('k'), value: Buffer.from('v') },
  };
};
const REF = 'order/4711#not_shipped';
const DIGEST = Buffer.alloc(32, 7);
const fallen = record('mutations', 'MutationsFell', {
  decided_at: 9_500,
  run_id: 'run-1',
  evidence: { source: 'warehouse', ref: REF, statement: payload('shipped') },
  members: [
    { mutation_id: 'mut_0', rollback_id: 'rb_0' },
    { mutation_id: 'mut_1', rollback_id: 'rb_1' },
  ],
});
const RECORDS: readonly Accepted[] = [
  record('contracts', 'ContractRegistered', {
    name: 'payments.issue_refund',
    tenant: '*',
    version: 2,
    digest: DIGEST,
    registered_by: 'ravi',
  }),
  record('contracts', 'ContractRegistered', {
    name: 'mail.send_message',
    version: 1,
    digest: Buffer.alloc(32, 8),
    registered_by: 'ravi',
  }),
  record('mutations', 'MutationPlanned', {
    mutation_id: 'mut_1',
    execution: EXECUTION,
    assumption_refs: [REF],
    terms: { contract_digest: DIGEST },
  }),
  record('budgets', 'BudgetReserved', {
    reservation_id: 'res_1',
    run_id: 'run-1',
    effect_key: 'eff-1',
    value: { amount_minor: 500, currency: 'INR' },
  }),
  record('mutations', 'MutationRecorded', {
    mutation_id: 'mut_1',
    execution: EXECUTION,
    execution_state: 'succeeded',
    terms: { contract_digest: DIGEST },
    ref: {
      assumption_refs: [REF],
      reversal_capability: 'payments.reverse_refund',
      reversal_args: { encoding: 'sealed', sha256: Buffer.alloc(32, 9) },
      reversal_expires_at: 0,
    },
  }),
  record('mutations', 'MutationRecorded', {
    mutation_id: 'mut_9',
    execution: { ...EXECUTION, run_id: 'run-2', effect_key: 'eff-9' },
    execution_state: 'succeeded',
    ref: {},
  }),
  record('assumptions', 'AssumptionStated', {
    tenant: 'acme',
    ref: REF,
    run_id: null,
    source: 'warehouse',
    kind: 'invalidated',
    statement: payload('shipped'),
  }),
  record('assumptions', 'AssumptionStated', {
    tenant: 'other',
    ref: REF,
    run_id: null,
    source: 'warehouse',
    kind: 'invalidated',
    statement: payload('not yours'),
  }),
  fallen,
  {
    ...record('rollback-notifications', 'RollbackAnnounced', {
      decided_at: undefined,
      source_seq: fallen.seq,
      run_id: 'run-1',
      members: [{ mutation_id: 'mut_1', rollback_id: 'rb_1' }],
    }),
    partition: 1,
  },
  record('recoveries', 'RecoveryPlanned', {
    run_id: 'run-1',
    recovery_id: 'rec_1',
    members: [
      {
        mutation_id: 'mut_1',
        rollback_id: 'rb_1',
        step_id: 'st_1',
        decision: 'request_approval',
        reason: 'HIGH_IMPACT',
        call: { capability: 'payments.reverse_refund' },
        action_digest: DIGEST,
        required_approvals: 1,
        owner: 'approver',
        deadline_at: 0,
      },
    ],
  }),
  record('recoveries', 'FactsObserved', {
    run_id: 'run-1',
    step_id: 'st_1',
    mutation_id: 'mut_1',
    observations: [{ capability: 'payments.get_refund', observed: payload({ status: 'settled' }) }],
  }),
  record('recoveries', 'StepApproved', {
    run_id: 'run-1',
    step_id: 'st_1',
    mutation_id: 'mut_1',
    action_digest: DIGEST,
    by: 'olga',
    reason: 'it was shipped',
  }),
  record('recoveries', 'LegSettled', {
    run_id: 'run-1',
    attempt: 1,
    members: [
      {
        step_id: 'st_1',
        mutation_id: 'mut_1',
        outcome: 'failed',
        reason: 'TOOL_FAILED',
        observations: [],
        error_kind: 'TOOL_REJECTED',
        said: payload('the bank blocks it'),
      },
    ],
  }),
  record('mutations', 'RecoverabilityChanged', {
    run_id: 'run-1',
    event: 'compensation_verified',
    members: [{ mutation_id: 'mut_1', from_state: 'compensating', to_state: 'compensated' }],
  }),
  ...[
    ['acme', 'customer/8'] as const,
    ['other', 'customer/7'] as const,
    ['acme', 'customer/7'] as const,
    ['other', 'order/4711'] as const,
    ['acme', 'order/4711'] as const,
  ].map(([tenant, subject]) =>
    record('mutations', 'ErasureOrdered', {
      erasure_id: 'cmd_1',
      tenant: 'acme',
      subject_id: subjectId(tenant, subject),
      ended_by: null,
      by: 'ada',
      reason: `asked to be forgotten: ${subject}`,
    }),
  ),
  record('mutations', 'Progress', { run_id: 'run-1' }),
  record('recoveries', 'SomethingNew', { run_id: 'run-1', mutation_id: 'mut_1' }),
];
/** What another tenant wrote under the names of this one, and one that calls itself all of them. */
const FOREIGN: readonly Accepted[] = [
  record('contracts', 'ContractRegistered', { tenant: 'evil', digest: DIGEST, registered_by: 'mallory' }),
  record('recoveries', 'ForwardApprovalRequested', {
    tenant: 'evil',
    run_id: 'run-1',
    effect_key: 'eff-1',
    approval_id: 'ap_9',
  }),
  record('recoveries', 'ForwardApprovalDecided', { tenant: 'evil', run_id: 'run-1', approval_id: 'ap_9', by: 'mira' }),
  record('recoveries', 'RecoveryClosed', { tenant: 'evil', run_id: 'run-1', outcome: 'recovered' }),
  record('recoveries', 'HaltsReviewed', { tenant: '*', run_id: 'run-1', effect_key: 'eff-1' }),
];
const told = (id: string, records = RECORDS): Story => {
  const found = storyOf(records, id);
  if (found === null) throw new Error(`no story of ${id}`);
  return storyShape.parse(found.story);
};

describe('the story of a mutation', () => {
  const { lines } = told('mut_1');

  it('goes from the contract and the intent to the end, in the order of decisions, and is about nothing else', () => {
    expect(lines.map(({ type }) => type)).toEqual([
      'ContractRegistered',
      'MutationPlanned',
      'BudgetReserved',
      'MutationRecorded',
      'AssumptionStated',
      'MutationsFell',
      'RollbackAnnounced',
      'RecoveryPlanned',
      'FactsObserved',
      'StepApproved',
      'LegSettled',
      'RecoverabilityChanged',
      'ErasureOrdered',
      'ErasureOrdered',
      'SomethingNew',
    ]);
    expect(lines.map(({ what }) => what).join('\n')).not.toContain('not yours');
  });

  it('names who decided what, and on which facts', () => {
    const approved = lines.find(({ type }) => type === 'StepApproved');
    expect(approved).toMatchObject({
      who: 'olga',
      what: 'approved exactly the action 070707070707: it was shipped',
      is_decision: true,
      on_facts: [5, 6, 8, 9],
    });
    expect(lines.filter(({ is_decision: is }) => is).map(({ type }) => type)).toEqual([
      'StepApproved',
      'ErasureOrdered',
      'ErasureOrdered',
    ]);
  });

  it("tells a look that another worker takes as the orchestrator's, and its answer as that worker's", () => {
    const of = { run_id: 'run-1', step_id: 'st_1', mutation_id: 'mut_1' };
    const looks = [
      record('recoveries', 'LookDispatched', {
        ...of,
        leg_id: 'look_1',
        purpose: 'reconcile',
        by: 'olga',
        not_by: null,
      }),
      record('recoveries', 'LookAnswered', { ...of, leg_id: 'look_1', observations: [] }),
      record('recoveries', 'LookDispatched', { ...of, leg_id: 'look_2', purpose: 'observe', by: 'a', not_by: 'w-1' }),
      record('recoveries', 'LookAnswered', { ...of, leg_id: 'look_2', observations: [] }),
    ];
    const told = storyOf([...RECORDS, ...looks], 'mut_1')?.story.lines.filter(({ type }) => type.startsWith('Look'));
    expect(told?.map(({ who, is_decision: is }) => [who, is])).toEqual([
      ['olga', true],
      ['a worker', false],
      ['the orchestrator', false],
      ['another worker', false],
    ]);
  });

  it('says in what words an attempt failed', () => {
    expect(lines.find(({ type }) => type === 'LegSettled')?.what).toBe(
      'judged the attempt: failed: TOOL_FAILED; the worker says TOOL_REJECTED; in its words: "the bank blocks it"; nothing was seen',
    );
  });

  it('says who had its payloads erased, and why', () => {
    expect(lines.filter(({ type }) => type === 'ErasureOrdered')).toMatchObject(
      ['customer/7', 'order/4711'].map((subject) => ({
        who: 'ada',
        what: `had the payloads of this subject erased: asked to be forgotten: ${subject}`,
      })),
    );
  });

  it('has the hash and the place of its record in each line, with the index of a member', () => {
    expect(lines.find(({ type }) => type === 'MutationsFell')).toMatchObject({
      log: 'recourse.mutations',
      partition: 1,
      seq: fallen.seq,
      index: 1,
      record_hash: fallen.hash,
    });
    expect(lines.find(({ type }) => type === 'MutationPlanned')?.index).toBeNull();
  });

  it('tells a checkpoint that fell with others by its place among them', () => {
    const evidence = {
      kind: 'lineage',
      event_id: 'rb_1',
      source: 'service:mutation-ledger',
      root: { rollback_id: 'rb_1' },
    };
    const others = ['8', '9'].map((at) => ({
      ...{ commit_id: `cp_${at}`, rollback_id: `rb_${at}`, step_id: `step-${at}`, root: { rollback_id: 'rb_2' } },
    }));
    const first = { commit_id: 'cp_7', rollback_id: 'rb_7', step_id: 'step-7', evidence };
    const one = record('mutations', 'CheckpointRolledBack', { run_id: 'run-5', ...first, others });
    const placesOf = (id: string) =>
      told(id, [...RECORDS, one]).lines.map(({ type, index, record_hash }) => ({ type, index, record_hash }));
    const at = (index: number) => ({ type: 'CheckpointRolledBack', index, record_hash: one.hash });
    expect(placesOf('run-5')).toEqual([at(0), at(1), at(2)]);
  });

  it('counts lines and the records they are of: one about several things is told in a line for each', () => {
    const [line] = lines.filter(({ type }) => type === 'MutationsFell');
    const other = lines.filter(({ is_decision }) => is_decision).slice(0, 1);
    const two = line === undefined ? [] : [line, { ...line, index: 2 }];
    expect(countedIn([...two, ...other])).toBe('3 lines of 2 records; 1 line is what people decided.');
  });

  it('says what is sealed by its hash, and opens it for whoever was shown it', () => {
    expect(lines.find(({ type }) => type === 'MutationRecorded')?.what).toContain('with (sealed, sha256 090909090909)');
    const opened = storyOf(RECORDS, 'mut_1', new Map([['09'.repeat(32), { refund_id: 're_1' }]]));
    expect(opened?.story.lines.find(({ type }) => type === 'MutationRecorded')?.what).toContain(
      'with {"refund_id":"re_1"}',
    );
  });

  it.each([
    ['is not theirs to open', { body: null, opens_with: ['payload_reader'] }, '(sealed, sha256 090909090909)'],
    ['was erased', { body: 'ab'.repeat(28) }, '(sealed, sha256 090909090909)'],
    ['holds a text', { body: 'as agreed' }, '"as agreed"'],
    ['holds a number', { body: 4711 }, '4711'],
    ['holds nothing', { body: null }, 'null'],
  ])('shows whoever opens it what a payload holds that %s', (_, shown, expected) => {
    const answer = [{ steps: [{ args: { encoding: 'sealed', sha256: '09'.repeat(32), ...shown } }] }];
    const told = storyOf(RECORDS, 'mut_1', openedIn(answer))?.story.lines;
    expect(told?.find(({ type }) => type === 'MutationRecorded')?.what).toContain(`with ${expected} until`);
  });

  it('is told of a run and of a rollback, too, and of nothing that is not on record', () => {
    expect(told('run-1').about).toEqual({ kind: 'run', tenant: 'acme', id: 'run-1' });
    expect(told('rb_1').lines.map(({ type }) => type)).toEqual(lines.map(({ type }) => type));
    expect(storyOf(RECORDS, 'mut_7')).toBeNull();
  });

  it('is of its tenant: what another approved, closed and registered under the same names is not told', () => {
    expect(told('mut_1', [...RECORDS, ...FOREIGN])).toEqual(told('mut_1'));
    const mine = storyOf([...RECORDS, ...FOREIGN], 'run-1', new Map(), { tenant: 'acme' });
    expect(mine?.story).toEqual(told('run-1'));
    const theirs = storyOf([...RECORDS, ...FOREIGN], 'run-1', new Map(), { tenant: 'evil' });
    expect(theirs?.story.about).toEqual({ kind: 'run', tenant: 'evil', id: 'run-1' });
    expect(theirs?.story.lines.map(({ type }) => type)).toEqual(
      FOREIGN.map(({ type }) => type).filter((type) => type !== 'ContractRegistered' && type !== 'HaltsReviewed'),
    );
  });

  it('of a name that several tenants have is told of none of them until one is named', () => {
    expect(tenantsOf([...RECORDS, ...FOREIGN], 'run-1')).toEqual(['acme', 'evil']);
    expect(storyOf([...RECORDS, ...FOREIGN], 'run-1')).toBeNull();
  });

  it('as a page is text and nothing else: what agents wrote can neither run nor be loaded', () => {
    const page = storyHtml(told('mut_1'));
    expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;\\&quot;&#39;&amp;\\u202e&lt;/td&gt;&lt;script&gt;');
    expect(page).toContain("default-src 'none'");
    expect(
      [...page.matchAll(/<(\/?[a-z][a-z0-9]*)/giu)].map(([, tag]) => tag).filter((tag) => !TAGS.has(String(tag))),
    ).toEqual([]);
    expect(page).not.toMatch(/<[^>]+\s(?:on\w+|src|href|srcdoc|action)\s*=/iu);
  });
});

const TAGS = new Set(
  [
    'html',
    'head',
    'meta',
    'title',
    'style',
    'body',
    'h1',
    'p',
    'table',
    'thead',
    'tbody',
    'tr',
    'th',
    'td',
    'br',
  ].flatMap((tag) => [tag, `/${tag}`]),
);
