// Words of earned autonomy: the eight signals and their weights, incidents, what is kept of an agent at a kind of task, refusals.
import type { AutonomyCause, Rung, Standing } from '@recourse/messages';

/** The eight signals with their weights in hundredths (D32, G9): what earns is above 0, what spends below. */
export const SIGNAL_WEIGHTS = {
  evidence_confidence: 20,
  policy_confidence: 20,
  eval_score: 20,
  tool_reliability: 15,
  reversibility: 15,
  task_risk: -10,
  user_impact: -10,
  approval_history: 10,
} as const;
export type SignalName = keyof typeof SIGNAL_WEIGHTS;
/** The signals in their order. */
export const SIGNALS = Object.keys(SIGNAL_WEIGHTS) as readonly SignalName[]; // of a constant

/** What goes wrong with an agent, and what each is called as the cause of a change. */
export const INCIDENTS = {
  policy_violation: 'violation',
  safety_violation: 'safety_violation',
  replay_failed: 'replay_failed',
  operator_correction: 'correction',
} as const satisfies Readonly<Record<string, AutonomyCause>>;
export type Incident = keyof typeof INCIDENTS;

/** Names that only we may give a value. */
export const DERIVED_SIGNALS: readonly string[] = ['reversibility', 'rung', 'score', 'autonomy'];

/** Millionths of a whole. */
export const WHOLE_PPM = 1_000_000;

/** A standing as it is kept: where nothing is pardoned, and in rows older than that, nothing says so. */
export type Kept = Omit<Standing, 'pardoned'> & Partial<Pick<Standing, 'pardoned'>>;

/** What an agent has earned at a kind of task. */
export interface Autonomy extends Kept {
  readonly autonomy_id: string;
  readonly tenant: string;
  readonly agent_id: string;
  readonly task_kind: string;
}

export type Key = Pick<Autonomy, 'autonomy_id' | 'tenant' | 'agent_id' | 'task_kind'>;

/** One change, as the list of changes shows it. */
export interface AutonomyChange extends Key {
  readonly change_id: string;
  readonly cause: string;
  readonly signal: string | null;
  readonly source: string | null;
  readonly event_id: string | null;
  readonly run_id: string | null;
  readonly mutation_id: string | null;
  readonly by: string | null;
  readonly reason: string | null;
  readonly before: Rung;
  readonly rung: Rung;
  readonly earned: Rung;
  readonly capped_by: string | null;
  readonly score_ppm: number;
  /** Epoch milliseconds. */
  readonly decided_at: number;
}

/** Why something said of an agent or its work does not count; the same code for whoever reads the log. */
export const SIGNAL_REFUSALS = {
  TENANT_FORGED: 'It lies under the key of another tenant than the one it names.',
  SIGNAL_UNKNOWN: 'It names neither a score nor an incident.',
  SIGNAL_DERIVED: 'Reversibility is read from the contract, and a rung from the signals; neither can be said.',
  SIGNAL_OUT_OF_RANGE: 'A score is a number from 0 to 1, and an incident has none.',
  SIGNAL_OF_ONESELF: 'An agent does not say how it did itself.',
  SIGNAL_SUPERSEDED: 'The same source, or another, said something newer of the same signal.',
  SIGNAL_AHEAD: 'It was stated in the future by more than the margin of clocks.',
  SIGNAL_CONFLICT: 'The same event of the same source said something else before.',
  SIGNAL_NAME_INVALID: 'Agent, kind of task, source or event is no usable name.',
  SOURCE_NOT_TRUSTED: 'The autonomy policy of the task names its sources, and this is none of them.',
  OUTCOME_AMOUNT_INVALID: 'Money is a whole number of minor units from 0, in a currency of three capital letters.',
  OUTCOME_COUNT_INVALID:
    'Counts are whole numbers from 0; a part is never more than the whole, and satisfaction never above 1000.',
} as const;
export type SignalRefusal = keyof typeof SIGNAL_REFUSALS;

/** Refusals of a command about autonomy, with their HTTP status. */
export const AUTONOMY_REJECTIONS = {
  AUTONOMY_UNKNOWN: 404,
  AUTONOMY_FROZEN: 409,
  AUTONOMY_NOT_FROZEN: 409,
  SELF_APPROVAL: 403,
  APPROVER_NOT_A_PERSON: 403,
} as const;
export type AutonomyRejection = keyof typeof AUTONOMY_REJECTIONS;

/** Roles that may stop an agent from rising, and those that may let it rise again. */
export const FREEZE_ROLES: readonly string[] = ['operator', 'approver', 'administrator'];
export const UNFREEZE_ROLES: readonly string[] = ['approver', 'administrator'];
