// How large a pattern is once it is compiled: RE2 takes time by its size for each character of the text.
//
// Boundary: counts and compiles nothing, since compiling a large one is what has to be kept from happening.

/** A repetition such as `{3}`, `{3,}` or `{3,9}`. */
const REPEATED = /^\{(\d+)(?:,(\d*))?\}/;
/** A class, or an escaped character, as one. */
const ATOM = /^(?:\\[pPxu]\{[^}]*\}|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]?|[\s\S])/;

/** About how many instructions a pattern has: its characters, each as often as repetitions write it out. */
export function patternSize(pattern: string): number {
  const open: number[] = [];
  let sum = 0;
  let last = 0;
  for (let at = 0; at < pattern.length;) {
    const rest = pattern.slice(at, at + ATOM_MAX);
    const times = REPEATED.exec(rest);
    if (times !== null) {
      const more = last * Math.max(0, Math.max(Number(times[1]), Number(times[2] ?? 0)) - 1);
      sum += more;
      last += more;
      at += times[0].length;
      continue;
    }
    const [atom] = ATOM.exec(rest) ?? [''];
    at += Math.max(1, atom.length);
    if (atom === '(') {
      open.push(sum);
      continue;
    }
    sum += 1;
    last = atom === ')' ? sum - (open.pop() ?? 0) : 1;
  }
  return sum;
}

/** A class is rarely longer; what is, counts by its parts. */
const ATOM_MAX = 512;
