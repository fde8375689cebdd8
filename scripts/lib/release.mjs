// The decisions of a release: its version, and what the changelog says of it. Pure.

const BUMPS = ['major', 'minor', 'patch'];
const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;

/**
 * @param {string} current `1.2.3`
 * @param {string} wish `major`, `minor`, `patch`, or a version above the current one
 * @returns {string} Errors: Error with what would be accepted
 */
export function nextVersion(current, wish) {
  const now = partsOf(current);
  if (now === null) throw new Error(`package.json has version "${current}", which is not of the form 1.2.3`);
  if (BUMPS.includes(wish)) return bumped(now, BUMPS.indexOf(wish)).join('.');
  const wanted = partsOf(wish);
  if (wanted === null) throw new Error(`"${wish}" is no version; give ${BUMPS.join(', ')} or one like 1.2.3`);
  if (!isAbove(wanted, now)) throw new Error(`${wish} is not above the current version ${current}`);
  return wish;
}

/**
 * Gives the entries under `## Unreleased` the heading of their release and leaves an empty `## Unreleased` above them.
 *
 * @param {string} changelog
 * @param {string} version
 * @param {string} date `2026-05-01`
 * @returns {{changelog: string, notes: string}} Errors: Error when there is nothing to release
 */
export function releaseNotes(changelog, version, date) {
  const found = /^## Unreleased\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(changelog);
  const notes = found?.[1].trim() ?? '';
  if (found === null || notes === '')
    throw new Error('CHANGELOG.md has nothing under "## Unreleased": say there what users get');
  const before = changelog.slice(0, found.index);
  const after = changelog.slice(found.index + found[0].length);
  return {
    changelog: `${before}## Unreleased\n\n## ${version} (${date})\n\n${notes}\n${after === '' ? '' : `\n${after}`}`,
    notes,
  };
}

/**
 * Sets the version in a manifest or in the lockfile's entries of our own packages.
 *
 * @param {{version: string, packages?: Record<string, {version?: string}>}} json
 * @param {string} version
 */
export function withVersion(json, version) {
  if (json.packages === undefined) return { ...json, version };
  const packages = Object.entries(json.packages).map(([path, entry]) => {
    const isOurs = !path.includes('node_modules') && entry.version !== undefined;
    return [path, isOurs ? { ...entry, version } : entry];
  });
  return { ...json, version, packages: Object.fromEntries(packages) };
}

function partsOf(version) {
  const match = VERSION.exec(version);
  return match === null ? null : match.slice(1).map(Number);
}

/** Raises one part; those after it begin anew. */
function bumped(parts, index) {
  return parts.map((part, at) => (at < index ? part : at === index ? part + 1 : 0));
}

function isAbove(wanted, now) {
  const at = wanted.findIndex((part, index) => part !== now[index]);
  return at >= 0 && wanted[at] > now[at];
}
