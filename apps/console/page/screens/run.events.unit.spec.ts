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
});
