// What looks make of the row of a step: a person's look at the outcome, and looks at the facts people rely on (L2).
import { ownerOfLeg } from '../policy.messages.js';
import type { Body } from '../record.messages.js';
import { withOutcome } from './answer.transitions.js';
import { FACT_ROUNDS_MAX, seenResource } from './facts.decisions.js';
import { moveStep } from './step-move.transitions.js';
import type { LastOutcome } from './last-outcome.messages.js';
import type { LookDoc, StepDoc } from './step.messages.js';
import { wordsIn } from './worker-words.decisions.js';

export function lookSentBy(body: Body<'LookDispatched'>, step: StepDoc, at: number): StepDoc {
  const { leg_id, adapter, purpose, lease_id, not_after, answer_by, call, terms, ref } = body;
  const { evidence, by, reason, command_id, owner, deadline_at, not_by, acted_leg_id, acted: observations } = body;
  const acted = acted_leg_id === null ? {} : { acted: { leg_id: acted_leg_id, observations } };
  const said = { evidence, by, reason, command_id, not_by };
  const asked = { leg_id, adapter, purpose, lease_id, not_after, answer_by, call, terms, ref, ...said };
  const looking = moveStep(
    {
      ...(not_by === null ? withoutNews(step) : step),
      look: { ...asked, ...acted, ...roundAfter(step.look) },
      owner,
      deadline_at,
    },
    'LookSent',
    at,
  );
  return { ...looking, due_at: deadline_at };
}

/** A look that begins hears its own news; one in which another worker is to see the same goes on with what was told before. */
function withoutNews({ told_meanwhile: _before, ...step }: StepDoc): StepDoc {
  return step;
}

/** One that is asked while another is out takes its place. */
function roundAfter(missed: LookDoc | null): Pick<LookDoc, 'round'> {
  return missed === null ? {} : { round: (missed.round ?? 1) + 1 };
}

const SAW_NOTHING: readonly string[] = ['NO_ANSWER', 'SUCCESS_NOT_OBSERVED'];

/** It is a person's, with what was seen, unless that is as it should be. */
export function lookEndedBy(
  { verdict, reason, observations, error_kind, said, owner, deadline_at }: Body<'LookAnswered'>,
  step: StepDoc,
  at: number,
): StepDoc {
  const words = wordsIn({ error_kind, said });
  const outcome = verdict === 'met' ? 'compensated' : verdict === 'not_met' ? 'unverified' : 'uncertain';
  const seen: LastOutcome = { attempt: step.attempt, reported: null, outcome, reason, observations, at, ...words };
  // A look that saw nothing takes nothing away from what an attempt showed.
  const last =
    step.last !== null && SAW_NOTHING.includes(reason) ? { ...step.last, looked: { reason, at, ...words } } : seen;
  const ended = moveStep({ ...withOutcome(step, last), look: null, owner, deadline_at }, 'LookEnded', at);
  // What was seen to hold is nobody's to decide: the record behind it closes it, or has another look.
  return verdict === 'met' ? { ...ended, was_given: step.was_given } : ended;
}

/** A look for the review moves nothing, and is asked for again where nobody answers; one before the dispatch is waited for. */
export function factsAskedBy(
  { leg_id, purpose, round, lease_id, not_after, answer_by, adapter }: Body<'FactsAsked'>,
  step: StepDoc,
  at: number,
): StepDoc {
  const asked = moveStep(
    {
      ...step,
      facts_asked: step.facts_asked + 1,
      facts_ask: { leg_id, adapter, purpose, round, lease_id, not_after, answer_by },
    },
    'FactsAsked',
    at,
  );
  return purpose === 'review'
    ? { ...asked, due_at: round < FACT_ROUNDS_MAX ? earlier(answer_by, asked.deadline_at) : asked.deadline_at }
    : { ...asked, owner: ownerOfLeg(adapter), deadline_at: answer_by, due_at: answer_by };
}

function earlier(at: number, deadline: number | null): number {
  return deadline === null ? at : Math.min(at, deadline);
}

/** What was seen before the dispatch is compared, not kept: people agreed to what they saw. */
export function factsSeenBy({ purpose, observations }: Body<'FactsObserved'>, step: StepDoc, at: number): StepDoc {
  const seen = seenResource(step, observations);
  const ask = seen === undefined ? step.facts_ask : null;
  const due_at = purpose === 'review' && ask === null ? step.deadline_at : step.due_at;
  return moveStep(
    {
      ...step,
      due_at,
      facts_ask: ask,
      facts: step.facts ?? seen ?? null,
      last_seen: purpose === 'dispatch' ? (seen ?? null) : step.last_seen,
    },
    'FactsSeen',
    at,
  );
}

export function factChangedBy(
  { changed, evidence, action_digest, owner, deadline_at, attempt }: Body<'FactChanged'>,
  { reaffirmed_in: _asked, ...step }: StepDoc,
  at: number,
): StepDoc {
  const told = {
    ...step,
    changed,
    reaffirmed: evidence ?? step.reaffirmed,
    action_digest: action_digest ?? step.action_digest,
  };
  // A record of before has no such member.
  if (typeof attempt === 'number') return moveStep({ ...told, reaffirmed_in: attempt }, 'FactNoted', at);
  if (step.phase === 'manual' || step.phase === 'looking') return moveStep(told, 'FactNoted', at);
  const now = evidence === null ? { facts_before: step.facts, facts: step.last_seen ?? step.facts } : {};
  const asked = moveStep(
    {
      ...told,
      ...now,
      facts_ask: null,
      last_seen: null,
      approvals: [],
      glass: [],
      glass_until: null,
      reason: 'FACT_CHANGED',
      owner,
    },
    'FactChanged',
    at,
  );
  return { ...asked, deadline_at, due_at: deadline_at };
}
