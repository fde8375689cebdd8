// Limits of triggers as a part of the mutations core: what admission is decided by, what people say of triggers, breakers.
//
// Boundary: rows read, the decisions of rules/admission asked; holds no rule.
import { answerableFor, entryView } from '@recourse/contract';
import type { ContractEntries } from '@recourse/contract';
import { RowsOver } from '@recourse/event-log';
import type { DecideContext, StateView } from '@recourse/event-log';
import type { CloseBreaker, Fallen } from '@recourse/messages';
import { LIMIT_FOLD, readHelds, readLimit } from '../rows/limit.rows.js';
import { ADMISSION_FOLD, admittedRows } from '../rows/rollback.rows.js';
import type { Opening, Scope, Seen } from '../rules/admission/admission.decisions.js';
import {
  burst,
  closureIdOf,
  isVouchedFor,
  rootEventOf,
  scopeIdOf,
  scopesOf,
  sourceIdOf,
} from '../rules/admission/admission.decisions.js';
import type { AdmissionLimits, BreakerDoc } from '../rules/admission/admission.messages.js';
import { declaredSource, UNDECLARED } from '../rules/admission/context.decisions.js';
import { closeBreaker } from '../rules/admission/judging.decisions.js';
import { OWNER_OF_BREAKERS } from '../rules/owners.js';
import type { MutationRecord } from '../rules/record.messages.js';
import { callByType, record } from '../rules/record.messages.js';
import type { Refusal } from '../rules/refusal.messages.js';
import type { Admitted, Reviewing, Trigger } from '../rules/rollback/rollback.messages.js';
import { doneIn, doneInRun, editorRefusal, partiesTo } from './ending.part.js';
import type { Done } from './ending.part.js';

/** Closes a breaker: what it holds falls then, so nobody does who may not judge a trigger of that. */
export function close(context: DecideContext, command: CloseBreaker): MutationRecord | Refusal {
  const { breaker_id: id, envelope } = command;
  const breaker = id.length > ID_MAX ? undefined : readLimit(context.state, 'breaker', id);
  const held = breaker === undefined ? [] : heldBack(context, breaker);
  const told = closeBreaker(breaker, command, breaker === undefined ? [] : concernedWith(context, breaker, held));
  return 'code' in told ? told : (editorRefusal(context, envelope.tenant, held, envelope) ?? told);
}

/** What a breaker holds back. */
function heldBack({ state }: DecideContext, { breaker_id }: BreakerDoc): readonly Done[] {
  return readHelds(state, breaker_id).flatMap((one) => doneIn(state, one) ?? []);
}

/** Whom a breaker is about: its source, and of all it holds, and of the run that opened it, the agent, for whom it acted, and who owns it. */
function concernedWith(
  context: DecideContext,
  { scope, name, tenant, run_id }: BreakerDoc,
  held: readonly Done[],
): readonly (string | null)[] {
  return [
    ...(scope === 'source' ? [name, ...answerableFor(entriesIn(context), tenant, name)] : []),
    ...partiesTo(context, tenant, [...doneInRun(context.state, tenant, run_id), ...held]),
  ];
}

/** No id we gave out is longer. */
const ID_MAX = 200;

/** Counts a marked commit toward the breaker of the capability that would be called, and opens it when there are too many. */
export function countMarked(
  { state, now }: Pick<DecideContext, 'state' | 'now'>,
  {
    tenant,
    run_id,
    mutation_id,
    evidence,
    terms,
  }: Pick<Fallen, 'tenant' | 'run_id' | 'mutation_id' | 'evidence' | 'terms'>,
  { admission: { storm: limit }, ...policy }: Reviewing & { readonly admission: AdmissionLimits },
): readonly MutationRecord[] {
  const capability = terms?.reversal_capability ?? null;
  if (limit === null || capability === null || isVouchedFor(evidence)) return [];
  const scope: Scope = { scope: 'capability', tenant, name: capability };
  const storm = readLimit(state, 'storm', scopeIdOf(scope));
  const root = rootEventOf(evidence);
  if (
    storm?.events.some((one) => one.event_id === root) === true ||
    readLimit(state, 'breaker', scopeIdOf(scope))?.phase === 'open'
  )
    return [];
  const opening = burst(scope, storm, limit, now);
  if (opening !== null) return [breakerFact(opening, run_id, now, policy)];
  return [
    record('StormCounted', {
      tenant,
      run_id,
      mutation_id,
      capability,
      event_id: root,
      window_ms: limit.windowMs,
    }),
  ];
}

