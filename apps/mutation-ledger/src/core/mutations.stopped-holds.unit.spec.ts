// What is held goes out under no kill switch and against no charter: it is cancelled when its hold ends (A60, D64).
import { describe, expect, it } from '@jest/globals';
import { contractDigest, forwardApprovalId, forwardDigest, readPayload, SUPERSEDED_GRACE_MS } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import type { Json } from '@recourse/kernel';
import { entrySaid, fact, WAYS } from '@recourse/testing';
import {
  contractText,
  executed,
  fell,
  fromRecoveries,
  intent,
  ledger,
  MUTATION,
  NOW,
  planned,
  refund,
  registered,
  reported,
  request,
  RUN,
  seen,
  TENANT,
} from './ledger.testing.js';

const HOLD_MS = 60_000;
const ENDS = NOW + HOLD_MS;
const HELD = { commit_hold_ms: HOLD_MS, cancel_capability: 'payments.cancel_refund' };
const LOOKED_AT = { ...HELD, precondition: { observe_capability: 'payments.get_refund', condition: 'observed.ok' } };
const { agent_id: AGENT, capability: CAPABILITY } = intent();

const entry = (
  kind: string,
  body: object,
  tenant = TENANT,
  type: 'EntryRegistered' | 'EntryRetired' = 'EntryRegistered',
) => entrySaid(kind, { name: 'one', tenant, body: { owner: 'ops', doc: 'd', ...body } }, type);
const stopping = (scope: object) => ({ scope, severity: 'sev1', runbook: 'r', reason: 'double refunds' });
const charter = (allowed: readonly string[], denied: readonly string[]) => ({
  agent: AGENT,
  purpose: 'refunds',
  allowed,
  denied,
});

const ASKING = { ...HELD, forward_approval: 'dual_control' };
const plan = intent();
const digestOf = (args: Json, contract = contractText(ASKING)): string =>
  forwardDigest({
    tenant: TENANT,
    runId: RUN,
    effectKey: plan.effect_key,
    capability: CAPABILITY,
    contractDigest: contractDigest(contract).toString('hex'),
    subjectRef: plan.subject_ref,
    args,
  });
const used = (digest: string, more: object = {}) =>
  fromRecoveries('ForwardApprovalUsed', {
    approval_id: forwardApprovalId(TENANT, RUN, plan.effect_key, digest),
    tenant: TENANT,
    run_id: RUN,
    round: 1,
    mutation_id: MUTATION,
    attempt: 1,
    used_by: AGENT,
    command_id: 'use-1',
    agreed_by: ['mira', 'olga'],
    ...more,
  });
const ARGS = readPayload(plan.args);

