import { describe, expect, it } from '@jest/globals';
import { EMPTY_LOYALTY, evolveLoyalty, wasHeard } from './loyalty.state.js';
import type { Heard, LoyaltyEvent } from './loyalty.state.js';

const grant: LoyaltyEvent = { type: 'PointsGranted', mutation_id: 'mut_1', order: '4711', points: 50 };
const heard = (type: Heard['type'], seq: number): LoyaltyEvent => ({
  type: 'NotificationHeard',
  heard: {
    partition: 0,
    seq,
    type,
    run_id: 'run',
    mutation_id: 'mut_1',
    rollback_id: 'rb',
    recoverability: null,
    reason: null,
  },
});
const state = (...events: readonly LoyaltyEvent[]) => events.reduce(evolveLoyalty, EMPTY_LOYALTY);

describe('the loyalty service', () => {
  it('keeps points of a commit that stands', () => {
    expect(state(grant, heard('CommitAnnounced', 1)).grants['mut_1']?.state).toBe('granted');
  });
  it('withdraws them when the commit is rolled back', () => {
    expect(state(grant, heard('RollbackAnnounced', 2)).grants['mut_1']?.state).toBe('withdrawn');
  });
  it('grants nothing lasting for a commit it knows to be rolled back', () => {
    expect(state(heard('RollbackAnnounced', 2), grant).grants['mut_1']?.state).toBe('withdrawn');
  });
  it('knows what it heard', () => {
    const after = state(heard('CommitAnnounced', 1));
    expect([
      wasHeard(after, { partition: 0, seq: 1 }),
      wasHeard(after, { partition: 1, seq: 1 }),
      wasHeard(after, { partition: 0, seq: 2 }),
    ]).toEqual([true, false, false]);
  });
});
