// What the timeline of a run says of its rows.
import { describe, expect, it } from '@jest/globals';
import { eventsOf } from './run.events.js';

const NOTHING = { mutations: [], commits: [], rollbacks: [], deliveries: [], undos: [], steps: [] };

describe('the timeline of a run', () => {
  it.each<readonly [string, object, string]>([
    ['what was said', { statement: { body: { status: 'shipped' } }, ref: 'order/1#status' }, '{"status":"shipped"}'],
    ['what it was said of, where it is sealed', { statement: { body: null }, ref: 'order/1#status' }, 'order/1#status'],
    ['that it is sealed, where it was said of nothing', { statement: { body: null }, ref: null }, 'sealed'],
  ])('shows %s', (_what, evidence, detail) => {
    const rollbacks = [{ evidence: { stated_at: 1, source: 'warehouse', ...evidence } }];
    expect(eventsOf({ ...NOTHING, rollbacks })[0]).toMatchObject({ who: 'warehouse', detail });
  });

  it('has a name of its own for each event, also of steps that were planned in one instant', () => {
    const steps = ['step_1', 'step_2', 'step_3'].map((step_id) => ({
      step_id,
      decided_at: 5,
      decision: 'request_approval',
      approvals: ['mira', 'omar'].map((by) => ({ by, at: 7, reason: 'fine' })),
    }));
    const deliveries = ['a', 'b'].map((delivery_id) => ({
      delivery_id,
      rolled_back_at: 5,
      mode: 'event',
      consumer: 'c',
    }));
    const events = eventsOf({ ...NOTHING, steps, deliveries });
    expect(events.map(({ what }) => what).sort()).toEqual([
      ...Array.from({ length: 6 }, () => 'Agreed'),
      ...Array.from({ length: 3 }, () => 'Planned'),
      ...Array.from({ length: 2 }, () => 'Told'),
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  it('says who denied a step, who closed it, and why', () => {
    const denied = { step_id: 's', denied_by: 'omar', denied_for: { at: 8, reason: 'the customer keeps it' } };
    const resolved = { by: 'pia', at: 9, resolution: 'accepted', reason: 'as agreed' };
    const last = { at: 3, outcome: 'failed', reason: 'STEP_FAILED' };
    const toldOf = (step: object) =>
      eventsOf({ ...NOTHING, steps: [{ ...step }] }).map(({ at, what, who, detail }) => [at, what, who, detail]);
    expect(toldOf({ ...denied, phase: 'resolved', last, resolved })).toEqual([
      [3, 'failed', null, expect.any(String)],
      [8, 'Denied', 'omar', 'the customer keeps it'],
      [9, 'Closed by hand', 'pia', 'accepted: as agreed'],
    ]);
    expect(toldOf({ step_id: 's', phase: 'compensated', last, resolved: null })[0]?.[1]).toBe('compensated');
  });
});
