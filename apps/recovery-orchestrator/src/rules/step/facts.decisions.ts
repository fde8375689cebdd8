// The facts people rely on when they agree: shown to them, and observed again before anything is sent (docs/design/recovery.md, review item).
//
// Boundary: pure; asks for a look, compares what was seen, says what changed. What follows is the step decider's.
//
// Invariants
//   F1. Where people agreed and the contract says how to look, nothing is dispatched before the resource was looked at again.
//   F2. A change voids what was agreed to, names the facts, and gives the action a new digest: who saw the old ones cannot
//       agree by mistake (P4).
//   F4. What is said to hold again while an attempt is out is noted: it voids what was agreed to before anything else is sent under
//       that, where the attempt counts for none.
//   F3. What cannot be observed is a person's, after a few tries: doubt does not send anything (P14).
import { createHash } from 'node:crypto';
import { isErased, readPayload } from '@recourse/contract';
import { canonicalJson, deriveId, isJsonObject, leaseIdOf } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { Evidence, FactsPurpose, LegReported, Observation } from '@recourse/messages';
import { refInForce } from '../decision/in-force.decisions.js';
import { callsMs, dispatchableUntil, grantLookLease } from '../decision/recovery.decisions.js';
import { OWNER_OF_APPROVALS, OWNER_OF_MANUAL } from '../policy.messages.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import { identityOf } from './step.messages.js';
import type { FactsAsk, StepDoc, StepPhase } from './step.messages.js';
import { record } from '../record.messages.js';
import type { RecoveryRecord } from '../record.messages.js';

/** Looks asked for before a person is told that nothing can be seen. */
export const FACT_ROUNDS_MAX = 3;
/** Facts named at the most; the observations hold the rest. */
const NAMED_MAX = 20;
/** Longest name of a fact, characters. */
const NAME_MAX = 200;

/** People agreed, or have to, and nothing was sent since. */
export function relyOnFacts({
  required_approvals: required,
  attempt,
  attempts_before: before,
  call,
  terms,
}: StepDoc): boolean {
  return (
    required > 0 &&
    attempt === before &&
    call !== null &&
    terms !== null &&
    terms.stale_capability !== null &&
    terms.stale_capability !== call.capability
  );
}

/** Whoever decides about the step has not seen the resource, and nobody was asked to look. */
export function lacksFacts(step: StepDoc): boolean {
  return step.phase === 'awaiting_approval' && relyOnFacts(step) && step.facts === null && step.facts_ask === null;
}

/** Asks a worker to look; nothing where no lease can be granted. */
export function askFacts(
  step: StepDoc,
  purpose: FactsPurpose,
  now: number,
  policy: RecoveryPolicy,
): RecoveryRecord | null {
  const { call, terms, ref } = step;
  if (call === null || terms === null) return null;
  const round = step.facts_ask?.purpose === purpose ? step.facts_ask.round + 1 : 1;
  const lease = grantLookLease(terms.call_timeout_ms, now, policy);
  if (lease.kind !== 'granted') return null;
  const legId = deriveId('facts', step.step_id, step.facts_asked + 1);
  return record('FactsAsked', {
    ...identityOf(step),
    leg_id: legId,
    purpose,
    round,
    adapter: call.adapter_id,
    lease_id: leaseIdOf(policy.leaseKey, legId, round, lease.notAfter),
    not_after: lease.notAfter,
    answer_by: lease.answerBy,
    call,
    terms,
    ref,
  });
}

/** What a worker saw. */
export function factsObserved(step: StepDoc, { leg_id, purpose }: FactsAsk, message: LegReported): RecoveryRecord {
  return record('FactsObserved', {
    ...identityOf(step),
    leg_id,
    purpose,
    observations: message.steps.find((one) => one.step_id === step.step_id)?.observations ?? [],
  });
}

/** The look at the resource among observations; undefined when there is none. */
export function seenResource(
  { terms }: Pick<StepDoc, 'terms'>,
  observations: readonly Observation[],
): Observation | undefined {
  return observations.findLast(({ phase, capability }) => phase === 'verify' && capability === terms?.stale_capability);
}

/** What would be called was erased with the data of its subject, and so was what was seen before: nobody could say that it changed. */
export function isCallErased({ call }: Pick<StepDoc, 'call'>): boolean {
  return call !== null && [call, ...call.then].some(({ args }) => isErased(args));
}

/** Facts that are not as they were seen, by name. */
export function changesOf({ terms }: Pick<StepDoc, 'terms'>, then: Observation, now: Observation): readonly string[] {
  const [before, after] = [readable(then), readable(now)];
  if (before === undefined || after === undefined) return ['/'];
  return changedFacts(before, after, terms?.stale_volatile ?? []);
}

/**
 * Leaves of JSON that differ, as JSON pointers in order.
 *
 * Shape:  at most 20; what lies under one of `volatile` is no fact. A list whose length changed differs as a whole.
 */
export function changedFacts(then: Json, now: Json, volatile: readonly string[]): readonly string[] {
  return [...differences('', then, now, new Set(volatile))]
    .slice(0, NAMED_MAX)
    .map((name) => (name === '' ? '/' : name.slice(0, NAME_MAX)));
}

