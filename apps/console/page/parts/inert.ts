// Text of agents, tools and events, as it is and nothing more: what cannot be seen, or turns what follows around, is written out.

const UNSEEN =
  // eslint-disable-next-line no-control-regex -- control characters are what this is about
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|[\ud800-\udfff](?![\udc00-\udfff])/gu;

/** The text with every unseen character written as its number. */
export function inert(text: string): string {
  return text.replaceAll(UNSEEN, (letter) => `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Is it an address that may be followed? Scripts and data are not. */
export function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** Can a name stand in an address? Half a letter cannot be written there, and nothing has no place. */
export function isAddressable(name: string): boolean {
  return name.isWellFormed() && name !== '';
}
