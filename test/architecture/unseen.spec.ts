// What nobody sees is written out in a terminal wherever it is in the console: two lists, for two places to show a text.
import { expect, it } from '@jest/globals';
import { visible } from '../../apps/cli/src/output/visible.js';
import { inert } from '../../apps/console/page/parts/inert.js';

const LAST = 0x10ffff;

it('a character that the console writes out is written out in a terminal too, but for a tab', () => {
  const shown: string[] = [];
  for (let point = 0; point <= LAST; point += 1) {
    const text = `a${String.fromCodePoint(point)}b`;
    if (inert(text) !== text && visible(text) === text) shown.push(point.toString(16));
  }
  expect(shown).toEqual(['9']);
});

it.each(['acct-12\u{e0100}34', 'acct-12\ufe0f34', 'acct-12\ufe0034', 'a\u180bb', '\u{1f469}\ufe0f\ufe0f'])(
  'hides nothing in either: %j',
  (text) => {
    expect(visible(text)).not.toBe(text);
    expect(inert(text)).not.toBe(text);
  },
);
