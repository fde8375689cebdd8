// The decision table from outside: closed words, one answer per status and mode, and the same answer however often it is asked.
import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import {
  EXECUTION_STATE_VALUES,
  RECOVERABILITY_STATE_VALUES,
  RECOVERY_APPROVAL_MODE_VALUES,
  STEP_DECISION_VALUES,
} from '@recourse/messages';
import {
  APPROVALS,
  DECISION_REASONS,
  DECISION_TABLE,
  decideRecovery,
  HANDLES,
  IMPACTS,
  POLICIES,
  WINDOWS,
  RISKS,
} from './recovery.decisions.js';
import type { RecoveryDecision, RecoveryFacts } from './recovery.decisions.js';

/** Facts of each status word an effect can be rolled back in (C20). */
const FACTS_OF_STATUS = {
  planned: { execution: 'planned', recoverability: 'planned' },
  executing: { execution: 'executing', recoverability: 'planned' },
  failed: { execution: 'failed', recoverability: 'planned' },
  uncertain: { execution: 'uncertain', recoverability: 'pending_commit' },
  compensation_pending: { execution: 'succeeded', recoverability: 'reversal_available' },
  compensating: { execution: 'succeeded', recoverability: 'compensating' },
  compensated: { execution: 'succeeded', recoverability: 'compensated' },
  manual_review: { execution: 'succeeded', recoverability: 'manual_resolution_required' },
} as const satisfies Record<string, Partial<RecoveryFacts>>;
type Status = keyof typeof FACTS_OF_STATUS;

/** Facts of each mode of compensation a contract can declare (C7). */
const FACTS_OF_MODE = {
  automatic: { mode: 'auto', handle: 'bound' },
  approval_required: { mode: 'human', handle: 'bound' },
  manual_runbook: { mode: 'human', handle: 'no_reversal' },
  not_supported: { mode: 'human', handle: 'irreversible' },
} as const satisfies Record<string, Partial<RecoveryFacts>>;
type Mode = keyof typeof FACTS_OF_MODE;

const NOTHING = 'retry_forward NOTHING_TO_UNDO';
const FORWARD = 'retry_forward FORWARD_NOT_STARTED';
const UNDONE = 'retry_forward ALREADY_UNDONE';
const IN_FLIGHT = 'reconcile_first FORWARD_IN_FLIGHT';
const UNCERTAIN = 'reconcile_first FORWARD_UNCERTAIN';
const NO_AUTOMATIC = 'manual_review TOOL_HAS_NO_AUTOMATIC_COMPENSATION';
const MISSING = 'manual_review MISSING_COMPENSATION_IMPLEMENTATION';
const UNSUPPORTED = 'manual_review UNSUPPORTED_RECOVERY_STATE';

/** Every status under every mode, inside the window, of ordinary impact, before anybody approved. */
const TRUTH_TABLE: Readonly<Record<Status, Readonly<Record<Mode, string>>>> = {
  planned: { automatic: FORWARD, approval_required: FORWARD, manual_runbook: FORWARD, not_supported: FORWARD },
  executing: {
    automatic: IN_FLIGHT,
    approval_required: IN_FLIGHT,
    manual_runbook: IN_FLIGHT,
    not_supported: IN_FLIGHT,
  },
  failed: { automatic: NOTHING, approval_required: NOTHING, manual_runbook: NOTHING, not_supported: NOTHING },
  uncertain: {
    automatic: UNCERTAIN,
    approval_required: UNCERTAIN,
    manual_runbook: UNCERTAIN,
    not_supported: UNCERTAIN,
  },
  compensation_pending: {
    automatic: 'compensate_now POLICY_AUTO',
    approval_required: 'request_approval COMPENSATION_REQUIRES_HUMAN_APPROVAL',
    manual_runbook: MISSING,
    not_supported: NO_AUTOMATIC,
  },
  compensating: {
    automatic: UNSUPPORTED,
    approval_required: UNSUPPORTED,
    manual_runbook: MISSING,
    not_supported: NO_AUTOMATIC,
  },
  compensated: { automatic: UNDONE, approval_required: UNDONE, manual_runbook: UNDONE, not_supported: UNDONE },
  manual_review: {
    automatic: UNSUPPORTED,
    approval_required: UNSUPPORTED,
    manual_runbook: MISSING,
    not_supported: NO_AUTOMATIC,
  },
};

const BEFORE_APPROVAL = {
  window: 'open',
  impact: 'ordinary',
  risk: 'within',
  policies: 'decided',
  approval: 'none',
} as const;

function factsOf(status: Status, mode: Mode): RecoveryFacts {
  return { ...BEFORE_APPROVAL, ...FACTS_OF_STATUS[status], ...FACTS_OF_MODE[mode] };
}

function said({ decision, reason }: RecoveryDecision): string {
  return `${decision} ${reason}`;
}

