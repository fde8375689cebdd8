// What decides about a recovery and when: by the contract of the effect, once more at every dispatch, on record each time.
import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { contractDigest } from '@recourse/contract';
import type { LegRequested, RecoveryApprovalMode } from '@recourse/messages';
import { fact, harness, WAYS, eachMember } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  answered,
  approval,
  BALANCE_ZERO,
  CALL_TIMEOUT,
  CLOSED_COMPENSATED,
  CLOSED_MANUAL,
  core,
  digest,
  execution,
  LEASE,
  MARGIN,
  markedInput,
  observed,
  recordedAgain,
  RECOVERY,
  ref,
  requestIn,
  REVIEW,
  ROLLBACK,
  STEP,
  STILL_PENDING,
  terms,
  views,
  leg,
  settled,
  planned,
  SHOWN,
  LOOKED_AGAIN,
  SEEN,
  looked,
  calls,
  agreed,
} from '../recoveries.testing.js';

const AUTO = terms({ impact: 'write', recovery_approval_mode: 'auto' });
const MARKED_AT = 10_000;

describe.each(WAYS)('a decision, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness => harness(core(), { isRebuilt, views: views() });
  const stepOf = (run: CoreHarness): Readonly<Record<string, unknown>> => run.rows('step')[0]?.doc ?? {};
  const dispatches = (run: CoreHarness): number => run.records().filter(({ type }) => type === 'LegDispatched').length;

  it.each([
    ['was only planned', { execution_state: 'planned', recoverability: 'planned' }, 'FORWARD_NOT_STARTED'],
    ['failed', { execution_state: 'failed', recoverability: 'planned' }, 'NOTHING_TO_UNDO'],
  ] as const)(
    'about an action that %s: there is nothing to undo, and nobody is called (C31, C36)',
    (_what, more, reason) => {
      const run = start().when(markedInput({ ...more, terms: AUTO }), MARKED_AT);
      expect(eachMember(run.records()).find(({ type }) => type === 'RecoveryPlanned')?.body).toMatchObject({
        decision: 'retry_forward',
        reason,
      });
      run.whenDue(MARKED_AT + REVIEW);
      expect(dispatches(run)).toBe(0);
    },
  );

  it.each(['succeeded', 'uncertain'] as const)(
    'about a read that %s: there is nothing to undo, nobody is called and nobody is asked (A8)',
    (execution_state) => {
      const read = terms({ impact: 'read', reversal_capability: null, reversal_window_ms: null });
      const nothing = { reversal_class: 'reversible', reversal_capability: null, reversal_args: null } as const;
      const run = start().when(
        markedInput({
          execution_state,
          recoverability: 'committed',
          reason: 'READ_ONLY',
          terms: read,
          ref: ref({ ...nothing, reversal_expires_at: null }),
        }),
        MARKED_AT,
      );
      const told = eachMember(run.records());
      expect(told.find(({ type }) => type === 'RecoveryPlanned')?.body).toMatchObject({ reason: 'NOTHING_TO_UNDO' });
      expect(told.map(({ type }) => type)).not.toEqual(expect.arrayContaining(['TasksOpened']));
      expect(told.map(({ type }) => type)).not.toEqual(expect.arrayContaining(['StepEscalated']));
      run.whenDue(MARKED_AT + REVIEW).thenNothing();
    },
  );

  it('about an effect that a later check found wrong: the compensation that people agreed to runs (C32)', () => {
    const smokeTest = {
      kind: 'observation',
      event_id: 'ev-9',
      ref: 'release/42#smoke_test_passes',
      source: 'smoke-test',
      statement: null,
      stated_at: 5_000,
      partition: 0,
      position: 4,
      root: null,
    } as const;
    const run = start()
      .when(markedInput({ evidence: smokeTest }), MARKED_AT)
      .then(planned({ decision: 'request_approval' }), SHOWN);
    run.when(approval(), 20_000).then(fact('StepApproved'), LOOKED_AGAIN);
    looked(run, 20_100).then(SEEN, leg({ attempt: 1 }));
    run
      .when(answered(requestIn(run.outgoing()), 'verified', [STILL_PENDING, BALANCE_ZERO]), 21_000)
      .then(settled({ outcome: 'compensated' }), CLOSED_COMPENSATED);
  });

  it('about an uncertain action waits for what the ledger finds out, and calls nobody before (C33)', () => {
    const run = start()
      .when(markedInput({ execution_state: 'uncertain', terms: AUTO }), MARKED_AT)
      .then(planned({ decision: 'reconcile_first', reason: 'FORWARD_UNCERTAIN' }));
    expect(dispatches(run)).toBe(0);
    run
      .when(recordedAgain({ terms: AUTO }), 20_000)
      .then(fact('MutationAdvanced', { decision: 'compensate_now' }), leg());
  });

  it('never inherits how the action itself was approved (D26)', () => {
    const forward = execution({ capability: 'payments.issue_refund', objective: 'approved by the customer' });
    start()
      .when(
        markedInput({ execution: forward, terms: terms({ impact: 'write', recovery_approval_mode: 'human' }) }),
        MARKED_AT,
      )
      .then(planned({ decision: 'request_approval', reason: 'COMPENSATION_REQUIRES_HUMAN_APPROVAL' }), SHOWN);
  });

  it.each([
    ['auto', 'compensate_now'],
    ['human', 'request_approval'],
    ['dual_control', 'request_approval'],
    [null, 'request_approval'],
    ['unrecognized', 'manual_review'],
  ] as const)(
    'under recovery mode %s is %s: only auto goes alone, and people are the default (D27)',
    (mode, decision) => {
      // A mode that is absent, or that a later version made, may come over the wire whatever the type says.
      const contract = terms({ impact: 'write', recovery_approval_mode: mode as unknown as RecoveryApprovalMode });
      const run = start().when(markedInput({ terms: contract }), MARKED_AT);
      expect(eachMember(run.records())[0]?.body).toMatchObject({ decision });
      expect(dispatches(run)).toBe(mode === 'auto' ? 1 : 0);
    },
  );

  it('is a record each time one is made, with its word and its reason (C42)', () => {
    const run = start()
      .when(markedInput({ execution_state: 'uncertain', recoverability: 'pending_commit' }), MARKED_AT)
      .when(recordedAgain(), 20_000)
      .when(approval(), 30_000);
    looked(run, 30_500);
    run.when(answered(requestIn(run.outgoing()), 'failed', []), 31_000).whenDue(32_000);
    run.when(answered(requestIn(run.outgoing()), 'failed', []), 33_000);
    expect(
      eachMember(run.records()).map(({ type, body }) => [
        type,
        body['decision'] ?? body['outcome'] ?? null,
        body['reason'] ?? null,
      ]),
    ).toEqual([
      ['RecoveryPlanned', 'reconcile_first', 'FORWARD_UNCERTAIN'],
      ['MutationAdvanced', 'request_approval', 'HIGH_IMPACT'],
      ['FactsAsked', null, null],
      ['StepApproved', null, 'shipped after all'],
      ['FactsAsked', null, null],
      ['FactsObserved', null, null],
      ['LegDispatched', null, null],
      ['LegSettled', 'failed', 'TOOL_FAILED'],
      ['LegDispatched', null, null],
      ['LegSettled', 'failed', 'TOOL_FAILED'],
      ['StepEscalated', null, 'COMPENSATION_FAILED'],
      ['RecoveryClosed', 'manual', null],
    ]);
    expect(stepOf(run)).toMatchObject({ decision: 'request_approval', phase: 'manual' });
  });
});

