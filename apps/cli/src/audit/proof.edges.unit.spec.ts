// What is a proof and what is none, to the octet: the same as for the checker in Python (test/interop/test_proofs.py).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parseVerifier } from '@recourse/audit';
import { problemOfProof } from './check-proof.js';

const PROOFS = join(import.meta.dirname, '../../../../test/interop/proofs');

interface Edge {
  readonly name: string;
  readonly holds: boolean;
  readonly at: readonly (string | number)[];
  readonly set?: unknown;
  readonly remove?: boolean;
  readonly replace?: readonly [string, string];
}

const { key, proof } = JSON.parse(readFileSync(join(PROOFS, 'record.json'), 'utf8')) as {
  readonly key: string;
  readonly proof: unknown;
};
const { edges } = JSON.parse(readFileSync(join(PROOFS, 'edges.json'), 'utf8')) as { readonly edges: readonly Edge[] };

/** The proof with what an edge does to it. */
function altered({ at, set, remove = false, replace }: Edge): unknown {
  const copy = structuredClone(proof);
  const last = at.at(-1);
  if (last === undefined) return copy;
  // The places are those of the file.
  const holder = at.slice(0, -1).reduce<unknown>((value, step) => (value as never)[step], copy) as Record<
    string,
    unknown
  >;
  if (remove) Reflect.deleteProperty(holder, last);
  else holder[last] = replace === undefined ? set : String(holder[last]).replace(...replace);
  return copy;
}

describe('a proof at the edges of its format', () => {
  it.each(edges)('is judged as in every language: $name', async (edge) => {
    const verifier = parseVerifier(key);
    expect(verifier).not.toBeNull();
    expect((await problemOfProof(altered(edge), verifier === null ? [] : [verifier])) === null).toBe(edge.holds);
  });
});
