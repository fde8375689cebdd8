// What falls: everything that says a commit should not stand comes here, and leaves as records of the same decision.
//
//   contradiction, command, undo, held trigger let go  ──  admitted?  ──  marked, or remembered until it can be
//                                                          held, redundant
//
// Boundary: rows read, the decisions of rules/admission, rules/rollback and rules/mutation asked; holds no rule. Rows of a limit
// are read and written only where the limit is set: what counts is said by the records, so the fold knows no configuration (L2).
//
// Invariants
//   F1. Admission and mark are one decision: nothing of it can be lost between two.
//   F2. Many triggers of one decision end as if each had been decided after the other (D3, D4, E20).
//   F3. What the same decision records anew is not marked from the row of before: it is remembered, and marked from the next.
import { append, NOTHING } from '@recourse/event-log';
import type { DecideContext, Decision, RowAddress, StateView } from '@recourse/event-log';
import { isAmong } from '@recourse/kernel';
import { admission } from '../rules/admission/admission.decisions.js';
import { boundOf, hasPassed, outOfBand } from '../rules/rollback/bound.decider.js';
import {
  admitted,
  admittedBefore,
  escalateRollback,
  held,
  holdsAgain,
  isHeard,
  isRemembered,
  redundant,
  triggerOfContradiction,
  triggerOfStanding,
} from '../rules/rollback/rollback.decider.js';
import type { Admitted, RollbackDoc, Trigger } from '../rules/rollback/rollback.messages.js';
import { record } from '../rules/record.messages.js';
import type { Contradiction, Finding, MutationRecord } from '../rules/record.messages.js';
import { Draft, breakerFact, seenOf } from './limits.part.js';
import { heldKey, readHelds } from '../rows/limit.rows.js';
import { storedMutationIn } from '../rows/mutation.rows.js';
import { marks } from './marks.part.js';
import type { MarkPolicy, Room } from './marks.part.js';
import { bytesOf, bytesOfMember, bytesOfTold, MARKS_BYTES_MAX } from './weights.js';
import { canBeMarked, rollbackIn } from '../rows/rollback.rows.js';
import { judgeRefs } from '../rules/mutation/refs.decider.js';

/** What deciding about falls needs beside the state. */
export interface FallPolicy extends MarkPolicy {
  /** How far back a rollback reaches among what was derived from its commit, milliseconds; null sets no bound (E13). */
  readonly boundMs: number | null;
}

/** What became of a trigger; `admitted` where it is still to be marked. */
export interface Decided {
  readonly outcome: 'opened' | 'held' | 'redundant';
  readonly records: readonly MutationRecord[];
  readonly admitted: Admitted | null;
  readonly cause: string | null;
}

/** Findings as records: what should not stand is admitted and falls, or is held, in the place where it was found. */
export function fall(
  context: DecideContext,
  findings: readonly Finding[],
  policy: FallPolicy,
  bytesMax = MARKS_BYTES_MAX,
): readonly MutationRecord[] {
  const last = findings.findLastIndex(isContradiction);
  const others = findings.filter((one) => !isContradiction(one));
  const before = findings.slice(0, last + 1).filter((one) => !isContradiction(one)).length;
  const draft = new Draft(context.state, context.now);
  const listed = (records: readonly MutationRecord[]): readonly MutationRecord[] =>
    records.flatMap((one) => withReview(draft, one, context.now, policy));
  if (last === -1) return listed(others);
  const triggers = findings.filter(isContradiction).map(triggerOfContradiction);
  const anew = new Set(
    others.flatMap(({ body }) =>
      'mutation_id' in body ? [body.mutation_id] : 'commit_id' in body ? [body.commit_id] : [],
    ),
  );
  return [
    ...listed(others.slice(0, before)),
    ...decideAll(context, draft, { triggers, anew, bytesMax }, policy),
    ...listed(others.slice(before)),
  ];
}

function isContradiction(one: Finding): one is Contradiction {
  return one.type === 'Contradiction';
}

/** A commit beyond the bound, or that nobody could judge, is a person's, unless its rollback stands by now. The fall goes on behind it once. */
function withReview(draft: Draft, one: MutationRecord, now: number, policy: FallPolicy): readonly MutationRecord[] {
  if (one.type !== 'CommitBeyondBound' && one.type !== 'RollbackOutOfBand') return [one];
  const standing = rollbackIn(draft, one.body);
  const said = one.type === 'CommitBeyondBound' ? [passing(standing, one)] : [];
  const item = outOfBand(standing, one.body, now, policy);
  const told = item === null ? said : [...said, item];
  draft.take(told);
  return told;
}

