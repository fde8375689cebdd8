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
  'connect', 'append', 'wire', 'read', 'range', 'assign', 'deliver', 'admin', 'registry',
  'store.head', 'store.load', 'store.all', 'store.due', 'store.project',
  'sleep', 'tool', 'claim', 'position.load', 'position.save',
] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** Calls that answer nothing: an actor dies after them when what they set off has run. */
const WITHOUT_ANSWER: ReadonlySet<string> = new Set(['assign', 'deliver', 'sleep']);

/** `kind stage`, e.g. `append after`. */
export const CRASH_POINTS: readonly string[] = CALL_KINDS.flatMap((kind) => [`${kind} before`, `${kind} after`]);

interface Armed { readonly kind: CallKind; readonly stage: Stage; readonly untilMs: number }

export class Faults {
  healed = false;
  /** How often each fault struck. */
  readonly fired = new Map<string, number>();
  #armed: Armed | null = null;

  constructor(private readonly random: Random, private readonly profile: Profile, private readonly now: () => number, private readonly mayDie: (actor: SimActor) => boolean, private readonly kill: (actor: SimActor, why: string) => void) {}

  note(fault: string): void { this.fired.set(fault, (this.fired.get(fault) ?? 0) + 1); }

  /** The next actor that comes to this call dies there. */
  arm(): void {
    this.#armed = { kind: this.random.pick(CALL_KINDS), stage: this.random.chance(0.5) ? 'before' : 'after', untilMs: this.now() + 4_000 };
  }

  /** Ends the actor of an operation if that is what was armed. */
  interrupt(operation: Operation): boolean {
    const armed = this.#armed;
    const { actor, kind, stage } = operation;
    if (armed === null || this.healed || kind !== armed.kind || !this.mayDie(actor)) return false;
    if (this.now() > armed.untilMs) { this.#armed = null; return false; }
    const diesAfterwards = armed.stage === 'after' && WITHOUT_ANSWER.has(kind);
    if (stage !== armed.stage && !diesAfterwards) return false;
    this.#armed = null;
    this.note(`crash ${kind} ${armed.stage}`);
    if (!diesAfterwards) { this.kill(actor, `${kind} ${armed.stage}`); return true; }
    operation.go();
    setImmediate(() => { this.kill(actor, `${kind} after`); });
    return true;
  }

  /** Whether an answer is held up, so that something can happen between an effect and its answer. */
  holdsAnswer(kind: string): boolean {
    if (this.healed) return false;
    return (this.#armed?.kind === kind && this.#armed.stage === 'after') || this.random.chance(0.15);
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

  #sendVerdict(kind: string): GateVerdict {
    if (!this.random.chance(this.profile.sendTrouble)) return 'proceed';
    const verdict = this.random.weighted({ fail: 2, lose_ack: 3, late: 3, duplicate: 2 } as const);
    this.note(`${kind} ${verdict}`);
    return verdict;
  }
}
