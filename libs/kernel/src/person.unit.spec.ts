import { describe, expect, it } from '@jest/globals';
import { isPerson, isSamePerson } from './person.js';

describe('two spellings of a subject', () => {
  it.each([
    ['other case', 'OLGA'],
    ['full width', 'ｏｌｇａ'],
    ['blanks around', ' olga\t'],
    ['a no-break space', 'olga\u00a0'],
    ['a zero-width space', 'ol\u200bga'],
    ['a soft hyphen', 'ol\u00adga'],
    ['a mark of direction', '\u202eolga'],
    ['a control character', 'olga\u0007'],
    ['the prefix of people', 'user:olga'],
    ['that prefix twice, with blanks', 'User: user :olga'],
  ])('are one person: %s', (_what, other) => {
    expect(isSamePerson('olga', other)).toBe(true);
  });

  it.each([
    ['a letter more', 'olgas'],
    ['a blank inside', 'ol ga'],
    ['an accent', 'ólga'],
    ['nobody', ''],
  ])('are two people: %s', (_what, other) => {
    expect(isSamePerson('olga', other)).toBe(false);
  });

  it('composed and decomposed letters are one', () => {
    expect(isSamePerson('zo\u00eb', 'zoe\u0308')).toBe(true);
  });
});

describe('a person', () => {
  it.each(['olga', 'user:olga', 'o:lga', 'servicedesk', 'agentina'])('is %s', (subject) => {
    expect(isPerson(subject)).toBe(true);
  });

  it.each([
    '',
    ' ',
    '\u200b',
    'user:',
    'agent:refunds',
    ' AGENT:refunds',
    'ａｇｅｎｔ:refunds',
    'a\u200bgent:refunds',
    'svc:refunds',
    'Service: refunds',
    'role:approver',
    'user:svc:refunds',
  ])('is not %j', (subject) => {
    expect(isPerson(subject)).toBe(false);
  });
});
