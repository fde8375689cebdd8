// Names that strangers chose, in addresses: dots alone mean a place there, and a browser would follow them. Pure.

/** Would a path that ends in it lead elsewhere? */
export function isPlace(name: string): boolean {
  return /^\.{1,2}$/.test(name);
}

/** As it stands in an address of the page: dots alone behind a tilde, and so whatever would be taken for that. */
export function segmentOf(name: string): string {
  return /^~*\.{1,2}$/.test(name) ? `~${name}` : name;
}

/** What a part of such an address names. */
export function nameIn(segment: string): string {
  return /^~+\.{1,2}$/.test(segment) ? segment.slice(1) : segment;
}
