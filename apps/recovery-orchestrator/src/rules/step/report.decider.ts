// What a worker's report does to a step. Pure: (steps, report, now) -> records.
//
// Invariants
//   T2. Only a report under a real lease moves a step, and only the orchestrator's judgement closes it.
import { isObserved, speaksUnder } from '@recourse/kernel';
import type { LegReported, LegVerdict, StepOutcome, StepVerdict } from '@recourse/messages';
import { record } from '../record.messages.js';
import type { RecoveryRecord } from '../record.messages.js';
import { escalated, isExhausted, reasonAfterLast, retryAt } from './dispatch.decisions.js';
import { changesOf, factChanged, factsObserved, isCallErased } from './facts.decisions.js';
import { deadlineOf, goOn, stoppedBy } from './halt.decisions.js';
import { judge } from './judgement.decisions.js';
import type { Judgement } from './judgement.decisions.js';
import { lookedAt, lookShows } from './looked.decisions.js';
import { append, conclude, draft } from './step-draft.decisions.js';
import type { StepContext } from './step-draft.decisions.js';
import { isAskedAgain, observerAsked } from './observer.decisions.js';
import type { Signed } from './observer.decisions.js';
import { stepFollowing } from './step-row.transitions.js';
import type { FactsAsk, LookDoc, StepDoc } from './step.messages.js';
import type { LegDoc, ReportRefusal } from './leg.messages.js';
import { isAtRest, mayBeProved } from './step.transitions.js';
import { settledBy, verdictOn, witnessed } from './verdict.decisions.js';
import { SAID_NOTHING } from './worker-words.decisions.js';

/** Takes a worker's report; `speaker`: whose key signed it, where reports are signed. */
export function report(message: LegReported, context: StepContext, speaker?: Signed): readonly RecoveryRecord[] {
  if (speaker !== undefined && !mayReport(speaker, message, context.steps))
    return [refusedReport(message, 'WORKER_MISMATCH')];
  const looking = context.steps.find((one) => one.tenant === message.tenant && one.look?.leg_id === message.leg_id);
  if (looking !== undefined && looking.look !== null)
    return onLook(looking, looking.look, message, { ...context, speaker });
  const relying = context.steps.find(
    (one) => one.tenant === message.tenant && one.facts_ask?.leg_id === message.leg_id,
  );
  if (relying !== undefined && relying.facts_ask !== null) return onFacts(relying, relying.facts_ask, message, context);
  const members = membersOf(message, context.steps);
  const [head] = members;
  if (head === undefined || head.leg.lease_id !== message.lease_id) return [refusedReport(message, 'LEASE_UNKNOWN')];
  if (head.leg.attempt !== message.attempt) return [refusedReport(message, 'ATTEMPT_STALE')];
  const refusal = shapeRefusal(message, members);
  return refusal === null
    ? onLease(head, members, message, { ...context, speaker })
    : [refusedReport(message, refusal)];
}

/** A worker answers for its own adapters: who overheard a request, lease and all, does not, nor do our services. */
function mayReport(speaker: Signed, { tenant, leg_id }: LegReported, steps: readonly StepDoc[]): boolean {
  const asked = steps
    .filter((step) => step.tenant === tenant)
    .flatMap(({ legs, look, facts_ask }) => [...legs, look, facts_ask])
    .filter((one) => one?.leg_id === leg_id);
  return asked.every((one) => {
    if (one === null || !speaksUnder(speaker, one.adapter)) return false;
    const actedBy = 'not_by' in one ? one.not_by : null;
    return actedBy === null ? speaker.roles.includes('worker') : mayObserve(speaker, actedBy);
  });
}

function mayObserve({ keyId, roles }: Signed, actedBy: string): boolean {
  return roles.includes('observer') && keyId !== actedBy;
}

/** A step and the leg it went out in. */
interface Member {
  readonly step: StepDoc;
  readonly leg: LegDoc;
}

/** Steps of the leg a report is about, in its order. */
function membersOf({ tenant, leg_id }: LegReported, steps: readonly StepDoc[]): readonly Member[] {
  return steps
    .flatMap((step) => {
      const leg = step.tenant === tenant ? step.legs.find((one) => one.leg_id === leg_id) : undefined;
      return leg === undefined ? [] : [{ step, leg }];
    })
    .sort((one, other) => one.leg.position - other.leg.position);
}

/** Why a report cannot be about its leg: it names a step that was not sent, one twice, or them out of order. */
function shapeRefusal({ steps }: LegReported, members: readonly Member[]): ReportRefusal | null {
  const places = steps.map(({ step_id: id }) => members.findIndex(({ step }) => step.step_id === id));
  if (places.includes(-1)) return 'MEMBER_UNKNOWN';
  if (new Set(places).size < places.length) return 'MEMBER_REPEATED';
  return places.every((place, index) => index === 0 || (places[index - 1] ?? 0) < place) ? null : 'MEMBER_ORDER';
}

/** A decision about a report, and whose key signed that. */
interface ReportContext extends StepContext {
  readonly speaker: Signed | undefined;
}

