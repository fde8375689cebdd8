// The outside world: a provider that keeps what was really done, whatever anybody was told.
//
// Boundary: effects, dedup by key for as long as a key lives, and what a tool call goes through on its way. No rule of ours.
import type { Json } from '@recourse/kernel';
import { happened, notHappened, ToolRejected } from '@recourse/sdk';
import type { ForwardTool, Tool, ToolContext } from '@recourse/sdk';
import { CANCEL, CAPABILITY_OF, OBSERVE, REVERSE } from './contracts.js';
import type { EffectKind, Terms } from './contracts.js';
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
  /** Probability of each trouble of a call. */
  readonly trouble: () => number;
}

/** Keys of the stories name the transaction they are for. */
function transactionOf(key: string): string { return key.replace(/^key-/, ''); }

type Fate = 'well' | 'lost' | 'answer_lost' | 'error_before' | 'error_after' | 'phantom' | 'rejected' | 'slow';

export class Provider {
  readonly transactions = new Map<string, Transaction>();
  readonly effects: Effect[] = [];
  /** Held effects as they were let go. */
  readonly released: { readonly order: number; readonly transactionId: string; readonly worker: string }[] = [];
  readonly calls: Call[] = [];
  #keys = new Map<string, { readonly at: number; readonly answer: Json }>();
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
    if (this.parts.random.chance(0.5)) transaction.status = 'settled'; else transaction.amount += 1;
    transaction.changedAt = this.parts.tick();
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
    return { [OBSERVE]: tool, [REVERSE]: tool, [CANCEL]: tool };
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
    const fate = this.#fate(true);
    await scheduler.pass(worker, 'tool', 'before');
    await scheduler.sleep(this.#network, random.below(Math.max(1, Math.floor(terms.callTimeoutMs / 10))));
    if (fate === 'lost') return new Promise<Json>(() => undefined);
    if (fate === 'rejected') throw new ToolRejected('refused', 'the provider refuses');
    if (fate === 'error_before') throw new Error('500');
    const id = transactionOf(idempotencyKey);
    this.released.push({ order: this.parts.tick(), transactionId: id, worker: worker.name });
    this.parts.trace(() => `EFFECT ${id} let go by ${worker.name}`);
    if (!this.transactions.has(id)) this.issue(id, kind, (args as { readonly amount_minor: number }).amount_minor);
    await scheduler.pass(worker, 'tool', 'after');
    if (fate === 'answer_lost') return new Promise<Json>(() => undefined);
    if (fate === 'error_after') throw new Error('500');
    return { refund_id: id };
  }

  async #call(worker: SimActor, args: Json, context: ToolContext): Promise<Json> {
    const { scheduler, random, terms, noted } = this.parts;
    const given = (args as { readonly refund_id?: string }).refund_id;
    // The ledger asks about a forward call by the key it carried.
    const isForward = given === undefined;
    const id = given ?? transactionOf(context.idempotencyKey);
    const isEffect = context.phase === 'execute';
    const fate = this.#fate(isEffect);
    if (fate !== 'well') noted(`tool ${fate}`);
    await scheduler.pass(worker, 'tool', 'before');
    // The request is under way: what becomes of its sender no longer matters to it. It arrives within the time a call may take.
    const travelMs = fate === 'slow' ? random.between(Math.floor(terms.callTimeoutMs / 2), terms.callTimeoutMs - 1) : random.below(Math.max(1, Math.floor(terms.callTimeoutMs / 10)));
    await scheduler.sleep(this.#network, travelMs);
    const answer = isForward ? this.#lookUp(id, fate) : this.#arrive(id, worker, context, fate, isEffect);
    await scheduler.pass(worker, 'tool', 'after');
    if (fate === 'lost' || fate === 'answer_lost') return new Promise<Json>(() => undefined);
    if (answer instanceof Error) throw answer;
    return answer;
  }

  #lookUp(id: string, fate: Fate): Json | Error {
    if (fate === 'lost') return null;
    if (fate === 'error_before') return new Error('500');
    return this.transactions.has(id) ? happened({ refund_id: id }, id) : notHappened();
  }

  #arrive(id: string, worker: SimActor, context: ToolContext, fate: Fate, isEffect: boolean): Json | Error {
    const transaction = this.transactions.get(id);
    if (fate === 'lost') return null;
    if (transaction === undefined) return new ToolRejected('not_found', id);
    const { callId, attempt, phase } = context;
    if (fate === 'rejected') return new ToolRejected('refused', 'the provider refuses');
    if (fate === 'error_before') return new Error('500');
    this.calls.push({ order: this.parts.tick(), phase, transactionId: id, worker: worker.name, callId, attempt, statusSeen: transaction.status, amountSeen: transaction.amount });
    if (!isEffect) return { refund_id: id, status: transaction.status, amount_minor: transaction.amount, currency: 'EUR' };
    const answer = this.#execute(transaction, worker, context, fate);
    return fate === 'error_after' ? new Error('500') : answer;
  }

  #execute(transaction: Transaction, worker: SimActor, { callId, attempt, idempotencyKey }: ToolContext, fate: Fate): Json {
    const { scheduler, terms } = this.parts;
    const takesKey = transaction.kind !== 'voucher';
    const known = this.#keys.get(idempotencyKey);
    if (takesKey && known !== undefined && scheduler.now < known.at + terms.keyLifetimeMs) return known.answer;
    const answer = { refund_id: transaction.id, status: 'reversed' };
    if (takesKey) this.#keys.set(idempotencyKey, { at: scheduler.now, answer });
    if (fate === 'phantom') return answer;
    transaction.status = 'reversed';
    this.#happened(transaction, { by: 'worker', worker: worker.name, callId, attempt });
    return answer;
  }

  #happened(transaction: Transaction, who: Pick<Effect, 'by' | 'worker' | 'callId' | 'attempt'>): void {
    this.effects.push({ ...who, order: this.parts.tick(), transactionId: transaction.id, at: this.parts.databaseNow() });
    this.parts.trace(() => `EFFECT ${transaction.id} undone by ${who.worker} (${who.callId}, attempt ${String(who.attempt)})`);
  }

  #fate(isEffect: boolean): Fate {
    const trouble = this.parts.trouble();
    if (!this.parts.random.chance(trouble)) return this.parts.random.chance(trouble) ? 'slow' : 'well';
    return isEffect
      ? this.parts.random.weighted({ lost: 2, answer_lost: 3, error_before: 2, error_after: 2, phantom: 2, rejected: 1, slow: 3 } as const)
      : this.parts.random.weighted({ lost: 2, error_before: 2, slow: 2 } as const);
  }
}
