// Commands about what should not stand: roll back, undo, judge a trigger, review beyond the bound, close a breaker.
//
// Boundary: reads rows, asks the rules, answers. Key and role are checked by the table of core.ts.
import { answerableFor, entryView } from '@recourse/contract';
import { accepted, countParkedOf } from '@recourse/event-log';
import type { DecideContext } from '@recourse/event-log';
import { recoveryIdOf, rollbackIdOf } from '@recourse/messages';
import { isRunId, isUsableId } from '@recourse/kernel';
import type {
  CloseBreaker,
  ConfirmTrigger,
  RejectTrigger,
  ReviewOutOfBand,
  TriggerRollback,
  UndoRun,
} from '@recourse/messages';
import { sourceIdOf, weightOf } from '../rules/admission/admission.decisions.js';
import type { AdmissionLimits } from '../rules/admission/admission.messages.js';
import {
  isClosedBy,
  judgedFact,
  judgingRefusal,
  movedWeight,
  NOTHING_TAKEN_BACK,
  rejectedFact,
} from '../rules/admission/judging.decisions.js';
import type { Judging, TakenBack, Verdict } from '../rules/admission/judging.decisions.js';
import { record } from '../rules/record.messages.js';
import type { MutationRecord } from '../rules/record.messages.js';
import type { Refusal } from '../rules/refusal.messages.js';
import { boundOf, reopened, reviewedFact, reviewRefusal } from '../rules/rollback/bound.decider.js';
import {
  admitted,
  othersOf,
  triggerOfCommand,
  triggerOfStanding,
  triggerRefusal,
} from '../rules/rollback/rollback.decider.js';
import { isRecorded } from '../rules/mutation/mutation.messages.js';
import type { RollbackDoc } from '../rules/rollback/rollback.messages.js';
import { undoIdOf, undoOf, undoPart, undoRefusal } from '../rules/undo/undo.decider.js';
import type { Undo } from '../rules/undo/undo.messages.js';
import { concernedBy, endingRefusal } from './ending.part.js';
import { refuse } from './refuse.js';
import { decideOne, fall, fallOf, standsStill } from './falls.part.js';
import type { FallPolicy } from './falls.part.js';
import { close, Draft, sourceSeen } from './limits.part.js';
import { asManyAsFit } from './weights.js';
import { compensationIn, mutationIn, mutationsIn } from '../rows/mutation.rows.js';
import { rollbackIn } from '../rows/rollback.rows.js';

/** What the commands need to be told. */
export interface CommandPolicy extends FallPolicy {
  /** Most effects of one decision. */
  readonly effectsMax: number;
}

// What a command is answered with is told by what its function returns.

/** Somebody says that a commit should not stand. */
export function onTrigger(context: DecideContext, command: TriggerRollback, policy: CommandPolicy) {
  const { run_id, mutation_id, envelope } = command;
  const refusal = triggerRefusal(command) ?? compensationRefusal(context, run_id, [mutation_id]);
  if (refusal !== null) return refuse(refusal);
  const { records, outcome } = decideOne(context, triggerOfCommand(command), policy);
  const body = {
    rollback_id: rollbackIdOf(envelope.tenant, mutation_id),
    recovery_id: recoveryIdOf(envelope.tenant, run_id),
    run_id,
    mutation_id,
    redundant: outcome === 'redundant',
    held: outcome === 'held',
  };
  return accepted(outcome === 'redundant' ? 200 : outcome === 'held' ? 202 : 201, body, ...records);
}

/** Somebody asks for a run, or some of its effects, to be undone. */
export function onUndo(context: DecideContext, command: UndoRun, policy: CommandPolicy) {
  const refusal = undoRefusal(command) ?? compensationRefusal(context, command.run_id, command.mutation_ids);
  if (refusal !== null) return refuse(refusal);
  const {
    run_id,
    envelope: { tenant, command_id },
  } = command;
  return accepted(
    201,
    {
      undo_id: undoIdOf(command_id),
      recovery_id: recoveryIdOf(tenant, run_id),
      run_id,
      phase: 'opened',
      // What they tell of is not known here, and not undone by this.
      parked: countParkedOf(context.state, run_id, tenant),
    },
    ...undoing(context, undoOf(command), policy),
  );
}

