// Statements: deduplicated by (ref, source, run, event id), ordered by source time; what does not come to stand is kept without effect.
import { assertNever } from '@recourse/kernel';
import type { StatedVerdict, StatementKind } from '@recourse/messages';
import { contentHash } from '../identity.js';
import { standingAfter } from './standing.decisions.js';
import type { Weigh } from './standing.decisions.js';
import type { StatementRecord, KnownStatement, StandingStatement, StatementEvent } from './assumption.messages.js';

export interface StatementState {
  /** The statement of this source, run and event id about this ref; null when it is new. */
  readonly known: KnownStatement | null;
  /** What stands in the scope of the event; null when nothing does. */
  readonly standing: StandingStatement | null;
  /** What the word of a source weighs, thousandths. */
  readonly weigh: Weigh;
}

/**
 * Says what one statement is worth; null when it is known already.
 *
 * Shape:  a scope is the whole tenant or one run of it; statements supersede within their scope only, so a run's own
 *         statement never lifts an invalidation that holds for all.
 * Units:  source time counts up to `now`: a clock ahead cannot make a statement unassailable.
 */
export function decideStatement(event: StatementEvent, state: StatementState, now: number): StatementRecord | null {
  const content = contentHash(event.type, event.body);
  return state.known === null ? stated(event, content, state, now) : repeated(event, content, state.known);
}

/** Instant of a statement as supersession counts it. */
export function effectiveAt(statedAt: number, recordedAt: number): number {
  return Math.min(statedAt, recordedAt);
}

function repeated({ body }: StatementEvent, content: Buffer, known: KnownStatement): StatementRecord | null {
  if (content.equals(known.content_sha256) || known.conflict_sha256?.equals(content) === true) return null;
  const { event_id, tenant, ref } = body;
  return {
    type: 'StatementConflicted',
    body: { event_id, tenant, ref, recorded_sha256: known.content_sha256, conflicting_sha256: content },
  };
}

function stated(
  event: StatementEvent,
  content: Buffer,
  { standing, weigh }: StatementState,
  now: number,
): StatementRecord {
  const { event_id, tenant, ref, run_id, source, statement, stated_at } = event.body;
  const { kind, verdict } = meaningOf(event.type);
  const said = { source, verdict, stated_at, effective_at: effectiveAt(stated_at, now) };
  const source_kind = event.type === 'AssumptionInvalidated' ? event.body.source_kind : 'observation';
  return {
    type: 'AssumptionStated',
    body: {
      event_id,
      tenant,
      ref,
      run_id,
      source,
      statement,
      kind,
      source_kind,
      stated_at,
      ...standingAfter(said, standing, weigh),
      content_sha256: content,
    },
  };
}

function meaningOf(type: StatementEvent['type']): { readonly kind: StatementKind; readonly verdict: StatedVerdict } {
  switch (type) {
    case 'AssumptionDeclared':
      return { kind: 'declared', verdict: 'holds' };
    case 'AssumptionInvalidated':
      return { kind: 'invalidated', verdict: 'invalidated' };
    case 'AssumptionReaffirmed':
      return { kind: 'reaffirmed', verdict: 'holds' };
    default:
      return assertNever(type);
  }
}
