// Makes text safe to show: what agents and tools wrote reaches an operator's terminal, and must not command it. Pure.
import { escapedCharacter } from '@recourse/kernel';

/**
 * Characters that a terminal obeys, that turn the direction of what follows, or that nobody sees. Line feed and tab stay:
 * they are how our own output is laid out; tables escape them in cells.
 */
const DANGEROUS =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Variation_Selector}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu;
const LAYOUT: ReadonlySet<string> = new Set(['\n', '\t']);
/** Joins parts of one emoji or letter; alone it is as good as unseen. */
const JOINER = '\u200d';
const JOINED = /\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0f]*$/u;
/** Has an emoji shown in colour, once; anywhere else it is a mark that nobody sees. */
const IN_COLOUR = '\ufe0f';
const EMOJI = /\p{Extended_Pictographic}\p{Emoji_Modifier}?$/u;
/** Units before a joiner that may be of its emoji, with room: looking back to the beginning took minutes of a text that is all joiners. */
const LOOK_BACK = 8;

/** The text with dangerous characters as `\uXXXX`: the spelling of JSON, so that a document stays one. */
export function visible(text: string): string {
  return text.replace(DANGEROUS, (character, offset: number) =>
    LAYOUT.has(character) || isOfEmoji(character, text.slice(Math.max(0, offset - LOOK_BACK), offset))
      ? character
      : escapedCharacter(character),
  );
}

function isOfEmoji(character: string, before: string): boolean {
  return (character === JOINER && JOINED.test(before)) || (character === IN_COLOUR && EMOJI.test(before));
}

/** The same on one line. */
export function visibleOnOneLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}
