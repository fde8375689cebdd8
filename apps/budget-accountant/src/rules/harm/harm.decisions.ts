// Expected harm: P × what stands open × what recovery is declared to cost. Pure.
//
// P is the part of what happened that was taken back so far, by the same group.
import type { DeclaredCost, EffectCount, Harm, HarmKey, StandingDebt } from './harm.messages.js';

const NOTHING_STANDS = {
  reserved_minor: 0,
  open_minor: 0,
  beyond_minor: 0,
  moved_minor: 0,
  recovery_minor: 0,
  closes_first_at: null,
} as const;

/** Puts the cost of recovery beside what stands; the most debt first. */
export function harmOf(
  standing: readonly StandingDebt[],
  counts: readonly EffectCount[],
  costOf: DeclaredCost,
): readonly Harm[] {
  const byUnit = new Map(standing.map((one) => [unitKey(one, one.currency), one]));
  const costs = costsOf(counts, costOf);
  for (const [key, { of, currency }] of costs)
    if (!byUnit.has(key)) byUnit.set(key, { ...of, currency, ...NOTHING_STANDS });
  return [...byUnit]
    .map(([key, one]) => ({
      ...one,
      recovery_at_most_minor: costs.get(key)?.atMost ?? null,
      recovery_expected_minor: costs.get(key)?.expected ?? null,
    }))
    .toSorted(
      (one, other) => debtOf(other) - debtOf(one) || order(unitKey(one, one.currency), unitKey(other, other.currency)),
    );
}

interface Cost {
  readonly of: HarmKey;
  readonly currency: string;
  readonly atMost: number;
  readonly expected: number | null;
}

/** What recovery of all that is open costs, by group and currency; what no contract bounds is in none. */
function costsOf(counts: readonly EffectCount[], costOf: DeclaredCost): ReadonlyMap<string, Cost> {
  const costs = new Map<string, Cost>();
  for (const [, group] of Map.groupBy(counts, groupKey)) {
    const happened = sum(group.map((one) => one.happened));
    const undone = sum(group.map((one) => one.undone));
    for (const { tenant, agent_id, capability, contract_digest: digest, open } of group) {
      const declared = digest === null ? null : costOf(digest);
      if (declared === null || open === 0) continue;
      const { currency, amount_minor: minor } = declared;
      const of = { tenant, agent_id, capability };
      const key = unitKey(of, currency);
      const atMost = (costs.get(key)?.atMost ?? 0) + open * minor;
      const expected = happened === 0 ? null : Math.ceil((atMost * undone) / happened);
      costs.set(key, { of, currency, atMost, expected });
    }
  }
  return costs;
}

function debtOf({ reserved_minor, open_minor, beyond_minor }: StandingDebt): number {
  return reserved_minor + open_minor + beyond_minor;
}

function groupKey({ tenant, agent_id, capability }: HarmKey): string {
  return JSON.stringify([tenant, agent_id, capability]);
}

function unitKey(of: HarmKey, currency: string): string {
  return `${groupKey(of)} ${currency}`;
}

function order(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
