// What is known of effects, as it counts for whoever made them: that they were taken back, broke what binds, or were taken back for
// nothing. All standings at once, or in parts where no batch holds them.
//
// Boundary: looks up who watches, and asks the rules; holds none.
//
// Invariants
//   U1. One record for each standing, however many effects of a leg count there.
//   U2. What fits no batch counts in parts, in the order of the standings' ids; each part says what remains (L4).
//   U3. A standing counts it once: the next part begins behind the last one.
//   U4. What several spellings of one agent did counts where the first of the leg stands (A3): a part would open another standing
//       of each, and the next one find it behind itself.
import { NOTHING } from '@recourse/event-log';
import type { Asked, DecideContext, Decision, TimerInput } from '@recourse/event-log';
import { deriveId, personKey } from '@recourse/kernel';
import type { BodyOf, MovedMutation } from '@recourse/messages';
import type { Key } from '../rules/autonomy/autonomy.messages.js';
import { partOf } from '../rules/autonomy/parts.decisions.js';
import { changed } from '../rules/autonomy/signal.decider.js';
import type { Change } from '../rules/autonomy/signal.decider.js';
import { countedIn, undoneLegs } from '../rows/autonomy.rows.js';
import type { UndoneLeg } from '../rows/autonomy.rows.js';
import { also, judgedAgain, taskOf, tasksOf, watched, watchedAt } from './autonomy.js';
import type { Watched } from './autonomy.js';

/** A standing, and the effects that count there, in the order in which they were taken back. */
interface Counting extends Watched {
  readonly ids: readonly [string, ...string[]];
}

/** What happened together; `after` is null before its first part. */
type Happened = Omit<UndoneLeg, 'due_at' | 'after'> & { readonly after: string | null };

/** A standing, and what becomes of it. */
interface Telling {
  readonly key: Key;
  readonly change: () => Change;
}

/** Effects that were taken back count against whoever made them. */
export function afterUndoing(
  decision: Decision,
  { body: { tenant, run_id, event, members }, context }: Asked<BodyOf<'recourse.mutations', 'RecoverabilityChanged'>>,
): Decision {
  const [first] = members;
  if (event !== 'compensation_verified' || first === undefined) return decision;
  const undoing_id = deriveId('und', tenant, run_id, first.mutation_id);
  return told(decision, { undoing_id, tenant, run_id, members: members.map(counting), after: null }, context);
}

/** An execution that nobody reserved, or asked about, takes its agent a rung, as a violation does. */
export function afterBreach(decision: Decision, effect: BrokenBy | null, context: DecideContext): Decision {
  if (effect === null || !decision.records.some(({ type }) => type === 'BudgetOverrun')) return decision;
  const { tenant, run_id, mutation_id } = effect;
  // An effect may break twice what binds it, and each of them counts.
  const undoing_id = deriveId('und', 'overrun', tenant, run_id, mutation_id, String(context.now));
  const happened = { undoing_id, tenant, run_id, members: [alone(effect)], cause: 'overrun', after: null } as const;
  return told(decision, happened, context);
}

/** An effect that broke what binds its agent. */
export interface BrokenBy {
  readonly tenant: string;
  readonly agent_id: string;
  readonly capability: string;
  readonly run_id: string;
  readonly mutation_id: string;
}

/** A person said that a trigger was wrong: what was taken back for it counts no more, and what is yet to be will not. */
export function onJudged({ body, context }: Asked<BodyOf<'recourse.mutations', 'SourceJudged'>>): Decision {
  const { tenant, run_id, mutation_id, by, reason, capability } = body;
  const undoing_id = deriveId('und', 'false_trigger', tenant, run_id, mutation_id);
  // Where nothing is known of what was done, it is looked for only where it counts.
  const agent_id = capability === null ? null : body.agent_id;
  const members = [alone({ mutation_id, agent_id, capability: capability ?? '' })];
  const said = { cause: 'false_trigger', by, reason } as const;
  return told(NOTHING, { undoing_id, tenant, run_id, members, ...said, after: null }, context);
}

/** What remains of it counts on. */
export function onUndoingDue(context: DecideContext, { address }: TimerInput): Decision {
  const happened = undoneLegs.find(context.state, address.key);
  return happened === null ? NOTHING : told(NOTHING, happened, context);
}

function told(decision: Decision, happened: Happened, context: DecideContext): Decision {
  const { undoing_id, members, after } = happened;
  const all = tellingsOf(happened, context);
  const changesOf = (these: readonly Telling[]): readonly Change[] => these.map(({ change }) => change());
  const part = partOf(all, after);
  if (part === null) return also(decision, changesOf(all));
  // Where nothing remains, since a policy was retired meanwhile, the last standing says so once more.
  const changes = part.these.length > 0 ? changesOf(part.these) : judgedAgain(context, after ?? '');
  const remaining = part.isLast ? [] : members;
  return also(
    decision,
    changes.map((change, at) => (at === changes.length - 1 ? { ...change, undoing_id, remaining } : change)),
  );
}

