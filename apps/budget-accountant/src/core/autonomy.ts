// What agents have earned, as a part of the accountant's core: signals from the wire, what logs show, words of people.
//
// Boundary: looks up policies, contracts and rows, and asks the rules; holds none.
//
// Invariants
//   A1. Reversibility is read from the registry's contracts, whatever anybody says (D35).
//   A2. What logs show counts for agents whom somebody watches: who has a standing at the task, or a policy about it.
//   A3. An agent is one agent however its name is spelt: what is said of it under any spelling counts where it stands.
import { autonomiesFor, autonomyOf, contractByName, contractView, entryView, ownersEver } from '@recourse/contract';
import type { StandingAutonomy } from '@recourse/contract';
import { accepted, append, NOTHING, refused } from '@recourse/event-log';
import type { Asked, DecideContext, Decision, Owns, TimerInput } from '@recourse/event-log';
import { isAmong } from '@recourse/kernel';
import type { AgentSignalled, BodyOf, CommandEnvelope, RecordOf } from '@recourse/messages';
import { AUTONOMY_REJECTIONS, WHOLE_PPM } from '../rules/autonomy/autonomy.messages.js';
import type { Autonomy, Key } from '../rules/autonomy/autonomy.messages.js';
import { decideFreeze, decideUnfreeze } from '../rules/autonomy/freeze.decider.js';
import type { FreezeAnswer, FreezeFacts } from '../rules/autonomy/freeze.decider.js';
import { allowanceOf } from '../rules/autonomy/grant.decisions.js';
import type { Allowance } from '../rules/autonomy/grant.decisions.js';
import { changed, happeningOf, signalProblem } from '../rules/autonomy/signal.decider.js';
import type { Change } from '../rules/autonomy/signal.decider.js';
import type { TaskFacts } from '../rules/autonomy/standing.decisions.js';
import { autonomies, standingsAt, toldIdOf } from '../rows/autonomy.rows.js';
import { hashOfSaid, misplacedTelling, refusedTelling, toldBefore } from './tellings.js';

/** By class (D35), in millionths; nothing declared counts as irreversible. */
const REVERSIBILITY_PPM = { reversible: WHOLE_PPM, compensable: WHOLE_PPM / 2, irreversible: 0 } as const;

/** Somebody says how an agent did. */
export function onSignalled({ body, input, context }: Asked<AgentSignalled>): Decision {
  const misplaced = misplacedTelling(input, body, body.signal);
  if (misplaced !== null) return misplaced;
  const { tenant, agent_id, task_kind, source, event_id, run_id, reason, signal } = body;
  const hash = hashOfSaid(body);
  const before = toldBefore(context.state, body, hash);
  if (before === 'same') return NOTHING;
  const task = taskOf(context, { tenant, task_kind });
  const facts = standingsAt(context.state, tenant, agent_id, task_kind).map((at) => ({
    ...at,
    task,
    now: context.now,
  }));
  const [problem] = facts.map((at) => signalProblem(body, at)).filter((code) => code !== null);
  const refusal = before === 'other' ? 'SIGNAL_CONFLICT' : problem;
  if (refusal !== undefined) return append(refusedTelling({ ...body, signal }, hash, refusal));
  const happening = happeningOf(body, toldIdOf(tenant, source, event_id));
  const told = { source, event_id, content_hash: hash, run_id, reason };
  const said = happening.kind === 'said' ? { ...told, signal } : told;
  return also(
    NOTHING,
    facts.map(({ key, ...at }) => changed(key, happening, at, said)),
  );
}

/** What has held an agent is over, or what it did is long ago. */
export function onAutonomyDue(context: DecideContext, { address }: TimerInput): Decision {
  return also(NOTHING, judgedAgain(context, address.key));
}

/** A standing judged anew though nothing happened. */
export function judgedAgain(context: DecideContext, autonomyId: string): readonly Change[] {
  const standing = autonomies.find(context.state, autonomyId);
  if (standing === null) return [];
  return [changed(standing, { kind: 'elapsed' }, { standing, task: taskOf(context, standing), now: context.now })];
}

/** Does a person say of a trigger of ours that it was wrong? */
export function isJudgedFalse(record: RecordOf<'recourse.mutations'>, owns: Owns): boolean {
  return (
    record.type === 'SourceJudged' && !record.body.confirmed && record.body.tenant !== '' && owns(record.body.tenant)
  );
}

/** A person stops an agent from rising. */
export function onFreeze({ body, context }: Asked<BodyOf<'recourse.budget-commands', 'FreezeAutonomy'>>) {
  return answered(decideFreeze(body, freezeFacts(context, body)));
}

/** A person lets it rise again. */
export function onUnfreeze({ body, context }: Asked<BodyOf<'recourse.budget-commands', 'UnfreezeAutonomy'>>) {
  return answered(decideUnfreeze(body, freezeFacts(context, body)));
}

/** What an agent may do with a capability; who calls itself another has earned nothing. */
export function allowanceFor(
  context: DecideContext,
  asker: CommandEnvelope,
  { agent_id, capability }: { readonly agent_id: string | null; readonly capability: string },
): Allowance {
  const { tenant, principal } = asker;
  const agent = agent_id ?? principal;
  return earnedBy(context, { tenant, agent, capability }, isAmong([agent], asker));
}

