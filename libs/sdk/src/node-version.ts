// Says at import which Node the package needs: an older one lacks what the code calls, and would fail in the middle of it.
//
// Boundary: the first import of the package's entry, for its side effect alone.
import { ConnectProblem } from './connect/connect.problem.js';

/** As `engines` of the package says; later parts of a version do not matter. */
const OLDEST = { major: 22, minor: 22 } as const;

/** Why a version cannot run the package; null where it can. Pure. */
export function nodeProblem(version: string): ConnectProblem | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)
    ? null
    : new ConnectProblem('NODE_TOO_OLD', `this is Node ${version}`);
}

const problem = nodeProblem(process.versions.node);
if (problem !== null) throw problem;
