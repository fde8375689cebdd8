import { describe, expect, it } from '@jest/globals';
import type { RecordInput } from '@recourse/event-log';
import { fact, harness, logged, WAYS } from '@recourse/testing';
import {
  answered,
  approval,
  BALANCE_ZERO,
  breaker,
  core,
  execution,
  LAST_DISPATCH,
  LEASE,
  markedInput,
  observed,
  ref,
  requestIn,
  REVIEW,
  RUN,
  STEP,
  STILL_PENDING,
  TENANT,
  terms,
  views,
  windowClosed,
  leg,
  settled,
  planned,
  SHOWN,
  LOOKED_AGAIN,
  SEEN,
  looked,
} from '../recoveries.testing.js';
import { reported, switchboard } from '../legs.testing.js';

const AUTO = terms({ impact: 'write', recovery_approval_mode: 'auto' });
const CALLED = 'payments.cancel_refund';
describe.each(WAYS)('a step under a kill switch, $way', ({ isRebuilt }) => {
  const start = () => {
    const { views: both, on, off } = switchboard();
    return { on, off, run: harness(core(), { isRebuilt, views: both }) };
  };
  const step = (run: ReturnType<typeof start>['run']) => run.rows('step')[0]?.doc;

  it.each([
    ['its tenant', { over: 'tenant' }, 'acme'],
    ['every tenant', { over: 'tenant' }, '*'],
    ['its agent, with what it did', { over: 'agent', agent: 'refund-agent', halts_recovery: true }, 'acme'],
    ['the capability it calls', { over: 'capability', capability: CALLED }, 'acme'],
  ] as const)('over %s waits in the open, with an owner and a deadline, and calls nobody', (_, scope, tenant) => {
    const { on, run } = start();
    on('stop', scope, tenant);
    run
      .when(markedInput({ terms: AUTO }), 10_000)
      .then(
        planned({ reason: 'POLICY_AUTO' }),
        fact('StepHalted', { reason: 'KILL_SWITCH', owner: 'role:operator', deadline_at: 10_000 + REVIEW }),
      );
    expect(run.outgoing()).toEqual([]);
    expect(step(run)).toMatchObject({
      phase: 'halted',
      reason: 'KILL_SWITCH',
      owner: 'role:operator',
      deadline_at: 10_000 + REVIEW,
    });
    expect(run.rows('halt')).toHaveLength(1);
  });

  it.each([
    ['another tenant', { over: 'tenant' }, 'globex'],
    ['another agent', { over: 'agent', agent: 'mailer', halts_recovery: true }, 'acme'],
    ['its agent alone', { over: 'agent', agent: 'refund-agent' }, 'acme'],
    ['the capability that is undone', { over: 'capability', capability: 'payments.issue_refund' }, 'acme'],
  ] as const)('over %s goes on', (_, scope, tenant) => {
    const { on, run } = start();
    on('stop', scope, tenant);
    run.when(markedInput({ terms: AUTO }), 10_000).then(planned(), leg());
  });

  it('lets marks through, and takes approvals', () => {
    const { on, run } = start();
    on('stop', { over: 'tenant' });
    run
      .when(markedInput(), 10_000)
      .then(planned({ decision: 'request_approval' }), SHOWN)
      .when(approval(), 20_000)
      .then(fact('StepApproved'), fact('StepHalted'))
      .thenAnswer({ status: 'accepted', httpStatus: 200, body: { phase: 'halted', reason: 'KILL_SWITCH' } });
  });

  it('goes on once it is lifted, under the approval it has', () => {
    const { on, off, run } = start();
    on('stop', { over: 'tenant' });
    run.when(markedInput(), 10_000).when(approval(), 20_000);
    run
      .when(off('stop', { over: 'tenant' }), 30_000)
      .then(fact('HaltsReviewed', { name: 'stop' }))
      .whenDue(30_000)
      .then(LOOKED_AGAIN);
    looked(run, 30_100).then(SEEN, leg({ attempt: 1 }));
    expect(requestIn(run.outgoing())).toMatchObject({ attempt: 1 });
    expect([step(run)?.['phase'], run.rows('halt')]).toEqual(['dispatched', []]);
  });

  it('stays while another one stands, and is told by a switch that only moved', () => {
    const { on, off, run } = start();
    on('one', { over: 'tenant' });
    on('two', { over: 'capability', capability: CALLED });
    run.when(markedInput({ terms: AUTO }), 10_000);
    run.when(off('one', { over: 'tenant' }), 20_000).thenNothing();
    run
      .when(on('two', { over: 'capability', capability: 'other.do_it' }), 30_000)
      .then(fact('HaltsReviewed', { name: 'two' }))
      .whenDue(30_000)
      .then(leg());
  });

  it('is halted anew when another one came before its turn, and keeps its deadline', () => {
    const { on, off, run } = start();
    on('one', { over: 'tenant' });
    run.when(markedInput({ terms: AUTO }), 10_000).when(off('one', { over: 'tenant' }), 20_000);
    on('two', { over: 'tenant' });
    run
      .whenDue(20_000)
      .then(fact('StepHalted', { detail: 'the kill switch two stops tenant of acme', deadline_at: 10_000 + REVIEW }));
    expect(run.rows('halt')).toMatchObject([{ dueAt: null }]);
  });

  it('that nobody lifts goes to a person, and expires with its window', () => {
    const { on, run } = start();
    on('stop', { over: 'tenant' });
    run
      .when(markedInput({ terms: AUTO }), 10_000)
      .whenDue(10_000 + REVIEW)
      .then(fact('StepEscalated', { reason: 'HALTED_TOO_LONG' }), fact('RecoveryClosed', { outcome: 'manual' }));
    expect(run.rows('halt')).toEqual([]);
    const late = start();
    late.on('stop', { over: 'tenant' });
    late.run
      .when(markedInput({ terms: AUTO }), LAST_DISPATCH - 10)
      .whenDue(LAST_DISPATCH)
      .then(fact('StepEscalated', { reason: 'REVERSAL_EXPIRED' }), fact('RecoveryClosed'));
    const closed = start();
    closed.on('stop', { over: 'tenant' });
    closed.run
      .when(markedInput({ terms: AUTO }), 10_000)
      .when(windowClosed(), 20_000)
      .then(fact('StepEscalated', { reason: 'REVERSAL_EXPIRED' }), fact('RecoveryClosed'));
  });

  it('does not retry, and still believes a late proof of the attempt before', () => {
    const { on, run } = start();
    run.when(markedInput({ terms: AUTO }), 10_000);
    const request = requestIn(run.outgoing());
    on('stop', { over: 'agent', agent: 'refund-agent', halts_recovery: true });
    run
      .when(answered(request, 'failed', []), 11_000)
      .then(settled())
      .whenDue(12_000)
      .then(fact('StepHalted'));
    run
      .when(answered(request, 'verified', [STILL_PENDING, observed('execute', CALLED, {}), BALANCE_ZERO]), 13_000)
      .then(settled({ outcome: 'compensated' }), fact('RecoveryClosed', { outcome: 'compensated' }));
    expect(run.rows('halt')).toEqual([]);
  });

  it('that its worker obeys before it begins counts as no attempt, and goes on once it is lifted', () => {
    const { on, off, run } = start();
    run.when(markedInput({ terms: { ...AUTO, max_attempts: 1 } }), 10_000);
    const request = requestIn(run.outgoing());
    on('stop', { over: 'tenant' });
    run
      .when(reported(request, []), 11_000)
      .then(settled({ outcome: 'uncertain', reason: 'HELD_BACK' }))
      .whenDue(Number(step(run)?.['due_at']))
      .then(fact('StepHalted', { reason: 'KILL_SWITCH' }));
    run.when(off('stop', { over: 'tenant' }), LEASE + 60_000).whenDue(LEASE + 60_000);
    expect(step(run)).toMatchObject({ phase: 'dispatched', attempt: 2, attempts_before: 1 });
  });

  it('counts an attempt of which its worker says nothing while nothing stops it', () => {
    const { run } = start();
    run.when(markedInput({ terms: { ...AUTO, max_attempts: 1 } }), 10_000);
    run
      .when(reported(requestIn(run.outgoing()), []), 11_000)
      .then(settled({ outcome: 'uncertain', reason: 'STEP_NOT_REPORTED' }))
      .whenDue(Number(step(run)?.['due_at']))
      .then(fact('StepEscalated', { reason: 'OUTCOME_UNKNOWN' }), fact('RecoveryClosed'));
  });

  it('is none of its business when it concerns charters, or nothing is halted', () => {
    const { off, run } = start();
    run.when(off('stop', { over: 'tenant' }), 10_000).thenNothing();
    const [input] = core().inputs.filter(({ topic }) => topic === 'recourse.contracts');
    const charter = logged('recourse.contracts', 'EntryRegistered', { kind: 'agent_charter' }, 1);
    expect([
      input?.mode,
      input?.concerns?.(charter, () => true),
      input?.concerns?.(logged('recourse.contracts', 'EntryRetired', { kind: 'kill_switch' }, 2), () => true),
    ]).toEqual(['broadcast', false, true]);
  });
});

