// Counts as people read them: one line, two lines. Pure.

/** A count with its word; of `many` where it is not one. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${String(count)} ${count === 1 ? one : many}`;
}
