// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { CommandEnvelope, Hash } from './common.js';
import type { MovedMutation } from './mutations.js';

/** Somebody who watches an agent says how it did at a kind of task, or that something went wrong. */
export interface AgentSignalled {
  /** Id of this event, unique per source. */
  readonly event_id: string;
  /** Tenant; also the record key. */
  readonly tenant: string;
  /** Agent it is about. */
  readonly agent_id: string;
  /** Kind of task: the name of an autonomy policy, or a capability. */
  readonly task_kind: string;
  /** Who says so; never the agent itself. */
  readonly source: string;
  /** A score (evidence_confidence, policy_confidence, eval_score, tool_reliability, task_risk, user_impact, approval_history) or an incident (policy_violation, safety_violation, replay_failed, operator_correction). */
  readonly signal: string;
  /** Of a score, from 0 to 1; null for an incident. */
  readonly value: number | null;
  /** Run it was seen in; null where it is about none. */
  readonly run_id: string | null;
  /** Why, in words; null where a score says it all. */
  readonly reason: string | null;
  /** When it was so by the clock of the source, epoch milliseconds. */
  readonly stated_at: number;
}

export const AUTONOMY_CAUSE_VALUES = ['signal', 'violation', 'safety_violation', 'replay_failed', 'correction', 'compensation_verified', 'false_trigger', 'overrun', 'elapsed', 'frozen', 'unfrozen'] as const;
export type AutonomyCause = (typeof AUTONOMY_CAUSE_VALUES)[number];

/** What an agent has earned at a kind of task was judged anew. */
export interface AutonomyChanged {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, agent and kind of task. */
  readonly autonomy_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Agent. */
  readonly agent_id: string;
  /** Kind of task. */
  readonly task_kind: string;
  /** What made it be judged. */
  readonly cause: AutonomyCause;
  /** Score that was said; null for other causes. */
  readonly signal: string | null;
  /** Who said so; null where a log or a person did. */
  readonly source: string | null;
  /** Event that said so; null where a log or a person did. */
  readonly event_id: string | null;
  /** Hash of what was said: the same event with other content is a conflict; null where a log or a person did. */
  readonly content_hash: Hash | null;
  /** Run it is about; null when unknown. */
  readonly run_id: string | null;
  /** Effect that was taken back or overran; null for other causes. */
  readonly mutation_id: string | null;
  /** Person who froze or unfroze; null for other causes. */
  readonly by: string | null;
  /** Why, in words; null when nobody said. */
  readonly reason: string | null;
  /** Command; null for other causes. */
  readonly command_id: string | null;
  /** Id of what counts in parts: a leg that is taken back, or what is known of one effect. In the last record of each part; null elsewhere. */
  readonly undoing_id: string | null;
  /** Effects of that leg, or that one, where they count yet: at the standings whose ids come behind this one's. Empty in its last part. */
  readonly remaining: readonly MovedMutation[];
  /** Rung that was in force before. */
  readonly before: Rung;
  /** What is in force now, and what it follows from. */
  readonly standing: Standing;
}

/** One of the eight signals as it counts towards a score. */
export interface CountedSignal {
  /** Its name. */
  readonly signal: string;
  /** Its weight in hundredths: what earns is above 0, what spends below. */
  readonly weight_percent: number;
  /** What its source said, in millionths, 0 to 1000000; null when nobody said anything. */
  readonly stated_ppm: number | null;
  /** What counts, in millionths: nothing said counts as 0, of risk and impact as 1000000. */
  readonly value_ppm: number;
  /** Who said so, or contract:<digest> for reversibility; null when nobody did. */
  readonly source: string | null;
  /** Event that said so; null where it was derived. */
  readonly event_id: string | null;
  /** When it was so, epoch milliseconds; null when nobody said anything. */
  readonly stated_at: number | null;
}

/** Let an agent rise no further at a kind of task. */
export interface FreezeAutonomy {
  /** Who asks; the tenant is the record key. */
  readonly envelope: CommandEnvelope;
  /** What the agent has earned at the task. */
  readonly autonomy_id: string;
  /** Why. */
  readonly reason: string;
}

/** How far an agent may go alone in a task, the lowest first. */
export const RUNG_VALUES = ['read', 'recommend', 'draft', 'execute_with_approval', 'auto_execute'] as const;
export type Rung = (typeof RUNG_VALUES)[number];

/** What somebody said of an agent or its work does not count. */
export interface SignalRefused {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, source and event. */
  readonly told_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Agent it was about. */
  readonly agent_id: string;
  /** Kind of task; null for an outcome. */
  readonly task_kind: string | null;
  /** Who said so. */
  readonly source: string;
  /** Event that said so. */
  readonly event_id: string;
  /** Hash of what was said. */
  readonly content_hash: Hash;
  /** What was said: a signal, or outcome. */
  readonly signal: string;
  /** Why it does not count. */
  readonly code: string;
  /** The same for people. */
  readonly detail: string;
}

/** What an agent has earned at a kind of task, with all it follows from. */
export interface Standing {
  /** The eight signals, in their order. */
  readonly signals: readonly CountedSignal[];
  /** Sum of weights times values, in millionths. */
  readonly score_ppm: number;
  /** Rung the score reaches. */
  readonly earned: Rung;
  /** Rung in force: the earned one, or the lowest cap. */
  readonly rung: Rung;
  /** What holds it below the earned rung: policy:<cap>, violation or frozen; null when nothing does. */
  readonly capped_by: string | null;
  /** Highest rung after a violation; null without one. */
  readonly held_at: Rung | null;
  /** Until when the violation holds it, epoch milliseconds; null without one. */
  readonly held_until: number | null;
  /** Why it does not rise: replay_failed, corrections or person; null when it may. */
  readonly frozen_by: string | null;
  /** Since when, epoch milliseconds; null when it may rise. */
  readonly frozen_at: number | null;
  /** Effects that were taken back within the window; each lowers the tool reliability. */
  readonly undone: readonly Undoing[];
  /** Corrections within the window since the last thaw; many freeze. */
  readonly corrections: readonly Undoing[];
  /** Effects that are being taken back for a trigger that a person said was wrong: that they were is not to count. Null without one. */
  readonly pardoned: readonly Undoing[] | null;
  /** When it is judged anew without anybody saying anything, epoch milliseconds; null when never. */
  readonly reconsider_at: number | null;
  /** Version of the autonomy policy it was judged by; null without one. */
  readonly policy_version: number | null;
}

/** An effect of the agent that was taken back, or a correction by a person. */
export interface Undoing {
  /** Mutation that was compensated, or an id of the source and event that told of the correction: in records of before, the event alone. */
  readonly id: string;
  /** When it was recorded, epoch milliseconds. */
  readonly at: number;
}

/** Let an agent rise again at a kind of task. */
export interface UnfreezeAutonomy {
  /** Who asks; the tenant is the record key. */
  readonly envelope: CommandEnvelope;
  /** What the agent has earned at the task. */
  readonly autonomy_id: string;
  /** Why. */
  readonly reason: string;
}
