// Ids that others name in commands, and that rows of the database can hold (L7).

/** Longest tenant, run or mutation id a command may name, bytes: keys of rows stay below 512. */
export const ID_BYTES_MAX = 200;

/** Who speaks for all tenants; the name of none. */
const ALL_TENANTS = '*';
// eslint-disable-next-line no-control-regex -- refusing control characters is what this is for
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Names one tenant: text without blanks around it that a person can tell from another. */
export function isTenant(text: string): boolean {
  return isUsableId(text) && text === text.trim() && text !== ALL_TENANTS && !CONTROL.test(text);
}

/** Ids a row can hold. */
export function isUsableId(id: string): boolean {
  return id !== '' && !id.includes('\0') && Buffer.byteLength(id) <= ID_BYTES_MAX;
}
