// What looks say in worlds with observers: a worker, or an observer, now and then says otherwise than what the provider holds.
//
// Boundary: changes what a look answers, never what is so. Where nobody observes, every look says what is so.
import { isJsonObject } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { ToolContext } from '@recourse/sdk';
import type { Random } from './random.js';
import type { SimActor } from './scheduler.js';

/** Something a worker or an observer said of a transaction that was not so. */
export interface Untruth {
  readonly order: number;
  readonly transactionId: string;
  readonly role: string;
  readonly said: string;
}

export interface EyesParts {
  readonly random: Random;
  /** Tenants whose effects another worker observes. */
  readonly tenants: readonly string[];
  readonly isHealed: () => boolean;
  readonly tick: () => number;
  readonly noted: (fault: string) => void;
}

/** What is looked at, and whether anybody has called to undo it. */
export interface Looked {
  readonly transactionId: string;
  readonly isCalled: () => boolean;
  readonly answer: Json;
}

/** Shares of looks. */
const UNTRUE = 0.12;
const BLIND = 0.12;

export class Eyes {
  readonly untruths: Untruth[] = [];

  constructor(private readonly parts: EyesParts) {}

  /** What somebody says of what the look saw; null where that one saw nothing. */
  seen(by: SimActor, { tenant, phase, about }: ToolContext, looked: Looked): Json | null {
    const { random, tenants, isHealed, noted } = this.parts;
    const { answer } = looked;
    const isOfUndo = about === 'compensation' && tenants.includes(tenant);
    if (!isOfUndo || isHealed() || !isJsonObject(answer)) return answer;
    if (by.role === 'observer' && random.chance(BLIND)) {
      noted('observer unknown');
      return null;
    }
    const status = otherwiseOf(by, answer['status']);
    // A worker is untrue of what it undid; what people are shown before that is so.
    const isItsOwn = by.role === 'observer' || (phase !== 'stale_check' && looked.isCalled());
    if (status === null || !isItsOwn || !random.chance(UNTRUE)) return answer;
    noted(`${by.role} untrue`);
    this.untruths.push({ order: this.parts.tick(), transactionId: looked.transactionId, role: by.role, said: status });
    return { ...answer, status };
  }
}

/** What somebody says who says otherwise; null of what nobody is untrue about. */
function otherwiseOf({ role }: SimActor, status: Json | undefined): string | null {
  if (status === 'issued') return 'reversed';
  return status === 'reversed' && role === 'observer' ? 'issued' : null;
}
