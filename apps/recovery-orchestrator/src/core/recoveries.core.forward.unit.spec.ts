import { describe, expect, it } from '@jest/globals';
import { contractDigest, forwardApprovalId, forwardDigest, plainPayload } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import { MemoryRegistry } from '@recourse/kafka';
import { deriveId } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import { entrySaid, fact, harness, WAYS, wire } from '@recourse/testing';
import { readFileSync } from 'node:fs';
import {
  calls,
  core,
  envelope,
  execution,
  markedInput,
  planned,
  REVIEW,
  RUN,
  TENANT,
  views,
} from '../recoveries.testing.js';
import { RECOVERIES_LOG } from '../core.js';
import { recoveryMeasures } from './measures.js';

type Json = Readonly<Record<string, unknown>>;
const VALID = 900_000;
const COMMANDS = 'recourse.recovery-commands';
const body = (more: Json = {}): string =>
  JSON.stringify({
    ...(JSON.parse(readFileSync('examples/contracts/payments.issue_refund.json', 'utf8')) as Json),
    forward_approval: 'human',
    ...more,
  });
const ARGS = { order: '4711', amount_minor: 500_000 };
const digestOf = (contract: string, more: Json = {}): string =>
  forwardDigest({
    tenant: TENANT,
    runId: RUN,
    effectKey: 'eff_1',
    capability: 'payments.issue_refund',
    contractDigest: contractDigest(contract).toString('hex'),
    subjectRef: 'order/4711',
    args: ARGS,
    ...more,
  });
const ID = (contract = body()): string => forwardApprovalId(TENANT, RUN, 'eff_1', digestOf(contract));

function world(contract = body()) {
  const both = views();
  both.contracts.append(
    'c',
    fact('ContractRegistered', {
      name: 'payments.issue_refund',
      version: 1,
      tenant: '*',
      digest: contractDigest(contract),
      body: contract,
    }),
  );
  return both;
}
function ask(
  more: Json = {},
  who: {
    readonly by?: string;
    readonly tenant?: string;
    readonly id?: string;
    readonly key?: string;
    readonly contract?: string;
    readonly accounts?: readonly string[];
  } = {},
): RecordInput {
  const contract = who.contract ?? body();
  return wire(
    COMMANDS,
    'RequestForwardApproval',
    {
      envelope: envelope(who.by ?? 'svc:refunds', ['agent'], {
        tenant: who.tenant ?? TENANT,
        command_id: who.id ?? 'ask-1',
        accounts: who.accounts ?? [],
      }),
      run_id: RUN,
      agent_id: 'refund-agent',
      initiator: 'ines',
      objective: 'settle ticket 99',
      capability: 'payments.issue_refund',
      contract_digest: contractDigest(contract),
      effect_key: 'eff_1',
      subject_ref: 'order/4711',
      mode: 'human',
      action_digest: Buffer.from(digestOf(contract), 'hex'),
      args: plainPayload(ARGS),
      rehearsal: null,
      ...more,
    },
    { key: who.key ?? RUN },
  );
}
function say(
  verdict: 'approve' | 'deny' | 'unrecognized',
  by = 'olga',
  more: {
    readonly digest?: string;
    readonly tenant?: string;
    readonly roles?: readonly string[];
    readonly id?: string;
    readonly contract?: string;
  } = {},
): RecordInput {
  const from = envelope(by, more.roles ?? ['approver'], { tenant: more.tenant ?? TENANT });
  return wire(
    COMMANDS,
    'DecideForwardApproval',
    {
      envelope: from,
      run_id: RUN,
      approval_id: more.id ?? ID(more.contract),
      action_digest: Buffer.from(more.digest ?? digestOf(more.contract ?? body()), 'hex'),
      verdict,
      reason: 'seen',
    },
    { key: RUN },
  );
}
function use(
  attempt = 1,
  more: { readonly digest?: string; readonly tenant?: string; readonly id?: string } = {},
): RecordInput {
  return wire(
    COMMANDS,
    'UseForwardApproval',
    {
      envelope: envelope('svc:refunds', ['agent'], { tenant: more.tenant ?? TENANT }),
      run_id: RUN,
      approval_id: more.id ?? ID(),
      action_digest: Buffer.from(more.digest ?? digestOf(body()), 'hex'),
      attempt,
    },
    { key: RUN },
  );
}

