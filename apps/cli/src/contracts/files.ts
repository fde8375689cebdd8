// Contract files: YAML or JSON, one contract a document, a folder stands for the files in it.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Json } from '@recourse/kernel';
import { parseAllDocuments } from 'yaml';
import { CliProblem } from '../problem.js';

/** One document of a file. */
export interface FileDocument {
  /** Path as people know it, with the number of the document where the file has several. */
  readonly file: string;
  readonly value: Json;
}

const SUFFIX = /\.(?:ya?ml|json)$/;
/** Aliases written out at the most: contracts need none, and a few can blow up to anything. */
const ALIASES_MAX = 100;

/**
 * Reads every document of some files and folders, in order of their names.
 *
 * Errors: CliProblem(FILE_UNREADABLE), with what is wrong where.
 */
export function readDocuments(paths: readonly string[], folder: string): readonly FileDocument[] {
  return paths
    .flatMap((path) => filesAt(resolve(folder, path)))
    .flatMap((file) => documentsOf(file, relative(folder, file)));
}

/** The one document of a file. Errors: CliProblem(FILE_UNREADABLE) when there are none or several. */
export function readOne(path: string, folder: string): FileDocument {
  const [first, ...more] = readDocuments([path], folder);
  if (first === undefined || more.length > 0)
    throw unreadable(path, `it holds ${first === undefined ? 'no' : more.length + 1} documents, and one is asked for`);
  return first;
}

/** A contract without what only editors read. */
export function withoutSchemaLink(value: Json): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value as Readonly<Record<string, Json>>).filter(([field]) => field !== '$schema'),
  );
}

function filesAt(path: string): readonly string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isFile() && SUFFIX.test(entry.name))
      .map((entry) => join(path, entry.name))
      .sort();
  } catch (cause) {
    throw unreadable(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/** JSON is YAML, so one parser reads both. */
function documentsOf(file: string, name: string): readonly FileDocument[] {
  try {
    const documents = parseAllDocuments(readFileSync(file, 'utf8'), { uniqueKeys: true });
    const list = Array.isArray(documents) ? documents : [];
    return list.map((document, at) => {
      const [wrong] = document.errors;
      if (wrong !== undefined) throw wrong;
      // Tags for dates and bytes are not in YAML's core schema, so what comes out is JSON.
      return {
        file: list.length > 1 ? `${name}#${at + 1}` : name,
        value: document.toJS({ maxAliasCount: ALIASES_MAX }) as Json,
      };
    });
  } catch (cause) {
    throw unreadable(name, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function unreadable(file: string, why: string, cause?: unknown): CliProblem {
  return new CliProblem('FILE_UNREADABLE', `${file}: ${why}`, 'usage', {
    cause,
    remedy: 'Name files or folders with contracts as YAML or JSON.',
  });
}
