/** What is said of a number of milliseconds that no calendar has. */
export const NO_INSTANT = 'no instant';

/** An instant as ISO 8601 text, for whatever a row holds. */
export function isoOf(at: number): string {
  const instant = new Date(at);
  return Number.isNaN(instant.getTime()) ? NO_INSTANT : instant.toISOString();
}
