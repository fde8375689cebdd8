// What a review item holds (C55 to C63), and where the row stands that it is made of.
import type { CompensationTerms, InForce, Money, ReleaseTuple } from '@recourse/messages';
import type { Offers, Reader } from '@recourse/service';
import type { RecoveryPolicy } from '../rules/policy.messages.js';
import type { Shown } from './shown-payload.js';
import type { Folded } from './shown-text.js';

export interface ShownObservation {
  readonly phase: string;
  /** Position of the call it is about, from 1. */
  readonly call: number;
  readonly capability: string;
  readonly observed: Shown;
  readonly observed_at: number;
}

/** What a worker said of a step that did not end well: a kind of its closed set, and its own or its tool's words; null where it said nothing. */
export interface ShownWords {
  readonly error_kind: string | null;
  readonly said: Shown | null;
}

/** What a source said, and when. */
export interface ShownStatement {
  readonly source: string;
  readonly stated_at: number;
  readonly statement: Shown | null;
}

/** The trace of the rollback: its id, which every exporter keeps, and where people look at it. */
export interface TraceLink {
  readonly trace_id: string;
  readonly url: string | null;
}

/** How it was found out how the action ended. */
export interface ShownFinding {
  readonly how: string;
  readonly by: string | null;
  readonly verdict: string;
  readonly reason: string;
  readonly attempt: number;
  readonly found_at: number;
  readonly observations: readonly ShownObservation[];
}

/** Facts without which an item cannot be decided about. */
export const FACTS_NEEDED = [
  'objective',
  'action.args',
  'resource',
  'facts.then',
  'facts.now',
  'reconciliation',
  'compensation.args',
] as const;
export type FactNeeded = (typeof FACTS_NEEDED)[number];

/** Where something can be read: a path of a service's HTTP API. */
export interface Link {
  readonly service: 'mutation-ledger' | 'recovery-orchestrator';
  readonly path: string;
}

/** The record of the log that decided last: its place and its hash, for whoever proves it, and where it is shown. */
export interface RecordLink extends Link {
  readonly log: string;
  readonly partition: number;
  readonly seq: number | null;
  readonly record_hash: string | null;
}

/** A further call of a compensation: `taken` are the arguments that the verification of an earlier call gives, by its position. */
export interface ShownCall {
  readonly capability: string;
  readonly args: Shown;
  readonly taken: readonly { readonly name: string; readonly call: number; readonly path: string }[];
  readonly success_condition: string;
}

