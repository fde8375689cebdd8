// Across runs children go first, up to a deadline; later ones come after, and say so (docs/design/recovery.md, order; B17, E9).
import { describe, expect, it } from '@jest/globals';
import type { RecordInput } from '@recourse/event-log';
import { partitionForKey } from '@recourse/kernel';
import type { CommitRef } from '@recourse/messages';
import { fact, harness, logged, WAYS } from '@recourse/testing';
import { CHILDREN_FIRST_MS } from '../rules/lineage/dependents.decisions.js';
import {
  core,
  LAST_DISPATCH,
  LEASE,
  markedInput,
  MUTATION,
  ref,
  RUN,
  STEP,
  TENANT,
  terms,
  views,
  WINDOW_END,
  leg,
  planned,
} from '../recoveries.testing.js';
import { recoveriesCore } from '../core.js';

const AT = 10_000;
const AUTO = { impact: 'write', recovery_approval_mode: 'auto' } as const;
const PARENT: CommitRef = { run_id: RUN, commit_id: MUTATION };
const marked = () => markedInput({ terms: terms(AUTO) });

function notice(type: string, body: Readonly<Record<string, unknown>>, tenant = TENANT): RecordInput {
  return logged('recourse.rollback-notifications', type, { tenant, run_id: 'run-child', ...body }, 1, {
    key: 'run-child',
  });
}
const derived = (child: string, tenant = TENANT, parent = PARENT) =>
  notice('DerivationAnnounced', { mutation_id: child, parents: [parent] }, tenant);
const member = (child: string, recoverability = 'compensated', derived_from: readonly CommitRef[] = [PARENT]) => ({
  ...{ mutation_id: child, rollback_id: 'rb_c', subject_ref: null, recoverability, reason: null, derived_from },
});
const together = (...members: readonly ReturnType<typeof member>[]) => notice('RollbackSettled', { members });
const settled = (child: string, recoverability = 'compensated') => together(member(child, recoverability));

describe.each(WAYS)('an effect that other runs made something of, $way', ({ isRebuilt }) => {
  const start = () => harness(core(), { isRebuilt, views: views() });

  it('waits for them, and goes when the last of them is at rest', () => {
    const run = start()
      .when(derived('mut_a'), AT)
      .then(
        fact('DependentNoted', {
          run_id: RUN,
          mutation_id: MUTATION,
          child_run_id: 'run-child',
          child_mutation_id: 'mut_a',
          is_late: false,
        }),
      );
    run.when(derived('mut_a'), AT).thenNothing().when(derived('mut_b'), AT);
    run.when(marked(), AT + 1).then(
      planned({
        wait: {
          reason: 'CHILDREN',
          outstanding: ['mut_a', 'mut_b'],
          owner: 'service:recovery-orchestrator',
          deadline_at: AT + 1 + CHILDREN_FIRST_MS,
        },
      }),
    );
    run
      .when(settled('mut_a'), AT + 2)
      .then(fact('DependentSettled', { child_mutation_id: 'mut_a', recoverability: 'compensated' }));
    run.when(settled('mut_a'), AT + 2).thenNothing();
    run
      .when(settled('mut_b', 'manual_resolution_required'), AT + 3)
      .then(fact('DependentSettled', { child_mutation_id: 'mut_b' }), leg({ step_id: STEP, outstanding: [] }));
  });

  it('goes without them at the deadline, and names who is outstanding', () => {
    const run = start()
      .when(derived('mut_a'), AT)
      .when(derived('mut_b'), AT)
      .when(marked(), AT)
      .when(settled('mut_a'), AT + 1);
    run.whenDue(AT + CHILDREN_FIRST_MS - 1).thenNothing();
    run.whenDue(AT + CHILDREN_FIRST_MS).then(leg({ outstanding: ['mut_b'] }));
    run.when(settled('mut_b'), AT + CHILDREN_FIRST_MS + 1).then(fact('DependentSettled'));
  });

  it('waits for those that come to rest together at once, and goes when it knows of all', () => {
    const other: CommitRef = { run_id: 'run-elsewhere', commit_id: 'mut_other' };
    const run = start()
      .when(derived('mut_a'), AT)
      .when(derived('mut_b'), AT)
      .when(derived('mut_c'), AT)
      .when(marked(), AT + 1);
    run.when(together(member('mut_c'), member('mut_z', 'compensated', [other]), member('mut_x')), AT + 2);
    run.then(fact('DependentSettled', { child_mutation_id: 'mut_c', recoverability: 'compensated' }));
    run
      .when(together(member('mut_b', 'manual_resolution_required'), member('mut_a')), AT + 3)
      .then(
        fact('DependentSettled', { child_mutation_id: 'mut_b', recoverability: 'manual_resolution_required' }),
        fact('DependentSettled', { child_mutation_id: 'mut_a', recoverability: 'compensated' }),
        leg({ step_id: STEP, outstanding: [] }),
      );
  });

  it('waits no longer than its window leaves, with a lease', () => {
    const end = WINDOW_END - LAST_DISPATCH + AT + LEASE + 5_000;
    const run = start()
      .when(derived('mut_a'), AT)
      .when(markedInput({ terms: terms(AUTO), ref: ref({ reversal_expires_at: end }) }), AT);
    run.then(planned({ wait: { reason: 'CHILDREN', deadline_at: AT + 5_000 } }));
    run.whenDue(AT + 5_000).then(leg({ outstanding: ['mut_a'] }));
  });

  it('that is being undone already comes before one noted later, which says so', () => {
    const run = start()
      .when(marked(), AT)
      .then(planned(), leg({ outstanding: [] }));
    run.when(derived('mut_a'), AT + 1).then(fact('DependentNoted', { child_mutation_id: 'mut_a', is_late: true }));
  });

  it('waits for nobody of another tenant, and no settled one nobody noted is recorded', () => {
    const run = start()
      .when(derived('mut_a', 'other'), AT)
      .when(marked(), AT + 1)
      .then(planned(), leg({ outstanding: [] }));
    run.when(settled('mut_x'), AT + 2).thenNothing();
  });
});

describe('notices of commits of other runs', () => {
  const count = 6;
  const input = recoveriesCore({
    leaseKey: Buffer.alloc(32),
    leaseMs: LEASE,
    reviewDeadlineMs: 1_000,
    backoff: { baseMs: 1, maxMs: 1 },
    ownerOf: () => null,
  }).inputs.find(({ topic }) => topic === 'recourse.rollback-notifications');
  const concerned = (one: RecordInput): readonly number[] =>
    Array.from({ length: count }, (_, at) => at).filter(
      (partition) => input?.concerns?.(one, (key) => partitionForKey(key, count) === partition) === true,
    );

  it('concern the owner of the run they were made from, and nobody where there is none', () => {
    expect(concerned(derived('mut_a'))).toEqual([partitionForKey(RUN, count)]);
    expect(concerned(settled('mut_a'))).toEqual([partitionForKey(RUN, count)]);
    expect(concerned(together(member('mut_b', 'compensated', []), member('mut_a')))).toEqual([
      partitionForKey(RUN, count),
    ]);
    expect(concerned(together(member('mut_a', 'compensated', [])))).toEqual([]);
  });
});