describe.each(WAYS)('a contract that changes after an effect, $way', ({ isRebuilt }) => {
  const shipped = JSON.parse(readFileSync('examples/contracts/payments.issue_refund.json', 'utf8')) as object;
  const world = () => {
    const both = views();
    let version = 0;
    const says = (mode: string): void => {
      version += 1;
      const body = JSON.stringify({ ...shipped, impact: 'write', version, recovery_approval_mode: mode });
      both.contracts.append(
        'c',
        fact('ContractRegistered', {
          name: 'payments.issue_refund',
          version,
          tenant: '*',
          digest: contractDigest(body),
          body,
        }),
      );
    };
    return { says, run: harness(core(), { isRebuilt, views: both }) };
  };

  it('and wants two people by now stops what one has agreed to: nobody is called (C45)', () => {
    const { says, run } = world();
    says('human');
    run.when(markedInput(), MARKED_AT).then(planned({ required_approvals: 1 }), SHOWN);
    says('dual_control');
    run
      .when(approval(), 20_000)
      .then(
        fact('StepApproved'),
        fact('StepEscalated', { reason: 'POLICY_CHANGED', owner: 'role:administrator', deadline_at: 20_000 + REVIEW }),
        CLOSED_MANUAL,
      );
    expect(calls(run)).toEqual([]);
  });

  it('and wants people by now stops the next attempt of what went alone (C45)', () => {
    const { says, run } = world();
    says('auto');
    run.when(markedInput({ terms: AUTO }), MARKED_AT);
    const request = requestIn(run.outgoing());
    says('human');
    run
      .when(answered(request, 'failed', []), 11_000)
      .then(settled())
      .whenDue(12_000)
      .then(fact('StepEscalated', { reason: 'POLICY_CHANGED' }), CLOSED_MANUAL);
  });

  it('and was tightened before the mark is asked of people from the start', () => {
    const { says, run } = world();
    says('human');
    run
      .when(markedInput({ terms: AUTO }), MARKED_AT)
      .then(planned({ decision: 'request_approval', required_approvals: 1 }), SHOWN);
  });

  it('and was loosened loosens nothing: what an effect was bound to stays', () => {
    const { says, run } = world();
    says('auto');
    run
      .when(markedInput({ terms: terms({ impact: 'write', recovery_approval_mode: 'dual_control' }) }), MARKED_AT)
      .then(planned({ decision: 'request_approval', required_approvals: 2 }), SHOWN);
  });
});

