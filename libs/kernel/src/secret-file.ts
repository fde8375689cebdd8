// Whether a file can keep a secret: the rule. Whoever reads one asks of the file that it has open.

/** Reading and writing by those who are neither owner nor in the file's group. */
const OTHERS = 0o006;

/** Why a file of this mode keeps no secret, and what to do; null where it does. Pure. */
export function exposureOf(path: string, mode: number): string | null {
  if ((mode & OTHERS) === 0) return null;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  return `everybody on the machine may use the file (mode ${shown}): chmod o-rwx ${path}`;
}
