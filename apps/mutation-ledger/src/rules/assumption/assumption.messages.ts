// Statements about assumptions: what comes in, what is recorded, what stands.
import type { RecordOf, StatedSourceKind, StatedVerdict } from '@recourse/messages';

/** What somebody states about a ref. */
export type StatementEvent = Exclude<RecordOf<'recourse.assumption-events'>, { readonly type: 'HandleNamed' }>;

/** What is recorded of it. */
export type StatementRecord = Extract<
  RecordOf<'recourse.assumptions'>,
  { readonly type: 'AssumptionStated' | 'StatementConflicted' }
>;

/** The newest word of one source about a ref. */
export type Side = {
  readonly source: string;
  readonly verdict: StatedVerdict;
  readonly event_id: string;
  readonly stated_at: number;
  /** Source time as supersession counts it. */
  readonly effective_at: number;
};

/** What the sources of a ref say, each its newest word, by name. */
export type Dispute = {
  readonly sides: readonly Side[];
  readonly is_disputed: boolean;
  /** When they came to differ, epoch milliseconds; null while they agree. */
  readonly disputed_since: number | null;
  /** Source whose word against the fact was left out for want of room, while the fact stands contradicted. */
  readonly crowded_out?: string;
};

/** The statement that stands for a ref in a scope, and what all sources say. */
export type StandingStatement = Dispute & {
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
  /** Whose word it is. */
  readonly source: string;
  readonly content_sha256: Buffer;
  /** Last content that conflicted with it; null when none did. */
  readonly conflict_sha256: Buffer | null;
};
