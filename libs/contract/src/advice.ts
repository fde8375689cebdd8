// Advice: what a contract that registers could still gain. A lint, never a refusal.
//
// The ladder (A20): an effect is irreversible only as long as nobody has built a way back. Each technique that would raise the
// class is named where the contract shows that it fits.
import { hasSideEffects, windowOf } from './class.js';
import type { Contract } from './shape.js';

/** Techniques of the ladder. */
export const LADDER_TECHNIQUES = [
  'commit_hold',
  'reservation',
  'dry_run',
  'compensation',
  'tombstone',
  'prior_value_capture',
  'blast_radius_cap',
] as const;
export type LadderTechnique = (typeof LADDER_TECHNIQUES)[number];

interface AdviceSpec {
  readonly technique: LadderTechnique | null;
  readonly remedy: string;
}

/** Every advice; `technique` is the rung of the ladder it is about. */
export const ADVICE = {
  // A54
  RAISE_BY_TOMBSTONE: {
    technique: 'tombstone',
    remedy:
      'Delete softly: keep a tombstone longer than the reversal window (techniques.tombstone_ttl_ms) and name the capability that restores; the class rises to reversible.',
  },
  // A55
  RAISE_BY_PRIOR_VALUE: {
    technique: 'prior_value_capture',
    remedy:
      'Capture the value before it is overwritten (requires_prior_value_capture) and write it back; the class rises to reversible.',
  },
  // A50
  RAISE_BY_HOLD: {
    technique: 'commit_hold',
    remedy:
      'Queue the effect for commit_hold_ms and name cancel_capability: within the hold it is cancelled before anybody sees it.',
  },
  // A51
  RAISE_BY_RESERVATION: {
    technique: 'reservation',
    remedy:
      'Reserve first and commit after the preconditions were observed again (techniques.reservation with a hold); a reservation is released without residue.',
  },
  // A53
  RAISE_BY_COMPENSATION: {
    technique: 'compensation',
    remedy:
      'Register the capability that grants the opposite (refund, recall, cancel, revoke) and name it in compensation_capability; the class rises to compensable.',
  },
  // A52
  SHOW_BY_DRY_RUN: {
    technique: 'dry_run',
    remedy: 'Name techniques.dry_run_capability, so that the person who approves sees the full effect first.',
  },
  // A56
  BOUND_BY_CAPS: { technique: 'blast_radius_cap', remedy: 'Cap calls, value or subjects per run in blast_radius.' },
  // C4
  UNCERTAIN_GOES_TO_PEOPLE: {
    technique: null,
    remedy: 'Name reconcile_capability: without it every uncertain outcome goes to a person.',
  },
  // L11
  KEY_SHORTER_THAN_WINDOW: {
    technique: null,
    remedy: 'Ask the provider for longer keys, or expect that late second attempts go to a person.',
  },
  // A4, A73
  CONSEQUENCE_UNCOUNTED: {
    technique: null,
    remedy: 'Declare value or consequence: what is not counted is not budgeted.',
  },
} as const satisfies Readonly<Record<string, AdviceSpec>>;

export type AdviceCode = keyof typeof ADVICE;

export interface Advice {
  readonly code: AdviceCode;
  /** JSON pointer to the field that would say it. */
  readonly path: string;
  readonly technique: LadderTechnique | null;
  /** Why, and what to do. */
  readonly message: string;
}

type Hint = readonly [applies: boolean, code: AdviceCode, path: string, why: string];

/** Advises on a contract that breaks no rule. */
export function adviceOn(contract: Contract): readonly Advice[] {
  if (!hasSideEffects(contract)) return [];
  return [...ladder(contract), ...care(contract)]
    .filter(([applies]) => applies)
    .map(([, code, path, why]) => ({
      code,
      path,
      technique: ADVICE[code].technique,
      message: `${why}. ${ADVICE[code].remedy}`,
    }));
}

/** Rungs above the one the capability stands on. */
function ladder(contract: Contract): readonly Hint[] {
  const { reversal_class: declared, impact, techniques } = contract;
  const isLost = declared === 'irreversible';
  const isHeld = (contract.commit_hold_ms ?? 0) > 0;
  const overwrites = contract.overwrites === true;
  const why = `${contract.name} is ${declared ?? 'irreversible'}`;
  return [
    [
      declared !== 'reversible' && impact === 'destructive' && techniques?.tombstone_ttl_ms === undefined,
      'RAISE_BY_TOMBSTONE',
      '/techniques/tombstone_ttl_ms',
      why,
    ],
    [declared !== 'reversible' && overwrites, 'RAISE_BY_PRIOR_VALUE', '/requires_prior_value_capture', why],
    [isLost && !isHeld && impact !== 'financial', 'RAISE_BY_HOLD', '/commit_hold_ms', why],
    [
      isLost &&
        techniques?.reservation !== true &&
        (impact === 'financial' || contract.consequence?.commitments !== undefined),
      'RAISE_BY_RESERVATION',
      '/techniques/reservation',
      why,
    ],
    [
      isLost && (impact === 'financial' || impact === 'security_sensitive' || impact === 'write'),
      'RAISE_BY_COMPENSATION',
      '/compensation_capability',
      why,
    ],
    [isLost && techniques?.dry_run_capability === undefined, 'SHOW_BY_DRY_RUN', '/techniques/dry_run_capability', why],
  ];
}

function care(contract: Contract): readonly Hint[] {
  const window = windowOf(contract);
  const lifetime = contract.idempotency?.key_lifetime_ms;
  return [
    [isUncapped(contract), 'BOUND_BY_CAPS', '/blast_radius', 'nothing bounds what one run can do'],
    [
      contract.reconcile_capability === undefined,
      'UNCERTAIN_GOES_TO_PEOPLE',
      '/reconcile_capability',
      'nothing tells whether the effect happened',
    ],
    [
      window !== null && lifetime !== undefined && lifetime < window,
      'KEY_SHORTER_THAN_WINDOW',
      '/idempotency/key_lifetime_ms',
      `keys live ${lifetime ?? 0} ms, the window ${window ?? 0} ms`,
    ],
    [
      contract.value === undefined && contract.consequence === undefined,
      'CONSEQUENCE_UNCOUNTED',
      '/consequence',
      'the effect counts nowhere',
    ],
  ];
}

function isUncapped({ blast_radius: caps }: Contract): boolean {
  return (
    caps?.max_calls_per_run === undefined &&
    caps?.max_value_per_run === undefined &&
    caps?.max_subjects_per_run === undefined
  );
}
