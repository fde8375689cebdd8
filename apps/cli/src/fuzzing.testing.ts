// Fuzzing of parsers of untrusted octets: a short run with every unit run, a long one with `npm run fuzz`.
//
// A failure prints its seed. Put it into SEEDS, which are tried first from then on.
import fc from 'fast-check';

/** Milliseconds for each parser; a few hundred runs without. */
const FUZZ_MS = Number(process.env['RECOURSE_FUZZ_MS'] ?? '0');
/** Seeds of runs that failed once. */
const SEEDS: readonly number[] = [];
const SEED_RUNS = 50;

/** Longest a fuzzed test may take, milliseconds. */
export const WITHIN = FUZZ_MS + 60_000;

/** A sample with some octets changed, put in or taken out; or any octets at all. */
export function near(sample: string | Buffer): fc.Arbitrary<Buffer> {
  const bytes = Buffer.from(sample);
  const edit = fc.record({ at: fc.nat(bytes.length), drop: fc.nat(3), put: fc.uint8Array({ maxLength: 3 }) });
  const edited = fc
    .array(edit, { minLength: 1, maxLength: 4 })
    .map((edits) =>
      edits.reduce(
        (text, { at, drop, put }) => Buffer.concat([text.subarray(0, at), put, text.subarray(at + drop)]),
        bytes,
      ),
    );
  return fc.oneof(
    { weight: 4, arbitrary: edited },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((octets) => Buffer.from(octets)) },
  );
}

/** One octet of some that is another: where, counted round, and by which bits. */
export interface Flip {
  readonly at: number;
  readonly mask: number;
}
export const flip: fc.Arbitrary<Flip> = fc.record({ at: fc.nat(), mask: fc.integer({ min: 1, max: 255 }) });

/** The octets with one of them altered; none, where there are none. */
export function flipped(octets: Buffer, { at, mask }: Flip): Buffer<ArrayBuffer> {
  const copy = Buffer.from(octets);
  if (copy.length > 0) copy[at % copy.length]! ^= mask;
  return copy;
}

/** Tries what an arbitrary makes. */
export async function fuzzed<T>(
  made: fc.Arbitrary<T>,
  takes: (value: T) => void | Promise<void>,
  runs = 200,
): Promise<void> {
  const property = fc.asyncProperty(made, async (value) => {
    await takes(value);
  });
  for (const seed of SEEDS) await fc.assert(property, { seed, numRuns: SEED_RUNS });
  await fc.assert(
    property,
    FUZZ_MS === 0
      ? { numRuns: runs }
      : { numRuns: 10 ** 9, interruptAfterTimeLimit: FUZZ_MS, markInterruptAsFailure: false },
  );
}