/** The fall of a root goes on behind a commit; where it has before, it changes nothing. */
function passing(standing: RollbackDoc | undefined, one: MutationRecord<'CommitBeyondBound'>): MutationRecord {
  const { tenant, run_id, mutation_id, evidence } = one.body;
  return hasPassed(standing, evidence) ? redundant({ tenant, run_id, mutation_id, evidence, command_id: null }) : one;
}

function decideAll(
  context: DecideContext,
  draft: Draft,
  { triggers, ...room }: Room & { readonly triggers: readonly Trigger[] },
  policy: FallPolicy,
): readonly MutationRecord[] {
  const within = { ...context, state: draft };
  const members: Admitted[] = [];
  const others: MutationRecord[] = [];
  for (const trigger of triggers) {
    const decided = decideTrigger(within, trigger, policy);
    if (decided.admitted !== null) {
      members.push(decided.admitted);
      draft.admit(decided.admitted);
    }
    draft.take(decided.records);
    others.push(...decided.records);
  }
  // What was held before it was admitted after all is held before it is marked.
  const falling = new Set(members.map(({ mutation_id }) => mutation_id));
  const [before, after] = partition(
    others,
    ({ type, body }) => type === 'TriggerHeld' && falling.has(body.mutation_id),
  );
  return [...before, ...marks(context, members, room, policy), ...after];
}

