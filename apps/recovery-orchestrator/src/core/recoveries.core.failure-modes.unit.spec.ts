// The nine ways in which recovery itself does harm (A90, A91, A92), each by its name, and what stands against it.
import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { rollbackIdOf } from '@recourse/messages';
import { reviewContract } from '@recourse/contract';
import type { ContractTerms } from '@recourse/messages';
import { fact, harness, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  answered,
  approval,
  BALANCE_KEPT,
  BALANCE_ZERO,
  CLOSED_MANUAL,
  core,
  denial,
  digest,
  envelope,
  execution,
  LAST_DISPATCH,
  markedInput,
  ref,
  requestIn,
  resolution,
  REVIEW,
  STILL_PENDING,
  terms,
  views,
  WINDOW_END,
  planned,
  agreed,
} from '../recoveries.testing.js';

const AUTO = terms({ impact: 'write', recovery_approval_mode: 'auto' });
const MARKED_AT = 10_000;

describe.each(WAYS)('failure modes, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness => harness(core(), { isRebuilt, views: views() });
  const countOf = (run: CoreHarness, type: string): number =>
    run.records().filter((record) => record.type === type).length;
  const stepOf = (run: CoreHarness): Readonly<Record<string, unknown>> => run.rows('step')[0]?.doc ?? {};
  const recoveryOf = (run: CoreHarness): Readonly<Record<string, unknown>> => run.rows('recovery')[0]?.doc ?? {};

  describe('silent irreversibility', () => {
    it.each([
      ['nobody made a contract for', { terms: null }, 'UNCONTRACTED'],
      [
        'is irreversible by its contract',
        { ref: ref({ reversal_class: 'irreversible' }) },
        'TOOL_HAS_NO_AUTOMATIC_COMPENSATION',
      ],
      [
        'has a class and no reversal',
        { ref: ref({ reversal_capability: null }) },
        'MISSING_COMPENSATION_IMPLEMENTATION',
      ],
      ['was not captured well enough to be undone', { ref: ref({ reversal_args: null }) }, 'HANDLE_INCOMPLETE'],
      ['nothing could verify the undo of', { terms: terms({ success_condition: null }) }, 'VERIFICATION_MISSING'],
      [
        'names a handle that somebody else named first',
        { recoverability: 'manual_resolution_required', reason: 'HANDLE_CLAIMED' },
        'HANDLE_CLAIMED',
      ],
    ] as const)(
      'an effect that %s stands in the open: with its reason, an owner, a deadline, and no word of success',
      (_what, more, reason) => {
        const run = start().when(markedInput(more), MARKED_AT);
        expect(run.recorded()).toMatchObject([
          { type: 'RecoveryPlanned', body: { members: [{ decision: 'manual_review', reason }] } },
          { type: 'StepEscalated', body: { reason } },
          ...run.recorded().slice(2, -1),
          CLOSED_MANUAL,
        ]);
        expect([stepOf(run), recoveryOf(run)]).toMatchObject([
          { phase: 'manual', reason, owner: 'role:administrator', deadline_at: MARKED_AT + REVIEW },
          { outcome: 'manual' },
        ]);
        expect(run.outgoing()).toEqual([]);
      },
    );
  });

  describe('phantom undo', () => {
    it.each([
      ['says that it is done', []],
      ['says so while the world shows otherwise', [STILL_PENDING, BALANCE_KEPT]],
    ] as const)('of a tool that %s is never called compensated, and a person hears of it', (_what, seen) => {
      const run = start().when(markedInput({ terms: { ...AUTO, max_attempts: 1 } }), MARKED_AT);
      run.when(answered(requestIn(run.outgoing()), 'verified', seen), 20_000).whenDue(100_000);
      expect([stepOf(run), recoveryOf(run)]).toMatchObject([
        { phase: 'manual', reason: 'VERIFICATION_FAILED', owner: 'role:administrator' },
        { outcome: 'manual' },
      ]);
      expect(run.records().some(({ body }) => body['outcome'] === 'compensated')).toBe(false);
    });
  });

  describe('compensation storm', () => {
    it('of many marks and workers over one mutation is one dispatch and one outcome', () => {
      const run = start();
      run.when(markedInput({ terms: AUTO }), MARKED_AT);
      const request = requestIn(run.outgoing());
      for (let at = 0; at < 20; at += 1) run.when(markedInput({ terms: AUTO }), MARKED_AT + 1 + at);
      for (let at = 0; at < 20; at += 1)
        run.when(
          answered(request, at % 3 === 1 ? 'failed' : 'verified', [STILL_PENDING, BALANCE_ZERO], {
            worker_id: `w${String(at)}`,
          }),
          20_000 + at,
        );
      for (let at = 0; at < 20; at += 1) run.when(markedInput({ terms: AUTO }), 30_000 + at);
      run.whenDue(WINDOW_END);
      expect(['RecoveryPlanned', 'LegDispatched', 'LegSettled'].map((type) => countOf(run, type))).toEqual([1, 1, 1]);
      expect(stepOf(run)).toMatchObject({ phase: 'compensated', attempt: 1 });
    });
  });

  describe('recovery bypass', () => {
    it('by commands: who asks, who acted, who gained and who is no person cannot dispatch', () => {
      const run = start().when(markedInput(), MARKED_AT);
      const attempts = [
        approval({ by: 'agent:planner' }),
        approval({ by: 'agent:refund-agent' }),
        approval({ by: 'ines' }),
        approval({ roles: ['administrator', 'reporter'] }),
        approval({ digest: Buffer.alloc(32) }),
        resolution('repaired'),
        markedInput({ terms: AUTO }),
      ];
      attempts.forEach((attempt, at) => run.when(attempt, 20_000 + at));
      expect([countOf(run, 'StepApproved'), countOf(run, 'LegDispatched'), stepOf(run)['phase']]).toEqual([
        0,
        0,
        'awaiting_approval',
      ]);
    });

    it('by a worker that nobody asked: an answer counts under the lease that was given, and only then', () => {
      const run = agreed(start().when(markedInput(), MARKED_AT), 20_000);
      const request = requestIn(run.outgoing());
      for (const forged of [{ lease_id: 'f'.repeat(64) }, { lease_id: '' }, { leg_id: 'leg_x' }, { tenant: 'evil' }]) {
        run
          .when(answered(request, 'verified', [STILL_PENDING, BALANCE_ZERO], forged), 21_000)
          .then(fact('ReportRefused', { code: 'LEASE_UNKNOWN' }));
      }
      expect(stepOf(run)).toMatchObject({ phase: 'dispatched', last: null });
    });
  });

  describe('over-privileged recovery', () => {
    const modes = ['auto', 'human', 'dual_control'] as const;
    const impacts = [
      'write',
      'customer_visible',
      'financial',
      'destructive',
      'security_sensitive',
      'never heard of',
    ] as const;

    it.each(modes.flatMap((mode) => impacts.map((impact) => [mode, impact] as const)))(
      'of mode %s and impact %s has the rights its contract declares and no more',
      (mode, impact) => {
        const contract: ContractTerms = terms({ recovery_approval_mode: mode, impact });
        const run = start().when(markedInput({ terms: contract }), MARKED_AT);
        const isFree = mode === 'auto' && (impact === 'write' || impact === 'customer_visible');
        expect(countOf(run, 'LegDispatched')).toBe(isFree ? 1 : 0);
        if (!isFree) run.when(approval({ digest: digest({ terms: contract }) }), 20_000);
        if (mode === 'dual_control') run.when(approval({ by: 'otto', digest: digest({ terms: contract }) }), 21_000);
        expect(requestIn(run.outgoing()).steps).toMatchObject([
          {
            call: {
              capability: ref().reversal_capability,
              args: ref().reversal_args,
              approval_mode: isFree ? 'network' : 'delegated',
              policy_ref: null,
            },
          },
        ]);
      },
    );
  });

  describe('expired-window recovery', () => {
    const late = LAST_DISPATCH + 1;
    const ends = fact('StepEscalated', { reason: 'REVERSAL_EXPIRED', owner: 'role:administrator' });

    it('does not begin: a mark after the window goes to a person at once', () => {
      start()
        .when(markedInput({ terms: AUTO }), late)
        .then(planned({ decision: 'manual_review', reason: 'REVERSAL_EXPIRED' }), ends, CLOSED_MANUAL);
    });

    it('does not begin with an approval that comes after the window', () => {
      const run = harness(core({ reviewDeadlineMs: WINDOW_END }), { isRebuilt, views: views() }).when(
        markedInput(),
        MARKED_AT,
      );
      run
        .when(approval(), late)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'WINDOW_CLOSED' })
        .whenDue(late)
        .then(ends, CLOSED_MANUAL);
      expect(countOf(run, 'LegDispatched')).toBe(0);
    });

    it('does not go on: the next attempt after the window goes to a person', () => {
      const run = start().when(markedInput({ terms: AUTO, ref: ref({ reversal_expires_at: 60_000 }) }), MARKED_AT);
      run
        .when(answered(requestIn(run.outgoing()), 'failed', []), 52_999)
        .whenDue(53_999)
        .then(ends, CLOSED_MANUAL);
      expect(countOf(run, 'LegDispatched')).toBe(1);
    });
  });

  describe('unbounded blast radius', () => {
    const of = (tenant: string, runId: string, at: number) => {
      const id = `mut_${runId}_${String(at)}`;
      return markedInput({
        tenant,
        run_id: runId,
        mutation_id: id,
        rollback_id: rollbackIdOf('acme', id),
        execution: execution({ tenant, run_id: runId, effect_key: `effect-${String(at)}` }),
        ref: ref({ mutation_id: id }),
      });
    };

    it('ends at the mutation that was marked: its siblings, its run and other tenants stay as they are', () => {
      const run = start();
      [0, 1, 2, 3].forEach((at) =>
        run.when(of('acme', 'run-1', at), MARKED_AT + at).when(of('globex', 'run-2', at), MARKED_AT + at),
      );
      const before = run.rows('step');
      const hit = before.find(({ doc }) => doc['mutation_id'] === 'mut_run-1_3');
      run.when(approval({ stepId: String(hit?.key), digest: hit?.doc['action_digest'] as Buffer }), 20_000); // a field of the row
      expect(requestIn(run.outgoing()).steps.map(({ call }) => call.reverses_mutation_ref)).toEqual(['mut_run-1_3']);
      expect(run.rows('step').filter(({ key }) => key !== hit?.key)).toEqual(
        before.filter(({ key }) => key !== hit?.key),
      );
    });

    it("ends at the tenant: nobody reaches another tenant's step, whatever their role", () => {
      const run = start().when(of('acme', 'run-1', 0), MARKED_AT);
      const step = run.rows('step')[0];
      const named = {
        stepId: String(step?.key),
        digest: step?.doc['action_digest'] as Buffer,
        tenant: 'globex',
        roles: ['approver', 'administrator'],
      }; // as above
      run
        .when(approval(named), 20_000)
        .thenAnswer({ code: 'STEP_UNKNOWN' })
        .when(denial(named), 20_001)
        .thenAnswer({ code: 'STEP_UNKNOWN' });
      run
        .when(
          resolution('accepted', 'eve', ['administrator'], {
            step_id: named.stepId,
            envelope: envelope('eve', ['administrator'], { tenant: 'globex' }),
          }),
          20_002,
        )
        .thenAnswer({ code: 'STEP_UNKNOWN' });
      expect(run.rows('step')).toEqual([step]);
    });
  });

  describe('orphaned mutation', () => {
    it('is none between two stages either: whatever is open has an owner and a deadline', () => {
      const run = start().when(markedInput({ execution_state: 'uncertain' }), MARKED_AT);
      for (let turn = 0; turn < 40; turn += 1) {
        for (const { doc } of [...run.rows('step'), ...run.rows('recovery')])
          if (doc['phase'] !== 'closed')
            expect([doc['owner'], doc['deadline_at']]).toEqual([
              expect.stringMatching(/^(?:role|adapter|service):/u),
              expect.any(Number),
            ]);
        run.whenDue(MARKED_AT + turn * 50_000);
      }
      expect(stepOf(run)).toMatchObject({ phase: 'manual', reason: 'FORWARD_UNRESOLVED' });
    });
  });
});

