// Erasures: now and then an administrator has what was recorded of a subject erased, as the ledger's edge does it.
//
// Boundary: draws from a stream of its own, so that a world in which nobody erases is the world that it was.
//
// Invariants
//   E1. No key is destroyed before the ledger has it on record who ordered it.
import { subjectId, subjectOfAssumption } from '@recourse/contract';
import type { Erasure } from '@recourse/event-log';
import { Outside } from './outside.js';
import { Random } from './random.js';
import { rowsOf } from './rows.js';
import { person, REFS_PER_TENANT, refOf, TENANTS } from './stories.js';
import type { World } from './world.js';
import { BELIEVED_MS, PARTITIONS } from './world.js';

/** What a screen shows of an effect. */
interface ShownMutation {
  readonly tenant: string;
  readonly run_id: string;
  readonly subject_ref: string | null;
  readonly execution_state: string;
  readonly rollback_id: string | null;
}

const ACTOR = 'eraser';
const WHY = { by: 'ada', reason: 'asked to be forgotten' } as const;
/** Longest from a decision to its append, of whoever is not frozen, milliseconds. */
const IN_HAND_MS = 1_500;
/** Apart from the stream of the seed itself. */
const STREAM = 0x0e4a5e;

/** Has data erased until the world is healed. */
export function startErasures(world: World): void {
  const {
    scheduler,
    options: {
      seed,
      profile: { eraseEveryMs },
    },
  } = world;
  if (eraseEveryMs === null) return;
  const random = new Random(seed ^ STREAM);
  const outside = new Outside(world, ACTOR);
  const next = (): void => {
    scheduler.after(1 + Math.floor(-Math.log(1 - random.next()) * eraseEveryMs), () => {
      if (world.faults.healed) return;
      void erase(world, outside, { ...WHY, ...chosen(world, random) });
      next();
    });
  };
  next();
}

/** Puts the order on record, and destroys the keys once it is. */
async function erase(world: World, outside: Outside, erasure: Erasure): Promise<void> {
  const { tenant, subject, endedBy, reason } = erasure;
  const erasureId = await outside.command(
    'recourse.ledger-commands',
    'OrderErasure',
    tenant,
    person(tenant, WHY.by, 'administrator'),
    {
      subject_id: subject === undefined ? null : subjectId(tenant, subject),
      ended_by: endedBy ?? null,
      reason,
    },
  );
  await world.ordered(erasureId);
  await world.scheduler.pass(world.actor(ACTOR), 'keys.destroy', 'before');
  const count = await world.keys.destroy(erasure);
  world.erased.set(erasureId, world.order);
  const gone = [...world.keys.destroyed.keys()];
  const { chaos, freezeMaxMs } = world.options.profile;
  world.scheduler.after(BELIEVED_MS + (chaos.freeze > 0 ? freezeMaxMs : 0) + IN_HAND_MS, () => {
    for (const keyId of gone.filter((one) => !world.keys.knownSince.has(one)))
      world.keys.knownSince.set(keyId, world.order);
  });
  world.faults.note('erasure');
  world.trace(() => `${String(count)} keys of ${tenant} ${subject ?? `up to ${String(endedBy)}`} are destroyed`);
}

/** Mostly whose effect is still under way, else anybody's data, what was said of a ref, or all that is old. */
function chosen(world: World, random: Random): Pick<Erasure, 'tenant' | 'subject' | 'endedBy'> {
  const tenant = random.pick(TENANTS);
  const what = random.weighted({ open: 60, any: 20, assumption: 15, windows: 5 } as const);
  if (what === 'windows') return { tenant, endedBy: world.databaseNow() - 1 };
  const about = what === 'assumption' ? [] : effectsIn(world, what === 'open');
  if (about.length === 0) return { tenant, subject: subjectOfAssumption(refOf(tenant, random.below(REFS_PER_TENANT))) };
  const { tenant: own, run_id, subject_ref } = random.pick(about);
  return { tenant: own, subject: subject_ref === null || random.chance(0.1) ? `run/${run_id}` : subject_ref };
}

function effectsIn(world: World, isOpen: boolean): readonly ShownMutation[] {
  return Array.from({ length: PARTITIONS }, (_, partition) =>
    rowsOf<ShownMutation>(world, 'mutation-ledger', 'recourse.mutations', partition, 'mutation'),
  )
    .flat()
    .filter(({ execution_state, rollback_id }) => !isOpen || isUnderWay(execution_state) || rollback_id !== null);
}

/** Nobody knows yet how it ended. */
function isUnderWay(executionState: string): boolean {
  return executionState !== 'succeeded' && executionState !== 'failed';
}