/** The next part of an undo: each of its effects may be told of by itself, with why. */
export function undoing(context: DecideContext, undo: Undo, policy: CommandPolicy): readonly MutationRecord[] {
  const mutations = mutationsIn(context.state, undo.run_id);
  return asManyAsFit(policy.effectsMax, (count) => fall(context, undoPart(undo, mutations, count), policy));
}

/** What undid something stands: an undo of undos would go round in circles. */
function compensationRefusal({ state }: DecideContext, runId: string, ids: readonly string[]): Refusal | null {
  const named = ids.find((id) => compensationIn(state, runId, id) !== undefined);
  return named === undefined
    ? null
    : {
        code: 'COMPENSATION_STANDS',
        message: `${named} is a compensation: nothing undoes it. What it took back is made again by a new action.`,
      };
}

/** Who stands behind the source of a trigger: its owners, the tenant's and the platform's, and the owner of an agent that said so. */
function ownersOf(context: DecideContext, standing: RollbackDoc | undefined): readonly (string | null)[] {
  if (standing === undefined) return [];
  const { tenant, evidence } = standing;
  const owners = answerableFor(context.views.view(entryView.name), tenant, evidence.source);
  return [...owners, ...concernedBy(context, tenant, [evidence.source])];
}

/** A person judges a trigger. */
export function judgeAs(verdict: Verdict) {
  return (context: DecideContext, command: ConfirmTrigger | RejectTrigger, policy: CommandPolicy) => {
    const { rollback_id, run_id, mutation_id, envelope } = command;
    if (![envelope.tenant, mutation_id].every(isUsableId))
      return refuse(invalid('Tenant and mutation must be 1 to 200 bytes without NUL.'));
    const standing = rollbackIn(context.state, { tenant: envelope.tenant, run_id, mutation_id });
    const refusal =
      judgingRefusal(standing, { command, verdict }, ownersOf(context, standing)) ??
      endingRefusal(context, { tenant: envelope.tenant, run_id, mutation_id }, envelope);
    if (refusal !== null || standing === undefined) return refuse(refusal ?? ROLLBACK_UNKNOWN);
    const { records, phase } = judged(context, standing, { command, verdict }, policy);
    return accepted(200, { rollback_id, run_id, phase, verdict }, ...records);
  };
}

/** What is recorded, and where the rollback stands then. */
interface Judged {
  readonly records: readonly MutationRecord[];
  readonly phase: RollbackDoc['phase'];
}

/** The effect that is taken back for a trigger, where it was let through. */
function takenBackFor({ state }: DecideContext, { tenant, phase, run_id, mutation_id }: RollbackDoc): TakenBack {
  const isWaiting = phase === 'held' || phase === 'escalated';
  const mutation = isWaiting ? undefined : mutationIn(state, run_id, mutation_id);
  if (mutation?.tenant !== tenant || !isRecorded(mutation)) return NOTHING_TAKEN_BACK;
  return { agent_id: mutation.execution.agent_id, capability: mutation.ref.capability };
}