function onLook(step: StepDoc, seen: LookDoc, message: LegReported, context: ReportContext): readonly RecoveryRecord[] {
  if (seen.lease_id !== message.lease_id) return [refusedReport(message, 'LEASE_UNKNOWN')];
  // A refusal by one copy proves nothing about another (L11).
  if (message.steps.find((one) => one.step_id === step.step_id)?.outcome === 'refused_late')
    return [refusedReport(message, 'REFUSED_LATE')];
  const shown = lookShows(step, seen, message);
  // It is asked anew at its deadline, as one that is silent: until then another copy may say what it sees.
  if (shown.verdict === 'unknown' && isAskedAgain(seen)) return [refusedReport(message, 'NOTHING_SEEN')];
  return conclude(draft(step, context.now, ...lookedAt(step, seen, shown, context)), context);
}

/** What the resource is like: for whoever decides about the step, or compared with what they agreed to. */
function onFacts(step: StepDoc, ask: FactsAsk, message: LegReported, context: StepContext): readonly RecoveryRecord[] {
  const { now, policy } = context;
  if (ask.lease_id !== message.lease_id) return [refusedReport(message, 'LEASE_UNKNOWN')];
  if (message.steps.find((one) => one.step_id === step.step_id)?.outcome === 'refused_late')
    return [refusedReport(message, 'REFUSED_LATE')];
  const isAwaited = step.phase === (ask.purpose === 'review' ? 'awaiting_approval' : 'observing');
  if (!isAwaited) return [refusedReport(message, 'ALREADY_ANSWERED')];
  const told = draft(step, now, factsObserved(step, ask, message));
  if (ask.purpose === 'review') return told.records;
  const seen = told.step.last_seen;
  // The deadline of the look stands: it is asked again then, a few times.
  if (seen === null) return told.records;
  if (isCallErased(step))
    return conclude(append(told, escalated(told.step, 'PAYLOADS_ERASED', now, policy), now), context);
  const changed = step.facts === null ? [] : changesOf(step, step.facts, seen);
  if (changed.length > 0) return append(told, factChanged(told.step, changed, null, now, policy), now).records;
  return conclude(append(told, goOn(told.step, { ...context, isObserved: true }), now), context);
}

/** Each step by what is said of it; what of the report changes nothing is refused with the reason. */
function onLease(
  { leg }: Member,
  members: readonly Member[],
  message: LegReported,
  context: ReportContext,
): readonly RecoveryRecord[] {
  const read = members.map((member) => ({
    member,
    reading: heldBack(member.step, readingOf(member, message, members), context),
  }));
  const judged = read.flatMap(({ member: { step }, reading }) =>
    typeof reading === 'object' && reading !== null ? [{ step, judgement: reading }] : [],
  );
  if (judged.length > 0) return settle(leg, judged, context);
  const refusal = read.map(({ reading }) => reading).find((reading) => typeof reading === 'string');
  return refusal === undefined ? [] : [refusedReport(message, refusal)];
}

/** What a report says of a step: a judgement, why that is not taken, or nothing. */
function readingOf(
  { step, leg }: Member,
  message: LegReported,
  members: readonly Member[],
): Judged | ReportRefusal | null {
  const about = message.steps.find((one) => one.step_id === step.step_id);
  if (about === undefined) return unnamed({ step, leg }, message, members);
  const isRepeated = isTaken(step, leg, about.outcome);
  if (isAtRest(step.phase)) return isRepeated ? null : 'ALREADY_ANSWERED';
  // A refusal by one copy proves nothing about another (L11).
  if (about.outcome === 'refused_late')
    return isOut(step, leg) && isLeftOver(leg, message, members) ? NOT_REACHED : 'REFUSED_LATE';
  const judgement = judge(step, about);
  if (isOut(step, leg)) return judgement;
  const isLateProof = judgement.outcome === 'compensated' && mayBeProved(step.phase);
  if (isLateProof) return judgement;
  return isRepeated ? null : 'ATTEMPT_STALE';
}

/** A worker said that of this leg before; what it says it undid has its verdict once another worker has looked. */
function isTaken({ look }: StepDoc, { leg_id, answered }: LegDoc, outcome: StepOutcome): boolean {
  return (look?.acted?.leg_id === leg_id ? 'verified' : answered) === outcome;
}

/** A worker that obeys a switch says nothing of the step it was to begin with. */
function heldBack<Reading extends Judged | ReportRefusal | null>(
  step: StepDoc,
  reading: Reading,
  { killed }: Pick<StepContext, 'killed'>,
): Reading {
  const isSilent = typeof reading === 'object' && reading?.reason === 'STEP_NOT_REPORTED';
  return isSilent && stoppedBy(step, killed) !== null ? { ...reading, reason: 'HELD_BACK' } : reading;
}

function isOut(step: StepDoc, leg: LegDoc): boolean {
  return step.phase === 'dispatched' && step.attempt === leg.attempt;
}

