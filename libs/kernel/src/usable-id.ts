// Ids that others name in commands, and that rows of the database can hold (L7).

/** Longest tenant, run or mutation id a command may name, bytes: keys of rows stay below 512. */
export const ID_BYTES_MAX = 200;

/** Ids a row can hold. */
export function isUsableId(id: string): boolean {
  return id !== '' && !id.includes('\0') && Buffer.byteLength(id) <= ID_BYTES_MAX;
}
