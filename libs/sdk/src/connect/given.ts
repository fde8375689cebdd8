// What a connection is told, before anything is looked up: callers without types pass anything. Pure.
import { isTenant } from '@recourse/kernel';
import { modeProblem } from '../guard/given.js';
import type { ConnectOptions } from './connect.messages.js';
import { ConnectProblem } from './connect.problem.js';

/** A worker acts for whichever tenant asks; where an agent's call belongs, its place says. */
const ALL = '*';

/** Errors: ConnectProblem(OPTIONS_INVALID), naming every option that is wrong. */
export function refuseUnusableOptions(options: Partial<ConnectOptions> | undefined): void {
  const { name, tenant, mode = 'enforce' } = options ?? {};
  const problems = [
    typeof name === 'string' && name.trim() !== '' ? null : 'name has to be a text: who speaks',
    tenant === undefined || tenant === ALL || (typeof tenant === 'string' && isTenant(tenant))
      ? null
      : 'tenant has to be the name of one, without blanks around it, or * for all, as a worker of several is connected',
    modeProblem(mode),
  ].filter((problem) => problem !== null);
  if (problems.length > 0) throw new ConnectProblem('OPTIONS_INVALID', problems.join('; '));
}