describe.each(WAYS)('a worker that is slow, $way (C43)', ({ isRebuilt }) => {
  it('keeps its step to itself until no call of it can be under way any more', () => {
    const run = harness(core(), { isRebuilt, views: views() }).when(markedInput({ terms: AUTO }), MARKED_AT);
    const first = requestIn(run.outgoing());
    const overAt = first.not_after + CALL_TIMEOUT + MARGIN;
    for (const at of [MARKED_AT + 1, first.not_after, overAt - 1])
      run
        .when(markedInput({ terms: AUTO }), at)
        .thenNothing()
        .whenDue(at)
        .thenNothing();
    run
      .whenDue(overAt)
      .then(settled({ outcome: 'uncertain', reason: 'NO_ANSWER' }))
      .whenDue(overAt + 1_000)
      .then(leg({ attempt: 2, reconcile_first: true }));
    const second = requestIn(run.outgoing());
    expect([first.not_after, second.not_after > overAt, second.lease_id === first.lease_id]).toEqual([
      MARKED_AT + LEASE,
      true,
      false,
    ]);
  });
});

describe.each(WAYS)('a resource that somebody changed since, $way (C53, C54)', ({ isRebuilt }) => {
  it.each([
    [
      'a person fixed the ticket',
      'tickets.get_ticket',
      'observed.status == "open" && observed.assignee == "agent"',
      { status: 'closed', assignee: 'asha' },
    ],
    [
      'the pipeline was rolled back',
      'deployments.get_deployment',
      'observed.live_release == "r-42"',
      { live_release: 'r-41' },
    ],
    ['a newer workflow changed the value', 'crm.get_contact', 'observed.version == 7', { version: 8, phone: '3' }],
  ] as const)(
    '%s: the compensation stops, writes nothing and goes to a person, with what was seen',
    (_case, capability, condition, seen) => {
      const contract = { ...AUTO, stale_capability: capability, stale_condition: condition };
      const run = harness(core(), { isRebuilt, views: views() }).when(markedInput({ terms: contract }), MARKED_AT);
      const look = observed('stale_check', capability, seen);
      run
        .when(answered(requestIn(run.outgoing()), 'stale', [look]), 20_000)
        .then(
          settled({ outcome: 'stale', reason: 'STALE_CONDITION_FALSE' }),
          fact('StepEscalated', { reason: 'RESOURCE_CHANGED', owner: 'role:administrator' }),
          CLOSED_MANUAL,
        );
      run.whenDue(900_000);
      expect([
        run.records().filter(({ type }) => type === 'LegDispatched').length,
        run.rows('step')[0]?.doc,
      ]).toMatchObject([1, { phase: 'manual', last: { observations: [look] } }]);
    },
  );
});

describe('a compensation on record (C50)', () => {
  it('leads from the mark over its step and its leg to what was verified, by ids alone', () => {
    const run = agreed(harness(core(), { views: views() }).when(markedInput(), MARKED_AT), 20_000);
    const request: LegRequested = requestIn(run.outgoing());
    run.when(answered(request, 'verified', [STILL_PENDING, BALANCE_ZERO]), 21_000);
    const [decided, said, dispatched, outcome, closed] = eachMember(run.records()).filter(
      ({ type }) => !type.startsWith('Facts'),
    );
    expect([decided, said, dispatched, outcome, closed].map((record) => record?.type)).toEqual([
      'RecoveryPlanned',
      'StepApproved',
      'LegDispatched',
      'LegSettled',
      'RecoveryClosed',
    ]);
    expect(decided?.body).toMatchObject({ rollback_id: ROLLBACK, step_id: STEP, recovery_id: RECOVERY });
    expect([said?.body, dispatched?.body]).toMatchObject([
      { step_id: STEP, by: 'olga', action_digest: digest() },
      { step_id: STEP, leg_id: request.leg_id, approval_id: said?.body['approval_id'] },
    ]);
    expect([outcome?.body, closed?.body]).toMatchObject([
      { step_id: STEP, leg_id: request.leg_id, reverses_mutation_ref: ref().mutation_id },
      { recovery_id: RECOVERY, rollback_id: ROLLBACK, outcome: 'compensated' },
    ]);
    expect(request.steps).toMatchObject([{ step_id: STEP, call: { call_id: `rev_${ref().mutation_id}` } }]);
  });
});

describe('what waits to be decided', () => {
  it('has reports before news, and approvals behind the news that came before them', () => {
    const first = core().inputs.filter(({ goesFirst }) => goesFirst === true);
    expect(first.map(({ topic }) => topic)).toEqual(['recourse.tool-results']);
  });
});