/** Charters of agents: whose they are, and who answers for the agent. */
function charters(...them: readonly (readonly [agent: string, owner: string, tenant?: string])[]) {
  const both = world();
  them.forEach(([agent, owner, tenant = TENANT], index) => {
    const words = { owner, doc: 'd', agent, purpose: 'p', allowed: ['payments.*'], denied: [] };
    both.entries.append('c', entrySaid('agent_charter', { name: `c${String(index)}`, tenant, body: words }));
  });
  return both;
}

describe.each(WAYS)('a forward approval, $way', ({ isRebuilt }) => {
  const start = (contract?: string) => harness(core(), { isRebuilt, views: world(contract) });
  const asked = () => start().when(ask(), 1_000);

  it('is asked about one action, with an owner and a deadline, and is one question however often it is asked', () => {
    const run = asked()
      .then(
        fact('ForwardApprovalRequested', {
          round: 1,
          mode: 'human',
          required_approvals: 1,
          owner: 'role:approver',
          deadline_at: 1_000 + REVIEW,
          requested_by: 'svc:refunds',
        }),
      )
      .thenAnswer({
        httpStatus: 201,
        body: { approval_id: ID(), status: 'pending', round: 1, action_digest: digestOf(body()) },
      });
    run
      .when(ask({}, { id: 'ask-2' }), 2_000)
      .thenNothing()
      .thenAnswer({ httpStatus: 200, body: { status: 'pending' } });
    expect(run.rows('forward')).toMatchObject([{ key: ID(), dueAt: 1_000 + REVIEW, doc: { phase: 'awaiting' } }]);
  });

  it('says what the run is for and what the contract says of undoing it, and is asked of nobody without an objective (C8, C55)', () => {
    const by = { mode: 'manual_runbook', reason: 'the bank asks for a letter', runbook: 'letters.md' };
    const brief = { objective: 'settle ticket 99', compensation: { ...by, accepted_by: null }, missing: [] };
    const contract = body({ compensation_mode: by });
    const run = start(contract).when(ask({}, { contract }), 1_000).then(fact('ForwardApprovalRequested', { brief }));
    expect(run.rows('forward')).toMatchObject([{ doc: { brief } }]);
    for (const objective of [null, '  '])
      start().when(ask({ objective }), 1_000).thenNothing().thenAnswer({ httpStatus: 422, code: 'OBJECTIVE_MISSING' });
  });

  it.each([
    ['approve', 'approved'],
    ['deny', 'denied'],
  ] as const)('is measured from the question to the answer of a person (%s) (C71)', (verdict, outcome) => {
    const run = asked().when(say(verdict), 31_000);
    expect(run.records().flatMap((record) => recoveryMeasures(record, run.changedBy(record)))).toEqual([
      { series: 'approvalSeconds', question: 'forward', outcome, seconds: 30 },
    ]);
  });

  it('is given by a person, used once by one attempt, and asked for anew by the next', () => {
    const run = asked()
      .when(say('approve'), 2_000)
      .then(fact('ForwardApprovalDecided', { verdict: 'approve', by: 'olga', expires_at: 2_000 + VALID }))
      .thenAnswer({ httpStatus: 200, body: { status: 'approved' } })
      .when(use(1), 3_000)
      .then(fact('ForwardApprovalUsed', { attempt: 1, mutation_id: deriveId('mut', TENANT, RUN, 'eff_1') }))
      .thenAnswer({ body: { status: 'used', attempt: 1 } })
      .when(use(1), 4_000)
      .thenNothing()
      .thenAnswer({ status: 'accepted' })
      .when(use(2), 5_000)
      .thenAnswer({ status: 'rejected', httpStatus: 409, code: 'APPROVAL_USED' })
      .when(ask({}, { id: 'ask-3' }), 6_000)
      .then(fact('ForwardApprovalRequested', { round: 2 }))
      .when(use(2), 7_000)
      .thenAnswer({ code: 'APPROVAL_WRONG_PHASE' });
    expect(run.rows('forward')).toMatchObject([{ doc: { phase: 'awaiting', round: 2, approvals: [], attempt: null } }]);
  });

  it('runs out when nobody decides, and when nobody uses it', () => {
    asked()
      .whenDue(1_000 + REVIEW)
      .then(fact('ForwardApprovalExpired', { reason: 'NOBODY_DECIDED' }))
      .when(say('approve'), 2_000 + REVIEW)
      .thenAnswer({ code: 'APPROVAL_EXPIRED' });
    asked()
      .when(say('approve'), 2_000)
      .when(use(), 2_000 + VALID)
      .thenAnswer({ code: 'APPROVAL_EXPIRED' })
      .whenDue(2_000 + VALID)
      .then(fact('ForwardApprovalExpired', { reason: 'NOT_USED' }))
      .when(use(), 3_000 + VALID)
      .thenAnswer({ code: 'APPROVAL_EXPIRED' })
      .when(ask({}, { id: 'ask-9' }), 4_000 + VALID)
      .then(fact('ForwardApprovalRequested', { round: 2 }));
  });

  it('that was used may be said to be by the same attempt until it runs out, and no longer', () => {
    asked()
      .when(say('approve'), 2_000)
      .when(use(1), 3_000)
      .when(use(1), 1_999 + VALID)
      .thenNothing()
      .thenAnswer({ status: 'accepted' })
      .when(use(1), 2_000 + VALID)
      .thenNothing()
      .thenAnswer({ httpStatus: 409, code: 'APPROVAL_EXPIRED' })
      .when(ask({}, { id: 'ask-again' }), 2_001 + VALID)
      .then(fact('ForwardApprovalRequested', { round: 2 }));
  });

  it('that is denied stays denied', () => {
    asked()
      .when(say('deny', 'ines'), 2_000)
      .then(fact('ForwardApprovalDecided', { verdict: 'deny', by: 'ines' }))
      .when(ask({}, { id: 'again' }), 3_000)
      .thenNothing()
      .thenAnswer({ body: { status: 'denied', reason: 'seen' } })
      .when(use(), 4_000)
      .thenAnswer({ code: 'APPROVAL_WRONG_PHASE' })
      .when(say('approve'), 5_000)
      .thenAnswer({ code: 'APPROVAL_WRONG_PHASE' });
  });

  it.each(['refund-agent', 'AGENT:refund-agent', 'Ines', 'user:ines', 'svc:refunds'])(
    'is not given by %s, who asks for it',
    (by) => {
      asked()
        .when(say('approve', by), 2_000)
        .thenNothing()
        .thenAnswer({ status: 'rejected', httpStatus: 403, code: 'SELF_APPROVAL' });
    },
  );

  it("is given neither by the agent's owner nor by another agent", () => {
    const both = world();
    const body = { owner: 'otto', doc: 'd', agent: 'refund-agent', purpose: 'p', allowed: [], denied: [] };
    both.entries.append('c', entrySaid('agent_charter', { name: 'c', tenant: TENANT, body }));
    harness(core(), { isRebuilt, views: both })
      .when(ask(), 1_000)
      .then(fact('ForwardApprovalRequested', { answerable_to: 'otto' }))
      .when(say('approve', 'otto'), 2_000)
      .thenAnswer({ code: 'SELF_APPROVAL' })
      .when(say('approve', 'agent:other'), 3_000)
      .thenAnswer({ code: 'APPROVER_NOT_A_PERSON' });
  });

  it.each([
    ['its subject', {}],
    ['one of its accounts', { by: 'svc:refunds', accounts: ['agent-a'] }],
  ])('is not given by who owns the agent that asks, by %s, whatever agent it names', (_, who) => {
    const run = harness(core(), { isRebuilt, views: charters(['agent-a', 'olga'], ['agent-b', 'otto']) }).when(
      ask({ agent_id: 'agent-b' }, { by: 'agent-a', ...who }),
      1_000,
    );
    for (const by of ['olga', 'otto'])
      run.when(say('approve', by), 2_000).thenNothing().thenAnswer({ httpStatus: 403, code: 'SELF_APPROVAL' });
    run.when(say('approve', 'pia'), 3_000).thenAnswer({ body: { status: 'approved' } });
  });

  it('is given by nobody whom a charter of its agent names, be it the second or the platform’s, then or by now', () => {
    const both = charters(['refund-agent', 'anna'], ['refund-agent', 'olga'], ['refund-agent', 'otto', '*']);
    const run = harness(core(), { isRebuilt, views: both })
      .when(ask(), 1_000)
      .then(fact('ForwardApprovalRequested', { answerable_to: 'anna', barred: ['olga', 'otto'] }));
    const words = { owner: 'nora', doc: 'd', agent: 'refund-agent', purpose: 'p', allowed: [], denied: [] };
    both.entries.append('c', entrySaid('agent_charter', { name: 'later', tenant: TENANT, body: words }));
    for (const by of ['anna', 'olga', 'otto', 'nora'])
      run.when(say('approve', by), 2_000).thenNothing().thenAnswer({ code: 'SELF_APPROVAL' });
  });

  it.each([
    ['the agent it names has no owner', 'agent-x', 'agent-a', 2],
    ['the agent that asks has none', 'agent-a', 'agent-x', 2],
    ['both have one', 'agent-a', 'agent-b', 1],
    ['it names itself', 'agent-a', 'agent:Agent-a', 1],
  ] as const)('for nobody, needs as many people as answer for too little: %s', (_, agent_id, by, people) => {
    harness(core(), { isRebuilt, views: charters(['agent-a', 'olga'], ['agent-b', 'otto']) })
      .when(ask({ agent_id, initiator: null }, { by }), 1_000)
      .then(fact('ForwardApprovalRequested', { required_approvals: people }));
  });

  it.each(['agent-x', 'agent:Agent-X', 'host-1', 'svc:host', 'role:support'])(
    'for %s, as whoever asks says, needs as many people as for nobody: a program answers for nothing',
    (initiator) => {
      harness(core(), { isRebuilt, views: charters(['agent-y', 'olga']) })
        .when(ask({ agent_id: 'agent-x', initiator }, { by: 'host-1' }), 1_000)
        .then(fact('ForwardApprovalRequested', { required_approvals: 2, initiator }));
    },
  );

  it('is asked anew of two people once they are asked for, and what one agreed to is void', () => {
    const two = ask({ mode: 'dual_control' }, { id: 'ask-2' });
    const asking = () =>
      asked()
        .when(two, 1_500)
        .then(fact('ForwardApprovalRequested', { round: 2 }));
    const run = asking()
      .when(say('approve'), 2_000)
      .thenAnswer({ body: { status: 'pending', approvals: 1, required_approvals: 2 } })
      .when(use(1), 2_500)
      .thenAnswer({ code: 'APPROVAL_WRONG_PHASE' });
    run
      .when(ask({}, { id: 'ask-3' }), 2_600)
      .thenNothing()
      .thenAnswer({ body: { required_approvals: 2 } });
    run.when(say('approve', 'pia'), 3_000).thenAnswer({ body: { status: 'approved', approvals: 2 } });
    const given = asked().when(say('approve'), 1_400).when(two, 1_500);
    given.thenAnswer({ httpStatus: 201, body: { status: 'pending', round: 2, approvals: 0, expires_at: null } });
    given.when(use(1), 2_000).thenAnswer({ code: 'APPROVAL_WRONG_PHASE' });
    given.whenDue(1_500 + REVIEW).then(fact('ForwardApprovalExpired', { round: 2, reason: 'NOBODY_DECIDED' }));
    asked()
      .when(say('deny'), 1_400)
      .when(two, 1_500)
      .thenNothing()
      .thenAnswer({ body: { status: 'denied' } });
  });

  it('is taken back by whoever denies it before it is used, and not after that', () => {
    const run = asked()
      .when(say('approve'), 2_000)
      .when(say('deny', 'ines'), 3_000)
      .then(fact('ForwardApprovalDecided', { verdict: 'deny', by: 'ines' }))
      .thenAnswer({ body: { status: 'denied', reason: 'seen', expires_at: null } });
    // People answered once.
    expect(run.records().flatMap((record) => recoveryMeasures(record, run.changedBy(record)))).toHaveLength(1);
    run.when(use(), 4_000).thenNothing().thenAnswer({ code: 'APPROVAL_WRONG_PHASE' });
    const used = asked().when(say('approve'), 2_000).when(use(), 3_000);
    used.when(say('deny', 'pia'), 4_000).thenNothing().thenAnswer({ code: 'APPROVAL_WRONG_PHASE' });
    const late = asked().when(say('approve'), 2_000);
    late
      .when(say('deny', 'pia'), 2_000 + VALID)
      .thenNothing()
      .thenAnswer({ code: 'APPROVAL_EXPIRED' });
  });

  it.each([
    ['the caller', { mode: 'dual_control' }, {}],
    ['the contract', {}, { forward_approval: 'dual_control' }],
    ['nobody being answerable', { initiator: null }, {}],
  ])('needs two different people because of %s', (_, request, terms) => {
    const contract = body(terms);
    start(contract)
      .when(ask(request, { contract }), 1_000)
      .then(fact('ForwardApprovalRequested', { required_approvals: 2, mode: 'dual_control' }))
      .when(say('approve', 'olga', { contract }), 2_000)
      .then(fact('ForwardApprovalDecided'))
      .thenAnswer({ body: { status: 'pending', approvals: 1 } })
      .when(say('approve', 'Olga', { contract }), 3_000)
      .thenAnswer({ code: 'SAME_APPROVER' })
      .when(say('approve', 'pia', { contract }), 4_000)
      .thenAnswer({ body: { status: 'approved', approvals: 2 } });
  });

  /** Knows two versions of the contract: the first asks `older`, the one that stands asks `newer`. */
  const tightened = (older: string, newer: string) => {
    const held = { commit_hold_ms: 60_000, cancel_capability: 'payments.cancel_refund' };
    const contract = body({ ...held, forward_approval: older });
    const standing = body({ ...held, forward_approval: newer });
    const both = world(contract);
    const registers = () => {
      const of = { name: 'payments.issue_refund', version: 2, tenant: '*', digest: contractDigest(standing) };
      both.contracts.append('c', fact('ContractRegistered', { ...of, body: standing }));
    };
    return { run: harness(core(), { isRebuilt, views: both }), contract, registers };
  };

  it.each([
    ['human', 'dual_control', 2],
    ['policy', 'dual_control', 2],
    ['dual_control', 'human', 2],
    ['human', 'policy', 1],
  ] as const)(
    'under a version that asks %s, where one stands that asks %s, needs as many people as the stricter',
    (older, newer, people) => {
      const { run, contract, registers } = tightened(older, newer);
      registers();
      run.when(ask({}, { contract }), 1_000).then(fact('ForwardApprovalRequested', { required_approvals: people }));
    },
  );

  it('that one person agreed to is asked anew of two once a version stands that asks two', () => {
    const { run, contract, registers } = tightened('human', 'dual_control');
    run.when(ask({}, { contract }), 1_000).when(say('approve', 'olga', { contract }), 2_000);
    run.thenAnswer({ body: { status: 'approved' } });
    registers();
    run
      .when(ask({}, { contract, id: 'ask-2' }), 3_000)
      .then(fact('ForwardApprovalRequested', { round: 2, required_approvals: 2 }))
      .when(use(1, { id: ID(contract), digest: digestOf(contract) }), 4_000)
      .thenAnswer({ code: 'APPROVAL_WRONG_PHASE' });
  });

  it.each([
    [
      'other arguments than the digest says',
      { args: plainPayload({ order: '4711', amount_minor: 1 }) },
      {},
      'DIGEST_MISMATCH',
    ],
    ['another subject', { subject_ref: 'order/1' }, {}, 'DIGEST_MISMATCH'],
    ['another effect', { effect_key: 'eff_2' }, {}, 'DIGEST_MISMATCH'],
    ['another tenant', {}, { tenant: 'globex' }, 'DIGEST_MISMATCH'],
    ['another capability', { capability: 'payments.send_wire' }, {}, 'CONTRACT_MISMATCH'],
    ['sealed arguments', { args: { ...plainPayload(ARGS), encoding: 'sealed' } }, {}, 'ARGS_UNREADABLE'],
    ['no mode for people', { mode: 'auto' }, {}, 'MODE_UNKNOWN'],
    ['the key of another run', {}, { key: 'run-2' }, 'KEY_MISMATCH'],
  ] as const)('is refused with %s', (_, more, who, code) => {
    start().when(ask(more, who), 1_000).thenNothing().thenAnswer({ status: 'rejected', code });
  });

  it('is refused under a contract nobody registered, once the registry is read to its end', () => {
    const contract = body({ owner: 'nobody' });
    start()
      .whenBehind(ask({}, { contract }), 1_000)
      .when(ask({}, { contract }), 1_000)
      .thenAnswer({ httpStatus: 422, code: 'CONTRACT_UNKNOWN' });
    const foreign = body({ tenant: 'globex' });
    start(foreign)
      .when(ask({}, { contract: foreign }), 1_000)
      .thenAnswer({ code: 'CONTRACT_UNKNOWN' });
  });

  it.each([
    ['another digest', say('approve', 'olga', { digest: 'ab'.repeat(32) }), 'DIGEST_MISMATCH'],
    ['no role', say('approve', 'olga', { roles: ['operator'] }), 'ROLE_REQUIRED'],
    ['another tenant', say('approve', 'olga', { tenant: 'globex' }), 'APPROVAL_UNKNOWN'],
    ['an id of nothing', say('approve', 'olga', { id: 'fwa_x' }), 'APPROVAL_UNKNOWN'],
    ['an id too long', say('approve', 'olga', { id: 'x'.repeat(9_000) }), 'APPROVAL_UNKNOWN'],
    ['a verdict nobody knows', say('unrecognized'), 'VERDICT_UNKNOWN'],
    ['use by another tenant', use(1, { tenant: 'globex' }), 'APPROVAL_UNKNOWN'],
    ['use for another action', use(1, { digest: 'ab'.repeat(32) }), 'DIGEST_MISMATCH'],
  ])('changes nothing for %s', (_, input, code) => {
    asked().when(input, 2_000).thenNothing().thenAnswer({ status: 'rejected', code });
  });
});

