// The outside world: a provider that keeps what was really done, whatever anybody was told.
//
// Boundary: effects, dedup by key for as long as a key lives, and what a tool call goes through on its way. No rule of ours.
import type { Json } from '@recourse/kernel';
import { happened, notHappened, ToolRejected } from '@recourse/sdk';
import type { ForwardTool, Tool, ToolContext } from '@recourse/sdk';
import { CANCEL, CAPABILITY_OF, OBSERVE, REVERSE, UNLINK } from './contracts.js';
import type { EffectKind, Terms } from './contracts.js';
import type { Eyes } from './eyes.js';
import type { Scheduler, SimActor } from './scheduler.js';
import { SimActor as Actor } from './scheduler.js';
import type { Random } from './random.js';

export interface Transaction {
  readonly id: string;
  readonly kind: EffectKind;
  status: 'issued' | 'reversed' | 'settled';
  amount: number;
  /** Order in which a person outside changed it; null when nobody did. */
  changedAt: number | null;
}

/** Something that really happened to a transaction. */
export interface Effect {
  readonly order: number;
  readonly transactionId: string;
  readonly by: 'worker' | 'person';
  readonly worker: string;
  readonly callId: string;
  readonly attempt: number;
  /** Database time, epoch milliseconds. */
  readonly at: number;
}

/** A call that reached the provider. */
export interface Call {
  readonly order: number;
  readonly phase: ToolContext['phase'];
  readonly transactionId: string;
  readonly worker: string;
  readonly callId: string;
  readonly attempt: number;
  readonly statusSeen: Transaction['status'];
  readonly amountSeen: number;
  /** Receipt of another reversal the call carried; null where it carried none. */
  readonly receipt: string | null;
}

export interface ProviderParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly terms: Terms;
  /** One order over everything that takes effect anywhere. */
  readonly tick: () => number;
  readonly databaseNow: () => number;
  readonly noted: (fault: string) => void;
  readonly trace: (line: () => string) => void;
  /** Probability of each trouble of a call; nought when all is well. */
  readonly trouble: () => number;
  /** How long a key is kept in truth, milliseconds; contracts say `keyLifetimeMs`. */
  readonly keyKeptMs: number;
  /** What is said of what looks see. */
  readonly eyes: Eyes;
}

/** Keys of the stories name the transaction they are for. */
function transactionOf(key: string): string {
  return key.replace(/^key-/, '');
}

/**
 * What becomes of a call: no answer in time, with or without the effect; a 500, with or without it, or once and then success; a
 * 200 without the effect; a refusal; a 429, alone or with a time to come back; or nothing but slowness.
 */
type Fate =
  | 'well'
  | 'slow'
  | 'timeout_before'
  | 'timeout_after'
  | 'error_before'
  | 'error_after'
  | 'error_once'
  | 'phantom'
  | 'rejected'
  | 'limited'
  | 'limited_until';

/** Longest a provider asks to stay away, and longest its looks are down, milliseconds. */
const RETRY_AFTER_MAX_MS = 2_500;
const DOWN_MAX_MS = 6_000;

/** Calls the provider did not take, by how it said so. */
class Answered extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export class Provider {
  readonly transactions = new Map<string, Transaction>();
  readonly effects: Effect[] = [];
  /** Held effects as they were let go. */
  readonly released: { readonly order: number; readonly transactionId: string; readonly worker: string }[] = [];
  readonly calls: Call[] = [];
  #keys = new Map<string, { readonly at: number; readonly answer: Json }>();
  /** Calls that went wrong once and go well when they come again, by key. */
  #owedSuccess = new Set<string>();
  /** Until when calls under a key are refused. */
  #notBefore = new Map<string, number>();
  #down: { readonly untilMs: number; readonly phase: ToolContext['phase'] | null } = { untilMs: 0, phase: null };
  #receipts = 0;
  #network = new Actor('network', 'network');

  constructor(private readonly parts: ProviderParts) {}

  /** The forward action of an agent. */
  issue(id: string, kind: EffectKind, amount: number): Transaction {
    const transaction: Transaction = { id, kind, status: 'issued', amount, changedAt: null };
    this.transactions.set(id, transaction);
    return transaction;
  }

  /** A person changes the resource outside of everything. */
  change(transaction: Transaction): void {
    if (transaction.status !== 'issued') return;
    if (this.parts.random.chance(0.5)) transaction.status = 'settled';
    else transaction.amount += 1;
    transaction.changedAt = this.parts.tick();
    this.parts.noted('tool resource_changed');
    this.parts.trace(() => `a person changed ${transaction.id}: ${transaction.status}, ${String(transaction.amount)}`);
  }

  /** A person who was given the item undoes the transaction by hand, having looked at it. */
  undoByHand(transaction: Transaction): void {
    if (transaction.status === 'reversed') return;
    transaction.status = 'reversed';
    this.#happened(transaction, { by: 'person', worker: 'person', callId: 'by-hand', attempt: 0 });
  }

