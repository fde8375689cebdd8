import { describe, expect, it } from '@jest/globals';
import { triggerMeasures } from './trigger.measures.js';

const ADMITTED = { was_remembered: false };

describe('series of triggers', () => {
  it.each([
    ['MutationsFell', { evidence: {}, contracts: [], members: [{ admission: ADMITTED }] }, 'opened'],
    ['CheckpointRolledBack', { admission: ADMITTED, others: [] }, 'opened'],
    ['TriggerUnmatched', { admission: ADMITTED }, 'opened'],
    ['TriggerHeld', {}, 'held'],
    ['TriggerRedundant', {}, 'redundant'],
    ['SourceJudged', { confirmed: true }, 'confirmed'],
    ['SourceJudged', { confirmed: false }, 'rejected'],
  ])('count %s as what became of it or was said, without naming a source (E42)', (type, body, outcome) => {
    expect(triggerMeasures({ type, body: { ...body, source: 'warehouse' } })).toEqual([
      { series: 'triggers', outcome },
    ]);
  });

  it('count a trigger once: the mark of what was remembered is none of its own', () => {
    const members = [{ admission: { was_remembered: true } }, { admission: ADMITTED }];
    expect(triggerMeasures({ type: 'MutationsFell', body: { evidence: {}, contracts: [], members } })).toHaveLength(1);
  });

  it('count breakers by what they are about', () => {
    expect(triggerMeasures({ type: 'BreakerOpened', body: { scope: 'source' } })).toEqual([
      { series: 'breakersOpened', scope: 'source' },
    ]);
  });

  it('count steady rises by whose they are (E47)', () => {
    expect(triggerMeasures({ type: 'TrendRose', body: { scope: 'agent' } })).toEqual([
      { series: 'trendsRaised', scope: 'agent' },
    ]);
  });
});
