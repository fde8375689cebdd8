// Effects that were taken back, as they count against whoever made them: all of a leg at once, or in parts where no batch holds it.
//
// Boundary: looks up who watches, and asks the rules; holds none.
//
// Invariants
//   U1. One record for each standing, however many effects of a leg count there.
//   U2. A leg that fits no batch counts in parts, in the order of the standings' ids; each part says what remains (L4).
//   U3. A standing counts a leg once: the next part begins behind the last one.
//   U4. What several spellings of one agent did counts where the first of the leg stands (A3): a part would open another standing
//       of each, and the next one find it behind itself.
import { NOTHING } from '@recourse/event-log';
import type { Asked, DecideContext, Decision, TimerInput } from '@recourse/event-log';
import { deriveId, personKey } from '@recourse/kernel';
import type { BodyOf, MovedMutation } from '@recourse/messages';
import { partOf } from '../rules/autonomy/parts.decisions.js';
import { changed } from '../rules/autonomy/signal.decider.js';
import type { Change } from '../rules/autonomy/signal.decider.js';
import { undoneLegs } from '../rows/autonomy.rows.js';
import type { UndoneLeg } from '../rows/autonomy.rows.js';
import { also, judgedAgain, tasksOf, watchedAt } from './autonomy.js';
import type { Watched } from './autonomy.js';

/** A standing, and the effects that count there, in the order in which they were taken back. */
interface Counting extends Watched {
  readonly ids: readonly [string, ...string[]];
}

/** What is taken back together; `after` is null before its first part. */
type Leg = Omit<UndoneLeg, 'due_at' | 'after'> & { readonly after: string | null };

/** Effects that were taken back count against whoever made them. */
export function afterUndoing(
  decision: Decision,
  { body: { tenant, run_id, event, members }, context }: Asked<BodyOf<'recourse.mutations', 'RecoverabilityChanged'>>,
): Decision {
  const [first] = members;
  if (event !== 'compensation_verified' || first === undefined) return decision;
  const undoing_id = deriveId('und', tenant, run_id, first.mutation_id);
  return counted(decision, { undoing_id, tenant, run_id, members: members.map(counting), after: null }, context);
}

/** What remains of a leg counts on. */
export function onUndoingDue(context: DecideContext, { address }: TimerInput): Decision {
  const leg = undoneLegs.find(context.state, address.key);
  return leg === null ? NOTHING : counted(NOTHING, leg, context);
}

function counted(decision: Decision, leg: Leg, context: DecideContext): Decision {
  const { undoing_id, members, after } = leg;
  const all = countingOf(leg, context);
  const changesOf = (these: readonly Counting[]): readonly Change[] => these.map((one) => changeOf(one, leg, context));
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

/** What counts of an effect that was taken back, and nothing else of it. */
function counting(member: MovedMutation): MovedMutation {
  return {
    ...member,
    reason: null,
    rollback_id: null,
    step_id: null,
    subject_ref: null,
    refund: null,
    derived_from: [],
  };
}

/** The standings at which effects count, in the order in which the first of each was taken back. */
function countingOf({ tenant, members }: Leg, context: DecideContext): readonly Counting[] {
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
function changeOf({ key, standing, task, ids }: Counting, { run_id }: Leg, { now }: DecideContext): Change {
  const counted = (id: string, over: Watched['standing']): ReturnType<typeof changed> =>
    changed(key, { kind: 'compensation_verified', id }, { standing: over, task, now }, { mutation_id: id, run_id });
  const [first, ...others] = ids;
  return others.reduce(
    (earlier, id) => ({ ...counted(id, { ...key, ...earlier.standing }), before: earlier.before }),
    counted(first, standing),
  );
}
