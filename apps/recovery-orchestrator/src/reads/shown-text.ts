// Makes what agents, tools and events wrote safe and short to show to a person who decides by it. Pure.
//
// Invariants
//   S1. Nothing that is shown hides a character, turns the direction of what follows, or passes for another letter.
//   S2. What is too long is folded with its length and its hash: two long texts that differ anywhere never look alike.
import { createHash } from 'node:crypto';
import { escapedCharacter } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';

/** Longest text that is shown whole, UTF-16 units: a page and a half, more than a person compares by eye. */
export const SHOWN_MAX = 2_000;

/** A text too long to be shown: its beginning, its length in UTF-16 units, and the SHA-256 of the whole as it was before escapes. */
export interface Folded {
  readonly folded: string;
  readonly length: number;
  readonly sha256: string;
}

/** Controls, bidi and zero-width characters, surrogates, private and unassigned ones, separators of lines, and fillers that look like nothing. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu;
const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
const ASCII_LETTER = /[A-Za-z]/u;
const FOREIGN_LETTER = /[^\P{L}A-Za-z]/gu;
/** An ASCII letter and its marks; and the letters of European names but for those that pass for i, k and s. Nobody takes them for another one. */
const ACCENTED = /^[A-Za-z]\p{M}+$/u;
const EUROPEAN = /[\u00c0-\u0130\u0132-\u0137\u0139-\u017e]/u;

/** The text with what cannot be seen, and letters that pass for ASCII ones in a word of them, as `\uXXXX`. */
export function shownText(text: string): string {
  return text.replace(WORD, withoutLookAlikes).replace(UNSEEN, escapedCharacter);
}

/** The text as it is shown, or folded where it is too long. */
export function foldedText(text: string): string | Folded {
  return text.length <= SHOWN_MAX
    ? shownText(text)
    : {
        folded: shownText(text.slice(0, SHOWN_MAX)),
        length: text.length,
        sha256: createHash('sha256').update(text, 'utf8').digest('hex'),
      };
}

/** JSON with every text and every name in it made safe; folded as a whole where its text is too long. */
export function foldedJson(json: Json): { readonly json: Json } | Folded {
  const whole = foldedText(JSON.stringify(json));
  return typeof whole === 'string' ? { json: shownJson(json) } : whole;
}

/** A document with every text and every name in it made safe; its shape stays. */
export function shownDoc<Doc>(doc: Doc): Doc {
  // Texts stay texts and names of our own are ASCII, so the shape of the document is kept.
  return shownValue(doc) as Doc;
}

function shownJson(json: Json): Json {
  // JSON in, JSON out: only texts change.
  return shownValue(json) as Json;
}

function shownValue(value: unknown): unknown {
  if (typeof value === 'string') return shownText(value);
  if (Array.isArray(value)) return value.map(shownValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [shownText(name), shownValue(member)]));
}

function withoutLookAlikes(word: string): string {
  return ASCII_LETTER.test(word)
    ? word.replace(FOREIGN_LETTER, (letter) =>
        EUROPEAN.test(letter) || ACCENTED.test(letter.normalize('NFD')) ? letter : escapedCharacter(letter),
      )
    : word;
}