describe('the truth table of status and mode (C41)', () => {
  const statuses = Object.keys(FACTS_OF_STATUS) as readonly Status[]; // keys of a literal
  const modes = Object.keys(FACTS_OF_MODE) as readonly Mode[]; // as above

  it.each(statuses.flatMap((status) => modes.map((mode) => [status, mode, TRUTH_TABLE[status][mode]] as const)))(
    '%s under %s: %s',
    (status, mode, expected) => {
      expect(said(decideRecovery(factsOf(status, mode)))).toBe(expected);
    },
  );

  it('asks a person about a pending compensation that a person must agree to (C73)', () => {
    expect(decideRecovery(factsOf('compensation_pending', 'approval_required'))).toEqual({
      decision: 'request_approval',
      reason: 'COMPENSATION_REQUIRES_HUMAN_APPROVAL',
    });
  });

  it('runs what people agreed to once an effect turned out wrong afterwards (C32)', () => {
    expect(decideRecovery({ ...factsOf('compensation_pending', 'approval_required'), approval: 'sufficient' })).toEqual(
      { decision: 'compensate_now', reason: 'APPROVED' },
    );
  });
});

describe('the words of the decision table', () => {
  it('are five decisions, and none beside them (C39)', () => {
    expect([...STEP_DECISION_VALUES]).toEqual([
      'retry_forward',
      'reconcile_first',
      'compensate_now',
      'request_approval',
      'manual_review',
    ]);
    expect(new Set<string>(DECISION_TABLE.map(({ then: { decision } }) => decision))).toEqual(
      new Set<string>(STEP_DECISION_VALUES),
    );
  });

  it.each([
    'tool_has_no_automatic_compensation',
    'compensation_requires_human_approval',
    'unsupported_recovery_state',
    'missing_compensation_implementation',
  ])('give the reason %s, which the catalogue of codes names (C40)', (reason) => {
    const code = reason.toUpperCase();
    expect([DECISION_REASONS, DECISION_TABLE.map((row) => row.then.reason)]).toEqual([
      expect.arrayContaining([code]),
      expect.arrayContaining([code]),
    ]);
    expect(readFileSync('docs/reference/failures.md', 'utf8')).toContain(`\`${code}\``);
  });

  it('are asked with a reason whenever a person is asked (C39)', () => {
    for (const {
      then: { decision, reason },
    } of DECISION_TABLE)
      if (decision === 'request_approval' || decision === 'manual_review') expect(reason).toMatch(/^[A-Z_]{8,}$/u);
  });
});

describe('three million random cases (C38)', () => {
  const CASES = 3_000_000;
  const columns = [
    EXECUTION_STATE_VALUES,
    RECOVERABILITY_STATE_VALUES,
    WINDOWS,
    HANDLES,
    RECOVERY_APPROVAL_MODE_VALUES,
    IMPACTS,
    RISKS,
    POLICIES,
    APPROVALS,
  ] as const;

  /** A stream of 32-bit numbers that a seed makes again (mulberry32). */
  const seeded = (seed: number) => {
    let state = seed;
    return (): number => {
      state = (state + 0x6d2b79f5) | 0;
      const mixed = Math.imul(state ^ (state >>> 15), state | 1);
      const spread = mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61));
      return (spread ^ (spread >>> 14)) >>> 0;
    };
  };

  it('give one answer to the same facts, in whatever order they are told, and always an answer', () => {
    const next = seeded(20_260_701);
    const combinations = columns.reduce((product, values) => product * values.length, 1);
    const first = new Array<RecoveryDecision | undefined>(combinations);
    const contrary: RecoveryFacts[] = [];
    for (let at = 0; at < CASES; at += 1) {
      let key = 0;
      const [execution, recoverability, window, handle, mode, impact, risk, policies, approval] = columns.map(
        (values) => {
          const pick = next() % values.length;
          key = key * values.length + pick;
          return values[pick];
        },
      ) as unknown as Parts; // one word per column
      const told: RecoveryFacts =
        at % 2 === 0
          ? { execution, recoverability, window, handle, mode, impact, risk, policies, approval }
          : { approval, policies, risk, impact, mode, handle, window, recoverability, execution };
      const answer = decideRecovery(told);
      const before = (first[key] ??= answer);
      if (before.decision !== answer.decision || before.reason !== answer.reason) contrary.push(told);
    }
    expect(contrary).toEqual([]);
    expect(first.filter((answer) => answer !== undefined && ANSWERS.has(said(answer)))).toHaveLength(combinations);
  });
});

type Parts = readonly [
  RecoveryFacts['execution'],
  RecoveryFacts['recoverability'],
  RecoveryFacts['window'],
  RecoveryFacts['handle'],
  RecoveryFacts['mode'],
  RecoveryFacts['impact'],
  RecoveryFacts['risk'],
  RecoveryFacts['policies'],
  RecoveryFacts['approval'],
];
const ANSWERS = new Set(DECISION_TABLE.map((row) => said(row.then)));
