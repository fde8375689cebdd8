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

/** Errors: ConnectProblem(OPTIONS_INVALID) for what names no contract, before a registry is asked for it. */
export function refuseNoContract(name: unknown): void {
  if (typeof name !== 'string' || name.trim() === '')
    throw new ConnectProblem('OPTIONS_INVALID', 'contract has to be the name of a registered contract');
}

/** Errors: ConnectProblem(OPTIONS_INVALID) for a worker without tools that can be called: it would answer what it is asked with trouble. */
export function refuseUnusableWorker(given: unknown): void {
  const { adapter, capabilities } = membersOf(given);
  const tools = Object.entries(membersOf(capabilities));
  const problems = [
    typeof adapter === 'string' && adapter.trim() !== '' ? null : 'adapter has to be the first part of a capability',
    typeof capabilities === 'object' && capabilities !== null ? null : 'capabilities has to be tools by capability',
    ...tools.map(([name, tool]) => (typeof tool === 'function' ? null : `the tool of ${name} has to be a function`)),
  ].filter((problem) => problem !== null);
  if (problems.length > 0) throw new ConnectProblem('OPTIONS_INVALID', problems.join('; '));
}

/** What of some options is said: one that is undefined is left out, and takes nothing away that stands behind it (P14). */
export function said<Options extends object>(options: Options): Options {
  // Less what is undefined: what is left is of the same type.
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options;
}

/** Any object may be read by name; anything else has no members. */
function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