/** What an agent may do with a capability; `isSelf`: somebody who knows says that it is this agent. */
export function earnedBy(
  context: DecideContext,
  { tenant, agent, capability }: { readonly tenant: string; readonly agent: string; readonly capability: string },
  isSelf: boolean,
): Allowance {
  const [first, ...others] = tasksOf(context, tenant, capability).flatMap(({ taskKind, task }) => {
    const standings = isSelf ? standingsAt(context.state, tenant, agent, taskKind) : [{ standing: null }];
    return standings.map(({ standing }) => ({ taskKind, task, standing }));
  });
  // A capability is part of one kind of task at least: its own.
  return allowanceOf([first ?? ownKind(context, tenant, capability), ...others], context.now);
}

function ownKind(context: DecideContext, tenant: string, taskKind: string): Parameters<typeof allowanceOf>[0][0] {
  return { taskKind, standing: null, task: taskOf(context, { tenant, task_kind: taskKind }) };
}

export function taskOf(context: DecideContext, { tenant, task_kind }: Pick<Key, 'tenant' | 'task_kind'>): TaskFacts {
  return factsOf(context, tenant, autonomyOf(context.views.view(entryView.name), tenant, task_kind));
}

/** The least reversible of its capabilities says how reversible a kind of task is. */
function factsOf({ views }: DecideContext, tenant: string, { policy, version }: StandingAutonomy): TaskFacts {
  const [least] = policy.capabilities
    .map((capability) => contractByName(views.view(contractView.name), tenant, capability))
    .map((found) => ({
      value_ppm: found === undefined ? 0 : REVERSIBILITY_PPM[found.contract.reversal_class ?? 'irreversible'],
      source: found === undefined ? null : `contract:${found.digest.toString('hex')}`,
    }))
    .sort((one, other) => one.value_ppm - other.value_ppm);
  return { policy, version, reversibility: least ?? { value_ppm: 0, source: null } };
}

/** A kind of task at which somebody watches an agent. */
export interface Watched {
  readonly key: Key;
  readonly standing: Autonomy | null;
  readonly task: TaskFacts;
}

/** A kind of task that a capability is part of, with what the registry says of it. */
interface Task {
  readonly taskKind: string;
  readonly task: TaskFacts;
}

/** The kinds of task of a capability; who asks about many agents asks for them once, since policies are read from their text. */
export function tasksOf(context: DecideContext, tenant: string, capability: string): readonly Task[] {
  return autonomiesFor(context.views.view(entryView.name), tenant, capability).map((each) => ({
    taskKind: each.taskKind,
    task: factsOf(context, tenant, each),
  }));
}

/** Those of them at which somebody watches the agent (A2). */
export function watchedAt(
  tasks: readonly Task[],
  { state }: DecideContext,
  tenant: string,
  agent: string,
): readonly Watched[] {
  return tasks
    .flatMap(({ taskKind, task }) => standingsAt(state, tenant, agent, taskKind).map((at) => ({ ...at, task })))
    .filter(({ standing, task }) => standing !== null || task.version !== null);
}

/** The kinds of task of a capability at which somebody watches the agent. */
export function watched(
  context: DecideContext,
  { tenant, agent, capability }: { readonly tenant: string; readonly agent: string; readonly capability: string },
): readonly Watched[] {
  return watchedAt(tasksOf(context, tenant, capability), context, tenant, agent);
}

function freezeFacts(
  context: DecideContext,
  { envelope, autonomy_id }: { readonly envelope: CommandEnvelope; readonly autonomy_id: string },
): FreezeFacts {
  const standing = isId(autonomy_id) ? autonomies.find(context.state, autonomy_id) : null;
  const { tenant } = envelope;
  const agent = standing?.agent_id ?? '';
  return {
    standing,
    task: taskOf(context, { tenant, task_kind: standing?.task_kind ?? '' }),
    now: context.now,
    owners: ownersEver(context.views.view(entryView.name), tenant, agent),
  };
}

function answered(answer: FreezeAnswer) {
  if (answer.kind === 'rejected') return refused(AUTONOMY_REJECTIONS[answer.code], answer.code, answer.message);
  const { autonomy_id, agent_id, task_kind, standing } = answer.change;
  const { rung, capped_by, frozen_by } = standing;
  return accepted(
    200,
    { autonomy_id, agent_id, task_kind, rung, capped_by, frozen_by },
    {
      type: 'AutonomyChanged',
      body: answer.change,
    },
  );
}

/** The decision with changes of standings in it. */
export function also(decision: Decision, changes: readonly Change[]): Decision {
  if (changes.length === 0) return decision;
  return { ...decision, records: [...decision.records, ...changes.map((body) => ({ type: 'AutonomyChanged', body }))] };
}

/** Anything else is no id of ours, and may be no address at all. */
function isId(id: string): boolean {
  return /^aut_[0-9a-f]{32}$/u.test(id);
}