/** A breaker opens. */
export function breakerFact(
  { scope: { scope, tenant, name }, count, limit, windowMs }: Opening,
  runId: string,
  now: number,
  { reviewDeadlineMs }: Reviewing,
): MutationRecord {
  return record('BreakerOpened', {
    breaker_id: scopeIdOf({ scope, tenant, name }),
    scope,
    name,
    tenant,
    run_id: runId,
    count,
    limit,
    window_ms: windowMs,
    owner: OWNER_OF_BREAKERS,
    deadline_at: now + reviewDeadlineMs,
  });
}

/** What admission looks at. Rows are read only where a limit is set that they are about. */
export function seenOf(
  context: DecideContext,
  { tenant, evidence }: Pick<Trigger, 'tenant' | 'evidence'>,
  limits: AdmissionLimits,
): Seen {
  const { state } = context;
  const isVouched = isVouchedFor(evidence);
  const isJudged = limits.trustThresholdPermille !== null && !isVouched;
  return {
    source: isJudged ? sourceRow(context, tenant, evidence.source) : undefined,
    declared: isVouched ? UNDECLARED : declaredSource(entriesIn(context), tenant, evidence.source),
    scopes:
      limits.storm === null
        ? []
        : scopesOf(tenant, evidence).map((scope) => ({
            scope,
            storm: readLimit(state, 'storm', scopeIdOf(scope)),
            breaker: readLimit(state, 'breaker', scopeIdOf(scope)),
          })),
    closure:
      limits.closureMax === null || isVouched ? undefined : readLimit(state, 'closure', closureIdOf(tenant, evidence)),
  };
}

/** What is known of a source. */
export function sourceSeen(
  context: Pick<DecideContext, 'state' | 'views'>,
  tenant: string,
  source: string,
): Pick<Seen, 'source' | 'declared'> {
  return {
    source: sourceRow(context, tenant, source),
    declared: declaredSource(entriesIn(context), tenant, source),
  };
}

function sourceRow({ state }: Pick<DecideContext, 'state'>, tenant: string, source: string): Seen['source'] {
  return readLimit(state, 'source', sourceIdOf(tenant, source));
}

const entriesIn = ({ views }: Pick<DecideContext, 'views'>): ContractEntries => views.view(entryView.name);

// Rows as a decision leaves them so far: what it decides next, it decides on them. One decision on many triggers ends as one
// decision on each of them would.

const FOLD = { ...ADMISSION_FOLD, ...LIMIT_FOLD };

/** Rows of rollbacks and limits over those of the state; all others are the state's. */
export class Draft extends RowsOver {
  constructor(
    state: StateView,
    private readonly now: number,
  ) {
    super(state);
  }

  /** Takes records that were decided. */
  take(records: readonly MutationRecord[]): void {
    for (const told of records) {
      const changes = callByType(FOLD, told, this, { decidedAt: this.now, seq: 0 });
      if (changes !== undefined) this.apply(changes);
    }
  }

  /** Takes it that a trigger was admitted: whether it is marked now or remembered makes no difference to what is decided next. */
  admit(admitted: Admitted): void {
    const of = { agent_id: null, policy: null, mark: null };
    this.apply(admittedRows(this, admitted, { event: 'Marked', at: this.now, deadlineAt: null, of }));
  }
}