  /** The tools of a worker. */
  toolsOf(worker: SimActor): Readonly<Record<string, Tool>> {
    const tool: Tool = (args, context) => this.#call(worker, args, context);
    return { [OBSERVE]: tool, [REVERSE]: tool, [CANCEL]: tool, [UNLINK]: tool };
  }

  /** Forward tools of a worker: what is held goes through them. */
  forwardToolsOf(worker: SimActor): Readonly<Record<string, ForwardTool>> {
    const forward = (kind: EffectKind): ForwardTool => ({
      execute: (args, { idempotencyKey }) => this.#letGo(worker, kind, args, idempotencyKey),
      externalTransactionRef: (result) => String((result as { readonly refund_id?: string }).refund_id),
    });
    return { [CAPABILITY_OF.transfer]: forward('transfer') };
  }

  /** A held effect arrives; the key names it, so that it is there once. */
  async #letGo(worker: SimActor, kind: EffectKind, args: Json, idempotencyKey: string): Promise<Json> {
    const { scheduler, random, terms } = this.parts;
    const fate = this.#fate(true, idempotencyKey);
    await scheduler.pass(worker, 'tool', 'before');
    await scheduler.sleep(this.#network, random.below(Math.max(1, Math.floor(terms.callTimeoutMs / 10))));
    if (fate === 'timeout_before') return new Promise<Json>(() => undefined);
    const refusal = this.#refusal(fate, idempotencyKey);
    if (refusal !== null) throw refusal;
    const id = transactionOf(idempotencyKey);
    this.released.push({ order: this.parts.tick(), transactionId: id, worker: worker.name });
    this.parts.trace(() => `EFFECT ${id} let go by ${worker.name}`);
    if (!this.transactions.has(id)) this.issue(id, kind, (args as { readonly amount_minor: number }).amount_minor);
    await scheduler.pass(worker, 'tool', 'after');
    if (fate === 'timeout_after') return new Promise<Json>(() => undefined);
    if (fate === 'error_after') throw new Answered(500, 'internal error');
    return { refund_id: id };
  }

  async #call(worker: SimActor, args: Json, context: ToolContext): Promise<Json> {
    const { scheduler, random, terms } = this.parts;
    const given = (args as { readonly refund_id?: string }).refund_id;
    // The ledger asks about a forward call by the key it carried.
    const isForward = given === undefined;
    const id = given ?? transactionOf(context.idempotencyKey);
    const isEffect = context.phase === 'execute';
    const fate = this.#fate(isEffect, context.idempotencyKey);
    await scheduler.pass(worker, 'tool', 'before');
    // The request is under way: what becomes of its sender no longer matters to it. It arrives within the time a call may take.
    const travelMs =
      fate === 'slow'
        ? random.between(Math.floor(terms.callTimeoutMs / 2), terms.callTimeoutMs - 1)
        : random.below(Math.max(1, Math.floor(terms.callTimeoutMs / 10)));
    await scheduler.sleep(this.#network, travelMs);
    const answer = isForward ? this.#lookUp(id, fate) : this.#arrive({ id, args, worker, context, fate });
    await scheduler.pass(worker, 'tool', 'after');
    if (fate === 'timeout_before' || fate === 'timeout_after') return new Promise<Json>(() => undefined);
    if (answer instanceof Error) throw answer;
    return answer;
  }

