// What goes into a guard and what comes out of it.
import type { Shown } from './shown.js';
import type { Contract, Directive, EntryBody, Playbook } from '@recourse/contract';
import type { Clock, Json } from '@recourse/kernel';
import type { Reach, ToolOutcome } from '@recourse/messages';
import type { Entries } from '../entries/entries.port.js';
import type { Action, Producer } from '../producer/producer.js';
import type { ReleaseTuple } from '../release.js';
import type { ClaimStore } from '../stores/claim-store.port.js';
import type { Approvals } from './approval.port.js';
import type { Budget } from './budget.port.js';
import type { ToolFailure } from './failure.decisions.js';
import type { Standing } from './standing.port.js';
import type { CallsUnderWay } from './under-way.js';
import type { ErrorKind } from './verdict.decisions.js';

/** How much a guard does: nothing, tell, or tell and refuse (D8). */
export type GuardMode = 'off' | 'observe' | 'enforce';

/** The run a call belongs to. */
export interface RunContext {
  readonly tenant: string;
  readonly runId: string;
  readonly agentId: string;
  /** Person on whose behalf the agent acts; null when unknown. */
  readonly initiator: string | null;
  /** What the run is to achieve: nobody is asked to agree to the undoing of what was done for nothing they know of. */
  readonly objective: string;
  /** What becomes of the run's earlier effects when one of its steps fails for good; they are kept unless told. */
  readonly onFailure?: 'keep' | 'compensate';
  /** What decided to act; every action of the run carries it. */
  readonly release?: ReleaseTuple;
}

/** One call of a guarded tool: its run, its step, its arguments and what it relies on. */
export interface GuardedCall {
  readonly run: RunContext;
  readonly stepId: string;
  readonly args: Json;
  /** Resource the effect is about, part of the effect key; null when the arguments alone say it. */
  readonly target: string | null;
  /** How far the call reaches, where that is more than one subject; a wider reach than its contract declares is a person's to allow. */
  readonly reach?: Reach;
  /** What the decision to act relies on. */
  readonly assumptionRefs: readonly string[];
  /** Commits of this or another run that the arguments are made from; those of its own run set the order of an undo. */
  readonly derivedFrom?: Action['derivedFrom'];
  /** The model's decision that proposed it, by its id: a message, an answer or a tool call; shown to whoever reviews its undoing. */
  readonly producedBy?: string | null;
  /** Times the evidence of this call was refreshed before it; unless told as many as it has attempts on record, which `standing` knows. */
  readonly refreshes?: number;
  /** What the decision to act saw, for admission predicates: they read it as `gate`, beside what is known of the call itself. */
  readonly gate?: Json;
  /** State the run is in, for admission predicates: they read it as `state`. */
  readonly state?: Json;
  /**
   * Calls the call off, in every mode, as long as nothing is told of it: `refused` as CALLED_OFF. From when its intent is told it is made,
   * and ends as it ends. A deadline is `AbortSignal.timeout(ms)`.
   */
  readonly signal?: AbortSignal;
  /** Stop after the dry run: nothing is told, reserved or called. */
  readonly isRehearsal?: boolean;
  /** The ids a recovery gives its call. Whoever gives them has reconciled every attempt before this one. */
  readonly recovery?: RecoveryIds;
}

/** The ids a recovery gives its call. */
export interface RecoveryIds {
  readonly callId: string;
  readonly idempotencyKey: string;
  /** From 1. */
  readonly attempt: number;
}

/** What a forward tool is told besides its arguments. */
export interface ForwardContext {
  readonly idempotencyKey: string;
  readonly callId: string;
  readonly runId: string;
  /** Handle of what was staged while the effect was held; absent or null when nothing was. */
  readonly stagedRef?: string | null;
}

