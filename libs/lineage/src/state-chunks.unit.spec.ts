import { describe, expect, it } from '@jest/globals';
import { canonicalJson } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { Payload } from '@recourse/messages';
import fc from 'fast-check';
import { CHUNK_BYTES, CHUNKS_MAX, cutState, isChunk, joinState, SALT_BYTES } from './state-chunks.js';
import type { CutState } from './state-chunks.js';

const json = fc.jsonValue() as fc.Arbitrary<Json>; // the same values under another name
let salts = 0;
const saltOf = (): Buffer => {
  salts += 1;
  const salt = Buffer.alloc(SALT_BYTES);
  salt.writeUInt32BE(salts);
  return salt;
};
const chunksOf = ({ state, chunks }: CutState): readonly Payload[] => (state.body === null ? chunks : [state.body]);

describe('a state that is cut', () => {
  it('is joined again, whatever it holds', () => {
    fc.assert(
      fc.property(json, (content) => {
        const cut = cutState(content, saltOf);
        expect(canonicalJson(joinState(chunksOf(cut).map(({ body }) => body)))).toBe(canonicalJson(content));
        expect(cut.state).toMatchObject({
          kind: 'whole',
          base_id: null,
          size_bytes: Buffer.byteLength(canonicalJson(content)),
        });
      }),
    );
  });

  it.each([
    [CHUNK_BYTES - 2, 1],
    [CHUNK_BYTES - 1, 2],
    [3 * CHUNK_BYTES - 2, 3],
  ])('of %i letters has %i chunks, between letters of several octets too', (letters, count) => {
    for (const text of ['x'.repeat(letters), `${'x'.repeat(letters - 2)}é`]) {
      const cut = cutState(text, saltOf);
      expect([cut.state.chunk_sha256s.length, cut.chunks.length]).toEqual([count, count === 1 ? 0 : count]);
      expect(joinState(chunksOf(cut).map(({ body }) => body))).toBe(text);
      expect(chunksOf(cut).every((chunk, index) => isChunk(chunk, cut.state.chunk_sha256s[index]))).toBe(true);
    }
  });

  it('is a delta on the commit it names', () => {
    expect(cutState({}, saltOf, 'cp_1').state).toMatchObject({ kind: 'delta', base_id: 'cp_1' });
  });

  it('tells nothing of itself by its hash: the same content has another under another salt', () => {
    const hashes = [1, 2].map(() => cutState({ name: 'Asha' }, saltOf).state.chunk_sha256s[0]?.toString('hex'));
    expect(new Set(hashes).size).toBe(2);
  });

  it('is refused where it is larger than chunks may hold', () => {
    expect(() => cutState('x'.repeat(CHUNKS_MAX * CHUNK_BYTES - 1), saltOf)).toThrow(RangeError);
  });
});

describe('a chunk', () => {
  it('is the one that was told of, or it is not: any other octet makes it another', () => {
    fc.assert(
      fc.property(json, fc.nat(), fc.integer({ min: 1, max: 255 }), (content, place, change) => {
        const { state } = cutState(content, saltOf);
        const chunk = state.body!;
        const body = Buffer.from(chunk.body);
        const at = place % body.length;
        body[at] = body[at]! ^ change;
        expect([isChunk(chunk, state.chunk_sha256s[0]), isChunk({ ...chunk, body }, state.chunk_sha256s[0])]).toEqual([
          true,
          false,
        ]);
      }),
    );
  });

  it('is none without a hash, sealed, shorter than its salt, or under a hash of its own', () => {
    const { state } = cutState({ a: 1 }, saltOf);
    const [chunk, told] = [state.body!, state.chunk_sha256s[0]];
    expect([
      isChunk(chunk, undefined),
      isChunk({ ...chunk, encoding: 'sealed' }, told),
      isChunk({ ...chunk, body: Buffer.alloc(3) }, told),
      isChunk({ ...chunk, sha256: Buffer.alloc(32) }, told),
    ]).toEqual([false, false, false, false]);
  });
});
