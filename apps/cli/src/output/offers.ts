// What whoever reads an item may do about it, and what they may not, as its service says.
import type { Doc } from '@recourse/sdk';
import { cellText, docsOf } from './table.js';

/** Fields of an item's text: words of its commands, and why each other one would be refused. */
export function offerFields(item: Doc): readonly (readonly [string, unknown])[] {
  return [
    ['you may', item['may']],
    ...docsOf(item['may_not']).map(
      ({ word, code, message }) =>
        ['you may not', `${cellText(word)}: ${cellText(code)}: ${cellText(message)}`] as const,
    ),
  ];
}
