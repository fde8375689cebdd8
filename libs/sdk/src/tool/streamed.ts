// A tool that streams its answer: what it gives last is the answer, as agent kits have it.
import { types } from 'node:util';

/** What a tool that answers with `Given` answers in the end. */
export type Last<Given> = Given extends AsyncIterable<infer One> & { readonly next: unknown } ? One : Given;

type Stream = AsyncIterable<unknown> | Iterable<unknown>;

/**
 * What a stream gives last. Errors: its own, which are the tool's.
 *
 * Shape: a generator has done nothing yet: it acts while what it gives is taken, and is run to its end.
 */
export async function lastOf(given: Stream): Promise<unknown> {
  let last: unknown;
  for await (const one of given) last = one;
  return last;
}

/** Is what a tool gave a stream of its answers: what a generator function gives? A list, a page of one, a cursor or a file that can be read on in is none: it is there. What is none is read at once, as it was given. */
export function isStream(given: unknown): given is Stream {
  return types.isGeneratorObject(given);
}
