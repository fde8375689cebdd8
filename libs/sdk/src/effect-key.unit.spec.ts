import { describe, expect, it } from '@jest/globals';
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import fc from 'fast-check';
import { effectKey, mutationId } from './effect-key.js';

const refund = {
  step: 'refund',
  capability: 'payments.issue_refund',
  target: 'order/4711',
  args: { order: '4711', amount_minor: 500_000 },
};

describe('an effect key', () => {
  it('does not depend on the order of arguments', () => {
    expect(effectKey({ ...refund, args: { amount_minor: 500_000, order: '4711' } })).toBe(effectKey(refund));
  });

  it.each([
    ['step', { step: 'refund-2' }],
    ['capability', { capability: 'payments.charge' }],
    ['target', { target: null }],
    ['args', { args: { order: '4711', amount_minor: 500_001 } }],
  ])('changes with the %s', (_, change) => {
    expect(effectKey({ ...refund, ...change })).not.toBe(effectKey(refund));
  });

  it('follows its grammar, so that any language can make it', () => {
    const argsHash = sha256Hex('{"amount_minor":500000,"order":"4711"}');
    expect(effectKey(refund)).toBe(`eff_${sha256Hex(`["refund","payments.issue_refund","order/4711","${argsHash}"]`)}`);
  });

  it('keeps parts apart: no two identities share a key', () => {
    const identity = fc.record({
      step: fc.string(),
      capability: fc.string(),
      target: fc.option(fc.string()),
      args: fc.jsonValue(),
    });
    fc.assert(
      fc.property(identity, identity, (a, b) => {
        // jsonValue gives -0 too, which JSON writes as 0.
        const [left, right] = [canonicalJson(a), canonicalJson(b)];
        return (effectKey(a as typeof refund) === effectKey(b as typeof refund)) === (left === right);
      }),
    );
  });
});

describe('a mutation id', () => {
  it('is known before the action and differs by tenant and run', () => {
    const key = effectKey(refund);
    expect(
      new Set([mutationId('t', 'run-1', key), mutationId('t', 'run-2', key), mutationId('u', 'run-1', key)]).size,
    ).toBe(3);
    expect(mutationId('t', 'run-1', key)).toBe(mutationId('t', 'run-1', key));
  });
});
