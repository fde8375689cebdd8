// Upward imports: what keeps the folders of a package from having an order. Pure.
import { posix } from 'node:path';

/**
 * @typedef {{path: string, package: string, imports: readonly string[]}} Importer
 * @typedef {{from: string, to: string}} Import
 */

/**
 * Imports between the folders of `src/` that point against their order. The order is the one that leaves the fewest; where
 * the folders need each other in no circle, there are none. Files that stand directly in `src/` are everybody's ground or
 * roof and are left out.
 *
 * @param {readonly Importer[]} files
 * @returns {readonly Import[]} sorted by file
 */
export function upwardImports(files) {
  const packages = Map.groupBy(files, (file) => file.package);
  return [...packages].flatMap(([name, members]) => upwardIn(name, members)).sort((a, b) => (a.from < b.from ? -1 : 1));
}

function upwardIn(name, members) {
  const between = members.flatMap((file) => importsBetweenFolders(name, file));
  const edges = Map.groupBy(between, ({ fromFolder, toFolder }) => `${fromFolder} ${toFolder}`);
  const weights = new Map([...edges].map(([edge, imports]) => [edge, imports.length]));
  const order = bestOrder(foldersInCircles([...weights.keys()]), weights);
  return between
    .filter(
      ({ fromFolder, toFolder }) => order.includes(toFolder) && order.indexOf(fromFolder) > order.indexOf(toFolder),
    )
    .map(({ from, to }) => ({ from, to }));
}

function importsBetweenFolders(name, file) {
  const fromFolder = folderOf(name, file.path);
  return file.imports
    .map((specifier) => posix.join(posix.dirname(file.path), specifier).replace(/\.js$/, '.ts'))
    .map((to) => ({ from: file.path, to, fromFolder, toFolder: folderOf(name, to) }))
    .filter((one) => one.fromFolder !== null && one.toFolder !== null && one.fromFolder !== one.toFolder);
}

/** The folder directly below `src/`; null for a file that stands in none, or outside. */
function folderOf(name, path) {
  const [folder, ...rest] = path.startsWith(`${name}/src/`) ? path.slice(name.length + 5).split('/') : [];
  return rest.length === 0 ? null : folder;
}

/** Takes away what nobody needs or what needs nobody until only circles are left. */
function foldersInCircles(edges) {
  let left = edges.map((edge) => edge.split(' '));
  for (;;) {
    const sources = new Set(left.map(([from]) => from));
    const targets = new Set(left.map(([, to]) => to));
    const kept = left.filter(([from, to]) => sources.has(to) && targets.has(from));
    if (kept.length === left.length) return [...new Set(kept.flat())].sort();
    left = kept;
  }
}

/** From roof to ground. Tries all orders, folder set by folder set: a package has few folders in circles. */
function bestOrder(folders, weights) {
  /** For each set of folders that stand above: the cheapest order of them. */
  const best = new Map([[0, { cost: 0, order: [] }]]);
  for (let above = 0; above < 2 ** folders.length; above += 1) {
    const { cost, order } = best.get(above);
    folders.forEach((folder, index) => {
      const next = above | (1 << index);
      if (next === above) return;
      const upward = order.reduce((sum, higher) => sum + (weights.get(`${folder} ${higher}`) ?? 0), 0);
      if (cost + upward < (best.get(next)?.cost ?? Infinity))
        best.set(next, { cost: cost + upward, order: [...order, folder] });
    });
  }
  return best.get(2 ** folders.length - 1).order;
}