it('records of forward approvals, halts and bindings fit their schemas', async () => {
  const codecs = createCodecs(new MemoryRegistry().forActor('spec'));
  await codecs.prepareWriter(RECOVERIES_LOG, { register: true });
  const run = harness(core(), { views: world() })
    .when(ask(), 1)
    .when(say('approve'), 2)
    .when(use(), 3)
    .when(ask({}, { id: 'more' }), 4)
    .whenDue(4 + REVIEW);
  const types = run.records().map(({ type, body: said, seq, decidedAt }) => {
    expect(
      codecs.encode(RECOVERIES_LOG, type, { ...said, seq, prev_hash: Buffer.alloc(32), decided_at: decidedAt }).length,
    ).toBeGreaterThan(5);
    return type;
  });
  expect(types).toEqual([
    'ForwardApprovalRequested',
    'ForwardApprovalDecided',
    'ForwardApprovalUsed',
    'ForwardApprovalRequested',
    'ForwardApprovalExpired',
  ]);
});

describe.each(WAYS)('an effect that people agreed to before it was made, $way', ({ isRebuilt }) => {
  it('is undone only when people agree to that: its approval is none of its reversal (D26)', () => {
    const run = harness(core(), { isRebuilt, views: world() })
      .when(ask(), 1_000)
      .when(say('approve'), 2_000)
      .when(use(), 3_000);
    run
      .when(markedInput({ execution: execution({ effect_key: 'eff_1' }) }), 10_000)
      .then(planned({ decision: 'request_approval', required_approvals: 1 }), fact('FactsAsked'));
    expect(calls(run)).toEqual([]);
    expect(run.rows('step')).toMatchObject([{ doc: { phase: 'awaiting_approval', approvals: [] } }]);
  });
});
