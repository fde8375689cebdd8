// Texts of strangers, as a page shows them.
import { describe, expect, it } from '@jest/globals';
import { HOSTILE_STRINGS } from '@recourse/testing';
import { inert, isAddressable, isWebAddress } from './inert.js';

// eslint-disable-next-line no-control-regex -- the characters that nobody may be shown
const UNSEEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

describe('a text of a stranger', () => {
  it.each(HOSTILE_STRINGS.map(({ name, text }) => [name, text] as const))(
    'hides and turns nothing: %s',
    (_name, text) => {
      expect(inert(text)).not.toMatch(UNSEEN);
    },
  );

  it('that is plain stays as it is', () => {
    const plain = 'Give 4,711 back to Zoë: 退款, привет\nand a second line';
    expect(inert(plain)).toBe(plain);
  });

  it('is told by numbers where letters would not be seen', () => {
    expect(inert('pay\u202eme')).toBe(String.raw`pay\u{202e}me`);
  });
});

it.each([
  ['https://runbooks.example.com/a', true],
  ['http://127.0.0.1/x', true],
  ['javascript:alert(1)', false],
  ['data:text/html,x', false],
  ['JaVaScRiPt:alert(1)', false],
  ['/runbooks/a', false],
])('%s is followed: %s', (address, isFollowed) => {
  expect(isWebAddress(address)).toBe(isFollowed);
});

it.each([
  ['run_1', true],
  ['退款 / a?b#c', true],
  ['\ud800', false],
  ['', false],
  ['..', true],
])('%j stands in an address: %s', (name, stands) => {
  expect(isAddressable(name)).toBe(stands);
});
