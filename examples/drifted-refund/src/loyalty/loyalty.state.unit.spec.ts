import { describe, expect, it } from '@jest/globals';
import type { Notification } from '@recourse/sdk';
import { EMPTY_LOYALTY, evolveLoyalty, fallOf, heardIn, newIn } from './loyalty.state.js';
import type { LoyaltyEvent } from './loyalty.state.js';

const grant: LoyaltyEvent = { type: 'PointsGranted', mutation_id: 'mut_1', order: '4711', points: 50 };
const place = { seq: 2, prev_hash: Buffer.alloc(32), source_seq: 1, source_index: 0, tenant: 'acme', run_id: 'run' };
const settled = (...ids: readonly string[]): Notification => ({
  type: 'RollbackSettled',
  ...{ partition: 0, seq: 2, offset: 1, hash: Buffer.alloc(32) },
  body: {
    ...place,
    members: ids.map((mutation_id) => ({
      ...{ mutation_id, rollback_id: `rb_${mutation_id}`, subject_ref: null, derived_from: [] },
      recoverability: 'compensated',
      reason: null,
    })),
  },
});
const fallen = (...ids: readonly string[]): Notification => ({
  type: 'RollbackAnnounced',
  ...{ partition: 0, seq: 1, offset: 0, hash: Buffer.alloc(32) },
  body: {
    ...{ ...place, seq: 1 },
    caused_by: {
      ...{ kind: 'observation', event_id: 'e', ref: 'r', source: 's', statement: null, stated_at: 1 },
      ...{ partition: 0, position: 1, root: null },
    },
    members: ids.map((mutation_id) => ({
      ...{ mutation_id, rollback_id: `rb_${mutation_id}`, root: null, agent_id: 'agent', subject_ref: null },
      ...{ capability: 'c', assumption_refs: [], committed_at: 1, derived_from: [], has_effect: true },
      ...{ initiator: null, contract_digest: null },
      ...{ resume_checkpoint: null, consumers: [] },
    })),
  },
});
const heard = (told: Notification): readonly LoyaltyEvent[] =>
  heardIn(told).map((one) => ({ type: 'NotificationHeard', heard: one }));
const fell = (...ids: readonly string[]): readonly LoyaltyEvent[] => ids.flatMap((id) => fallOf(EMPTY_LOYALTY, id));
const state = (...events: readonly LoyaltyEvent[]) => events.reduce(evolveLoyalty, EMPTY_LOYALTY);

describe('the loyalty service', () => {
  it('keeps points of a commit that stands', () => {
    expect(state(grant, ...fell('mut_2')).grants['mut_1']?.state).toBe('granted');
  });
  it('withdraws them when the commit is rolled back', () => {
    expect(state(grant, ...fell('mut_2', 'mut_1')).grants['mut_1']?.state).toBe('withdrawn');
  });
  it('grants nothing lasting for a commit it knows to be rolled back', () => {
    expect(state(...fell('mut_1'), grant).grants['mut_1']?.state).toBe('withdrawn');
  });
  it('withdraws once, however often it is told', () => {
    expect(fallOf(state(...fell('mut_1')), 'mut_1')).toEqual([]);
  });
  it('hears what a notification says of each commit, in its order, once', () => {
    const told = [...heardIn(fallen('mut_2', 'mut_1')), ...heardIn(settled('mut_2', 'mut_1'))];
    expect(told.map(({ type, index, mutation_id, rollback_id }) => [type, index, mutation_id, rollback_id])).toEqual([
      ['RollbackAnnounced', 0, 'mut_2', 'rb_mut_2'],
      ['RollbackAnnounced', 1, 'mut_1', 'rb_mut_1'],
      ['RollbackSettled', 0, 'mut_2', 'rb_mut_2'],
      ['RollbackSettled', 1, 'mut_1', 'rb_mut_1'],
    ]);
    expect(newIn(EMPTY_LOYALTY, told)).toEqual(told);
    expect(newIn(state(...heard(fallen('mut_2', 'mut_1'))), told)).toEqual(told.slice(2));
  });
});
