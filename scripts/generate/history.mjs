// schemas/history/<full name>/<n>.avsc: every version of a message that was ever released, self-contained, never edited.
//
// A log is read from its first record for ever, and old readers meet new writers during a roll-out; so each message must
// be FULL_TRANSITIVE compatible with all its recorded versions, and none is ever removed.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageNames } from './catalogue.mjs';
import { compatibilityProblems } from './compatibility.mjs';

const FOLDER = 'schemas/history';

/** Recorded versions of a message, oldest first, as `{ version, schema }`. */
export function versionsOf(root, fullName) {
  const folder = join(root, FOLDER, fullName);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((file) => Number(file.replace('.avsc', '')))
    .sort((a, b) => a - b)
    .map((version) => ({ version, schema: JSON.parse(readFileSync(join(folder, `${version}.avsc`), 'utf8')) }));
}

/** What is incompatible with the recorded versions, one line each. */
export function historyProblems(root, catalogue) {
  const names = new Set(messageNames(catalogue));
  const removed = recordedNames(root)
    .filter((name) => !names.has(name))
    .map((name) => `${name}: was released and is gone; logs may still hold it`);
  const changed = [...names].flatMap((name) =>
    versionsOf(root, name).flatMap(({ version, schema }) =>
      compatibilityProblems(schema, catalogue.inline(name)).map(
        (problem) => `${name}: against version ${version}: ${problem}`,
      ),
    ),
  );
  return [...removed, ...changed];
}

/** Writes the current version of every message that is new or changed; returns the files written. */
export function recordHistory(root, catalogue) {
  const problems = historyProblems(root, catalogue);
  if (problems.length > 0) return [];
  return messageNames(catalogue).flatMap((name) => {
    const text = `${JSON.stringify(catalogue.inline(name), null, 2)}\n`;
    const versions = versionsOf(root, name);
    const latest = versions.at(-1);
    if (latest !== undefined && `${JSON.stringify(latest.schema, null, 2)}\n` === text) return [];
    const path = `${FOLDER}/${name}/${(latest?.version ?? 0) + 1}.avsc`;
    mkdirSync(join(root, FOLDER, name), { recursive: true });
    writeFileSync(join(root, path), text);
    return [path];
  });
}

function recordedNames(root) {
  const folder = join(root, FOLDER);
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}