  #lookUp(id: string, fate: Fate): Json | Error {
    if (fate === 'timeout_before') return null;
    if (fate === 'error_before') return new Answered(500, 'internal error');
    return this.transactions.has(id) ? happened({ refund_id: id }, id) : notHappened();
  }

  #arrive({ id, args, worker, context, fate }: Arrival): Json | Error {
    const transaction = this.transactions.get(id);
    if (fate === 'timeout_before') return null;
    if (transaction === undefined) return new ToolRejected('not_found', id);
    const { callId, attempt, phase, idempotencyKey } = context;
    const isEffect = phase === 'execute';
    const refusal = isEffect ? this.#refusal(fate, idempotencyKey) : this.#blindness(fate, phase);
    if (refusal !== null) return refusal;
    const receipt = (args as { readonly receipt?: string }).receipt ?? null;
    if (isEffect && transaction.kind === 'linked' && receipt === null) return new ToolRejected('receipt_missing', id);
    this.calls.push({
      order: this.parts.tick(),
      phase,
      transactionId: id,
      worker: worker.name,
      callId,
      attempt,
      statusSeen: transaction.status,
      amountSeen: transaction.amount,
      receipt,
    });
    if (!isEffect) return this.#seen(transaction, worker, context);
    const answer = this.#execute(transaction, worker, context, fate);
    return fate === 'error_after' ? new Answered(500, 'internal error') : answer;
  }

  #seen({ id, status, amount }: Transaction, worker: SimActor, context: ToolContext): Json | Error {
    const seen = this.parts.eyes.seen(worker, context, {
      transactionId: id,
      isCalled: () => this.calls.some(({ callId, phase }) => callId === context.callId && phase === 'execute'),
      answer: { refund_id: id, status, amount_minor: amount, currency: 'EUR' },
    });
    return seen ?? new Answered(503, 'nothing to be seen');
  }

  /** Why a call is not taken, in one of the ways adapters tell it: outright, or as a status they did not read. */
  #refusal(fate: Fate, key: string): Error | null {
    const {
      scheduler: { now },
      random,
      trouble,
    } = this.parts;
    if (fate === 'rejected') return new ToolRejected('refused', 'the provider refuses');
    if (fate === 'error_before') return new Answered(500, 'internal error');
    if (fate === 'error_once') {
      this.#owedSuccess.add(key);
      return new Answered(500, 'internal error');
    }
    if (fate === 'limited_until') this.#notBefore.set(key, now + random.between(200, RETRY_AFTER_MAX_MS));
    const isAway = trouble() > 0 && now < (this.#notBefore.get(key) ?? 0);
    if (fate !== 'limited' && !isAway) return null;
    return random.chance(0.5)
      ? new ToolRejected('RATE_LIMITED', 'too many requests')
      : new Answered(429, 'too many requests');
  }

  /** Looks are down for a while, all of them or those after an effect. */
  #blindness(fate: Fate, phase: ToolContext['phase']): Error | null {
    const {
      scheduler: { now },
      random,
      trouble,
      noted,
    } = this.parts;
    if (fate === 'error_before') return new Answered(500, 'internal error');
    if (now >= this.#down.untilMs && random.chance(trouble() / 12)) {
      this.#down = { untilMs: now + random.between(500, DOWN_MAX_MS), phase: random.chance(0.6) ? 'verify' : null };
      noted('tool verify_down');
    }
    const isDown =
      trouble() > 0 && now < this.#down.untilMs && (this.#down.phase === null || this.#down.phase === phase);
    return isDown ? new Answered(503, 'down for a while') : null;
  }

  #execute(
    transaction: Transaction,
    worker: SimActor,
    { callId, attempt, idempotencyKey }: ToolContext,
    fate: Fate,
  ): Json | Error {
    const { scheduler, keyKeptMs, noted } = this.parts;
    const takesKey = transaction.kind !== 'voucher';
    const known = takesKey ? this.#keys.get(idempotencyKey) : undefined;
    if (known !== undefined && scheduler.now < known.at + keyKeptMs) return this.#repeated(known.answer);
    if (known !== undefined) noted('tool key_forgotten');
    const answer = {
      refund_id: transaction.id,
      status: 'reversed',
      receipt: `receipt-${String((this.#receipts += 1))}`,
    };
    if (takesKey) this.#keys.set(idempotencyKey, { at: scheduler.now, answer });
    if (fate === 'phantom') return answer;
    transaction.status = 'reversed';
    this.#happened(transaction, { by: 'worker', worker: worker.name, callId, attempt });
    return answer;
  }

  /** A repeat is answered as before, or with 409; an adapter knows that this call did nothing, or it does not. */
  #repeated(answer: Json): Json | Error {
    const { random, trouble, noted } = this.parts;
    if (trouble() === 0 || !random.chance(0.4)) {
      noted('tool repeat_answered');
      return answer;
    }
    noted('tool conflict');
    return random.chance(0.5)
      ? new ToolRejected('IDEMPOTENCY_KEY_REUSED', 'the key was used')
      : new Answered(409, 'conflict');
  }

  #happened(transaction: Transaction, who: Pick<Effect, 'by' | 'worker' | 'callId' | 'attempt'>): void {
    this.effects.push({
      ...who,
      order: this.parts.tick(),
      transactionId: transaction.id,
      at: this.parts.databaseNow(),
    });
    this.parts.trace(
      () => `EFFECT ${transaction.id} undone by ${who.worker} (${who.callId}, attempt ${String(who.attempt)})`,
    );
  }

  /** What becomes of a call; counted by name. */
  #fate(isEffect: boolean, key: string): Fate {
    const fate = this.#drawn(isEffect, key);
    if (fate !== 'well') this.parts.noted(`tool ${fate}`);
    return fate;
  }

  #drawn(isEffect: boolean, key: string): Fate {
    const { random, trouble } = this.parts;
    if (isEffect && this.#owedSuccess.delete(key)) {
      this.parts.noted('tool success_after_error');
      return 'well';
    }
    if (!random.chance(trouble())) return random.chance(trouble()) ? 'slow' : 'well';
    return isEffect
      ? random.weighted({
          timeout_before: 2,
          timeout_after: 3,
          error_before: 2,
          error_after: 2,
          error_once: 2,
          phantom: 3,
          rejected: 1,
          limited: 1,
          limited_until: 1,
          slow: 3,
        } as const)
      : random.weighted({ timeout_before: 2, error_before: 2, slow: 2 } as const);
  }
}

/** A call as it arrives. */
interface Arrival {
  readonly id: string;
  readonly args: Json;
  readonly worker: SimActor;
  readonly context: ToolContext;
  readonly fate: Fate;
}
