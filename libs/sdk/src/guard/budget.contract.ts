// What every budget does.
import { describe, expect } from '@jest/globals';
import { runCases, type Cases } from '@recourse/testing';
import type { Budget, ReservationRequest } from './budget.port.js';

const of = (effectKey: string, amount_minor: number, attempt?: number): ReservationRequest => ({
  tenant: 'acme',
  runId: 'run-1',
  effectKey,
  capability: 'payments.issue_refund',
  agentId: 'agent',
  initiator: null,
  objective: 'settle ticket 99',
  values: [{ amount_minor, currency: 'INR' }],
  subjectRef: 'order/4711',
  reach: null,
  ...(attempt === undefined ? {} : { attempt }),
});

/** A budget with a ceiling of 1,000 minor units per run. */
export function budgetContract(name: string, make: () => Promise<Budget>): void {
  describe(`the budget "${name}"`, () => runCases(CASES, make));
}

const CASES: Cases<Budget> = {
  'reserves up to its ceiling, equality included, and escalates beyond': async (budget) => {
    expect((await budget.reserve(of('a', 600))).kind).toBe('reserved');
    expect((await budget.reserve(of('b', 400))).kind).toBe('reserved');
    expect((await budget.reserve(of('c', 1))).kind).toBe('escalated');
  },

  'answers a repeated reservation alike, and counts it once': async (budget) => {
    const first = await budget.reserve(of('a', 600));
    expect(await budget.reserve(of('a', 600))).toEqual(first);
    expect((await budget.reserve(of('b', 400))).kind).toBe('reserved');
  },

  'reserves anew what was given back, and takes it back again': async (budget) => {
    for (const round of [1, 2]) {
      expect([round, (await budget.reserve(of('a', 1_000))).kind]).toEqual([round, 'reserved']);
      expect((await budget.reserve(of('b', 1))).kind).toBe('escalated');
      expect(await budget.release(of('a', 1_000))).toBe('released');
    }
    expect((await budget.reserve(of('c', 1_000))).kind).toBe('reserved');
  },

  'keeps for a later attempt what an earlier one gives back late, and counts it once': async (budget) => {
    await budget.reserve(of('a', 1_000, 1));
    expect((await budget.reserve(of('a', 1_000, 2))).kind).toBe('reserved');
    expect(await budget.release(of('a', 1_000, 1))).toBe('released');
    expect((await budget.reserve(of('b', 1))).kind).toBe('escalated');
    expect(await budget.release(of('a', 1_000, 2))).toBe('released');
    expect((await budget.reserve(of('b', 1_000))).kind).toBe('reserved');
  },

  'takes back what is released': async (budget) => {
    await budget.reserve(of('a', 1_000));
    expect(await budget.release(of('a', 1_000))).toBe('released');
    expect((await budget.reserve(of('b', 1_000))).kind).toBe('reserved');
  },
};
