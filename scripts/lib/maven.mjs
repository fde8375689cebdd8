// Fetches Kafka and the registry with Maven, once per pinned version.
//
// A folder is complete when its marker file is there: it is written last, so a killed fetch is simply done again.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ARTIFACTS, artifactFolders, marker, pomOf } from './artifacts.mjs';
import { findJava, findMaven } from './prerequisites.mjs';
import { CommandFailed, isEnding, runQuiet } from './run.mjs';

const TRIES_MAX = 2;

/**
 * Makes sure Kafka and the registry are on disk.
 *
 * @param {(line: string) => void} [say] gets progress lines
 * @returns {Promise<{kafka: string, registry: string}>} Errors: with Maven's own output when it fails twice.
 */
export async function fetchArtifacts(say = () => {}) {
  const folders = artifactFolders();
  for (const { name, goal } of ARTIFACTS) {
    if (!existsSync(marker(folders[name]))) await fetchTwice(name, goal, folders[name], say);
  }
  return folders;
}

async function fetchTwice(name, goal, folder, say) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      say(`fetching ${name} with Maven${attempt > 1 ? ' (second try)' : ''}`);
      return await fetch(name, goal, folder, say);
    } catch (cause) {
      if (isEnding()) process.exit(130);
      if (!(cause instanceof CommandFailed) || attempt >= TRIES_MAX) throw explain(name, cause);
      say(`Maven failed (${lastErrorLine(cause.output)}); trying once more`);
    }
  }
}

async function fetch(name, goal, folder, say) {
  const mvn = findMaven();
  if (mvn === null)
    throw new Error(
      'Maven (mvn) was not found in MAVEN_HOME or PATH; it is needed once, to fetch Kafka and the registry',
    );
  const { java } = findJava();
  const partial = `${folder}.${process.pid}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  let downloads = 0;
  const onLine = (line) => {
    if (!/Downloaded from/.test(line)) return;
    downloads += 1;
    if (downloads % 25 === 0) say(`${name}: ${downloads} files downloaded`);
  };
  await runQuiet(mvn, ['-B', '-f', pomOf(name), goal, `-DoutputDirectory=${partial}`], {
    onLine,
    env: java === null ? process.env : { ...process.env, JAVA_HOME: java.home },
  });
  writeFileSync(marker(partial), '');
  rmSync(folder, { recursive: true, force: true });
  renameSync(partial, folder);
}

function lastErrorLine(output) {
  return (
    output
      .split('\n')
      .filter((line) => line.includes('ERROR'))
      .at(0)
      ?.trim()
      .slice(0, 200) ?? 'no message'
  );
}

function explain(name, cause) {
  if (!(cause instanceof CommandFailed)) return cause;
  return new Error(
    `Maven could not fetch ${name}. Check the network and Maven's settings (a proxy or mirror), then start again.\n${cause.output.trim()}`,
  );
}
