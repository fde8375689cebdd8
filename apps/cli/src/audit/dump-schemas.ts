// Texts of the schemas that a dump holds, by their ids: what whoever takes records of it away needs to read them.
import { join } from 'node:path';
import { Failure } from '@recourse/kernel';
import { filesOf } from './dump.js';
import { schemasIn } from './dump-file.js';

/** Texts of the schemas that a dump holds, in any of its files. Errors of a call: Failure(UNKNOWN_SCHEMA). */
export function schemaOfDump(folder: string): (id: number) => Promise<string> {
  const sources = filesOf(folder).map((file) => schemasIn(join(folder, file)));
  return async (id) => {
    for (const source of sources) {
      const text = await source.schemaById(id).catch(() => null);
      if (text !== null) return text;
    }
    throw new Failure('UNKNOWN_SCHEMA', `schema ${String(id)} is not in the dump`);
  };
}
