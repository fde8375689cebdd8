// What binds a recovery beside the contract its effect executed under: recovery policies, and the contract as it stands by now.
// Both are asked when it is planned and at every dispatch, and may only tighten.
import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { contractDigest, plainPayload } from '@recourse/contract';
import type { ContractTerms } from '@recourse/messages';
import { fact, harness, WAYS } from '@recourse/testing';
import {
  answered,
  approval,
  CALL_TIMEOUT,
  CLOSED_MANUAL,
  core,
  denial,
  digest,
  envelope,
  execution,
  leg,
  looked,
  LOOKED_AGAIN,
  SEEN,
  markedInput,
  MARGIN,
  planned,
  ref,
  requestIn,
  RUN,
  settled,
  STEP,
  terms,
  views,
  SHOWN,
  calls,
} from '../recoveries.testing.js';
import { wire } from '@recourse/testing';
import { taskIdOf } from '../rules/task/task.decider.js';

const MARKED_AT = 10_000;
const COMMITTED_AT = 1_000;
const shipped = JSON.parse(readFileSync('examples/contracts/payments.issue_refund.json', 'utf8')) as object;

const THEN = {
  args: plainPayload({ order_id: 'o_1' }),
  taken: [],
  verify_capability: 'payments.read_order',
  success_condition: "observed.status == 'closed'",
  verify_max_attempts: 1,
  verify_delay_ms: 0,
};
const RULES = [
  { name: 'large', when: 'mutation.amount_minor > 100000', approval: 'dual_control', reason: 'much money' },
  { name: 'doubted', when: 'evidence.source == "critic"', approval: 'human', reason: 'a critic may be wrong' },
] as const;

