// A bucket that empties with every request and fills with time: how many go through at once, and how many in the long run. Pure.

/** How much goes through. */
export interface Rate {
  /** At once, after a quiet while. */
  readonly burst: number;
  /** In the long run. */
  readonly perSecond: number;
}

/** What is left of a rate. */
export interface Bucket {
  readonly left: number;
  /** When that was so, milliseconds of a clock that only goes on. */
  readonly at: number;
}

/** What is left by now; a bucket nobody has used is full. */
export function filled(bucket: Bucket | undefined, { burst, perSecond }: Rate, now: number): Bucket {
  if (bucket === undefined) return { left: burst, at: now };
  const gained = (Math.max(0, now - bucket.at) / 1_000) * perSecond;
  return { left: Math.min(burst, bucket.left + gained), at: now };
}

/** Milliseconds until one more goes through; 0 for now. */
export function waitFor({ left }: Bucket, { perSecond }: Rate): number {
  return left >= 1 ? 0 : ((1 - left) / perSecond) * 1_000;
}
