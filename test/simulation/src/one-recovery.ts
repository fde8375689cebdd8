// One recovery in a world where nothing goes wrong but one thing: a process dies at one call of a port, and is started again.
//
// Boundary: production code on the simulation's ports; the calls are counted, so that each of them can be the one.
import { plainPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { mutationId } from '@recourse/sdk';
import { eachMember, readHistory } from './checker/history.js';
import { CAPABILITY_OF } from './contracts.js';
import { ORDINARY } from './profile.js';
import type { Profile } from './profile.js';
import { Random } from './random.js';
import { EPOCH } from './scheduler.js';
import type { Operation } from './scheduler.js';
import { person, Stories } from './stories.js';
import { SERVICES, sharedRegistry, World } from './world.js';

/** Who takes part in a recovery once it is asked for. */
const ROLES: readonly string[] = ['mutation-ledger', 'recovery-orchestrator', 'worker'];
/** Calls around which something is durable, told or done; what only reads is left out. */
const KINDS: readonly string[] = ['append', 'wire', 'store.project', 'claim', 'tool', 'position.save'];

/** Everything lasts longer than a process takes to be there again, so that what differs differs because of the death. */
const CALM: Profile = {
  ...ORDINARY,
  terms: { windowMs: 300_000, keyLifetimeMs: 200_000, callTimeoutMs: 1_000, maxAttempts: 2 },
  leaseMs: 60_000,
  reviewDeadlineMs: 300_000,
  workerSkewMs: 0,
  sendTrouble: 0,
  callTrouble: 0,
  toolTrouble: 0,
};
const SEED = 11;
const TENANT = 'acme';
const RUN = 'one-run';
const REFUND = 'tx-one';
/** Contracts are registered and loops have their partitions by then, virtual milliseconds. */
const TOLD_AT_MS = 4_000;
const ASKED_AT_MS = 6_000;
/** Long enough after the end for whatever still stands on a wire to be read once more. */
const AFTERWARDS_MS = 12_000;
const WITHIN_MS = 120_000;
const STEPS_MAX = 200_000;

/** A call at which a process can die, in the order they came. */
export interface Boundary {
  readonly role: string;
  readonly kind: string;
  readonly stage: Operation['stage'];
}

/** What one recovery left behind. */
export interface Recovery {
  /** Calls between the wish and the end. */
  readonly boundaries: readonly Boundary[];
  readonly deaths: number;
  /** Times the provider took the transaction back. */
  readonly effects: number;
  /** Records about the step, in order, with what each says of its outcome; resends and progress left out. */
  readonly records: readonly string[];
}

/** Runs the recovery; `dieAt` is the number of the call that a process does not survive, null for none. */
export async function recoverOnce(dieAt: number | null): Promise<Recovery> {
  const { registry, codecs } = await sharedRegistry();
  const world = new World({ seed: SEED, profile: CALM, random: new Random(SEED) }, registry, codecs);
  // Every answer waits to be taken, so that a process can die between an effect and its answer.
  world.faults.holdsAnswer = () => true;
  const stories = new Stories(world, { people: () => undefined, subscribers: () => undefined });
  const boundaries: Boundary[] = [];
  let deaths = 0;
  let isAsked = false;
  let isOver = false;
  world.scheduler.interrupt = ({ actor, kind, stage }) => {
    if (!isAsked || isOver || !ROLES.includes(actor.role) || !KINDS.includes(kind)) return false;
    boundaries.push({ role: actor.role, kind, stage });
    if (boundaries.length - 1 !== dieAt) return false;
    deaths += 1;
    world.kill(actor, `${kind} ${stage}`);
    return true;
  };
  for (const role of [...SERVICES, 'worker'] as const) world.start(role, 1);
  stories.begin();
  world.scheduler.at(EPOCH + TOLD_AT_MS, () => {
    tell(world, stories);
  });
  world.scheduler.at(EPOCH + ASKED_AT_MS, () => {
    isAsked = true;
    ask(stories);
  });
  let endsAt = EPOCH + WITHIN_MS;
  look(world, () => {
    isOver = true;
    endsAt = world.scheduler.now + AFTERWARDS_MS;
  });
  await world.scheduler.run(() => world.scheduler.now > endsAt, STEPS_MAX);
  for (const actor of world.living()) actor.alive = false;
  return {
    boundaries,
    deaths,
    effects: world.provider.effects.filter(({ transactionId }) => transactionId === REFUND).length,
    records: recordsOf(world),
  };
}

/** An agent's effect, which goes back by itself when somebody asks. */
function tell(world: World, stories: Stories): void {
  const args: Json = { order_id: 'order-one', amount_minor: 500, currency: 'EUR' };
  world.provider.issue(REFUND, 'credit', 500);
  const contract = stories.contracts.find(({ name }) => name === CAPABILITY_OF.credit);
  void stories.outside.send('recourse.tool-executions', 'ToolExecuted', RUN, {
    event_id: 'evt-one',
    tenant: TENANT,
    run_id: RUN,
    agent_id: 'agent:a1',
    initiator: 'ines',
    objective: 'serve the customer',
    step_id: 's',
    call_id: 'call-one',
    capability: CAPABILITY_OF.credit,
    contract_digest: contract?.digest ?? null,
    effect_key: 'eff-one',
    idempotency_key: `key-${REFUND}`,
    subject_ref: null,
    args: plainPayload(args),
    assumption_refs: [],
    outcome: 'succeeded',
    result: plainPayload({ refund_id: REFUND }),
    prior_value: null,
    external_transaction_ref: REFUND,
    error_kind: null,
    committed_at: world.databaseNow(),
    derived_from: [],
    on_failure: 'keep',
    handled_as: null,
    produced_by: null,
    release: null,
  });
}

function ask(stories: Stories): void {
  void stories.outside.command('recourse.ledger-commands', 'TriggerRollback', RUN, person(TENANT, 'rita', 'reporter'), {
    run_id: RUN,
    mutation_id: mutationId(TENANT, RUN, 'eff-one'),
    reason: 'the critic says so',
  });
}

/** Calls back once, when the recovery is closed. */
function look(world: World, closed: () => void): void {
  const again = (): void => {
    if (readHistory(world).logs['recourse.recoveries']?.some(({ type }) => type === 'RecoveryClosed') === true)
      closed();
    else world.scheduler.after(250, again);
  };
  world.scheduler.at(EPOCH + ASKED_AT_MS + 1, again);
}

const LEFT_OUT: readonly string[] = ['Progress', 'ObligationResent'];
const SAID = ['to_state', 'attempt', 'outcome', 'event', 'decision'] as const;

function recordsOf(world: World): readonly string[] {
  const { logs } = readHistory(world);
  return ['recourse.mutations', 'recourse.recoveries'].flatMap((log) =>
    (logs[log] ?? [])
      .filter(({ key, type }) => key === RUN && !LEFT_OUT.includes(type))
      .flatMap(eachMember)
      .map(({ type, body }) =>
        [log, type, ...SAID.filter((name) => name in body).map((name) => String(body[name]))].join(' '),
      ),
  );
}
