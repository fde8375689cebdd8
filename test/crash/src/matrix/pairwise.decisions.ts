// Says which cases are enough for every two values of two axes to meet. Pure; the same answer each time.
import type { MatrixCase } from './matrix.cases.js';

/** Pairs of values from two axes that a case brings together. */
export function pairsOf({ point, action, target }: MatrixCase): readonly string[] {
  return [`${point} × ${action}`, `${point} × ${target}`, `${action} × ${target}`];
}

/** A worker that dies after its call took effect, and is asked the same again (B18): taken whatever the pairs need. */
const ALWAYS: readonly MatrixCase[] = [{ point: 'act done', action: 'kill -9', target: 'worker' }];

/**
 * Picks cases until every pair that occurs in some case occurs in a picked one.
 *
 * Shape:  greedy: the case with the most pairs that are still missing, the first of several; in the order of the matrix.
 * Source: pairwise testing; most faults need no more than two conditions at once.
 */
export function pairwise(all: readonly MatrixCase[]): readonly MatrixCase[] {
  const picked = new Set(all.filter((one) => ALWAYS.some((always) => pairsOf(always).join() === pairsOf(one).join())));
  const missing = new Set(all.flatMap(pairsOf).filter((pair) => ![...picked].flatMap(pairsOf).includes(pair)));
  const news = (one: MatrixCase): number => pairsOf(one).filter((pair) => missing.has(pair)).length;
  while (missing.size > 0) {
    const best = all.reduce((leader, one) => (news(one) > news(leader) ? one : leader));
    picked.add(best);
    for (const pair of pairsOf(best)) missing.delete(pair);
  }
  return all.filter((one) => picked.has(one));
}
