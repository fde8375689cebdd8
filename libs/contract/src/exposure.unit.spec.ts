import { describe, expect, it } from '@jest/globals';
import { parseContract } from './body.js';
import { exposureOf } from './consequence.js';
import { mailContract } from './fixtures.testing.js';
import type { ContractJson } from './fixtures.testing.js';
import type { Contract } from './shape.js';

const marked = (sensitivity: string) => ({ content_type: `application/json; sensitivity=${sensitivity}` });
function mail(more: ContractJson): Contract {
  const read = parseContract(JSON.stringify({ ...mailContract(), ...more }));
  if (!read.ok) throw new Error('the fixture parses');
  return read.contract;
}

describe('a call under a contract (D61)', () => {
  it.each(['personal', 'payment', 'regulatory', 'of a mark nobody knows'])(
    'discloses once when its arguments are %s',
    (sensitivity) => {
      expect(exposureOf(mail({ approval_mode: 'network' }), marked(sensitivity))).toBe(1);
    },
  );

  it("discloses nothing when its arguments are nobody's", () => {
    expect(exposureOf(mail({ approval_mode: 'network' }), { content_type: 'application/json' })).toBe(0);
  });

  it.each([
    ['read_only', 0],
    ['local_write', 0],
    ['network', 1],
    ['delegated', 1],
    ['destructive', 1],
  ])('that is approved as %s discloses %i', (approval_mode, disclosed) => {
    expect(exposureOf(mail({ approval_mode }), marked('personal'))).toBe(disclosed);
  });

  it('that stays here discloses all the same when its contract says so', () => {
    expect(exposureOf(mail({ approval_mode: 'local_write', consequence: { exposure: '1' } }), marked('personal'))).toBe(
      1,
    );
  });

  it('discloses when nobody knows its contract', () => {
    expect(exposureOf(undefined, marked('personal'))).toBe(1);
  });
});
