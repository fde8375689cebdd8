// What goes wrong, and when: verdicts of single operations, and disturbances that strike a whole actor or database.
//
// Invariants
//   F1. Everything is drawn from the seed.
//   F2. After `heal` nothing goes wrong any more.
import { Failure } from '@recourse/kernel';
import type { GateOperation, GateVerdict } from '@recourse/kafka';
import type { Profile } from './profile.js';
import type { Random } from './random.js';
import type { Operation, SimActor, Stage } from './scheduler.js';

/** Port calls an actor can die around. */
export const CALL_KINDS = [
  'connect',
  'append',
  'wire',
  'read',
  'range',
  'assign',
  'deliver',
  'admin',
  'registry',
  'store.head',
  'store.load',
  'store.all',
  'store.due',
  'store.project',
  'sleep',
  'tool',
  'claim',
  'position.load',
  'position.save',
] as const;
/** Who dies: a process of ours or a worker, or one of a consumer. Each is struck by itself, so that neither takes the other's blows. */
export type Party = 'plane' | 'consumer';

/** Port calls a consumer can die around. */
const CONSUMER_CALLS = ['connect', 'wire', 'read', 'range', 'admin', 'registry', 'sleep', 'inbox', 'edge'] as const;

const CALLS_OF: Readonly<Record<Party, readonly string[]>> = { plane: CALL_KINDS, consumer: CONSUMER_CALLS };

/** Calls that answer nothing: an actor dies after them when what they set off has run. */
const WITHOUT_ANSWER: ReadonlySet<string> = new Set(['assign', 'deliver', 'sleep']);

/** `kind stage`, e.g. `append after`. */
export const CRASH_POINTS: readonly string[] = [
  ...CALL_KINDS,
  ...CONSUMER_CALLS.map((kind) => `consumer ${kind}`),
].flatMap((point) => [`${point} before`, `${point} after`]);

interface Armed {
  readonly kind: string;
  readonly stage: Stage;
  readonly untilMs: number;
}

export class Faults {
  healed = false;
  /** How often each fault struck. */
  readonly fired = new Map<string, number>();
  readonly #armed = new Map<Party, Armed>();

  constructor(
    private readonly random: Random,
    private readonly profile: Profile,
    private readonly now: () => number,
    private readonly mayDie: (actor: SimActor) => boolean,
    private readonly kill: (actor: SimActor, why: string) => void,
  ) {}

  note(fault: string): void {
    this.fired.set(fault, (this.fired.get(fault) ?? 0) + 1);
  }

  /** The next actor of a party that comes to this call dies there. */
  arm(party: Party): void {
    this.#armed.set(party, {
      kind: this.random.pick(CALLS_OF[party]),
      stage: this.random.chance(0.5) ? 'before' : 'after',
      untilMs: this.now() + 4_000,
    });
  }

  /** Ends the actor of an operation if that is what was armed. */
  interrupt(operation: Operation): boolean {
    const { actor, kind, stage } = operation;
    const party = partyOf(actor);
    const armed = this.#armed.get(party);
    if (armed === undefined || this.healed || kind !== armed.kind || !this.mayDie(actor)) return false;
    if (this.now() > armed.untilMs) {
      this.#armed.delete(party);
      return false;
    }
    const diesAfterwards = armed.stage === 'after' && WITHOUT_ANSWER.has(kind);
    if (stage !== armed.stage && !diesAfterwards) return false;
    this.#armed.delete(party);
    this.note(`crash ${party === 'consumer' ? 'consumer ' : ''}${kind} ${armed.stage}`);
    if (!diesAfterwards) {
      this.kill(actor, `${kind} ${armed.stage}`);
      return true;
    }
    operation.go();
    setImmediate(() => {
      this.kill(actor, `${kind} after`);
    });
    return true;
  }

  /** Whether an answer is held up, so that something can happen between an effect and its answer. */
  holdsAnswer(kind: string): boolean {
    if (this.healed) return false;
    return (
      [...this.#armed.values()].some((armed) => armed.kind === kind && armed.stage === 'after') ||
      this.random.chance(0.15)
    );
  }

  verdict({ kind }: GateOperation): GateVerdict {
    if (this.healed) return 'proceed';
    if (kind === 'append' || kind === 'wire') return this.#sendVerdict(kind);
    if (kind === 'assign' || kind === 'deliver' || !this.random.chance(this.profile.callTrouble)) return 'proceed';
    this.note(`${kind} fails`);
    return 'fail';
  }

  /** Errors: Failure(DATABASE_UNAVAILABLE) when it is its turn. */
  database(): void {
    if (this.healed || !this.random.chance(this.profile.callTrouble)) return;
    this.note('database fails');
    throw new Failure('DATABASE_UNAVAILABLE', 'the simulation says so');
  }

  /** Whether an edge says that it is not ready. */
  isEdgeDown(): boolean {
    if (this.healed || !this.random.chance(10 * this.profile.callTrouble)) return false;
    this.note('edge fails');
    return true;
  }

  #sendVerdict(kind: string): GateVerdict {
    if (!this.random.chance(this.profile.sendTrouble)) return 'proceed';
    const verdict = this.random.weighted({ fail: 2, lose_ack: 3, late: 3, duplicate: 2 } as const);
    this.note(`${kind} ${verdict}`);
    return verdict;
  }
}

function partyOf({ role }: SimActor): Party {
  return role === 'consumer' ? 'consumer' : 'plane';
}
