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

/** Self time, largest first. */
export interface ProcessProfile {
  readonly packages: readonly SelfTime[];
  /** What Node itself takes is charged to the package that called it. */
  readonly callers: readonly SelfTime[];
  readonly functions: readonly SelfTime[];
}

const IDLE = '(idle)';

/** Self time inside some windows; idle time is left out. */
export function selfTimes(profile: CpuProfile, windows: readonly Window[]): ProcessProfile {
  const owners = ownersOf(profile.nodes);
  const times = { packages: new Map<string, number>(), callers: new Map(), functions: new Map() };
  let at = profile.startTime;
  profile.samples.forEach((id, index) => {
    at += profile.timeDeltas[index] ?? 0;
    // A sample stands for the time until the next one.
    const us = profile.timeDeltas[index + 1] ?? 0;
    const owner = owners.get(id);
    if (owner === undefined || owner.package === IDLE || !windows.some(({ from, to }) => at >= from && at < to)) return;
    add(times.packages, owner.package, us);
    add(times.callers, owner.caller, us);
    add(times.functions, owner.function, us);
  });
  return {
    packages: largestFirst(times.packages),
    callers: largestFirst(times.callers),
    functions: largestFirst(times.functions),
  };
}

function add(times: Map<string, number>, name: string, us: number): void {
  times.set(name, (times.get(name) ?? 0) + us);
}

interface Owner {
  readonly package: string;
  readonly caller: string;
  readonly function: string;
}

type Parents = ReadonlyMap<number, ProfileNode>;

function ownersOf(nodes: readonly ProfileNode[]): ReadonlyMap<number, Owner> {
  const parents: Parents = new Map(
    nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)),
  );
  return new Map(nodes.map((node) => [node.id, ownerOf(node, parents)]));
}

function ownerOf(node: ProfileNode, parents: Parents): Owner {
  const { functionName } = node.callFrame;
  // Garbage collector, program, idle: V8's own, whatever called them.
  const place = functionName.startsWith('(') ? '' : nearest(node, parents, (url) => url !== '');
  const caller = nearest(node, parents, (url) => url !== '' && !url.startsWith('node:'));
  const home = packageOf(place, functionName);
  return {
    package: home,
    caller: place.startsWith('node:') && caller !== '' ? packageOf(caller, '') : home,
    function: [home, fileOf(place), functionName === '' ? '(anonymous)' : functionName].filter(Boolean).join(' '),
  };
}

/** File of the function, or of the nearest above it, for which this holds; empty when there is none. */
function nearest(from: ProfileNode, parents: Parents, isWanted: (url: string) => boolean): string {
  for (let node: ProfileNode | undefined = from; node !== undefined; node = parents.get(node.id))
    if (isWanted(node.callFrame.url)) return node.callFrame.url;
  return '';
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

/** What a profile is of. */
export interface Profiled {
  readonly name: string;
  readonly runs: number;
  /** CPU of all threads, milliseconds a run. */
  readonly cpuMs: number;
}

const PACKAGES_SHOWN = 20;
const FUNCTIONS_SHOWN = 30;

/** The table for people: one process by package, by caller and by function, milliseconds a run. */
export function tableOfProfile(
  { name, runs, cpuMs }: Profiled,
  { packages, callers, functions }: ProcessProfile,
): string {
  const all = packages.reduce((total, { us }) => total + us, 0);
  const line = ({ name: owner, us }: SelfTime): string =>
    `  ${(us / 1_000 / runs).toFixed(2).padStart(8)} ms ${((us / all) * 100).toFixed(1).padStart(5)} %  ${owner}`;
  return [
    `${name}: ${cpuMs.toFixed(1)} ms of CPU a run; its main thread was busy or waited for a processor ${(all / 1_000 / runs).toFixed(1)} ms a run:`,
    ...packages.slice(0, PACKAGES_SHOWN).map(line),
    '  what Node takes charged to who called it',
    ...callers.slice(0, PACKAGES_SHOWN).map(line),
    '  by function',
    ...functions.slice(0, FUNCTIONS_SHOWN).map(line),
  ].join('\n');
}
