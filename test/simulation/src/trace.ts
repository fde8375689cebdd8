// A trace for people: when, and what.

/** One line; time in seconds of virtual time. */
export function traceLine(atMs: number, line: string): string {
  return `${(atMs / 1_000).toFixed(3).padStart(9)}  ${line}`;
}