function* differences(at: string, then: Json, now: Json, volatile: ReadonlySet<string>): Generator<string> {
  if (volatile.has(at) || canonicalJson(then) === canonicalJson(now)) return;
  if (!isJsonObject(then) || !isJsonObject(now)) {
    yield at;
    return;
  }
  for (const key of [...new Set([...Object.keys(then), ...Object.keys(now)])].sort()) {
    const path = `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const [before, after] = [then[key], now[key]];
    if (before === undefined || after === undefined) {
      if (!volatile.has(path)) yield path;
    } else yield* differences(path, before, after, volatile);
  }
}

/** Voids the approvals given so far and asks again. */
export function factChanged(
  step: StepDoc,
  changed: readonly string[],
  evidence: Evidence | null,
  now: number,
  policy: RecoveryPolicy,
): RecoveryRecord {
  const isForPeople = !KEPT_BY_PERSON.includes(step.phase);
  return record('FactChanged', {
    ...identityOf(step),
    changed,
    evidence,
    voided: isForPeople ? [...step.approvals, ...step.glass].map(({ approval_id }) => approval_id) : [],
    action_digest: step.action_digest === null ? null : digestWith(step.action_digest, changed, now),
    required_approvals: step.required_approvals,
    owner: isForPeople ? OWNER_OF_APPROVALS : OWNER_OF_MANUAL,
    deadline_at: deadlineOf(step, now, policy),
    attempt: null,
  });
}

/** Notes it for whoever is asked again once the attempt that is out counts for none (F4). */
function factNoted(step: StepDoc, evidence: Evidence, now: number): RecoveryRecord {
  return record('FactChanged', {
    ...identityOf(step),
    changed: [evidence.ref ?? ''],
    evidence,
    voided: [],
    action_digest: null,
    required_approvals: step.required_approvals,
    owner: step.owner,
    deadline_at: step.deadline_at ?? now,
    attempt: step.attempt,
  });
}

/** What a person was given stays theirs; they only learn of the change. */
const KEPT_BY_PERSON: readonly StepPhase[] = ['manual', 'looking'];
/** Phases in which somebody relies on the facts, and nothing is out. */
const RELYING: readonly StepPhase[] = [
  'awaiting_approval',
  'approved',
  'waiting',
  'halted',
  'observing',
  ...KEPT_BY_PERSON,
];
/** Phases in which a worker may still act on what was sent: nobody is asked before its lease is over. */
const OUT: readonly StepPhase[] = ['dispatched', 'uncertain'];

/** The assumption is said to hold again: whoever agreed because it did not is asked again. */
export function reaffirmedBy(
  step: StepDoc,
  evidence: Evidence,
  now: number,
  policy: RecoveryPolicy,
): RecoveryRecord | null {
  if (step.required_approvals === 0 || step.evidence.ref !== evidence.ref) return null;
  if (step.reaffirmed?.event_id === evidence.event_id || !isRelied(step)) return null;
  return OUT.includes(step.phase)
    ? factNoted(step, evidence, now)
    : factChanged(step, [evidence.ref ?? ''], evidence, now, policy);
}

/** No attempt has counted yet since people agreed; one that is out may turn out to count for none. */
function isRelied({ phase, attempt, attempts_before: before }: StepDoc): boolean {
  if (phase === 'dispatched') return attempt === before + 1;
  return attempt === before && (phase === 'uncertain' || RELYING.includes(phase));
}

/** What was noted while an attempt was out that counted for none: whoever agreed is asked again before anything is sent; null where nothing was. */
export function askedAnew(step: StepDoc, now: number, policy: RecoveryPolicy): RecoveryRecord | null {
  const { reaffirmed, reaffirmed_in: noted, attempt, attempts_before: before } = step;
  if (reaffirmed === null || noted !== attempt || attempt !== before) return null;
  return factChanged(step, [reaffirmed.ref ?? ''], reaffirmed, now, policy);
}

/** Digest of an action with the facts it is agreed to on. */
function digestWith(action: Buffer, changed: readonly string[], at: number): Buffer {
  return createHash('sha256')
    .update('recourse/facts\0')
    .update(action)
    .update(canonicalJson([...changed, String(at)]))
    .digest();
}

/** As for an approval: a closing window comes first. */
function deadlineOf(step: StepDoc, now: number, policy: RecoveryPolicy): number {
  const patience = now + policy.reviewDeadlineMs;
  const { terms } = step;
  const ref = refInForce(step, policy);
  const endsAt = ref.reversal_expires_at;
  return endsAt === null || terms === null
    ? patience
    : Math.max(now, Math.min(patience, dispatchableUntil(endsAt, callsMs(ref, terms), policy.marginMs)));
}

/** JSON of an observation; undefined when it is sealed or broken: what cannot be compared has changed. */
function readable({ observed }: Observation): Json | undefined {
  try {
    return readPayload(observed);
  } catch {
    return undefined;
  }
}