describe.each(WAYS)('a recovery, $way', ({ isRebuilt }) => {
  const world = () => {
    const both = views();
    const versions = { bundle: 0, contract: 0 };
    const registered: { readonly name: string; readonly version: number; readonly digest: Buffer }[] = [];
    return {
      run: harness(core(), { isRebuilt, views: both }),
      /** The bundle under this name, in its next version. */
      rules(recovery: readonly object[], name = 'refunds', tenant = 'acme'): void {
        versions.bundle += 1;
        const body = JSON.stringify({ owner: 'risk', doc: 'd', admission: [], recovery });
        both.entries.append(
          'e',
          fact('EntryRegistered', {
            kind: 'policy_bundle',
            tenant,
            name,
            version: versions.bundle,
            digest: contractDigest(body),
            body,
          }),
        );
      },
      retire(name = 'refunds', tenant = 'acme'): void {
        both.entries.append('e', fact('EntryRetired', { kind: 'policy_bundle', tenant, name }));
      },
      /** The contract that was registered last. */
      retireContract(): void {
        both.contracts.append('c', fact('ContractRetired', { ...registered.at(-1), tenant: '*' }));
      },
      /** The contract of the effect, or of what it is named, in its next version. */
      contract(more: { readonly [field: string]: unknown; readonly name?: string }): void {
        versions.contract += 1;
        const { recovery_policy_ref: _none, ...plain } = shipped as Record<string, unknown>;
        const body = JSON.stringify({
          ...plain,
          impact: 'write',
          recovery_approval_mode: 'auto',
          compensation_mode: undefined,
          version: versions.contract,
          ...more,
        });
        const one = {
          name: more.name ?? 'payments.issue_refund',
          version: versions.contract,
          digest: contractDigest(body),
        };
        registered.push(one);
        both.contracts.append('c', fact('ContractRegistered', { ...one, tenant: '*', body }));
      },
    };
  };
  const under = (more: Partial<ContractTerms> = {}): ContractTerms =>
    terms({ impact: 'write', recovery_approval_mode: 'auto', recovery_policy_ref: 'refunds', ...more });
  const worth = (amount_minor: number) => execution({ value: { amount_minor, currency: 'EUR' } });

  describe('under a recovery policy (A23, A68)', () => {
    it('goes by itself where no rule applies and the contract lets it', () => {
      const { run, rules } = world();
      rules(RULES);
      run
        .when(markedInput({ terms: under(), execution: worth(4_900) }), MARKED_AT)
        .then(planned({ decision: 'compensate_now', in_force: { rules: [] } }), leg());
    });

    it('asks two people where a rule says so, and names the rule', () => {
      const { run, rules } = world();
      rules(RULES);
      run.when(markedInput({ terms: under(), execution: worth(200_000) }), MARKED_AT).then(
        planned({
          decision: 'request_approval',
          reason: 'COMPENSATION_REQUIRES_HUMAN_APPROVAL',
          required_approvals: 2,
          in_force: { rules: ['refunds@1/large'] },
        }),
        SHOWN,
      );
    });

    it('never asks fewer people than the contract', () => {
      const { run, rules } = world();
      rules([{ name: 'all', when: 'true', approval: 'auto', reason: 'r' }]);
      run
        .when(markedInput({ terms: under({ recovery_approval_mode: 'dual_control' }) }), MARKED_AT)
        .then(planned({ decision: 'request_approval', required_approvals: 2 }), SHOWN);
    });

    it.each([
      ['bound', 'dual_control', 'human'],
      ['named by the contract since', 'human', 'dual_control'],
    ])('asks as many people as the stricter of two policies, that which was %s', (_, one, two) => {
      const { run, rules, contract } = world();
      rules([{ name: 'one', when: 'true', approval: one, reason: 'r' }]);
      rules([{ name: 'two', when: 'true', approval: two, reason: 'r' }], 'since');
      contract({ recovery_policy_ref: 'since' });
      run
        .when(markedInput({ terms: under() }), MARKED_AT)
        .then(planned({ required_approvals: 2, in_force: { rules: ['refunds@1/one', 'since@2/two'] } }), SHOWN);
    });

    it('takes the bundle of the tenant beside that of the platform, which it cannot loosen', () => {
      const { run, rules } = world();
      rules([{ name: 'everyone', when: 'true', approval: 'dual_control', reason: 'r' }], 'refunds', '*');
      rules([{ name: 'ours', when: 'true', approval: 'human', reason: 'r' }]);
      run
        .when(markedInput({ terms: under() }), MARKED_AT)
        .then(
          planned({ required_approvals: 2, in_force: { rules: ['refunds@2/platform/everyone', 'refunds@2/ours'] } }),
          SHOWN,
        );
    });

    it.each([
      ['is registered under its name', null, 'refunds: not registered'],
      ['can be judged', [{ name: 'r', when: 'mutation.no_such > 1', approval: 'auto', reason: 'r' }], 'refunds@1/r: '],
    ] as const)('is a person’s where no policy %s', (_what, recovery, told) => {
      const { run, rules } = world();
      if (recovery !== null) rules(recovery);
      run.when(markedInput({ terms: under() }), MARKED_AT);
      expect(run.records()[0]).toMatchObject(
        planned({ decision: 'manual_review', reason: 'RECOVERY_POLICY_UNDECIDED' }),
      );
      expect(run.rows('step')[0]?.doc).toMatchObject({
        phase: 'manual',
        in_force: { rules: [expect.stringContaining(told)] },
      });
      expect(calls(run)).toEqual([]);
    });

    it('is not tried again while the policy cannot be judged, and is once it can', () => {
      const { run, rules } = world();
      run.when(markedInput({ terms: under() }), MARKED_AT);
      const retry = (id: string) =>
        wire(
          'recourse.recovery-commands',
          'RetryStep',
          { envelope: envelope('olga', ['approver'], { command_id: id }), run_id: RUN, step_id: STEP, reason: 'r' },
          { key: RUN },
        );
      run.when(retry('c1'), 11_000);
      expect(run.rows('step')[0]?.doc).toMatchObject({ phase: 'manual' });
      rules(RULES);
      run.when(retry('c2'), 12_000);
      expect(run.records().some(({ type }) => type === 'LegDispatched')).toBe(true);
    });

    it('is asked again at the dispatch: a rule that was added since stops what one has agreed to (C45)', () => {
      const { run, rules } = world();
      const human = under({ recovery_approval_mode: 'human' });
      rules(RULES);
      run.when(markedInput({ terms: human }), MARKED_AT).then(planned({ required_approvals: 1 }), SHOWN);
      rules([...RULES, { name: 'now', when: 'true', approval: 'dual_control', reason: 'r' }]);
      run
        .when(approval({ digest: digest({ terms: human }) }), 20_000)
        .then(fact('StepApproved'), fact('StepEscalated', { reason: 'POLICY_CHANGED' }), CLOSED_MANUAL);
      expect(calls(run)).toEqual([]);
    });

    it('stops at the dispatch where the bundle was retired since (C45)', () => {
      const { run, rules, retire } = world();
      rules(RULES);
      const human = under({ recovery_approval_mode: 'human' });
      run.when(markedInput({ terms: human }), MARKED_AT).then(planned({ required_approvals: 1 }), SHOWN);
      retire();
      run
        .when(approval({ digest: digest({ terms: human }) }), 20_000)
        .then(fact('StepApproved'), fact('StepEscalated', { reason: 'RECOVERY_POLICY_UNDECIDED' }), CLOSED_MANUAL);
    });
  });

  describe('under a contract that was tightened since its effect (C45)', () => {
    const TIGHTENED = [
      ['leaves it to people', { compensation_mode: { mode: 'manual_runbook', reason: 'r', runbook: 'R-1' } }],
      ['calls it irreversible', { reversal_class: 'irreversible' }],
      ['gives up the way back', { compensation_mode: { mode: 'not_supported', reason: 'r', accepted_by: 'a' } }],
    ] as const;

    it.each(TIGHTENED)('and %s by now is not dispatched, whoever has agreed', (_what, more) => {
      const { run, contract } = world();
      const human = terms({ impact: 'write' });
      contract({ recovery_approval_mode: 'human' });
      run.when(markedInput({ terms: human }), MARKED_AT).then(planned({ required_approvals: 1 }), SHOWN);
      contract({ recovery_approval_mode: 'human', ...more });
      run
        .when(approval({ digest: digest({ terms: human }) }), 20_000)
        .then(fact('StepApproved'), fact('StepEscalated', { reason: 'POLICY_CHANGED' }), CLOSED_MANUAL);
      expect(calls(run)).toEqual([]);
    });

    it.each(TIGHTENED)('and %s is a person’s from the start', (_what, more) => {
      const { run, contract } = world();
      contract(more);
      run.when(markedInput({ terms: under({ recovery_policy_ref: null }) }), MARKED_AT);
      expect(run.records()[0]).toMatchObject(planned({ decision: 'manual_review' }));
      expect(calls(run)).toEqual([]);
    });

    it('and is taken up again is not corrected by hand while people have it undone', () => {
      const { run, contract } = world();
      const human = terms({ impact: 'write' });
      const said = (type: string, more: object) =>
        wire(
          'recourse.recovery-commands',
          type,
          { envelope: envelope('olga', ['approver']), run_id: RUN, reason: 'r', ...more },
          { key: RUN },
        );
      const content = plainPayload({ message: 'paid', safe_state: 'settled', user_visible_outcome: 'money back' });
      const corrected = () =>
        said('CloseTask', {
          ...{ task_id: taskIdOf(STEP, 'correction'), outcome: 'done', correction_ref: null, content },
        });
      contract({ recovery_approval_mode: 'human', reversal_class: 'irreversible' });
      run.when(markedInput({ terms: human }), MARKED_AT);
      contract({ recovery_approval_mode: 'human' });
      run.when(said('RetryStep', { step_id: STEP }), 20_000).then(fact('StepReopened'), SHOWN);
      run.when(corrected(), 21_000).then().thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
      run.when(denial({ digest: digest({ terms: human }) }), 22_000).then(fact('StepDenied'), CLOSED_MANUAL);
      run.when(corrected(), 23_000).then(fact('TaskClosed'), fact('StepResolved', { resolution: 'corrected' }));
    });

    it.each([
      ['a higher risk', { risk_level: 'high' }],
      ['a graver impact', { impact: 'financial', recovery_approval_mode: 'human' }],
    ] as const)('to %s does not go on by itself', (_what, more) => {
      const { run, contract } = world();
      contract({});
      run.when(markedInput({ terms: under({ recovery_policy_ref: null }) }), MARKED_AT);
      const request = requestIn(run.outgoing());
      contract(more);
      run
        .when(answered(request, 'failed', []), 11_000)
        .then(settled())
        .whenDue(12_000)
        .then(fact('StepEscalated', { reason: 'POLICY_CHANGED' }), CLOSED_MANUAL);
    });

    it.each([
      ['first', 'payments.cancel_refund', { impact: 'destructive' }],
      ['further on', 'payments.close_order', { forward_approval: 'dual_control' }],
    ] as const)('asks a person where its undo calls what people agree to, %s (A30)', (_what, name, more) => {
      const { run, contract } = world();
      const then = { ...THEN, capability: 'payments.close_order' };
      const asked = { terms: under({ recovery_policy_ref: null }), ref: ref({ reversal_then: [then] }) };
      contract({ name, ...more });
      run.when(markedInput(asked), MARKED_AT).then(
        planned({
          decision: 'request_approval',
          reason: 'COMPENSATION_REQUIRES_HUMAN_APPROVAL',
          required_approvals: 1,
          in_force: { approval_mode: 'human' },
        }),
        SHOWN,
      );
      const later = world();
      later.contract({ name });
      later.run.when(markedInput(asked), MARKED_AT).then(planned({ decision: 'compensate_now' }), leg());
      later.contract({ name, ...more });
      later.run
        .when(answered(requestIn(later.run.outgoing()), 'failed', []), 11_000)
        .then(settled())
        .whenDue(12_000)
        .then(fact('StepEscalated', { reason: 'POLICY_CHANGED' }), CLOSED_MANUAL);
    });

    it('to a higher risk stops what people agreed to before they could know', () => {
      const { run, contract } = world();
      const human = terms({ impact: 'write' });
      contract({ recovery_approval_mode: 'human' });
      run
        .when(markedInput({ terms: human }), MARKED_AT)
        .then(planned({ in_force: { contract_version: 1, risk_level: 'medium' } }), SHOWN);
      contract({ recovery_approval_mode: 'human', risk_level: 'high' });
      run
        .when(approval({ digest: digest({ terms: human }) }), 20_000)
        .then(fact('StepApproved'), fact('StepEscalated', { reason: 'POLICY_CHANGED' }), CLOSED_MANUAL);
    });

    it('to a shorter window is agreed to and asked about no longer than that', () => {
      const { run, contract } = world();
      const human = terms({ impact: 'write' });
      contract({ recovery_approval_mode: 'human' });
      run.when(markedInput({ terms: human }), MARKED_AT).then(planned({ required_approvals: 1 }), SHOWN);
      contract({ recovery_approval_mode: 'human', reversal_window_ms: 20_000, expires_after_commit_ms: undefined });
      const closed = COMMITTED_AT + 20_000 - CALL_TIMEOUT - MARGIN;
      run
        .when(approval({ digest: digest({ terms: human }) }), closed)
        .thenAnswer({ httpStatus: 409, code: 'WINDOW_CLOSED' });
      run
        .whenDue(Number(run.rows('step')[0]?.doc['deadline_at']))
        .then(fact('StepEscalated', { reason: 'REVERSAL_EXPIRED' }), CLOSED_MANUAL);
      const anew = world();
      anew.contract({
        recovery_approval_mode: 'human',
        reversal_window_ms: 20_000,
        expires_after_commit_ms: undefined,
      });
      anew.run.when(markedInput({ terms: human }), MARKED_AT).then(planned({ deadline_at: closed }), SHOWN);
      anew.run
        .when(approval({ digest: digest({ terms: human }) }), closed - 1)
        .then(fact('StepApproved'), LOOKED_AGAIN);
      looked(anew.run, closed).then(SEEN, fact('StepEscalated', { reason: 'REVERSAL_EXPIRED' }), CLOSED_MANUAL);
    });

    it('to a shorter window leases no worker beyond it', () => {
      const { run, contract } = world();
      contract({ reversal_window_ms: 20_000, expires_after_commit_ms: undefined });
      run
        .when(markedInput({ terms: under({ recovery_policy_ref: null }) }), MARKED_AT)
        .then(
          planned({ decision: 'compensate_now' }),
          leg({ not_after: COMMITTED_AT + 20_000 - CALL_TIMEOUT - MARGIN }),
        );
    });

    it.each<[string, object, object]>([
      [
        'more people',
        { recovery_approval_mode: 'dual_control' },
        { decision: 'request_approval', required_approvals: 2 },
      ],
      [
        'people alone',
        { compensation_mode: { mode: 'manual_runbook', reason: 'it charges twice', runbook: 'R-1' } },
        { decision: 'manual_review' },
      ],
    ])('is not loosened where the version that asks for %s is retired', (_what, more, decided) => {
      const { run, contract, retireContract } = world();
      contract({});
      contract({ recovery_approval_mode: 'human', ...more });
      retireContract();
      run.when(markedInput({ terms: under({ recovery_policy_ref: null }) }), MARKED_AT);
      expect(run.records()[0]).toMatchObject(planned({ ...decided, in_force: { contract_version: 2 } }));
      expect(calls(run)).toEqual([]);
    });

    it('is loosened in vain: what the effect was bound to stays', () => {
      const { run, contract } = world();
      contract({ risk_level: 'low', reversal_window_ms: 9_000_000_000 });
      run
        .when(
          markedInput({ terms: terms({ impact: 'write', risk_level: 'high', recovery_approval_mode: 'auto' }) }),
          MARKED_AT,
        )
        .then(planned({ decision: 'manual_review', reason: 'RISK_ABOVE_LIMIT' }), fact('StepEscalated'), CLOSED_MANUAL);
    });
  });
});