/** A forward tool. `execute` throws ToolRejected when it knows there was no effect; one that streams is run to its end, and what it gives last is its answer. */
export interface ForwardTool<Value extends Json = Json> {
  execute(args: Json, context: ForwardContext): Promise<Value>;
  /** Reads the value that is about to be overwritten. Needed where the contract requires its capture. */
  capturePriorValue?(args: Json): Promise<Json>;
  /** Says what `execute` would do, without doing it. Needed where the contract names a dry run. */
  rehearse?(args: Json): Promise<Json>;
  /**
   * Makes the reversible part of a held effect and names its handle. Needed where the contract reserves (`techniques.reservation`).
   * Implementations MUST answer alike for the same key, and MUST throw ToolRejected when they know that nothing is staged.
   */
  stage?(args: Json, context: ForwardContext): Promise<string>;
  /** Gives back what was staged for an intent that could not be told; every other staged part is given back by the worker's cancel tool. */
  unstage?(args: Json, context: ForwardContext): Promise<void>;
  /** The provider's handle in a result: the very answer, and where that gives none, what JSON says of it. Needed where the contract requires one. */
  externalTransactionRef?(result: Json): string | null;
  /** Checks arguments beyond the contract's schema (zod and its kin). */
  readonly schema?: StandardSchema;
}

/** The part of Standard Schema v1 that validation needs. */
export interface StandardSchema {
  readonly '~standard': {
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
  };
}
type StandardResult = { readonly issues?: readonly { readonly message: string }[] | undefined };

/** What a guard needs, and whom it asks. */
export interface GuardOptions {
  readonly contract: Contract;
  /** SHA-256 of the contract's canonical JSON, as the registry gave it. */
  readonly contractDigest: Buffer;
  /** Fingerprint under which the registry approved the tool (`tool_fingerprint` of its contract): a tool that is another is not called before somebody has approved it again (D7). */
  readonly toolFingerprint?: string;
  readonly mode: GuardMode;
  readonly producer: Pick<Producer, 'toolPlanned' | 'toolExecuted' | 'assumptionDeclared'>;
  readonly clock: Clock;
  /** What the agent is for, as the registry holds it: deny wins, and what is not allowed is not done (D59). */
  readonly charter?: EntryBody<'agent_charter'>;
  /** The registry, as cachedEntries reads it: kill switches, charters and policy bundles are obeyed as they stand; unread, nothing is done. */
  readonly entries?: Entries;
  /** Names of the policy bundles whose admission predicates must hold; read from `entries`. */
  readonly policyBundles?: readonly string[];
  readonly budget?: Budget;
  /** How long a call in `enforce` waits for a person where it would exceed a ceiling, and how often it asks; it does not wait unless told. Milliseconds. */
  readonly budgetPatience?: { readonly waitMs: number; readonly everyMs?: number };
  /** Asked where the contract wants people asked; without it such a call is refused. */
  readonly approvals?: Approvals;
  /** What is on record about an effect: a call that was begun once is not made again before the record says how it ended. */
  readonly standing?: Standing;
  /** Remembers begun calls across a crash of this process, also those the record has not heard of yet. */
  readonly claims?: ClaimStore;
  /** Calls of the connection: closed, it lets none begin, and waits for those that have. */
  readonly calls?: CallsUnderWay;
  /** What is done about each kind of error, and how many calls of one effect there may be; the playbook as it stands and 3 unless told. */
  readonly playbook?: { readonly actions?: Playbook; readonly attemptsMax?: number };
  /** Hears what `observe` lets pass, what could not be published, and what a tool said of a call that nobody knows the end of. */
  readonly onTrouble?: (trouble: GuardTrouble) => void;
}

