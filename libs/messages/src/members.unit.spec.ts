import { describe, expect, it } from '@jest/globals';
import { announcedIn, announcedTogether, settledIn, settledTogether } from './members.js';
import type { Announced, Settled } from './members.js';

const root = (id: string) => ({ rollback_id: `rb_${id}`, run_id: 'run-0', mutation_id: id, bound_at: null });
const announced = (id: string, from: string | null): Announced => ({
  tenant: 'acme',
  run_id: 'run-1',
  caused_by: {
    kind: 'observation',
    event_id: 'e',
    ref: 'r',
    source: 's',
    statement: null,
    stated_at: 1,
    partition: 0,
    position: 1,
    root: from === null ? null : root(from),
  },
  mutation_id: id,
  rollback_id: `rb_${id}`,
  agent_id: 'agent-1',
  subject_ref: null,
  capability: 'c',
  assumption_refs: [],
  committed_at: 1,
  derived_from: [],
  has_effect: true,
  resume_checkpoint: null,
  consumers: [],
  initiator: null,
  contract_digest: null,
});
const settled = (id: string): Settled => ({
  ...{ tenant: 'acme', run_id: 'run-1', mutation_id: id, rollback_id: `rb_${id}`, subject_ref: null },
  ...{ recoverability: 'compensated', reason: null, derived_from: [] },
});

describe('a notice of several', () => {
  it('says of each what was said of it, in the order in which it came', () => {
    const [c, b, a] = [announced('c', 'x'), announced('b', null), announced('a', 'y')];
    const notice = announcedTogether([c, b, a]);
    expect(notice.caused_by.root).toBeNull();
    expect(notice.members.map((one) => one.root)).toEqual([root('x'), null, root('y')]);
    expect(announcedIn(notice)).toEqual([c, b, a]);
    expect(settledIn(settledTogether([settled('c'), settled('a')]))).toEqual([settled('c'), settled('a')]);
  });

  it('says nothing of anybody where it has no members', () => {
    expect(announcedIn({ ...announcedTogether([announced('a', null)]), members: [] })).toEqual([]);
    expect(settledIn({ tenant: 'acme', run_id: 'run-1', members: [] })).toEqual([]);
  });
});
