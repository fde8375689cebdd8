// What verbs of every item have in common.
import { underKey } from '../api/clients.js';
import { ApiProblem } from '../api/problem.js';
import { textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import type { Said } from '../parts/sending.rules.js';
import type { Verb } from '../parts/verb.js';

/** A thing by its id, and the key under which a command about it is repeated and not done again. */
export const at = (id: string, key: string) => ({ params: { path: { id }, header: underKey(key) } });

/** A verb whose body is a reason alone. */
export function plain(name: string, happens: readonly string[], send: (said: Said) => ReturnType<Verb['send']>): Verb {
  return { name, happens, isMain: true, send };
}

/** Digest of what is on the screen. Errors: ApiProblem. */
export function digestIn(row: Row): string {
  const digest = textIn(row, 'action_digest');
  if (digest === null) throw new ApiProblem('ITEM_NOT_READY', 409, 'The item names no digest of its action.');
  return digest;
}

/** The verbs as somebody with these roles has them: one that the service would refuse them says so, and cannot be pressed. */
export function forRoles(verbs: readonly Verb[], wanted: readonly string[], roles: readonly string[]): readonly Verb[] {
  if (roles.some((role) => wanted.includes(role))) return verbs;
  const refused = `None of your roles may do this: it takes ${wanted.join(' or ')}.`;
  return verbs.map((verb) => ({ ...verb, blocked: verb.blocked ?? refused }));
}
