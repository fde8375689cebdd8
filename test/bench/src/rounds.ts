// Interleaved rounds and what is read off them. Pure but for the rounds themselves.

/** Two sides that are measured in turn, so that whatever else the machine does hits both. */
export interface Sides<A, B> {
  readonly ours: (round: number) => Promise<A>;
  readonly raw: (round: number) => Promise<B>;
}

/** Runs rounds with the order changing: ours first, then raw first, and so on. */
export async function interleaved<A, B>(
  rounds: number,
  { ours, raw }: Sides<A, B>,
): Promise<{ readonly ours: readonly A[]; readonly raw: readonly B[] }> {
  const all = { ours: [] as A[], raw: [] as B[] };
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) all.ours.push(await ours(round));
    all.raw.push(await raw(round));
    if (round % 2 === 1) all.ours.push(await ours(round));
  }
  return all;
}

/** Value below which a share of the samples lies; NaN without samples. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5);
}

export function sum(samples: readonly number[]): number {
  return samples.reduce((total, one) => total + one, 0);
}

/** Rate over all rounds together: what was done by the time it took. */
export function rateOf(rounds: readonly { readonly done: number; readonly ms: number }[]): number {
  return (sum(rounds.map(({ done }) => done)) / sum(rounds.map(({ ms }) => ms))) * 1_000;
}
