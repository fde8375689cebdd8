// A contract as its guard was handed it, read with the registry's own rules: what would not register guards nothing.
//
// Boundary: which other capabilities have contracts, only the registry knows; everything a contract says by itself is read here.
import { contractBody, reviewContract } from '@recourse/contract';
import type { Contract, ContractProblem } from '@recourse/contract';

const reviewed = new WeakMap<Contract, readonly ContractProblem[]>();

/** What the registry would refuse a contract for. Contracts are plain data that nobody changes, so each is read once. */
export function contractProblems(contract: Contract): readonly ContractProblem[] {
  const known = reviewed.get(contract);
  if (known !== undefined) return known;
  const review = reviewContract(contractBody(contract), { has: () => true });
  const problems = review.ok ? [] : review.problems;
  reviewed.set(contract, problems);
  return problems;
}