/** What follows from a person's word: the weight of the source moves, once; a held trigger is let go or closed, and one whose commit did not come is closed. */
function judged(
  context: DecideContext,
  standing: RollbackDoc,
  { command, verdict }: Judging,
  policy: CommandPolicy,
): Judged {
  const { now } = context;
  const weight = weightOf(sourceSeen(context, standing.tenant, standing.evidence.source));
  const said = judgedFact(standing, command, { verdict, weight, takenBack: takenBackFor(context, standing) });
  if (isClosedBy(standing, verdict)) {
    const told = [rejectedFact(standing, command), ...(standing.judged === null ? [said] : [])];
    return rejected(context, standing, told, policy);
  }
  const released = releasing(standing, weight, movedWeight(weight, verdict), policy.admission);
  if (standing.phase !== 'held') return { records: [said, ...released], phase: standing.phase };
  const through = {
    confirmedBy: command.envelope.principal,
    stormWindowMs: 0,
    isHit: false,
    boundAt: boundOf(policy, now),
  };
  const fallen = fallOf(context, admitted(triggerOfStanding(standing), through, now), policy);
  return { records: [...fallen, said, ...released], phase: 'opened' };
}

/** A person said no to one word: what else was said meanwhile is judged by itself, else what it hid comes back. */
function rejected(
  context: DecideContext,
  standing: RollbackDoc,
  told: readonly MutationRecord[],
  policy: CommandPolicy,
): Judged {
  const draft = new Draft(context.state, context.now);
  draft.take(told);
  const within = { ...context, state: draft };
  const other = othersOf(standing).find((one) => standsStill(context, one));
  if (other !== undefined) {
    const { records, outcome } = decideOne(within, other, policy);
    return { records: [...told, ...records], phase: outcome === 'held' ? 'held' : 'opened' };
  }
  const asked = reopened(standing, context.now, policy);
  return { records: [...told, ...asked], phase: asked.length === 0 ? 'rejected' : 'beyond' };
}

/** Others that go with it: all of its event, and all of a source that is trusted from now on. */
function releasing(
  { held: holding, tenant, run_id, evidence }: RollbackDoc,
  before: number,
  after: number,
  { trustThresholdPermille: threshold }: AdmissionLimits,
): readonly MutationRecord[] {
  if (holding?.reason === 'CLOSURE_LIMIT')
    return [record('HeldReviewed', { cause: holding.cause, tenant, run_id, lifts_closure: true })];
  const isTrustedNow = threshold !== null && before < threshold && after >= threshold;
  return isTrustedNow
    ? [record('HeldReviewed', { cause: sourceIdOf(tenant, evidence.source), tenant, run_id, lifts_closure: false })]
    : [];
}

/** A person looked at a commit beyond its bound: that it should not stand is a trigger of its own. */
export function onReviewed(context: DecideContext, command: ReviewOutOfBand, policy: CommandPolicy) {
  const { envelope, run_id, mutation_id, verdict } = command;
  const { tenant } = envelope;
  if (!isRunId(run_id) || ![tenant, mutation_id].every(isUsableId))
    return refuse(invalid('Tenant and mutation must be 1 to 200 bytes without NUL, a run up to 512.'));
  const standing = rollbackIn(context.state, { tenant, run_id, mutation_id });
  const refusal = reviewRefusal(standing, command) ?? endingRefusal(context, { tenant, run_id, mutation_id }, envelope);
  if (refusal !== null || standing === undefined) return refuse(refusal ?? ROLLBACK_UNKNOWN);
  const reviewed = reviewedFact(standing, command);
  const isLeft = verdict === 'stands';
  const phase: RollbackDoc['phase'] = isLeft ? 'reviewed' : 'opened';
  const fallen = isLeft ? [] : decideOne(context, triggerOfCommand(command), policy).records;
  return accepted(200, { rollback_id: rollbackIdOf(tenant, mutation_id), run_id, phase, verdict }, reviewed, ...fallen);
}

/** A person closes a breaker. */
export function onCloseBreaker(context: DecideContext, command: CloseBreaker) {
  const closed = close(context, command);
  return 'code' in closed ? refuse(closed) : accepted(200, { breaker_id: command.breaker_id, phase: 'closed' }, closed);
}

const ROLLBACK_UNKNOWN: Refusal = {
  code: 'ROLLBACK_UNKNOWN',
  message: 'There is no such rollback.',
};

function invalid(message: string): Refusal {
  return { code: 'COMMAND_INVALID', message };
}
