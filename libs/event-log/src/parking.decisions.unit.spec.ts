import { describe, expect, it } from '@jest/globals';
import { findStorageProblem, isRunId } from '@recourse/kernel';
import fc from 'fast-check';
import type { Speaker, SpeakerRole } from '@recourse/kernel';
import { PARKED_KIND } from './fold.js';
import { countParkedOf } from './parking.decider.js';
import { subjectOf } from './parking.decisions.js';
import { orderOf, waitsFor } from './parking-order.decisions.js';
import type { Doc } from './service-core.js';

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

describe('whose data a record holds', () => {
  it.each<[string, Doc, string | null]>([
    ['the subject that it names', { subject_ref: 'customer/7', run_id: 'r' }, 'customer/7'],
    ['that of its execution', { execution: { subject_ref: 'customer/7' }, run_id: 'r' }, 'customer/7'],
    ['that of its checkpoint', { checkpoint: { subject_ref: 'customer/7', run_id: 'r' } }, 'customer/7'],
    ['what its assumption is about', { ref: 'order/4711#shipped', run_id: null }, 'order/4711'],
    ['its run', { run_id: 'r', subject_ref: null }, 'run/r'],
    ['nobody knows whose', { name: 'x' }, null],
  ])('is told by %s', (_, body, subject) => {
    expect(subjectOf(body)).toBe(subject);
  });
});

describe('a record', () => {
  const key = (keyId: string, role: SpeakerRole, ...tenants: readonly string[]): Speaker => ({
    keyId,
    roles: [role],
    names: [keyId],
    tenants,
  });
  const agent = key('agent', 'producer', 'acme');
  const crm = key('crm', 'source', 'acme');
  const edge = key('edge', 'service', '*');
  const everywhere = key('worker', 'worker', '*');

  it.each<[string, later: [string | null, Speaker?], earlier: [string | null, Speaker?], waits: boolean]>([
    ['its own, of its tenant', ['acme', agent], ['acme', agent], true],
    ['its own that nobody could read', ['acme', agent], [null, agent], true],
    ['its own, of another tenant', ['acme', everywhere], ['globex', everywhere], false],
    ['its own that nobody could read, of all tenants', ['acme', everywhere], [null, everywhere], true],
    ['that of another key', ['acme', crm], ['acme', agent], false],
    ['what another key sent and nobody could read', ['acme', crm], [null, agent], false],
    ['an agent’s, as a command of a person', ['acme', edge], ['acme', agent], false],
    ['an agent’s, as a record of a log', ['acme'], ['acme', agent], false],
    ['a service’s', ['acme', agent], ['acme', edge], true],
    ['a service’s, of another tenant', ['acme', agent], ['globex', edge], false],
    ['a service’s of no tenant', ['acme', agent], [null, edge], true],
    ['a log’s', ['acme', agent], ['acme'], true],
    ['anybody’s, where nobody signs', ['acme'], ['acme'], true],
    ['another tenant’s, where nobody signs', ['acme'], ['globex'], false],
  ])('waits for what the same key sent before, and for what our services sent: %s', (_which, later, earlier, waits) => {
    expect(waitsFor(orderOf(later[0], later[1]), orderOf(earlier[0], earlier[1]))).toBe(waits);
  });

  it('that is parked is counted for its tenant and key', () => {
    const parked: readonly Doc[] = [
      { open: true, tenant: 'acme' },
      { open: true, tenant: null },
      { open: false, tenant: 'acme' },
      { open: true, tenant: 'globex' },
    ];
    const state = {
      list: (kind: string, group: string) => (kind === PARKED_KIND && group === 'run-1' ? parked : []),
    };
    expect([countParkedOf(state, 'run-1', 'acme'), countParkedOf(state, 'run-2', 'acme')]).toEqual([2, 0]);
  });
});
