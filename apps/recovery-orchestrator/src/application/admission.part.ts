// Admission of triggers as a part of the orchestrator's core: rows read, the decisions asked, records and rows out.
//
// Boundary: holds no rule; those are in domain/admission/. Rows of a limit are read and written only where the limit is set:
// what counts is said by the records, so the fold knows no configuration (L2).
import { entryOf, entryView } from '@recourse/contract';
import type { DecideContext } from '@recourse/event-log';
import type { CloseBreaker, MutationRolledBack, ConfirmTrigger, RejectTrigger } from '@recourse/messages';
import {
  admission,
  burst,
  closureIdOf,
  isVouchedFor,
  scopeIdOf,
  scopesOf,
  sourceIdOf,
  weightOf,
} from '../domain/admission/admission.decisions.js';
import type { Opening, Scope, Seen } from '../domain/admission/admission.decisions.js';
import type { AdmissionLimits } from '../domain/admission/admission.messages.js';
import {
  closeBreaker,
  judgedFact,
  judgingRefusal,
  movedWeight,
  rejectedFact,
} from '../domain/admission/judging.decisions.js';
import type { Verdict } from '../domain/admission/judging.decisions.js';
import { boundOf, reopened } from '../domain/rollback/bound.decider.js';
import { OWNER_OF_HALTED } from '../domain/policy.messages.js';
import type { RecoveryPolicy } from '../domain/policy.messages.js';
import {
  held,
  isHeard,
  opened,
  redundant,
  rollbackKey,
  triggerOfStanding,
} from '../domain/rollback/rollback.decider.js';
import type { Trigger } from '../domain/rollback/rollback.decider.js';
import { heldKey, readHelds, readLimit } from './admission.rows.js';
import { readRow } from './recoveries.kinds.js';
import { record } from '../domain/record.messages.js';
import type { RecoveryRecord } from '../domain/record.messages.js';
import type { Refusal } from '../domain/refusal.messages.js';
import type { RollbackDoc } from '../domain/rollback/rollback.messages.js';

/** What became of a trigger. */
export interface Decided {
  readonly records: readonly RecoveryRecord[];
  readonly outcome: 'opened' | 'held' | 'redundant';
  readonly cause: string | null;
}

/** What deciding about triggers needs beside the state. */
export interface Admitting {
  readonly policy: Pick<RecoveryPolicy, 'reviewDeadlineMs'>;
  readonly limits: AdmissionLimits;
}

/** Admits a trigger, holds it, or records that it changes nothing. `isAgain`: it was held, and what held it changed. */
export function decideTrigger(
  context: DecideContext,
  trigger: Trigger,
  { policy, limits }: Admitting,
  isAgain = false,
): Decided {
  const standing = readRow(context.state, 'rollback', trigger.runId, rollbackKey(trigger.tenant, trigger.mutationId));
  if (!isAgain && isHeard(standing, trigger.evidence.event_id))
    return { records: [redundant(trigger)], outcome: 'redundant', cause: null };
  const { tenant, evidence, commandId } = trigger;
  const verdict = admission(
    { tenant, evidence, isCommand: commandId !== null, isAgain },
    seenOf(context, trigger, limits),
    limits,
    context.now,
  );
  if (verdict.kind === 'admit') {
    return {
      records: [
        opened(trigger, {
          confirmedBy: null,
          stormWindowMs: verdict.isCounted ? (limits.storm?.windowMs ?? 0) : 0,
          isHit: verdict.isHit,
          boundAt: boundOf(evidence, limits, context.now),
        }),
      ],
      outcome: 'opened',
      cause: null,
    };
  }
  const opening = verdict.opens === null ? [] : [breakerFact(verdict.opens, trigger.runId, context.now, policy)];
  const isListed = standing?.phase === 'held' && !isAgain;
  return {
    records: [...opening, isListed ? redundant(trigger) : held(trigger, verdict, context.now, policy)],
    outcome: isListed ? 'redundant' : 'held',
    cause: verdict.cause,
  };
}

/** A held trigger, after what held it changed: admitted, or held for something else. */
export function reviewHeld(
  context: DecideContext,
  cause: string,
  key: string,
  admitting: Admitting,
): readonly RecoveryRecord[] {
  const waiting = readHelds(context.state, cause).find((one) => heldKey(one) === key);
  const standing = waiting === undefined ? undefined : readRow(context.state, 'rollback', waiting.run_id, key);
  if (waiting === undefined || standing?.phase !== 'held') return [];
  const decided = decideTrigger(context, triggerOfStanding(standing), admitting, true);
  const goesOn = waiting.has_more && decided.cause !== cause;
  return goesOn
    ? [
        ...decided.records,
        record('HeldReviewed', { cause, tenant: waiting.tenant, run_id: waiting.run_id, lifts_closure: false }),
      ]
    : decided.records;
}