export interface ReviewItem {
  readonly step_id: string;
  readonly recovery_id: string;
  readonly rollback_id: string;
  readonly mutation_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly phase: string;
  /** False where facts are missing that a decision needs: then nobody is offered to agree (C63). */
  readonly ready: boolean;
  readonly missing: readonly FactNeeded[];
  /** Why a person is asked: code and a sentence. */
  readonly reason: string;
  readonly why: string;
  readonly owner: string;
  readonly deadline_at: number | null;
  /** What an agent wrote in its own words: shown for orientation, and not a fact. */
  readonly untrusted: { readonly objective: string | Folded | null };
  /** The decision that proposed the action: the model's, by its id, and the release that made it; null where its producer does not say. */
  readonly proposed_by: {
    readonly agent_id: string;
    readonly initiator: string | null;
    readonly run_step_id: string;
    readonly call_id: string;
    readonly decision: string | Folded | null;
    readonly release: ReleaseTuple | null;
  };
  /**
   * `rehearsal`: what a dry run said the effect would be; null without one (A52). `agreed_by`: who agreed before the effect, people or a
   * policy and its routine rule (`policy:bundle@version/rule`); empty where nobody was asked.
   */
  readonly action: {
    readonly capability: string;
    readonly effect: string | null;
    readonly args: Shown;
    readonly value: Money | null;
    readonly rehearsal: Shown | null;
    readonly agreed_by: readonly string[];
  };
  readonly resource: { readonly subject_ref: string | null; readonly external_ref: string | null };
  readonly facts: {
    readonly then: { readonly refs: readonly string[]; readonly at: number };
    readonly now: ShownStatement & { readonly ref: string | null };
    /** The resource as it was seen for this review, and as it was before it changed; null while nobody looked. */
    readonly resource: { readonly seen: ShownObservation | null; readonly before: ShownObservation | null };
    /** What changed since somebody agreed, by name. */
    readonly changed: readonly string[];
    /** Who says that the assumption holds again; null while nobody does. */
    readonly reaffirmed: ShownStatement | null;
  };
  /** How the action itself ended, and how that was found out; null where its producer told. */
  readonly forward: { readonly state: string; readonly found_out: ShownFinding | null };
  /** What the last attempt to compensate showed; null before the first. */
  readonly reconciliation:
    | ({
        readonly outcome: string;
        readonly reason: string;
        readonly attempt: number;
        /** Of a reversal of several calls: those that were seen to have been made, and the one it stopped at; null for all others. */
        readonly calls: { readonly done: readonly string[]; readonly stopped_at: string | null } | null;
        /** A later look that saw nothing; null where nobody looked, or somebody saw something. */
        readonly looked: (ShownWords & { readonly reason: string; readonly at: number }) | null;
        readonly observations: readonly ShownObservation[];
      } & ShownWords)
    | null;
  /** How the contract says the effect is compensated, and what a person works from; null without one, and for a read. */
  readonly compensation_mode: CompensationTerms | null;
  /** What the compensation needs and nobody captured, by name; empty where it can be called. */
  readonly lacking: readonly string[];
  /** `risk`: what an unnecessary compensation does, in the contract's words; null where it has none. */
  readonly compensation: {
    readonly capability: string;
    readonly args: Shown;
    readonly impact: string;
    readonly risk: string | null;
    readonly risk_level: string;
    /** What binds it beside the contract of its effect: it may only be stricter. */
    readonly in_force: InForce | null;
    readonly residue: string | null;
    readonly stale_condition: string | null;
    readonly success_condition: string | null;
    /** Calls that follow, each once the one before it is verified. */
    readonly then: readonly ShownCall[];
  } | null;
  readonly approvals: {
    readonly given: readonly { readonly by: string; readonly at: number; readonly reason: string }[];
    readonly required: number;
    /** Why more than one person is asked, as a sentence; null where one is enough. */
    readonly why_two: string | null;
  };
  /** Who denied it, and why; null where nobody did. */
  readonly denied: { readonly by: string; readonly at?: number; readonly reason?: string } | null;
  /** What an approval must name; null where nothing is proposed. */
  readonly action_digest: string | null;
  /** Milliseconds in which a dispatch can still begin; null without a window. */
  readonly time_left_ms: number | null;
  /** Names of different people that read alike, among those of the item and the reader's. */
  readonly lookalikes: readonly (readonly string[])[];
  /** What this reader may do: words of the routes that lead there. */
  readonly may: Offers['may'];
  /** What others may do and this reader may not, each with the code and the words it would be refused with. */
  readonly may_not: Offers['may_not'];
  readonly links: {
    readonly mutation: Link;
    readonly recovery: Link;
    readonly record: RecordLink;
    readonly trace: TraceLink;
  };
}

/** Where the row of a step stands, when it is looked at, milliseconds, and who agreed to its action before the effect. */
export interface Seen {
  readonly agreedBy: readonly string[];
  readonly reader: Reader;
  readonly log: string;
  readonly partition: number;
  readonly now: number;
  readonly marginMs: number;
  /** What binds an open effect by now; null where there is no contract, or nothing of the registry was read yet. */
  readonly ofOpen: RecoveryPolicy['ofOpen'];
  /** Where people look at a trace, with `{trace_id}` in its place; null where nobody said. */
  readonly traceUrl: string | null;
}
