// Where a process spends its time: sums the samples of a V8 CPU profile by package and by function. Pure.
//
// A sample is a moment at which the main thread was in a function, running or waiting for a processor; other threads (the
// collector's helpers, the compiler, files) do not appear. Time in native code counts for the JavaScript that called it.

/** The part of a .cpuprofile that is used. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** Microseconds, on the clock that all processes of the machine share. */
  readonly startTime: number;
  readonly samples: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[];
}
interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

/** A stretch of time, microseconds. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Time of one owner, microseconds. */
export interface SelfTime {
  readonly name: string;
  readonly us: number;
}

export interface ProcessProfile {
  /** Largest first. */
  readonly packages: readonly SelfTime[];
  readonly functions: readonly SelfTime[];
}

const IDLE = '(idle)';

/** Self time inside some windows; idle time is left out. */
export function selfTimes(profile: CpuProfile, windows: readonly Window[]): ProcessProfile {
  const owners = ownersOf(profile.nodes);
  const packages = new Map<string, number>();
  const functions = new Map<string, number>();
  let at = profile.startTime;
  profile.samples.forEach((id, index) => {
    at += profile.timeDeltas[index] ?? 0;
    // A sample stands for the time until the next one.
    const us = profile.timeDeltas[index + 1] ?? 0;
    const owner = owners.get(id);
    if (owner === undefined || owner.package === IDLE || !windows.some(({ from, to }) => at >= from && at < to)) return;
    packages.set(owner.package, (packages.get(owner.package) ?? 0) + us);
    functions.set(owner.function, (functions.get(owner.function) ?? 0) + us);
  });
  return { packages: largestFirst(packages), functions: largestFirst(functions) };
}

interface Owner {
  readonly package: string;
  readonly function: string;
}

function ownersOf(nodes: readonly ProfileNode[]): ReadonlyMap<number, Owner> {
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)));
  return new Map(
    nodes.map((node) => {
      const { functionName, url } = node.callFrame;
      const place = url === '' ? placeAbove(node, parents) : url;
      const name = functionName === '' ? '(anonymous)' : functionName;
      const home = packageOf(place, functionName);
      return [node.id, { package: home, function: `${home} ${fileOf(place)} ${name}`.replaceAll(/ +/g, ' ') }];
    }),
  );
}

/** Native code is its caller's; what has no caller in JavaScript is V8's own: garbage collector, program, idle. */
function placeAbove(node: ProfileNode, parents: ReadonlyMap<number, ProfileNode>): string {
  let above = parents.get(node.id);
  while (above !== undefined && above.callFrame.url === '') above = parents.get(above.id);
  return node.callFrame.functionName.startsWith('(') ? '' : (above?.callFrame.url ?? '');
}

/** Package of a file: that of npm, a folder of ours, or a module of Node. */
export function packageOf(url: string, functionName: string): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(native)';
  const npm = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url);
  if (npm?.[1] !== undefined) return npm[1];
  if (url.startsWith('node:')) return /^node:(?:internal\/)?[^/]+/.exec(url)?.[0] ?? url;
  const ours = /\/((?:libs|apps|test|examples|deploy)\/[^/]+)\/(?:dist|src)\//.exec(url);
  return ours?.[1] ?? url;
}

function fileOf(url: string): string {
  return url.startsWith('node:') ? '' : url.slice(url.lastIndexOf('/') + 1);
}

function largestFirst(times: ReadonlyMap<string, number>): readonly SelfTime[] {
  return [...times].map(([name, us]) => ({ name, us })).sort((a, b) => b.us - a.us);
}

/** The table for people: the packages of one process, and its functions below, in milliseconds a run. */
export function tableOfProfile(name: string, { packages, functions }: ProcessProfile, runs: number): string {
  const all = packages.reduce((total, { us }) => total + us, 0);
  const line = ({ name: owner, us }: SelfTime): string =>
    `  ${(us / 1_000 / runs).toFixed(2).padStart(8)} ms ${((us / all) * 100).toFixed(1).padStart(5)} %  ${owner}`;
  return [
    `${name}: ${(all / 1_000 / runs).toFixed(2)} ms a run on its main thread`,
    ...packages.slice(0, 20).map(line),
    '  by function',
    ...functions.slice(0, 30).map(line),
  ].join('\n');
}
