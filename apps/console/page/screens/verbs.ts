// What verbs of every item have in common.
import { underKey } from '../api/clients.js';
import { ApiProblem } from '../api/problem.js';
import { listIn, rowsIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import type { Said } from '../parts/sending.rules.js';
import type { Verb } from '../parts/verb.js';
import { sentenceOf } from '../words/refusals.js';

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

/** What may be said about a thing, by the words of its service. */
export type Worded = Readonly<Record<string, (row: Row, id: string) => Verb>>;

/** What its service offers about a thing, in the order of its use: what it would refuse whoever reads says so, and cannot be pressed. */
export function asOffered(verbs: Worded, row: Row, id: string): readonly Verb[] {
  const barred = new Map(
    rowsIn(row, 'may_not').map((one) => {
      const [code, message] = [textIn(one, 'code') ?? '', textIn(one, 'message') ?? ''];
      // Which roles it takes, the service alone says.
      return [textIn(one, 'word'), code === 'ROLE_REQUIRED' ? message : (sentenceOf(code) ?? message)];
    }),
  );
  const may = listIn(row, 'may');
  return Object.entries(verbs).flatMap(([word, verbOf]) => {
    const refused = barred.get(word);
    if (refused !== undefined) return [{ ...verbOf(row, id), blocked: refused }];
    return may.includes(word) ? [verbOf(row, id)] : [];
  });
}

/** The verbs as somebody with these roles has them: one that the service would refuse them says so, and cannot be pressed. */
export function forRoles(verbs: readonly Verb[], wanted: readonly string[], roles: readonly string[]): readonly Verb[] {
  if (roles.some((role) => wanted.includes(role))) return verbs;
  const refused = `None of your roles may do this: it takes ${wanted.join(' or ')}.`;
  return verbs.map((verb) => ({ ...verb, blocked: verb.blocked ?? refused }));
}
