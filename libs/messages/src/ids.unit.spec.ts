import { describe, expect, it } from '@jest/globals';
import { recoveryIdOf, rollbackIdOf } from './ids.js';

describe('ids that services derive alike', () => {
  it('follow from their cause', () => {
    expect(rollbackIdOf('acme', 'mut_1')).toBe(rollbackIdOf('acme', 'mut_1'));
    expect(rollbackIdOf('acme', 'mut_1')).not.toBe(rollbackIdOf('acme', 'mut_2'));
  });

  it.each([
    ['rollback', rollbackIdOf],
    ['recovery', recoveryIdOf],
  ])('give each tenant a %s of its own, whatever it names', (_what, idOf) => {
    expect(idOf('acme', 'mut_1')).not.toBe(idOf('globex', 'mut_1'));
  });
});