describe('irreversible-by-default deletes', () => {
  const folder = 'examples/contracts';
  const shipped = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')) as Readonly<Record<string, unknown>>);
  const codesOf = (contract: object): readonly string[] => {
    const reviewed = reviewContract(JSON.stringify(contract), { has: () => true });
    return reviewed.ok ? [] : reviewed.problems.map(({ code }) => code);
  };
  const deletions = shipped.filter(
    ({ impact, reversal_class }) => impact === 'destructive' && reversal_class !== 'irreversible',
  );

  it('do not register: a deletion that is to be undone keeps a copy, or what was there before', () => {
    expect(deletions.length).toBeGreaterThan(0);
    for (const deletion of deletions) {
      expect(codesOf(deletion)).toEqual([]);
      const { tombstone_ttl_ms: _kept, ...techniques } = (deletion['techniques'] ?? {}) as Readonly<
        Record<string, unknown>
      >; // an object by the schema
      expect(codesOf({ ...deletion, techniques, requires_prior_value_capture: false })).toContain(
        'DESTRUCTIVE_WITHOUT_COPY',
      );
    }
  });

  it("of a tool nobody described are a person's to answer for, not a machine's to guess", () => {
    const run = harness(core(), { views: views() }).when(
      markedInput({
        terms: null,
        ref: ref({ capability: 'files.delete_file', reversal_capability: 'files.undelete_file' }),
      }),
      MARKED_AT,
    );
    expect(run.recorded().slice(0, 2)).toMatchObject([
      { type: 'RecoveryPlanned', body: { members: [{ decision: 'manual_review', reason: 'UNCONTRACTED' }] } },
      { type: 'StepEscalated', body: { owner: 'role:administrator' } },
    ]);
    expect(run.outgoing()).toEqual([]);
  });
});
