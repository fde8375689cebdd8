// The assumptions log as a table: accepted statements about refs (docs/design/ledger.md, L12).
//
// Rows: `assumption` is what stands for a ref in a scope; `statement` is one row per (ref, event id, source, run); those of one event id
// about a ref are loaded together.
import { entryView, subjectOfAssumption } from '@recourse/contract';
import { append, core, NOTHING, parkedThrough, row, toldOn } from '@recourse/event-log';
import type {
  AcceptedRecord,
  Asked,
  Change,
  DecideContext,
  Decision,
  ServiceCore,
  StateView,
} from '@recourse/event-log';
import { statedRefProblem } from '@recourse/kernel';
import type { BodyOf, HandleNamed } from '@recourse/messages';
import { declaredSource, wordWeight } from './rules/admission/context.decisions.js';
import { decideStatement, effectiveAt } from './rules/assumption/assumption.decider.js';
import { disputeAfter } from './rules/assumption/dispute.decisions.js';
import { claimHandle } from './rules/handle/handle.decider.js';
import type { HandleOwner } from './rules/handle/handle.decider.js';
import type { KnownStatement, StandingStatement, StatementEvent } from './rules/assumption/assumption.messages.js';
import type { Weigh } from './rules/assumption/standing.decisions.js';
import { eventScope, refScope, wordScope } from './rules/identity.js';

const LOG = 'recourse.assumptions';

/** The log needs no settings yet; its core is a function all the same, like every other. */
export type AssumptionsConfig = Readonly<Record<string, unknown>>;

const standings = row<StandingStatement>({
  kind: 'assumption',
  table: 'assumption',
  group: ({ tenant, ref }) => refScope(tenant, ref),
  key: ({ run_id: runId }) => scopeKey(runId),
  columns: {
    tenant: 'text',
    ref: 'text',
    run_id: 'text',
    verdict: 'text',
    stated_at: 'bigint',
    is_disputed: 'boolean',
  },
  indexes: [
    ['tenant', 'ref'],
    ['tenant', 'is_disputed'],
    ['tenant', 'run_id'],
  ],
});

const statements = row<KnownStatement>({
  kind: 'statement',
  table: 'statement',
  group: ({ tenant, ref, event_id }) => eventScope(tenant, ref, event_id),
  key: ({ source, run_id: runId }) => wordScope(source, runId),
  columns: { source: 'text' },
});

/** Who named a handle first. */
const handles = row<HandleOwner>({
  kind: 'handle',
  table: 'handle',
  group: ({ ref }) => ref,
  key: () => 'owner',
  columns: { tenant: 'text', run_id: 'text', mutation_id: 'text' },
});

/** The assumptions log as pure functions. */
export function assumptionsCore(_config: AssumptionsConfig = {}): ServiceCore {
  return core<typeof LOG>(LOG, {
    inputs: [
      toldOn('recourse.assumption-events', {
        key: { is: ({ ref }) => ref, name: 'ref' },
        records: {
          AssumptionDeclared: (asked) => onStated({ type: 'AssumptionDeclared', body: asked.body }, asked),
          AssumptionInvalidated: (asked) => onStated({ type: 'AssumptionInvalidated', body: asked.body }, asked),
          AssumptionReaffirmed: (asked) => onStated({ type: 'AssumptionReaffirmed', body: asked.body }, asked),
          HandleNamed: onHandleNamed,
        },
      }),
      parkedThrough('recourse.ledger-commands'),
    ],
    views: [entryView],
    rows: [standings, statements, handles],
    edition: 2,
    keyOf: ({ ref }) => ref,
    evolve: { AssumptionStated: stated, StatementConflicted: conflicted, HandleClaimed: claimed },
    due: {},
    sealScope: ({ body }) => ({ tenant: String(body.tenant), subject: subjectOfAssumption(String(body.ref)) }),
  });
}

function onStated(event: StatementEvent, { context }: Pick<Asked<unknown>, 'context'>): Decision {
  const { state, now } = context;
  const { tenant, ref, run_id: runId, source, event_id: eventId } = event.body;
  const problem = statedRefProblem(ref, runId);
  if (problem !== null) return { records: [], park: problem };
  const known = statements.find(state, eventScope(tenant, ref, eventId), wordScope(source, runId));
  const standing = standings.find(state, refScope(tenant, ref), scopeKey(runId));
  const said = decideStatement(event, { known, standing, weigh: weighIn(context, tenant) }, now);
  return said === null ? NOTHING : append(said);
}

/** What the registry says the word of a source weighs. What people said of its triggers is known where those are, and moves no weight here. */
function weighIn({ views, now }: DecideContext, tenant: string): Weigh {
  return ({ source, verdict, stated_at: statedAt }) => {
    // What lifted a word lifted it when it was said: only a word against a fact grows old.
    const at = verdict === 'holds' ? Math.min(statedAt, now) : now;
    return wordWeight(declaredSource(views.view(entryView.name), tenant, source), statedAt, at);
  };
}

/** Whose a handle is: a mutation is told as often as it asks, also of one that it had asked about before another. */
function onHandleNamed({ body, context: { state } }: Asked<HandleNamed>): Decision {
  const owner = handles.find(state, body.ref, 'owner');
  return append({ type: 'HandleClaimed', body: claimHandle(body, owner ?? undefined) });
}

function stated(
  body: BodyOf<typeof LOG, 'AssumptionStated'>,
  state: StateView,
  { decidedAt }: AcceptedRecord,
): readonly Change[] {
  const { tenant, ref, run_id, event_id, verdict, source, source_kind, stated_at, content_sha256 } = body;
  const before = standings.find(state, refScope(tenant, ref), scopeKey(run_id));
  const effective_at = effectiveAt(stated_at, decidedAt);
  const said = body.kind === 'invalidated' ? 'invalidated' : 'holds';
  const side = { source, verdict: said, event_id, stated_at, effective_at } as const;
  const dispute = disputeAfter(before, side, verdict, decidedAt);
  const standing = { tenant, ref, run_id, verdict, event_id, source, source_kind, stated_at, effective_at, ...dispute };
  return [
    statements.put({ event_id, tenant, ref, run_id, source, content_sha256, conflict_sha256: null }),
    standings.put(body.superseded && before !== null ? { ...before, ...dispute } : standing),
  ];
}

function conflicted(
  { tenant, ref, event_id, recorded_sha256, conflicting_sha256 }: BodyOf<typeof LOG, 'StatementConflicted'>,
  state: StateView,
): readonly Change[] {
  const told = statements.list(state, eventScope(tenant, ref, event_id));
  // What was said is hashed with who said it and for which run.
  const known = told.find(({ content_sha256 }) => content_sha256.equals(recorded_sha256));
  return known === undefined ? [] : [statements.put({ ...known, conflict_sha256: conflicting_sha256 })];
}

function claimed(
  { is_owner, owner_mutation_id, is_question, ...named }: BodyOf<typeof LOG, 'HandleClaimed'>,
  state: StateView,
): readonly Change[] {
  const isNamed = !is_question && handles.find(state, named.ref, 'owner') === null;
  return isNamed ? [handles.put(named)] : [];
}

/** Row key of what stands in a scope. */
function scopeKey(runId: string | null): string {
  return runId === null ? 'current' : eventScope('current', '', runId);
}
