import { describe, expect, it } from '@jest/globals';
import { isRunId } from '@recourse/kernel';
import fc from 'fast-check';
import { findStorageProblem } from './parking.decisions.js';

describe('the length of a text', () => {
  const long = 'x'.repeat(10_000);

  it.each([
    ['a contract', { body: long }],
    ['what a person works from', { runbook: 'x'.repeat(2_000) }],
    ['each of several contracts', { body: long, together: [long, long] }],
  ])('of %s is that of running text', (_what, body) => {
    expect(findStorageProblem('labels.add_label', body)).toBeNull();
  });

  it.each([
    ['an identifier', { name: long }, '/name'],
    ['one of several', { mutation_ids: ['m', long] }, '/mutation_ids/1'],
  ])('of %s is what an index takes', (_what, body, path) => {
    expect(findStorageProblem('k', body)).toEqual({
      reason: 'TEXT_TOO_LONG',
      detail: `${path} has more than 512 bytes`,
    });
  });

  it('has an end for running text too', () => {
    expect(findStorageProblem('k', { together: ['x'.repeat(70_000)] })).toMatchObject({ reason: 'TEXT_TOO_LONG' });
  });
});

it('the id of a run is taken of an effect where people can name it, so that no effect is out of their reach by its run', () => {
  const run = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 600 }),
    fc.string({ unit: 'grapheme', minLength: 100, maxLength: 300 }),
    fc.constantFrom('', 'a\nb', '\u001b[2J', 'x'.repeat(512), 'x'.repeat(513), 'a\u0000', '\ud800'),
  );
  fc.assert(
    fc.property(run, (id) => (findStorageProblem(id, { run_id: id }) === null) === isRunId(id)),
    { numRuns: 2_000 },
  );
});
