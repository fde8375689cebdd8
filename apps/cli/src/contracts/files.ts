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
 * Shape:  `what` stands in them, as people call it.
 * Errors: CliProblem(FILE_UNREADABLE), with what is wrong where; a path without any document is wrong.
 */
export function readDocuments(
  paths: readonly string[],
  folder: string,
  what: 'contracts' | 'entries',
): readonly FileDocument[] {
  const remedy = `Name files or folders with ${what} as YAML or JSON.`;
  return paths.flatMap((path) => {
    const found = documentsAt(path, folder, remedy);
    if (found.length === 0) throw unreadable(path, 'it holds no documents', remedy);
    return found;
  });
}

/** The one document of a file. Errors: CliProblem(FILE_UNREADABLE) when there are none or several. */
export function readOne(path: string, folder: string): FileDocument {
  const remedy = 'Name a file that holds one document, as YAML or JSON.';
  const [first, ...more] = documentsAt(path, folder, remedy);
  if (first === undefined || more.length > 0)
    throw unreadable(
      path,
      `it holds ${first === undefined ? 'no' : more.length + 1} documents, and one is asked for`,
      remedy,
    );
  return first;
}

/** A contract without what only editors read. */
export function withoutSchemaLink(value: Json): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value as Readonly<Record<string, Json>>).filter(([field]) => field !== '$schema'),
  );
}

function documentsAt(path: string, folder: string, remedy: string): readonly FileDocument[] {
  return filesAt(resolve(folder, path), remedy).flatMap((file) => documentsOf(file, relative(folder, file), remedy));
}

function filesAt(path: string, remedy: string): readonly string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isFile() && SUFFIX.test(entry.name))
      .map((entry) => join(path, entry.name))
      .sort();
  } catch (cause) {
    throw unreadable(path, cause, remedy);
  }
}

/** JSON is YAML, so one parser reads both. */
function documentsOf(file: string, name: string, remedy: string): readonly FileDocument[] {
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
    throw unreadable(name, cause, remedy);
  }
}

function unreadable(file: string, cause: unknown, remedy: string): CliProblem {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new CliProblem('FILE_UNREADABLE', `${file}: ${why}`, 'usage', { cause, remedy });
}