/** A step that its worker does not name: still under way, passed over, or not begun since the leg ended before it. */
function unnamed(
  { step, leg }: Member,
  message: LegReported,
  members: readonly Member[],
): Judged | ReportRefusal | null {
  const { complete, steps } = message;
  if (!isOut(step, leg)) return steps.length === 0 ? 'ALREADY_ANSWERED' : null;
  if (!complete) return null;
  if (steps.some(({ outcome }) => outcome === 'refused_late'))
    return isLeftOver(leg, message, members) ? NOT_REACHED : null;
  const last = steps.at(-1)?.step_id;
  const end = members.find((one) => one.step.step_id === last)?.leg.position ?? -1;
  // The first step of a leg is begun, whatever the report leaves out; of those before one that is named, something is missing.
  return leg.position === 0 || end > leg.position ? judge(step, undefined) : NOT_BEGUN;
}

/**
 * The lease ended while its leg was under way: its worker answers for steps ahead, and from this one on for none. One that called
 * none of them found what another had done, and nobody knows how far that one got.
 */
function isLeftOver(leg: LegDoc, { complete, steps }: LegReported, members: readonly Member[]): boolean {
  const end = steps.findIndex(({ outcome }) => outcome === 'refused_late');
  const from = members.find(({ step }) => step.step_id === steps[end]?.step_id)?.leg.position;
  return complete && from !== undefined && leg.position >= from && steps.slice(0, end).some(isCalled);
}

function isCalled({ observations }: LegReported['steps'][number]): boolean {
  return observations.some(({ phase }) => phase === 'execute');
}

/** What is found about a step, by a report. */
type Judged = Judgement | typeof NOT_BEGUN | typeof NOT_REACHED;

/** Uncertain until nobody may act on it any more: another copy may have got further. */
const NOT_REACHED = {
  ...SAID_NOTHING,
  reported: null,
  outcome: 'uncertain',
  reason: 'NOT_REACHED',
  observations: [],
  calls_done: 0,
} as const;

const NOT_BEGUN = {
  ...SAID_NOTHING,
  reported: null,
  outcome: 'not_begun',
  reason: 'ORDER',
  observations: [],
  calls_done: 0,
} as const;

/** Verdicts on steps of a leg; those behind one that failed wait for it. */
function settle(
  leg: LegDoc,
  judged: readonly { readonly step: StepDoc; readonly judgement: Judged }[],
  context: ReportContext,
): readonly RecoveryRecord[] {
  const { now, policy, speaker } = context;
  const { leg_id, adapter } = leg;
  const looks = judged.map(({ step, judgement: { outcome, observations } }) =>
    outcome === 'compensated' && speaker !== undefined && isObserved(speaker, adapter, step.tenant)
      ? observerAsked(step, speaker.keyId, { leg_id, observations }, context)
      : null,
  );
  const asked = looks.filter((look) => look !== null);
  const rest = judged.filter((_, index) => looks[index] === null);
  const [first] = rest;
  const [looked] = judged;
  if (first === undefined) return looked === undefined ? [] : conclude(draft(looked.step, now, ...asked), context);
  const by = speaker?.keyId ?? null;
  const found = rest.map(({ step, judgement }) => ({ step, verdict: verdictOf(step, judgement, by, context) }));
  const outcome = settledBy(
    first.step,
    leg,
    found.map(({ verdict }) => verdict),
  );
  const escalations = found
    .filter(({ step, verdict }) => isForPerson(step, verdict.outcome))
    .map(({ step }) => {
      const told = stepFollowing(step, outcome, now);
      return escalated(told, reasonAfterLast(told), now, policy);
    });
  return conclude(draft(first.step, now, outcome, ...escalations, ...asked), context);
}

/** `by`: the key of the worker that acted, and whose observations these are. */
function verdictOf(
  step: StepDoc,
  judgement: Judged,
  by: string | null,
  { now, policy }: Pick<StepContext, 'now' | 'policy'>,
): LegVerdict {
  const { outcome } = judgement;
  if (outcome === 'not_begun') return verdictOn(step, judgement, deadlineOf(step, now, policy), null);
  if (outcome === 'compensated') return witnessed(verdictOn(step, judgement, null, 'reversed'), by, by);
  const again = retryAt(step, now, policy, outcome === 'uncertain');
  const verdict = verdictOn(step, judgement, again, isForPerson(step, outcome) ? null : 'retry_scheduled');
  return witnessed(verdict, by, by);
}

/** Stale is a person's at once; what failed is when its attempts are used up; of an uncertain step more may be learnt. */
function isForPerson(step: StepDoc, outcome: StepVerdict): boolean {
  return outcome === 'stale' || ((outcome === 'failed' || outcome === 'unverified') && isExhausted(step));
}

function refusedReport(message: LegReported, code: ReportRefusal): RecoveryRecord {
  return record('ReportRefused', {
    tenant: message.tenant,
    run_id: message.run_id,
    leg_id: message.leg_id,
    attempt: message.attempt,
    code,
  });
}
