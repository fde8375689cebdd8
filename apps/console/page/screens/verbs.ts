// What verbs of every item have in common.
import { underKey } from '../api/clients.js';
import type { Said, Verb } from '../parts/decision.js';

/** A thing by its id, and the key under which a command about it is repeated and not done again. */
export const at = (id: string, key: string) => ({ params: { path: { id }, header: underKey(key) } });

/** A verb whose body is a reason alone. */
export function plain(name: string, happens: readonly string[], send: (said: Said) => ReturnType<Verb['send']>): Verb {
  return { name, happens, isMain: true, send };
}
