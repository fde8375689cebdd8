// Long names where there is little room. Pure.

/** Letters that are shown of one. */
const SHOWN = 16;

/** Its beginning and its end: names of strangers often begin alike, and dates and numbers stand last. */
export function shortOf(name: string): string {
  const letters = Array.from(name);
  return letters.length <= SHOWN
    ? name
    : `${letters.slice(0, SHOWN / 2).join('')}…${letters.slice(-SHOWN / 2).join('')}`;
}