function tellingsOf(happened: Happened, context: DecideContext): readonly Telling[] {
  if (happened.cause === 'overrun') return brokenOf(happened, context);
  if (happened.cause === 'false_trigger') return judgedOf(happened, context);
  return countingOf(happened, context).map((one) => ({ key: one.key, change: () => changeOf(one, happened, context) }));
}

function brokenOf({ tenant, run_id, members }: Happened, context: DecideContext): readonly Telling[] {
  return members.flatMap(({ mutation_id, agent_id, capability }) =>
    (agent_id === null ? [] : watched(context, { tenant, agent: agent_id, capability })).map(
      ({ key, task, standing }) => ({
        key,
        change: () =>
          changed(
            key,
            { kind: 'violation' },
            { standing, task, now: context.now },
            { cause: 'overrun', mutation_id, run_id },
          ),
      }),
    ),
  );
}

function judgedOf(
  { tenant, run_id, members, by = null, reason = null }: Happened,
  context: DecideContext,
): readonly Telling[] {
  return members.flatMap(({ mutation_id: id, agent_id: agent, capability }) => {
    const counted = countedIn(context.state, id).map((standing) => ({
      ...{ key: standing, standing, isAhead: false },
      task: taskOf(context, standing),
    }));
    const isCounted = ({ key }: Watched): boolean => counted.some((one) => one.key.autonomy_id === key.autonomy_id);
    // Where it counts nowhere yet, or does not count everywhere yet.
    const awaited = agent === null ? [] : watched(context, { tenant, agent, capability });
    const ahead = awaited.filter((one) => !isCounted(one)).map((one) => ({ ...one, isAhead: true }));
    return [...counted, ...ahead].map(({ key, standing, task, isAhead }) => ({
      key,
      change: () => {
        const facts = { standing, task, now: context.now };
        return changed(key, { kind: 'false_trigger', id, isAhead }, facts, { mutation_id: id, run_id, by, reason });
      },
    }));
  });
}

/** One effect that was made; it did not move. */
function alone({
  mutation_id,
  agent_id,
  capability,
}: Pick<MovedMutation, 'mutation_id' | 'agent_id' | 'capability'>): MovedMutation {
  const made = { from_state: 'committed', to_state: 'committed', verified: false, contracted: false } as const;
  return { ...NOTHING_SAID, ...made, mutation_id, agent_id, capability };
}

/** What counts of an effect that was taken back, and nothing else of it. */
function counting(member: MovedMutation): MovedMutation {
  return { ...member, ...NOTHING_SAID };
}

const NOTHING_SAID = {
  reason: null,
  rollback_id: null,
  step_id: null,
  subject_ref: null,
  refund: null,
  derived_from: [],
} as const;

/** The standings at which effects count, in the order in which the first of each was taken back. */
function countingOf({ tenant, members }: Happened, context: DecideContext): readonly Counting[] {
  const tasksFor = remembered((capability) => tasksOf(context, tenant, capability));
  const watchedFor = remembered((agent, capability) => watchedAt(tasksFor(capability), context, tenant, agent));
  const spelt = new Map<string, string>();
  const found = new Map<string, Watched & { readonly ids: [string, ...string[]] }>();
  for (const { mutation_id, agent_id, capability } of members)
    for (const at of agent_id === null ? [] : watchedFor(firstSpelt(spelt, agent_id), capability)) {
      const known = found.get(at.key.autonomy_id);
      if (known === undefined) found.set(at.key.autonomy_id, { ...at, ids: [mutation_id] });
      else known.ids.push(mutation_id);
    }
  return [...found.values()];
}

/** How an agent was spelt first, whom somebody spells some way. */
function firstSpelt(spelt: Map<string, string>, agent: string): string {
  const key = personKey(agent);
  const known = spelt.get(key) ?? agent;
  spelt.set(key, known);
  return known;
}

/** Looks once for each name: a leg has few agents and capabilities, and many effects of them. */
function remembered<Names extends readonly string[], Found>(
  look: (...names: Names) => Found,
): (...names: Names) => Found {
  const known = new Map<string, Found>();
  return (...names) => {
    const name = names.join('\u0000');
    const found = known.get(name) ?? look(...names);
    known.set(name, found);
    return found;
  };
}

/** What a leg makes of a standing: each effect counts over those before it, and the last is named. */
function changeOf({ key, standing, task, ids }: Counting, { run_id }: Happened, { now }: DecideContext): Change {
  const counted = (id: string, over: Watched['standing']): ReturnType<typeof changed> =>
    changed(key, { kind: 'compensation_verified', id }, { standing: over, task, now }, { mutation_id: id, run_id });
  const [first, ...others] = ids;
  return others.reduce(
    (earlier, id) => ({ ...counted(id, { ...key, ...earlier.standing }), before: earlier.before }),
    counted(first, standing),
  );
}
