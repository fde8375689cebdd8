// Counts as people read them: one line, two lines. Pure.

/** A count with its word; of `many` where it is not one. */
export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