/** What a person says of a trigger. */
export function judge(
  context: DecideContext,
  command: ConfirmTrigger | RejectTrigger,
  verdict: Verdict,
  { policy, limits }: Admitting,
): Refusal | { readonly records: readonly RecoveryRecord[]; readonly phase: RollbackDoc['phase'] } {
  const standing = readRow(
    context.state,
    'rollback',
    command.run_id,
    rollbackKey(command.envelope.tenant, command.mutation_id),
  );
  const refusal = judgingRefusal(standing, command);
  if (refusal !== null || standing === undefined)
    return refusal ?? { httpStatus: 404, code: 'ROLLBACK_UNKNOWN', message: 'There is no such rollback.' };
  const weight = weightOf(sourceSeen(context, standing.tenant, standing.evidence.source));
  const judged = judgedFact(standing, command, verdict, weight);
  if (standing.phase !== 'held') return { records: [judged], phase: standing.phase };
  if (verdict === 'rejected')
    return {
      records: [rejectedFact(standing, command), judged, ...reopened(standing, context.now, policy)],
      phase: standing.beyond === null ? 'rejected' : 'beyond',
    };
  const through = opened(triggerOfStanding(standing), {
    confirmedBy: command.envelope.principal,
    stormWindowMs: 0,
    isHit: false,
    boundAt: boundOf(standing.evidence, limits, context.now),
  });
  return {
    records: [through, judged, ...releasing(standing, weight, movedWeight(weight, verdict), limits)],
    phase: 'opened',
  };
}

/** Others that go with it: all of its event, and all of a source that is trusted from now on. */
function releasing(
  { held: holding, tenant, run_id, evidence }: RollbackDoc,
  before: number,
  after: number,
  { trustThresholdPermille: threshold }: AdmissionLimits,
): readonly RecoveryRecord[] {
  if (holding?.reason === 'CLOSURE_LIMIT')
    return [record('HeldReviewed', { cause: holding.cause, tenant, run_id, lifts_closure: true })];
  const isTrustedNow = threshold !== null && before < threshold && after >= threshold;
  return isTrustedNow
    ? [record('HeldReviewed', { cause: sourceIdOf(tenant, evidence.source), tenant, run_id, lifts_closure: false })]
    : [];
}

/** Closes a breaker. */
export function close({ state }: DecideContext, command: CloseBreaker): RecoveryRecord | Refusal {
  return closeBreaker(
    command.breaker_id.length > ID_MAX ? undefined : readLimit(state, 'breaker', command.breaker_id),
    command,
  );
}

/** No id we gave out is longer. */
const ID_MAX = 200;

/** Counts a marked commit toward the breaker of the capability that would be called, and opens it when there are too many. */
export function countMarked(
  { state, now }: DecideContext,
  {
    tenant,
    run_id,
    mutation_id,
    evidence,
    terms,
  }: Pick<MutationRolledBack, 'tenant' | 'run_id' | 'mutation_id' | 'evidence' | 'terms'>,
  { policy, limits: { storm: limit } }: Admitting,
): readonly RecoveryRecord[] {
  const capability = terms?.reversal_capability ?? null;
  if (limit === null || capability === null || isVouchedFor(evidence)) return [];
  const scope: Scope = { scope: 'capability', tenant, name: capability };
  const storm = readLimit(state, 'storm', scopeIdOf(scope));
  if (
    storm?.events.some((one) => one.event_id === evidence.event_id) === true ||
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
      event_id: evidence.event_id,
      window_ms: limit.windowMs,
    }),
  ];
}

function breakerFact(
  { scope: { scope, tenant, name }, count, limit, windowMs }: Opening,
  runId: string,
  now: number,
  { reviewDeadlineMs }: Admitting['policy'],
): RecoveryRecord {
  return record('BreakerOpened', {
    breaker_id: scopeIdOf({ scope, tenant, name }),
    scope,
    name,
    tenant,
    run_id: runId,
    count,
    limit,
    window_ms: windowMs,
    owner: OWNER_OF_HALTED,
    deadline_at: now + reviewDeadlineMs,
  });
}

/** Rows are read only where a limit is set that they are about. */
function seenOf(context: DecideContext, { tenant, evidence }: Trigger, limits: AdmissionLimits): Seen {
  const { state } = context;
  const isJudged = limits.trustThresholdPermille !== null && !isVouchedFor(evidence);
  return {
    ...(isJudged ? sourceSeen(context, tenant, evidence.source) : { source: undefined, declaredPermille: null }),
    scopes:
      limits.storm === null
        ? []
        : scopesOf(tenant, evidence).map((scope) => ({
            scope,
            storm: readLimit(state, 'storm', scopeIdOf(scope)),
            breaker: readLimit(state, 'breaker', scopeIdOf(scope)),
          })),
    closure:
      limits.closureMax === null ? undefined : readLimit(state, 'closure', closureIdOf(tenant, evidence.event_id)),
  };
}

function sourceSeen(
  { state, views }: DecideContext,
  tenant: string,
  source: string,
): Pick<Seen, 'source' | 'declaredPermille'> {
  return {
    source: readLimit(state, 'source', sourceIdOf(tenant, source)),
    declaredPermille: entryOf(views.view(entryView.name), 'context_source', tenant, source)?.trust_permille ?? null,
  };
}
