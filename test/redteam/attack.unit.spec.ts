import { describe, expect, it } from '@jest/globals';
import { gapsIn, tryAll } from './attack.js';
import type { Attack } from './attack.js';

const attack = (id: string, act: () => Promise<string>): Attack<null> => ({
  id,
  kind: 'injection',
  surface: 'edge',
  tried: 'something',
  holds: 'refused',
  act,
});

describe('the checker of attacks', () => {
  it('says of each whether it was held off, and never so of one that could not be tried', async () => {
    const attacks = [
      attack('held', () => Promise.resolve('refused')),
      attack('broken', () => Promise.resolve('done')),
      attack('untried', () => Promise.reject(new Error('no answer'))),
    ];
    expect((await tryAll(attacks, null)).map(({ id, held }) => [id, held])).toEqual([
      ['held', true],
      ['broken', false],
      ['untried', false],
    ]);
  });

  it('names what a set of attacks leaves out', () => {
    const one = attack('one', () => Promise.resolve(''));
    expect(gapsIn([one, one])).toEqual([
      'no attack of kind tool_abuse',
      'no attack of kind leakage',
      'no attack of kind jailbreak',
      'no attack of surface wire',
      'no attack of surface worker',
      'no attack of surface review',
      'one stands twice',
    ]);
  });
});
