// What is left out of a batch that gets too large: what is owed again goes first, and what fits alone is let go.
import { describe, expect, it } from '@jest/globals';
import type { OwedAgain } from './obligations.js';
import { smallerPart } from './overfull.decisions.js';
import type { QueueItem } from './queue-item.js';
import type { TimerInput } from './service-core.js';

const items = [0, 1, 2].map((offset): QueueItem => ({
  cursor: { topic: 'spec.inputs', partition: 0, offset: offset + 1, seq: offset + 1, hash: Buffer.alloc(32) },
  isMeaningful: true,
  what: { kind: 'skip' },
}));
const timers = ['a', 'b', 'c'].map((key): TimerInput => ({
  source: 'timer',
  address: { kind: 'step', group: 'run-1', key },
  dueAt: 1,
}));
const resends: readonly OwedAgain[] = [
  { message: { obligationId: 'o', topic: 't', key: 'k', value: Buffer.alloc(0), headers: {}, keyId: null }, resend: 1 },
];

describe('a batch that takes less than waits', () => {
  it('takes the inputs that fit, and one at least', () => {
    expect(smallerPart({ items, timers, resends }, { kind: 'overfull', take: 2 })).toEqual({
      items: items.slice(0, 2),
      timers,
      failed: [],
    });
    expect(smallerPart({ items, timers, resends }, { kind: 'overfull', take: 0 })).toEqual({
      items: items.slice(0, 1),
      timers,
      failed: [],
    });
  });

  it.each([
    ['timers that are due', { timers, resends: [] }],
    ['what is owed again', { timers: [], resends }],
  ])('lets an input that does not fit beside %s wait for the next batch', (_, beside) => {
    expect(smallerPart({ items: items.slice(0, 1), ...beside }, { kind: 'overfull', take: 0 })).toEqual({
      items: [],
      timers: beside.timers,
      failed: [],
    });
  });

  it('takes the timers that fit, and no inputs beside them', () => {
    expect(smallerPart({ items, timers, resends }, { kind: 'overfull', take: 0, timers: 2 })).toEqual({
      items: [],
      timers: timers.slice(0, 2),
      failed: [],
    });
  });

  it('lets a timer that does not fit beside what is owed again wait for the next batch', () => {
    expect(smallerPart({ items, timers, resends }, { kind: 'overfull', take: 0, timers: 0 })).toEqual({
      items: [],
      timers: [],
      failed: [],
    });
  });

  it('goes on without a timer that alone leads to more than a batch, and says whose it is and what ends that', () => {
    const { failed, ...rest } = smallerPart({ items, timers, resends: [] }, { kind: 'overfull', take: 0, timers: 0 });
    expect(rest).toEqual({ items, timers: timers.slice(1) });
    expect(failed.map(({ timer }) => timer)).toEqual([timers[0]]);
    expect(String(failed[0]?.cause)).toMatch(
      /DECISION_TOO_LARGE: what the deadline of step run-1\/a leads to .* no command and no setting .* a version of the service/,
    );
  });
});
