// The assumptions log: accepted statements about refs (docs/design/ledger.md, L12).
//
// Rows: `assumption` is what stands for a ref in a scope; `statement` is one row per (ref, event id), loaded one at a time.
import { subjectOfAssumption } from '@recourse/contract';
import type {
  AcceptedRecord,
  Change,
  Decision,
  InputSpec,
  KindSpec,
  RecordInput,
  Row,
  ServiceCore,
  StateView,
} from '@recourse/event-log';
import { append, NOTHING } from '@recourse/event-log';
import { recordIn } from '@recourse/messages';
import type { BodyOf } from '@recourse/messages';
import { decideStatement, effectiveAt } from './rules/assumption/assumption.decider.js';
import { disputeAfter } from './rules/assumption/dispute.decisions.js';
import type { KnownStatement, StandingStatement, StatementEvent } from './rules/assumption/assumption.messages.js';
import { RESERVED_PREFIX } from './rules/mutation/lineage.decider.js';
import { eventScope, refScope } from './rules/scope.js';

const LOG = 'recourse.assumptions';
const WIRE = 'recourse.assumption-events';

/** The log needs no settings yet; its core is a function all the same, like every other. */
export type AssumptionsConfig = Readonly<Record<string, unknown>>;

/** The assumptions log as pure functions. */
export function assumptionsCore(_config: AssumptionsConfig = {}): ServiceCore {
  return {
    log: LOG,
    inputs: INPUTS,
    views: [],
    kinds: KINDS,
    sealScope: ({ body }) => ({ tenant: String(body.tenant), subject: subjectOfAssumption(String(body.ref)) }),
    keyOf: (record) => String(record.body.ref),
    decide: (context, input) => (input.source === 'timer' ? NOTHING : decide(context.state, input, context.now)),
    evolve,
    react: () => [],
    owed: () => false,
  };
}

const INPUTS: readonly InputSpec[] = [
  {
    topic: WIRE,
    source: 'wire',
    mode: 'aligned',
    types: ['AssumptionDeclared', 'AssumptionInvalidated', 'AssumptionReaffirmed'],
  },
  { topic: 'recourse.ledger-commands', source: 'wire', mode: 'aligned', types: [] },
];

const KINDS: readonly KindSpec[] = [
  {
    kind: 'assumption',
    table: 'assumption',
    columns: [
      { name: 'tenant', type: 'text', of: (row) => standingOf(row).tenant },
      { name: 'ref', type: 'text', of: (row) => standingOf(row).ref },
      { name: 'run_id', type: 'text', of: (row) => standingOf(row).run_id },
      { name: 'verdict', type: 'text', of: (row) => standingOf(row).verdict },
      { name: 'stated_at', type: 'bigint', of: (row) => standingOf(row).stated_at },
      { name: 'is_disputed', type: 'boolean', of: (row) => standingOf(row).is_disputed },
    ],
    indexes: [
      ['tenant', 'ref'],
      ['tenant', 'is_disputed'],
    ],
  },
  { kind: 'statement', table: 'statement', columns: [] },
];

function decide(state: StateView, input: RecordInput, now: number): Decision {
  const event = eventOf(input);
  const { tenant, ref, run_id: runId, event_id: eventId } = event.body;
  if (input.key !== ref)
    return { records: [], park: { reason: 'KEY_MISMATCH', detail: 'the record key must be the ref' } };
  if (ref.startsWith(RESERVED_PREFIX))
    return {
      records: [],
      park: { reason: 'REF_RESERVED', detail: `no wire states refs that begin with ${RESERVED_PREFIX}` },
    };
  if (runId === null && isBare(ref))
    return {
      records: [],
      park: {
        reason: 'REF_UNSCOPED',
        detail: 'a ref without a subject holds for one run: name the run, or the subject, as in order/4711#not_shipped',
      },
    };
  const known = state.get('statement', eventScope(tenant, ref, eventId), 'event') as KnownStatement | undefined;
  const stated = decideStatement(event, { known: known ?? null, standing: standingIn(state, event.body) }, now);
  return stated === null ? NOTHING : append(stated);
}

/** What stands in the scope of a statement; rows of this kind are written by `stated` alone. */
function standingIn(
  state: StateView,
  { tenant, ref, run_id }: Pick<StandingStatement, 'tenant' | 'ref' | 'run_id'>,
): StandingStatement | null {
  return (state.get('assumption', refScope(tenant, ref), scopeKey(run_id)) as StandingStatement | undefined) ?? null;
}

/** A ref that names no subject may mean another thing in every run. */
function isBare(ref: string): boolean {
  return !ref.includes('/') && ref.indexOf('#') <= 0;
}

function evolve(state: StateView, record: AcceptedRecord): readonly Change[] {
  const { type, body } = recordIn(LOG, record);
  if (type === 'AssumptionStated') return stated(state, body, record.decidedAt);
  return type === 'StatementConflicted' ? conflicted(state, body) : [];
}

function stated(state: StateView, body: BodyOf<typeof LOG, 'AssumptionStated'>, decidedAt: number): readonly Change[] {
  const { tenant, ref, run_id, event_id, verdict, source, source_kind, stated_at, content_sha256 } = body;
  const before = standingIn(state, body);
  const effective_at = effectiveAt(stated_at, decidedAt);
  const said = body.kind === 'invalidated' ? 'invalidated' : 'holds';
  const dispute = disputeAfter(before, { source, verdict: said, event_id, stated_at, effective_at }, decidedAt);
  const known: KnownStatement = { event_id, tenant, ref, run_id, content_sha256, conflict_sha256: null };
  const standing: StandingStatement = {
    tenant,
    ref,
    run_id,
    verdict,
    event_id,
    source,
    source_kind,
    stated_at,
    effective_at,
    ...dispute,
  };
  const event = put('statement', eventScope(tenant, ref, event_id), 'event', known);
  const stands = body.superseded && before !== null ? { ...before, ...dispute } : standing;
  return [event, put('assumption', refScope(tenant, ref), scopeKey(run_id), stands)];
}

function conflicted(
  state: StateView,
  { tenant, ref, event_id, conflicting_sha256 }: BodyOf<typeof LOG, 'StatementConflicted'>,
): readonly Change[] {
  const group = eventScope(tenant, ref, event_id);
  const known = state.get('statement', group, 'event') as KnownStatement | undefined;
  return known === undefined
    ? []
    : [put('statement', group, 'event', { ...known, conflict_sha256: conflicting_sha256 })];
}

/** Row key of what stands in a scope. */
function scopeKey(runId: string | null): string {
  return runId === null ? 'current' : eventScope('current', '', runId);
}

function put(kind: string, group: string, key: string, doc: KnownStatement | StandingStatement): Change {
  return { op: 'put', row: { kind, group, key, dueAt: null, doc } };
}

function eventOf(input: RecordInput): StatementEvent {
  const event = recordIn(WIRE, input);
  return event;
}
// Rows of this kind are written by `stated` alone.
function standingOf(row: Row): StandingStatement {
  return row.doc as StandingStatement;
}
