// Account numbers of ISO 13616 within a text, by country, length and check digits. Pure.

/**
 * Countries by the length of their numbers.
 *
 * Source: the IBAN registry (SWIFT, ISO 13616), and countries that use such numbers without an entry there.
 */
const COUNTRIES: Readonly<Record<number, string>> = {
  15: 'NO',
  16: 'BE',
  18: 'DK FI FK FO GL NL SD',
  19: 'MK SI',
  20: 'AT BA EE KZ LT LU MN XK',
  21: 'CH HR LI LV',
  22: 'BG BH CR DE GB GE IE ME RS VA',
  23: 'AE GI IL IQ OM SO TL',
  24: 'AD CZ ES MD PK RO SA SE SK TN VG',
  25: 'AO CV GW LY MZ PT ST',
  26: 'DZ IR IS TR',
  27: 'BI CF CG CM DJ FR GA GQ GR IT KM MC MG MR SM TD',
  28: 'AL AZ BF BJ BY CI CY DO EG GT HN HU LB MA ML NE NI PL SN SV TG',
  29: 'BR PS QA UA',
  30: 'JO KW MU YE',
  31: 'MT SC',
  32: 'LC',
  33: 'RU',
};

const LENGTHS: ReadonlyMap<string, number> = new Map(
  Object.entries(COUNTRIES).flatMap(([length, codes]) => codes.split(' ').map((code) => [code, Number(length)])),
);

/** Does the text hold such a number, written as one word or in groups? What comes behind it does not matter. */
export function holdsIban(text: string): boolean {
  const upper = text.toUpperCase();
  return [...upper.matchAll(/\b([A-Z]{2})\d{2}(?= ?[A-Z0-9])/g)].some(({ index, 1: country = '' }) => {
    const length = LENGTHS.get(country);
    return length !== undefined && isIban(wordAt(upper, index, length), length);
  });
}

/** Letters and digits from there on, without the blanks between them; empty where the last of them is amid a word. */
function wordAt(text: string, from: number, length: number): string {
  // Each may have one blank before it.
  const part = text.slice(from, from + 2 * length + 1);
  const found = new RegExp(`^[A-Z0-9](?: ?[A-Z0-9]){${String(length - 1)}}(?![A-Z0-9])`).exec(part)?.[0] ?? '';
  return found.replaceAll(' ', '');
}

/** ISO 7064 mod 97. */
function isIban(plain: string, length: number): boolean {
  const moved = plain.slice(4) + plain.slice(0, 4);
  const rest = Array.from(moved).reduce((left, sign) => Number(`${String(left)}${String(parseInt(sign, 36))}`) % 97, 0);
  return plain.length === length && rest === 1;
}
