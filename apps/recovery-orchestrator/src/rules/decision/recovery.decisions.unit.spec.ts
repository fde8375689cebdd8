import { describe, expect, it } from '@jest/globals';
import { EXECUTION_STATE_VALUES, RECOVERABILITY_STATE_VALUES, RECOVERY_APPROVAL_MODE_VALUES } from '@recourse/messages';
import fc from 'fast-check';
import { ref, terms } from '../../recoveries.testing.js';
import { PHASE_OPENED_BY } from '../step/step.transitions.js';
import {
  approvalState,
  APPROVALS,
  DECISION_REASONS,
  DECISION_TABLE,
  decideRecovery,
  handleOf,
  HANDLES,
  impactOf,
  IMPACTS,
  requiredApprovals,
  POLICIES,
  riskOf,
  RISKS,
  WINDOWS,
  reversalToken,
} from './recovery.decisions.js';
import type { RecoveryFacts } from './recovery.decisions.js';

const SUCCEEDED: RecoveryFacts = {
  execution: 'succeeded',
  recoverability: 'reversal_available',
  window: 'open',
  handle: 'bound',
  mode: 'auto',
  impact: 'ordinary',
  risk: 'within',
  policies: 'decided',
  approval: 'none',
};

/** Every combination of every column. */
function everything(): RecoveryFacts[] {
  const all: RecoveryFacts[] = [];
  for (const execution of EXECUTION_STATE_VALUES)
    for (const recoverability of RECOVERABILITY_STATE_VALUES)
      for (const window of WINDOWS)
        for (const handle of HANDLES)
          for (const mode of RECOVERY_APPROVAL_MODE_VALUES)
            for (const impact of IMPACTS)
              for (const risk of RISKS)
                for (const policies of POLICIES)
                  for (const approval of APPROVALS)
                    all.push({ execution, recoverability, window, handle, mode, impact, risk, policies, approval });
  return all;
}

const anyFacts = fc.record({
  execution: fc.constantFrom(...EXECUTION_STATE_VALUES),
  recoverability: fc.constantFrom(...RECOVERABILITY_STATE_VALUES),
  window: fc.constantFrom(...WINDOWS),
  handle: fc.constantFrom(...HANDLES),
  mode: fc.constantFrom(...RECOVERY_APPROVAL_MODE_VALUES),
  impact: fc.constantFrom(...IMPACTS),
  risk: fc.constantFrom(...RISKS),
  policies: fc.constantFrom(...POLICIES),
  approval: fc.constantFrom(...APPROVALS),
});