describe('an execution that names no initiator', () => {
  const nameless = { execution: execution({ initiator: null }), ref: ref(), terms: terms() };
  const charter = (both: ReturnType<typeof views>): void => {
    both.entries.append(
      'c',
      fact('EntryRegistered', {
        kind: 'agent_charter',
        tenant: 'acme',
        name: 'c',
        version: 1,
        digest: Buffer.alloc(32),
        body: JSON.stringify({
          owner: 'olga',
          doc: 'd',
          agent: 'refund-agent',
          purpose: 'p',
          allowed: ['payments.*'],
          denied: [],
        }),
      }),
    );
  };

  it("counts as the owner's whom the agent's charter names, who may not approve it", () => {
    const both = views();
    charter(both);
    const run = harness(core(), { views: both })
      .when(markedInput(nameless), 10_000)
      .then(planned({ answerable_to: 'olga', required_approvals: 1 }), SHOWN);
    run.when(approval({ by: 'OLGA' }), 11_000).thenAnswer({ status: 'rejected', code: 'SELF_APPROVAL' });
    expect(run.rows('step')[0]?.doc).toMatchObject({ step_id: STEP, run_id: RUN, phase: 'awaiting_approval' });
  });

  it('needs two where no charter names one', () => {
    harness(core(), { views: views() })
      .when(markedInput(nameless), 10_000)
      .then(planned({ answerable_to: null, required_approvals: 2 }), SHOWN);
  });
});