/** Why a guard objects. */
export type GuardTroubleCode =
  /** The registry would refuse the contract; its problems are listed. */
  | 'CONTRACT_REFUSED'
  /** The tool is not the one that was approved. */
  | 'TOOL_CHANGED'
  /** The connection is closed, or closes. */
  | 'CONNECTION_CLOSED'
  /** The call's `signal` was aborted before anything was told of it: nothing was called. */
  | 'CALLED_OFF'
  /** Nobody could record where the call belongs: its run, step, agent, subject or refs. */
  | 'PLACE_INVALID'
  /** Nobody could record the call: its arguments, prior value and dry run are more than a record holds. */
  | 'RECORD_TOO_LARGE'
  /** The run has no objective: nobody could be asked to agree to the undoing of its effect. */
  | 'OBJECTIVE_MISSING'
  /** The objective seems to hold data about somebody, and stands in logs unsealed: no erasure reaches it. Objects to nothing. */
  | 'OBJECTIVE_PERSONAL'
  | 'ARGS_INVALID'
  | 'INTENT_DENIED'
  | 'INTENT_NOT_ALLOWED'
  | 'KILL_SWITCH'
  | 'POLICY_REFUSED'
  | 'POLICY_UNDECIDED'
  | 'POLICY_UNKNOWN'
  | 'REGISTRY_UNAVAILABLE'
  /** The token of the guard speaks for another tenant than the call's. */
  | 'TENANT_FOREIGN'
  | 'ALREADY_EXECUTED'
  | 'CANCELLED'
  | 'ROLLED_BACK'
  | 'RECONCILIATION_PENDING'
  | 'STANDING_UNAVAILABLE'
  | 'CLAIM_UNAVAILABLE'
  | 'PRIOR_VALUE_MISSING'
  /** The tool found a prior value, and its contract neither overwrites nor captures. */
  | 'OVERWRITE_UNDECLARED'
  | 'REHEARSAL_MISSING'
  | 'REHEARSAL_FAILED'
  | 'APPROVAL_PENDING'
  | 'APPROVAL_DENIED'
  | 'APPROVAL_UNAVAILABLE'
  /** The contract says how much a call moves, and its arguments do not. */
  | 'CONSEQUENCE_UNREADABLE'
  | 'BUDGET_ESCALATED'
  | 'BUDGET_REFUSED'
  | 'BUDGET_UNAVAILABLE'
  /** A reservation: no `stage`, refused by the tool, of unknown end, or left at the provider because its intent could not be told. */
  | 'STAGE_MISSING'
  | 'STAGE_REFUSED'
  | 'STAGE_UNCERTAIN'
  | 'STAGED_LEFT'
  /** The contract holds the effect, and `observe` let it go at once. */
  | 'HOLD_SKIPPED'
  /** The intent could not be told, and nothing was called. One of a held effect may have arrived all the same: that call is `uncertain`, not refused. */
  | 'INTENT_NOT_PUBLISHED'
  | 'OUTCOME_NOT_PUBLISHED'
  /** The call was made, and nobody knows whether it took effect: what the tool said. Objects to nothing. */
  | 'TOOL_UNCERTAIN'
  /** The tool has acted, and answered with more than a record holds, or what JSON keeps nothing of: the outcome is told without it. Objects to nothing. */
  | 'RESULT_UNRECORDED'
  /** The tool gave no text for a handle, or one that no record holds; its outcome is told without one. Objects to nothing. */
  | 'HANDLE_UNREADABLE'
  /** The effect stands, and what its contract undoes it with was not captured: it will be a person's. Objects to nothing. */
  | 'HANDLE_INCOMPLETE'
  /** Nobody can be asked to undo the effect: its adapter has no topic here. Objects to nothing. */
  | 'ADAPTER_UNKNOWN';

/** What a guard objects to, with every problem it found. */
export interface GuardTrouble {
  readonly code: GuardTroubleCode;
  readonly problems: readonly { readonly code: string; readonly message: string; readonly path?: string }[];
}

/**
 * What an agent gets: ids, and what its tool answered; never handles or reversal arguments.
 *
 * Shape:  `value` where the call was made here and succeeded. A call that the record knows from before has none: the record
 *         keeps no answer for agents.
 */
export type GuardedResult<Value = unknown> =
  /**
   * `directive`: what to do about a call that failed; whoever called does it, and calls again or not.
   * `failure`: what failed, in the tool's own code and words, where `kind` is `failed` and the call was made here.
   */
  | {
      readonly kind: ToolOutcome;
      readonly value?: Shown<Value>;
      readonly mutation_refs: readonly string[];
      readonly error_kind: ErrorKind | null;
      readonly failure?: ToolFailure;
      readonly directive?: Directive;
    }
  /** The intent is told; the ledger lets the effect go after `hold_ms`, unless it is cancelled. */
  | {
      readonly kind: 'held';
      readonly mutation_refs: readonly string[];
      readonly error_kind: null;
      readonly hold_ms: number;
    }
  /** Only rehearsed, as asked. */
  | { readonly kind: 'rehearsed'; readonly mutation_refs: readonly []; readonly error_kind: null }
  /** Nothing was called. */
  | ({ readonly kind: 'refused'; readonly mutation_refs: readonly [] } & GuardTrouble);

/** A tool under its guard. Errors: as the guard that made it. */
export type GuardedTool<Value extends Json = Json> = (call: GuardedCall) => Promise<GuardedResult<Value>>;
