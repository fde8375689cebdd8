import { describe, expect, it } from '@jest/globals';
import { readingOf } from './readings.js';

const sealed = {
  content_type: 'text/plain',
  encoding: 'sealed',
  key_id: 'k',
  sha256: Buffer.alloc(32),
  body: Buffer.alloc(40),
};
const about = (subject_ref: string): readonly string[] =>
  readingOf([{ tenant: 'acme', mutation_id: 'mut_1', run_id: 'run-1', subject_ref, args: sealed }], 'acme').subjects;

describe('a reading', () => {
  it('names subjects as they are', () => {
    expect(about('guest/asha')).toEqual(['guest/asha']);
  });

  it.each([
    ['NUL', 'guest/\0asha'],
    ['half a surrogate', 'guest/\ud83d'],
    ['10 KB', 'x'.repeat(10_240)],
  ])('names a subject with %s by its hash, since no record may hold it', (_what, subject) => {
    expect(about(subject)).toEqual([expect.stringMatching(/^sha256:[0-9a-f]{64}$/u)]);
  });
});