describe.each(WAYS)('a breaker over a capability, $way', ({ isRebuilt }) => {
  const start = () => harness(core(), { isRebuilt, views: views() });
  const stopped = () => start().when(breaker('BreakerOpened'), 9_000);

  it('is noted, and stops what would call it until somebody closes it', () => {
    const run = stopped().then(
      fact('BreakerNoted', {
        breaker_id: 'brk_1',
        tenant: TENANT,
        capability: 'payments.cancel_refund',
        is_open: true,
      }),
    );
    run
      .when(markedInput({ terms: AUTO }), 10_000)
      .then(planned(), fact('StepHalted', { reason: 'BREAKER_OPEN', owner: 'role:operator' }));
    run.when(breaker('BreakerClosed'), 11_000).then(fact('BreakerNoted', { is_open: false }));
    run.whenDue(11_000).then(fact('LegDispatched'));
    expect([run.rows('breaker'), run.rows('halt')]).toEqual([[], []]);
  });

  it('stops no other capability and no other tenant', () => {
    start()
      .when(breaker('BreakerOpened', { name: 'payments.other' }), 9_000)
      .when(breaker('BreakerOpened', { tenant: 'globex' }), 9_000)
      .when(markedInput({ terms: AUTO }), 10_000)
      .then(planned(), fact('LegDispatched'));
  });

  it('is heard of capabilities alone: others hold triggers', () => {
    const [told] = recoveriesInputs(breaker('BreakerOpened', { scope: 'source', name: 'warehouse' }));
    expect(told).toBe(false);
  });
});

/** Whether the core concerns itself with a record of the ledger. */
function recoveriesInputs(input: RecordInput): readonly (boolean | undefined)[] {
  return core()
    .inputs.filter(({ topic }) => topic === input.topic)
    .map(({ concerns }) => concerns?.(input, () => true));
}