describe.each(WAYS)('an effect that is held, $way', ({ isRebuilt }) => {
  const start = (changes: Readonly<Record<string, unknown>> = HELD) => {
    const text = contractText(changes);
    const made = ledger({ isRebuilt, asks: true, contracts: [text] });
    made.run.when(planned(intent({ is_held: true, contract_digest: contractDigest(text) })), NOW);
    return made;
  };
  const cancelled = (reason: string) =>
    fact('MutationRecorded', { mutation_id: MUTATION, execution_state: 'failed', recoverability: 'cancelled', reason });

  it.each([
    ['its tenant', { over: 'tenant' }, TENANT],
    ['every tenant', { over: 'tenant' }, '*'],
    ['its agent', { over: 'agent', agent: AGENT }, TENANT],
    ['its capability', { over: 'capability', capability: CAPABILITY }, TENANT],
  ] as const)('does not go under a kill switch over %s', (_over, scope, tenant) => {
    const { run, entries } = start();
    entries.append('one', entry('kill_switch', stopping(scope), tenant));
    run.whenDue(ENDS).then(cancelled('KILL_SWITCH'));
    expect(run.outgoing()).toEqual([]);
    run.whenDue(ENDS + HOLD_MS).thenNothing();
  });

  it.each([
    ['denies it', charter(['payments.*'], [CAPABILITY])],
    ['does not allow it', charter(['crm.*'], [])],
  ])('does not go where the charter of its agent %s', (_how, body) => {
    const { run, entries } = start();
    entries.append('one', entry('agent_charter', body));
    run.whenDue(ENDS).then(cancelled('CHARTER_REFUSED'));
    expect(run.outgoing()).toEqual([]);
  });

  describe('under a contract that wants people asked before it', () => {
    it('goes where they agreed to exactly that, whether its plan was heard before or after', () => {
      expect(plan.subject_ref).toBeNull();
      for (const isBefore of [true, false]) {
        const text = contractText(ASKING);
        const { run } = ledger({ isRebuilt, asks: true, contracts: [text] });
        const told = planned(intent({ is_held: true, contract_digest: contractDigest(text) }));
        for (const [index, input] of (isBefore ? [used(digestOf(ARGS)), told] : [told, used(digestOf(ARGS))]).entries())
          run.when(input, NOW + index);
        run.whenDue(ENDS + 1).then(fact('HoldElapsed'), fact('WorkerAsked', { request: { kind: 'release' } }));
      }
    });

    describe('and failed without effect once it was let go', () => {
      const LATER = ENDS + HOLD_MS;
      const contract_digest = contractDigest(contractText(ASKING));
      const next = planned(intent({ event_id: 'next', is_held: true, contract_digest, planned_at: LATER }));
      const agreedAgain = used(digestOf(ARGS), { round: 2, attempt: 2, command_id: 'use-2' });
      const failed = () => {
        const { run } = start(ASKING);
        run.when(used(digestOf(ARGS)), NOW + 1).whenDue(ENDS);
        return run.when(reported(request(run), { outcome: 'failed' }), ENDS + 1);
      };

      it('does not go anew on what they agreed to before', () => {
        const run = failed()
          .when(next, LATER)
          .whenDue(LATER + HOLD_MS);
        run.then(cancelled('APPROVAL_MISSING'));
        expect(run.outgoing()).toEqual([]);
      });

      it.each([
        ['before', [agreedAgain, next]],
        ['after', [next, agreedAgain]],
      ])('goes anew where they agreed to that attempt too, heard %s its plan', (_when, inputs) => {
        const run = failed();
        for (const [index, input] of inputs.entries()) run.when(input, LATER + index);
        run
          .whenDue(LATER + 1 + HOLD_MS)
          .then(fact('HoldElapsed'), fact('WorkerAsked', { request: { kind: 'release' } }));
      });
    });

    it.each<readonly [string, RecordInput | null]>([
      ['nobody was asked', null],
      ['they agreed to other arguments', used(digestOf({ order: 'another' }))],
      ['they agreed to it under another contract', used(digestOf(ARGS, contractText(HELD)))],
      ['they agreed for another tenant', used(digestOf(ARGS), { tenant: 'globex' })],
      ['they agreed to another effect', used(digestOf(ARGS), { mutation_id: 'mut_other' })],
    ])('does not go where %s', (_how, heard) => {
      const { run } = start(ASKING);
      if (heard !== null) run.when(heard, NOW + 1);
      run.whenDue(ENDS).then(cancelled('APPROVAL_MISSING'));
      expect(run.outgoing()).toEqual([]);
    });
  });

  describe('under a version that bound no more when it was planned', () => {
    const IN_TIME = NOW + SUPERSEDED_GRACE_MS;
    const LATE = IN_TIME + 1;

    /** Held under a version that asks `older`, an hour after one came to stand that asks `newer`. */
    const heldUnder = ([older, newer]: readonly [string, string], at: number, agreed: readonly string[] | null) => {
      const text = contractText({ ...HELD, forward_approval: older });
      const { run, contracts } = ledger({ isRebuilt, asks: true, contracts: [text] });
      contracts.append('c', registered(contractText({ ...HELD, forward_approval: newer })), NOW);
      if (agreed !== null) run.when(used(digestOf(ARGS, text), { agreed_by: agreed }), at);
      return run
        .when(planned(intent({ is_held: true, contract_digest: contractDigest(text), planned_at: at })), at)
        .whenDue(at + HOLD_MS);
    };

    it.each([
      ['policy', 'human', null],
      ['policy', 'dual_control', ['mira']],
      ['human', 'dual_control', ['mira']],
      ['human', 'policy', null],
    ] as const)('asking %s, where one stands that asks %s, does not go by %j', (older, newer, agreed) => {
      const run = heldUnder([older, newer], LATE, agreed).then(cancelled('APPROVAL_MISSING'));
      expect(run.outgoing()).toEqual([]);
    });

    it.each([
      ['policy', 'human', ['mira'], 'late'],
      ['human', 'dual_control', ['mira', 'olga'], 'late'],
      ['human', 'policy', ['mira'], 'late'],
      ['policy', 'dual_control', null, 'in time'],
      ['human', 'dual_control', ['mira'], 'in time'],
    ] as const)('asking %s, where one stands that asks %s, goes by %j, planned %s', (older, newer, agreed, when) => {
      heldUnder([older, newer], when === 'late' ? LATE : IN_TIME, agreed).then(
        fact('HoldElapsed'),
        fact('WorkerAsked', { request: { kind: 'release' } }),
      );
    });
  });

  const unsaid = (on: ReturnType<typeof ledger>, at: number): void => {
    on.run.when(reported(request(on.run), { outcome: 'unknown' }), at).whenDue(at + 100);
  };

  it.each<readonly [string, Readonly<Record<string, unknown>>, (on: ReturnType<typeof ledger>) => unknown]>([
    ['KILL_SWITCH', HELD, ({ entries }) => entries.append('one', entry('kill_switch', stopping({ over: 'tenant' })))],
    ['CHARTER_REFUSED', HELD, ({ entries }) => entries.append('one', entry('agent_charter', charter(['crm.*'], [])))],
    ['APPROVAL_MISSING', ASKING, () => null],
    [
      'PRECONDITION_FAILED',
      LOOKED_AT,
      ({ run }) => {
        run.whenDue(ENDS);
        const observations = [seen('verify', { ok: false })];
        run.when(reported(request(run), { outcome: 'unverified', observations }), ENDS);
      },
    ],
    [
      'PRECONDITION_UNKNOWN',
      LOOKED_AT,
      (on) => {
        on.run.whenDue(ENDS);
        unsaid(on, ENDS);
        unsaid(on, ENDS + 200);
      },
    ],
  ])(
    'that does not go (%s) takes back what its run did before, where the run says so (A53)',
    (reason, changes, ends) => {
      const text = contractText(changes);
      const contract_digest = contractDigest(text);
      const on = ledger({ isRebuilt, asks: true, contracts: [text] });
      on.run.when(planned(intent({ is_held: true, contract_digest, on_failure: 'compensate' })), NOW);
      const earlier = { event_id: 'evt-b', effect_key: 'b', call_id: 'call-b', idempotency_key: 'key-b' };
      on.run.when(executed(refund({ ...earlier, contract_digest, assumption_refs: [] })), NOW + 1);
      ends(on);
      if (on.run.rows('undo').length === 0) on.run.whenDue(ENDS);
      expect(on.run.records().slice(-3)).toMatchObject([
        cancelled(reason),
        fact('UndoListed', { is_last: true }),
        fell({ evidence: { kind: 'tool_return' } }),
      ]);
    },
  );

  it('goes where a charter allows it, and where the switch was lifted in time', () => {
    const { run, entries } = start();
    entries.append('two', entry('agent_charter', charter(['payments.*'], [])));
    const body = stopping({ over: 'tenant' });
    entries.append('one', entry('kill_switch', body));
    entries.append('one', entry('kill_switch', body, TENANT, 'EntryRetired'));
    run.whenDue(ENDS).then(fact('HoldElapsed'), fact('WorkerAsked', { request: { kind: 'release' } }));
  });

  it('does not go where the switch came while its precondition was looked at', () => {
    const { run, entries } = start(LOOKED_AT);
    run.whenDue(ENDS).then(fact('WorkerAsked', { request: { kind: 'observe' } }));
    entries.append('one', entry('kill_switch', stopping({ over: 'tenant' })));
    run
      .when(reported(request(run), { outcome: 'verified', observations: [seen('verify', { ok: true })] }), ENDS + 5)
      .then(fact('WorkerAnswered', { verdict: 'met' }), cancelled('KILL_SWITCH'));
  });
});
