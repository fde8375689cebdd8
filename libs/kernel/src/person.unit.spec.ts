import { describe, expect, it } from '@jest/globals';
import { isAmong, isPerson, isSubject, personBehind, personKey, policyDecider } from './person.js';

/** Characters that do not show, or show as another: each made a second person of one. */
const INVISIBLE: readonly [string, string][] = [
  ['a variation selector', 'olga\ufe0f'],
  ['a variation selector of another plane', 'olga\u{e0100}'],
  ['a grapheme joiner', 'ol\u034fga'],
  ['a Hangul filler', 'olga\u3164'],
  ['a Hangul filler of half width', 'olga\uffa0'],
  ['a Hangul choseong filler', 'olga\u115f'],
  ['a braille blank', 'olga\u2800'],
  ['a tag', 'olga\u{e0061}'],
  ['a zero-width space', 'ol\u200bga'],
  ['a zero-width joiner', 'ol\u200dga'],
  ['a soft hyphen', 'ol\u00adga'],
  ['a mark of direction', '\u202eolga'],
  ['a byte order mark', '\ufeffolga'],
  ['a Khmer vowel that shows nothing', 'olga\u17b4'],
  ['a Mongolian separator', 'olga\u180e'],
  ['a control character', 'olga\u0007'],
  ['a no-break space', 'olga\u00a0'],
  ['a blank before', ' olga'],
  ['a line end', 'olga\n'],
  ['full width', 'ｏｌｇａ'],
  ['a Cyrillic letter', 'оlga'],
  ['an accent', 'ólga'],
  ['a blank inside', 'ol ga'],
  ['a lone surrogate', 'olga\ud800'],
  ['nothing', ''],
  ['a mark in front', ':olga'],
  ['too much', 'x'.repeat(201)],
];

describe('a subject', () => {
  it.each(INVISIBLE)('is not written with %s', (_what, text) => {
    expect(isSubject(text)).toBe(false);
    expect(isPerson(text)).toBe(false);
  });

  it.each([
    'olga',
    'user:olga',
    'olga@example.com',
    'auth0|5f7c',
    'a+b/c=',
    'spiffe://acme/refunds',
    'agent:refunds',
    '00u1',
  ])('is %s', (text) => {
    expect(isSubject(text)).toBe(true);
  });

  it.each([
    ['as it is written', policyDecider('notices', 3)],
    ['in other case', 'Policy:notices@3'],
    ['as a person', 'user:policy:notices@3'],
    ['as an agent of a person', 'user:AGENT:POLICY:notices@3'],
  ])('is not the name of a policy, %s: nobody decides in its name', (_how, text) => {
    expect(isSubject(text)).toBe(false);
    expect(isPerson(text)).toBe(false);
  });
  it('may speak of a policy', () => {
    expect(isSubject('policy-team')).toBe(true);
  });

  it('holds no character but those of its alphabet', () => {
    const taken = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter((letter) =>
      isSubject(`a${letter}`),
    );
    expect(taken.join('')).toBe('#+-./0123456789:=@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz|~');
  });
});

describe('two spellings of a subject', () => {
  it.each([
    ['other case', 'OLGA'],
    ['the prefix of people', 'user:olga'],
    ['that prefix twice', 'User:user:olga'],
  ])('are one person: %s', (_what, other) => {
    expect(personKey(other)).toBe(personKey('olga'));
  });

  it.each([
    ['a letter more', 'olgas'],
    ['nobody', ''],
  ])('are two people: %s', (_what, other) => {
    expect(personKey(other)).not.toBe(personKey('olga'));
  });
});

describe('who asks', () => {
  const olga = { principal: 'olga', accounts: ['olga@work', 'Olga-Admin'] };

  it.each(['olga', 'user:OLGA', 'olga@work', 'olga-admin', 'user:Olga-Admin'])('is %s', (name) => {
    expect(isAmong([null, 'ines', name], olga)).toBe(true);
  });

  it.each(['ines', 'olga@home', ''])('is not %j', (name) => {
    expect(isAmong([name, null], olga)).toBe(false);
  });
});

describe('who an action was done for', () => {
  const acting = ['refund-agent', 'refund-host'];

  it('answers for it', () => {
    expect(personBehind({ initiator: 'user:ines', acting })).toBe('user:ines');
  });

  it.each([null, 'Refund-Agent', 'agent:refund-agent', 'user:refund-host', 'svc:refunds', 'role:support', 'ｉｎｅｓ'])(
    'does not where it is %j: nobody, who acted, or no person',
    (initiator) => {
      expect(personBehind({ initiator, acting })).toBeNull();
    },
  );
});

describe('a person', () => {
  it.each(['olga', 'user:olga', 'o:lga', 'servicedesk', 'agentina'])('is %s', (subject) => {
    expect(isPerson(subject)).toBe(true);
  });

  it.each([
    '',
    'user:',
    'agent:refunds',
    'AGENT:refunds',
    'svc:refunds',
    'Service:refunds',
    'role:approver',
    'user:svc:refunds',
  ])('is not %j', (subject) => {
    expect(isPerson(subject)).toBe(false);
  });
});