describe('the decision table, row by row', () => {
  it.each([
    [
      'C36 a forward action that failed leaves nothing to undo',
      { execution: 'failed' },
      'retry_forward',
      'NOTHING_TO_UNDO',
    ],
    ['what is undone already is left alone', { recoverability: 'compensated' }, 'retry_forward', 'ALREADY_UNDONE'],
    [
      'a cancelled effect is left alone',
      { execution: 'failed', recoverability: 'cancelled' },
      'retry_forward',
      'NOTHING_TO_UNDO',
    ],
    [
      'an effect that happened in spite of its cancel goes to a person',
      { recoverability: 'cancelled' },
      'manual_review',
      'EXECUTED_AFTER_CANCEL',
    ],
    [
      'one that may have is reconciled first',
      { execution: 'uncertain', recoverability: 'cancelled' },
      'reconcile_first',
      'FORWARD_UNCERTAIN',
    ],
    [
      'C31 what has not started goes forward',
      { execution: 'planned', recoverability: 'planned' },
      'retry_forward',
      'FORWARD_NOT_STARTED',
    ],
    ['what is under way is reconciled first', { execution: 'executing' }, 'reconcile_first', 'FORWARD_IN_FLIGHT'],
    [
      'C33 an uncertain outcome is reconciled first',
      { execution: 'uncertain' },
      'reconcile_first',
      'FORWARD_UNCERTAIN',
    ],
    ['an effect without contract goes to a person', { handle: 'uncontracted' }, 'manual_review', 'UNCONTRACTED'],
    [
      'what was done under a version that bound no more goes to a person',
      { handle: 'superseded', recoverability: 'manual_resolution_required' },
      'manual_review',
      'CONTRACT_SUPERSEDED',
    ],
    [
      'C34 an irreversible effect goes to a person',
      { handle: 'irreversible' },
      'manual_review',
      'TOOL_HAS_NO_AUTOMATIC_COMPENSATION',
    ],
    [
      'C40 a tool without reversal goes to a person',
      { handle: 'no_reversal' },
      'manual_review',
      'MISSING_COMPENSATION_IMPLEMENTATION',
    ],
    ['C30 an incomplete handle is never guessed', { handle: 'incomplete' }, 'manual_review', 'HANDLE_INCOMPLETE'],
    [
      'what goes by a handle that somebody else named first goes to a person',
      { handle: 'claimed', recoverability: 'manual_resolution_required' },
      'manual_review',
      'HANDLE_CLAIMED',
    ],
    ['what cannot be verified goes to a person', { handle: 'unverifiable' }, 'manual_review', 'VERIFICATION_MISSING'],
    ['D29 an expired state is refused', { recoverability: 'reversal_expired' }, 'manual_review', 'REVERSAL_EXPIRED'],
    ['D29 a closed window is refused', { window: 'closed' }, 'manual_review', 'REVERSAL_EXPIRED'],
    ['D29 no window is refused', { window: 'none' }, 'manual_review', 'REVERSAL_WINDOW_MISSING'],
    [
      'C40 a state the table does not know is refused',
      { recoverability: 'committed' },
      'manual_review',
      'UNSUPPORTED_RECOVERY_STATE',
    ],
    ['C32 enough approvals compensate', { mode: 'human', approval: 'sufficient' }, 'compensate_now', 'APPROVED'],
    [
      'C35 high impact asks a person even when the mode is automatic',
      { impact: 'grave' },
      'request_approval',
      'HIGH_IMPACT',
    ],
    ['a human mode asks a person', { mode: 'human' }, 'request_approval', 'COMPENSATION_REQUIRES_HUMAN_APPROVAL'],
    [
      'one of two approvals still asks',
      { mode: 'dual_control', approval: 'partial' },
      'request_approval',
      'COMPENSATION_REQUIRES_HUMAN_APPROVAL',
    ],
    ['D27 only an automatic mode fires alone', {}, 'compensate_now', 'POLICY_AUTO'],
  ] as const)('%s', (_name, facts, decision, reason) => {
    expect(decideRecovery({ ...SUCCEEDED, ...facts })).toEqual({ decision, reason });
  });

  it('reaches every row but the last over all combinations, and uses every reason', () => {
    const hit = new Set(
      everything().map((facts) => DECISION_TABLE.findIndex((row) => row.then === decideRecovery(facts))),
    );
    expect(hit.size).toBeGreaterThanOrEqual(DECISION_TABLE.length - 1);
    expect(new Set(DECISION_TABLE.map((row) => row.then.reason))).toEqual(new Set(DECISION_REASONS));
    expect(Object.keys(PHASE_OPENED_BY).sort()).toEqual([...DECISION_REASONS].sort());
  });
});

