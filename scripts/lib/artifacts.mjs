// Where the fetched Kafka and registry lie, by pinned version.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepDir, root } from './paths.mjs';

/** What Maven fetches, and the goal that does it. The pom's own version is the version of what it fetches. */
export const ARTIFACTS = [
  { name: 'kafka', goal: 'dependency:copy-dependencies' },
  { name: 'registry', goal: 'dependency:unpack' },
];

export const pomOf = (name) => join(root, 'deploy', 'dev', 'maven', `${name}.xml`);

/** @param {string} pom @returns {string} the version of the project itself, which comes before any dependency's */
export function pinnedVersion(pom) {
  const found = /<version>([^<]+)<\/version>/.exec(pom.replace(/<!--[\s\S]*?-->/g, ''));
  if (found === null) throw new Error('the pom has no version');
  return found[1];
}

/** Where Kafka and the registry are, or will be, in this clone. */
export function artifactFolders() {
  const folder = (name) => join(keepDir, 'jars', `${name}-${pinnedVersion(readFileSync(pomOf(name), 'utf8'))}`);
  return { kafka: folder('kafka'), registry: folder('registry') };
}

/** The file that is written last: with it, a folder is complete. */
export const marker = (folder) => join(folder, '.complete');

export function artifactsPresent() {
  return Object.values(artifactFolders()).every((folder) => existsSync(marker(folder)));
}
