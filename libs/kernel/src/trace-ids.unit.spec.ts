import { describe, expect, it } from '@jest/globals';
import { placeInTrace, spanIdOf, traceIdOf, traceparentOf } from './ids.js';

const LEG = { name: 'leg', which: '1 answered' };

describe('the place in a trace', () => {
  it('is carried to other processes as a traceparent, and read off it', () => {
    const header = traceparentOf('rb_1', LEG);
    expect(header).toBe(`00-${traceIdOf('rb_1')}-${spanIdOf('rb_1', LEG)}-01`);
    expect(placeInTrace(header)).toEqual({ traceId: traceIdOf('rb_1'), spanId: spanIdOf('rb_1', LEG) });
  });

  it('is read off a later version of the header, which may say more', () => {
    expect(placeInTrace(`${traceparentOf('rb_1', LEG).replace(/^00/, '01')}-more`)).toEqual({
      traceId: traceIdOf('rb_1'),
      spanId: spanIdOf('rb_1', LEG),
    });
  });

  it.each([
    undefined,
    '',
    'rb_1',
    `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01`,
    `00-${'1'.repeat(32)}-${'0'.repeat(16)}-01`,
    `ff-${'1'.repeat(32)}-${'1'.repeat(16)}-01`,
    `00-${'1'.repeat(31)}-${'1'.repeat(16)}-01`,
  ])('is none in %j', (header) => {
    expect(placeInTrace(header)).toBeNull();
  });
});
