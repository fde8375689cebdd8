import { describe, expect, it, jest } from '@jest/globals';
import { HOSTILE_STRINGS } from '@recourse/testing';
import { formatFields, formatTable } from './table.js';
import { visible, visibleOnOneLine } from './visible.js';

/** What no terminal may be sent by somebody else. */
// eslint-disable-next-line no-control-regex
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u;

describe('text that somebody else wrote', () => {
  it('comes in more than 200 hostile forms, no two alike', () => {
    expect(new Set(HOSTILE_STRINGS.map(({ text }) => text)).size).toBe(HOSTILE_STRINGS.length);
    expect(HOSTILE_STRINGS.length).toBeGreaterThanOrEqual(200);
  });

  it.each(HOSTILE_STRINGS)('commands no terminal: $name', ({ text }) => {
    expect(visible(text)).not.toMatch(OBEYED);
    expect(visible(text).isWellFormed()).toBe(true);
  });

  it.each(HOSTILE_STRINGS)('leaves a document a document: $name', ({ text }) => {
    const document = JSON.stringify({ [text]: [text] });
    expect(JSON.parse(visible(document))).toEqual(JSON.parse(document));
  });

  it.each(HOSTILE_STRINGS)('breaks no table and forges no field: $name', ({ text }) => {
    const table = formatTable(
      [
        { title: 'A', of: ({ a }: { readonly a: string }) => a },
        { title: 'B', of: () => 'own' },
      ],
      [{ a: text }, { a: 'next' }],
    );
    expect(table.split('\n')).toHaveLength(3);
    const fields = formatFields([
      ['said', text],
      ['state', 'open'],
    ]);
    expect(
      fields
        .split('\n')
        .filter((line) => /^\S/.test(line))
        .map((line) => line.split(' ')[0]),
    ).toEqual(text === '' ? ['state'] : ['said', 'state']);
  });

  it('keeps what people write', () => {
    for (const text of [
      'refund of ₹500',
      'שלום',
      '日本語',
      'e\u0301',
      '👩‍👩‍👧‍👦',
      '❤\ufe0f',
      '❤\ufe0f\u200d🔥',
      'two\nlines',
    ])
      expect(visible(text)).toBe(text);
    expect(visibleOnOneLine('two\nlines\tand a tab')).toBe('two\\nlines\\tand a tab');
  });

  it('is looked at once, however many emoji it joins: nobody keeps an operator waiting with a long one', () => {
    const looked = jest.spyOn(RegExp.prototype, 'test');
    const joined = '\u{1f469}\u200d'.repeat(1_000);
    expect(visible(joined)).toBe(joined);
    const lengths = looked.mock.calls.map(([text]) => text.length);
    looked.mockRestore();
    expect(lengths.length).toBeGreaterThanOrEqual(1_000);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(8);
  });
});
