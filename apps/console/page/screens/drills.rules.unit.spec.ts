// What a drill came to, as the screen tells it.
import { describe, expect, it } from '@jest/globals';
import { drillWords, driftFirst } from './drills.rules.js';

describe('a drill', () => {
  it('is told with what drifted first, then what nobody knows, each in its order', () => {
    const findings = ['clean', 'not_run', 'drift', 'clean'].map((verdict, at) => ({ verdict, path: String(at) }));
    expect(driftFirst(findings).map(({ path }) => path)).toEqual(['2', '1', '0', '3']);
  });

  it('says what it came to, and pretends nothing where it does not say', () => {
    expect(drillWords({ verdict: 'drift' })).toBe('Something is not as its contract says.');
    expect(drillWords({ verdict: 'fine' })).toBe('What this drill came to is not said.');
  });
});
