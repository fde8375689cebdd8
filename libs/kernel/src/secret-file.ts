// Whether a file can keep a secret, and whether it can be believed: the rules. Whoever reads one asks of the file that it has open.

/** Reading and writing by those who are neither owner nor in the file's group. */
const OTHERS = 0o006;

/** Why a file of this mode keeps no secret, and what to do; null where it does. Pure. */
export function exposureOf(path: string, mode: number): string | null {
  return (mode & OTHERS) === 0
    ? null
    : `everybody on the machine may use the file (mode ${shown(mode)}): chmod o-rwx ${path}`;
}

/** Writing by the same. */
const OTHERS_WRITE = 0o002;

/** Why what a file of this mode says is believed of nobody, and what to do; null where it is. Pure. */
export function intrusionOf(path: string, mode: number): string | null {
  return (mode & OTHERS_WRITE) === 0
    ? null
    : `everybody on the machine may change the file (mode ${shown(mode)}): chmod o-w ${path}`;
}

function shown(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}