/** Those of which something is so, and the others, each in their order. */
function partition<T>(all: readonly T[], isSo: (one: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [all.filter(isSo), all.filter((one) => !isSo(one))];
}

/** One trigger, and the mark it leads to. */
export function decideOne(context: DecideContext, trigger: Trigger, policy: FallPolicy, isAgain = false): Decided {
  const decided = decideTrigger(context, trigger, policy, isAgain);
  if (decided.admitted === null) return decided;
  return { ...decided, records: fallOf(context, decided.admitted, policy) };
}

/** What follows from one admitted trigger. */
export function fallOf(context: DecideContext, member: Admitted, policy: FallPolicy): readonly MutationRecord[] {
  return marks(context, [member], { anew: NOTHING_ANEW, bytesMax: MARKS_BYTES_MAX }, policy);
}

const NOTHING_ANEW: ReadonlySet<string> = new Set();

/** Admits a trigger, holds it, or records that it changes nothing. `isAgain`: it was held, and what held it changed. */
function decideTrigger(context: DecideContext, trigger: Trigger, policy: FallPolicy, isAgain = false): Decided {
  const { now } = context;
  const { admission: limits } = policy;
  const standing = rollbackIn(context.state, trigger);
  if (!isAgain && isHeard(standing, trigger.evidence))
    return { outcome: 'redundant', records: [redundant(trigger)], admitted: null, cause: null };
  const { tenant, evidence, command_id } = trigger;
  const verdict = admission(
    { tenant, evidence, isCommand: command_id !== null, isAgain, isOwn: isOwnWord(context, trigger) },
    seenOf(context, trigger, limits),
    limits,
    now,
  );
  if (verdict.kind === 'admit') {
    const through = {
      confirmedBy: null,
      stormWindowMs: verdict.isCounted ? (limits.storm?.windowMs ?? 0) : 0,
      isHit: verdict.isHit,
      boundAt: boundOf(policy, now),
    };
    return { outcome: 'opened', records: [], admitted: admitted(trigger, through, now), cause: null };
  }
  const opening = verdict.opens === null ? [] : [breakerFact(verdict.opens, trigger.run_id, now, policy)];
  const isListed = standing?.phase === 'held' && !isAgain;
  return {
    outcome: isListed ? 'redundant' : 'held',
    records: [...opening, isListed ? redundant(trigger) : held(trigger, verdict, now, policy)],
    admitted: null,
    cause: verdict.cause,
  };
}

/** Says a program by a command that what it did itself should not stand? */
function isOwnWord({ state }: DecideContext, { tenant, run_id, mutation_id, evidence }: Trigger): boolean {
  if (evidence.kind !== 'critic' || evidence.partition !== -1) return false;
  const made = storedMutationIn(state, run_id, mutation_id);
  return made?.tenant === tenant && isAmong([made.execution.agent_id], { principal: evidence.source, accounts: [] });
}

/** A held trigger, after what held it changed: admitted, or held for something else. */
export function onHeldDue(context: DecideContext, { group: cause, key }: Place, policy: FallPolicy): Decision {
  const waiting = readHelds(context.state, cause).find((one) => heldKey(one) === key);
  const standing = waiting === undefined ? undefined : rollbackIn(context.state, waiting);
  if (waiting === undefined || standing?.phase !== 'held') return NOTHING;
  const trigger = triggerOfStanding(standing);
  const { records, cause: stays } = standsStill(context, trigger)
    ? decideOne(context, trigger, policy, true)
    : leftToPerson(context, trigger, standing, policy);
  const { tenant, run_id, has_more } = waiting;
  return has_more && stays !== cause
    ? append(...records, record('HeldReviewed', { cause, tenant, run_id, lifts_closure: false }))
    : append(...records);
}

/** What is said to hold again is let go by a person alone, whatever held it before. */
function leftToPerson(
  context: DecideContext,
  trigger: Trigger,
  { held: before }: RollbackDoc,
  policy: FallPolicy,
): Pick<Decided, 'records' | 'cause'> {
  const holding = holdsAgain(trigger, standingOf(context, trigger) === 'other');
  const isKnown = before?.cause === holding.cause;
  return { records: isKnown ? [] : [held(trigger, holding, context.now, policy)], cause: holding.cause };
}

/** What stands of the ref of a trigger: its source's word, another's, or none. Of several that say so the newest is known. */
function standingOf({ views }: DecideContext, { tenant, run_id, evidence }: Trigger): 'own' | 'other' | 'none' {
  if (evidence.ref === null || evidence.partition === -1 || evidence.kind === 'lineage') return 'own';
  const [found] = judgeRefs(tenant, run_id, [evidence.ref], views.view('assumptions'));
  if (found?.evidence === null || found === undefined) return 'none';
  return found.evidence.source === evidence.source ? 'own' : 'other';
}

/** Does what a trigger says stand still? What was taken back, or is another's word by now, rolls nothing back unasked. */
export function standsStill(context: DecideContext, trigger: Trigger): boolean {
  return standingOf(context, trigger) === 'own';
}

/** The time of a rollback has come: its commit can be marked, or a person is asked. */
export function onRollbackDue(context: DecideContext, { group, key }: Place, policy: FallPolicy): Decision {
  const standing = context.state.get('rollback', group, key) as RollbackDoc | undefined; // rows of this kind are rollbacks
  if (standing === undefined) return NOTHING;
  if (isRemembered(standing) && canBeMarked(context.state, standing)) {
    const whole = { anew: NOTHING_ANEW, bytesMax: Infinity };
    return append(...marks(context, rememberedWith(context.state, standing).map(admittedBefore), whole, policy));
  }
  const escalated = escalateRollback(standing, context.now, policy);
  return escalated === null ? NOTHING : append(escalated);
}

/** Most that was remembered of a run and is marked in one decision. */
const REMEMBERED_MAX = 100;

/** What was remembered of a run and can be marked, the last executed first, as far as a decision holds it: what comes first is not overtaken. */
function rememberedWith(state: StateView, { run_id, tenant }: RollbackDoc): readonly RollbackDoc[] {
  const rows = state.all('rollback', run_id) as readonly RollbackDoc[]; // rows of this kind are rollbacks
  const waiting = rows
    .filter((one) => one.tenant === tenant && isRemembered(one) && canBeMarked(state, one))
    .map((one) => ({ one, mutation: storedMutationIn(state, run_id, one.mutation_id) }))
    .sort((a, b) => (b.mutation?.recorded_seq ?? 0) - (a.mutation?.recorded_seq ?? 0));
  let left = MARKS_BYTES_MAX;
  return waiting.slice(0, REMEMBERED_MAX).flatMap(({ one, mutation }, at) => {
    const told = bytesOfTold(one.evidence);
    left -= told + (mutation === undefined ? 0 : bytesOfMember(mutation) + bytesOf(mutation.terms));
    return at === 0 || left > 0 ? [one] : [];
  });
}

type Place = Pick<RowAddress, 'group' | 'key'>;
