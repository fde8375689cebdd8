// Statements about assumptions: what comes in, what is recorded, what stands.
import type {
  AssumptionDeclared,
  AssumptionInvalidated,
  AssumptionReaffirmed,
  AssumptionStated,
  StatedSourceKind,
  StatedVerdict,
  StatementConflicted,
} from '@recourse/messages';

/** A record's fields as a decision states them; the loop adds its place in the chain. */
export type Body<T> = Omit<T, 'seq' | 'prev_hash' | 'decided_at'>;

export type StatementEvent =
  | { readonly type: 'AssumptionDeclared'; readonly body: AssumptionDeclared }
  | { readonly type: 'AssumptionInvalidated'; readonly body: AssumptionInvalidated }
  | { readonly type: 'AssumptionReaffirmed'; readonly body: AssumptionReaffirmed };

export type AssumptionFact =
  | { readonly type: 'AssumptionStated'; readonly body: Body<AssumptionStated> }
  | { readonly type: 'StatementConflicted'; readonly body: Body<StatementConflicted> };

/** The statement that stands for a ref in a scope. */
export type StandingStatement = {
  readonly tenant: string;
  readonly ref: string;
  readonly run_id: string | null;
  readonly verdict: StatedVerdict;
  readonly event_id: string;
  readonly source: string;
  readonly source_kind: StatedSourceKind;
  readonly stated_at: number;
  /** Source time as supersession counts it: never later than when it was recorded. */
  readonly effective_at: number;
};

/** An event that was recorded, for deduplication. */
export type KnownStatement = {
  readonly event_id: string;
  readonly tenant: string;
  readonly ref: string;
  readonly run_id: string | null;
  readonly content_sha256: Buffer;
  /** Last content that conflicted with it; null when none did. */
  readonly conflict_sha256: Buffer | null;
};