describe('the decision table as a whole', () => {
  const compensating = everything().filter((facts) => decideRecovery(facts).decision === 'compensate_now');

  it('compensates only a bound handle in its window (D29)', () => {
    expect(compensating.length).toBeGreaterThan(0);
    for (const facts of compensating)
      expect(facts).toMatchObject({
        execution: 'succeeded',
        recoverability: 'reversal_available',
        window: 'open',
        handle: 'bound',
      });
  });

  it('never goes further than a person where the one guard refuses (D29)', () => {
    const refused = everything().filter(
      (facts) =>
        facts.execution === 'succeeded' &&
        reversalToken(facts) === 'refused' &&
        facts.handle !== 'read_only' &&
        !['compensated', 'cancelled'].includes(facts.recoverability),
    );
    expect(refused.length).toBeGreaterThan(0);
    for (const facts of refused) expect(decideRecovery(facts).decision).toBe('manual_review');
  });

  it('never compensates alone what is grave or what people must agree to (C35, D27)', () => {
    const alone = compensating.filter((facts) => facts.approval !== 'sufficient');
    for (const facts of alone) expect(facts).toMatchObject({ mode: 'auto', impact: 'ordinary' });
    expect(alone).toHaveLength(1);
  });

  it('sends nothing whose declared risk is above the limit unless people agreed, whatever mode and impact (C37)', () => {
    const risky = everything().filter((facts) => facts.risk === 'above' && facts.approval !== 'sufficient');
    for (const facts of risky)
      expect(['compensate_now', 'request_approval']).not.toContain(decideRecovery(facts).decision);
    expect(decideRecovery({ ...SUCCEEDED, risk: 'above' })).toEqual({
      decision: 'manual_review',
      reason: 'RISK_ABOVE_LIMIT',
    });
    expect(decideRecovery({ ...SUCCEEDED, risk: 'above', approval: 'sufficient' })).toEqual({
      decision: 'compensate_now',
      reason: 'APPROVED',
    });
  });

  it.each([
    ['low', 'low', 'within'],
    ['medium', 'low', 'above'],
    ['medium', 'medium', 'within'],
    ['high', 'medium', 'above'],
    ['high', 'high', 'within'],
    ['a word nobody knows', 'high', 'above'],
  ] as const)('a risk declared %s under the limit %s is %s it (C37)', (risk_level, limit, expected) => {
    expect(riskOf(terms({ risk_level }), limit)).toBe(expected);
    expect(requiredApprovals('auto', 'ordinary', 'ines', expected)).toBe(expected === 'above' ? 1 : 0);
  });

  it('is deterministic over random states (C38)', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        expect(decideRecovery({ ...facts })).toEqual(decideRecovery(facts));
      }),
      { numRuns: 5_000 },
    );
  });

  it('waits for the result of another compensation, but not past its window', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        fc.pre(facts.execution === 'succeeded' && facts.recoverability === 'reversal_available');
        expect(decideRecovery({ ...facts, handle: 'step_pending' }).decision).toBe(
          facts.window === 'open' ? 'reconcile_first' : 'manual_review',
        );
      }),
    );
  });

  it('has nothing to undo of a read, whatever else is said of it (A8)', () => {
    for (const facts of everything().filter(({ handle }) => handle === 'read_only'))
      expect(decideRecovery(facts)).toEqual({ decision: 'retry_forward', reason: 'NOTHING_TO_UNDO' });
  });

  it('ends in manual review whatever goes wrong with the handle of a succeeded action', () => {
    fc.assert(
      fc.property(
        anyFacts,
        fc.constantFrom(
          ...HANDLES.filter((handle) => !['bound', 'step_pending', 'asked', 'read_only'].includes(handle)),
        ),
        (facts, handle) => {
          fc.pre(facts.execution === 'succeeded' && facts.recoverability === 'reversal_available');
          expect(decideRecovery({ ...facts, handle }).decision).toBe('manual_review');
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('the facts of the table', () => {
  it.each([
    ['financial', 'grave'],
    ['destructive', 'grave'],
    ['security_sensitive', 'grave'],
    ['never heard of', 'grave'],
    ['write', 'ordinary'],
    ['customer_visible', 'ordinary'],
  ])('read impact %s as %s', (impact, expected) => {
    expect(impactOf(terms({ impact }))).toBe(expected);
  });

  it('read a missing contract as grave', () => {
    expect(impactOf(null)).toBe('grave');
  });

  it.each([
    ['bound', terms(), ref()],
    ['uncontracted', null, ref()],
    ['irreversible', terms(), ref({ reversal_class: 'irreversible' })],
    ['no_reversal', terms(), ref({ reversal_capability: null })],
    ['incomplete', terms(), ref({ reversal_args: null })],
    ['unverifiable', terms({ success_condition: null }), ref()],
    ['unverifiable', terms({ verify_capability: 'payments.cancel_refund' }), ref()],
  ] as const)('read a handle as %s', (expected, contract, pointer) => {
    expect(handleOf(contract, pointer)).toBe(expected);
  });

  it.each([
    ['auto', 'ordinary', null, 0],
    ['auto', 'ordinary', 'ines', 0],
    ['auto', 'grave', 'ines', 1],
    ['auto', 'grave', null, 2],
    ['human', 'ordinary', 'ines', 1],
    ['human', 'ordinary', null, 2],
    ['dual_control', 'ordinary', 'ines', 2],
    ['dual_control', 'grave', null, 2],
  ] as const)('need of mode %s, impact %s, answerable to %s: %i people', (mode, impact, answerable, people) => {
    expect(requiredApprovals(mode, impact, answerable)).toBe(people);
  });

  it.each([
    [0, 0, 'none'],
    [0, 1, 'none'],
    [1, 2, 'partial'],
    [2, 2, 'sufficient'],
    [1, 1, 'sufficient'],
  ] as const)('%i of %i approvals is %s', (given, required, state) => {
    expect(approvalState(given, required)).toBe(state);
  });
});
