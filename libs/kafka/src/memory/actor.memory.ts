// One incarnation of a process: all that it does passes here, and nothing does once it is dead.
import { Failure } from '@recourse/kernel';
import type { Gate, GateOperation, GateVerdict } from './gate.memory.js';

export class Actor {
  alive = true;

  constructor(
    readonly name: string,
    private readonly gate: Gate,
  ) {}

  /** Waits for the gate. Never settles once the actor is dead. */
  async enter(operation: Omit<GateOperation, 'actor'>): Promise<GateVerdict> {
    if (!this.alive) return never();
    const verdict = await this.gate.enter({ ...operation, actor: this.name });
    return this.alive ? verdict : never();
  }

  /** Passes the answer of an effect on, unless the actor died after it. */
  async leave<T>(operation: Omit<GateOperation, 'actor'>, verdict: GateVerdict, answer: T): Promise<T> {
    await this.gate.leave?.({ ...operation, actor: this.name }, verdict);
    return this.alive ? answer : never();
  }

  /**
   * An operation that writes nothing.
   *
   * Errors: what `act` throws; Failure(`code`) for every verdict but `proceed`.
   */
  async ask<T>(
    operation: Omit<GateOperation, 'actor'>,
    act: () => T,
    code: 'BROKER_UNAVAILABLE' | 'REGISTRY_UNAVAILABLE' = 'BROKER_UNAVAILABLE',
  ): Promise<T> {
    const verdict = await this.enter(operation);
    if (verdict !== 'proceed') throw new Failure(code, `${operation.kind} was refused by the gate`);
    return this.leave(operation, verdict, act());
  }
}

function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}
