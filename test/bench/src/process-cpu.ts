// CPU that processes used, with all they started: where the time of a bench goes on cores that others share.
//
// Boundary: reads /proc; where there is none, nothing is known, and no figure is made up.
import { readdirSync, readFileSync } from 'node:fs';

/** Ticks a second in /proc, the same on every Linux that Node runs on. */
const TICKS_PER_S = 100;
/** Places in a line of /proc/<pid>/stat after the name in parentheses: parent, own user and system time, those of ended children. */
const [PARENT, TIMES] = [1, [11, 12, 13, 14]] as const;

/** One process: its parent, and the seconds it and its ended children used. */
export interface ProcessCpu {
  readonly pid: number;
  readonly parent: number;
  readonly seconds: number;
}

/** Reads a line of /proc/<pid>/stat; null for what is none. Pure. */
export function processCpuOf(line: string): ProcessCpu | null {
  const [pid, rest] = [
    Number.parseInt(line, 10),
    line
      .slice(line.lastIndexOf(')') + 2)
      .trim()
      .split(/\s+/),
  ];
  const ticks = TIMES.map((at) => Number(rest[at]));
  const parent = Number(rest[PARENT]);
  return [pid, parent, ...ticks].every(Number.isFinite)
    ? { pid, parent, seconds: ticks.reduce((all, one) => all + one, 0) / TICKS_PER_S }
    : null;
}

/** Seconds of a process and of all that descend from it, but for those that are counted by themselves. Pure. */
export function secondsOfTree(
  all: readonly ProcessCpu[],
  root: number,
  apart: ReadonlySet<number> = new Set(),
): number {
  const own = all.find(({ pid }) => pid === root)?.seconds ?? 0;
  return all
    .filter(({ pid, parent }) => parent === root && !apart.has(pid))
    .reduce((sum, { pid }) => sum + secondsOfTree(all, pid, apart), own);
}

/** Seconds each of some processes has used by now, by name, and none of them twice; nothing where the machine does not tell. */
export function cpuSeconds(pids: Readonly<Record<string, number | null>>): Readonly<Record<string, number>> {
  const all = running();
  if (all.length === 0) return {};
  const apart = new Set(Object.values(pids).filter((pid) => pid !== null));
  return Object.fromEntries(
    Object.entries(pids).flatMap(([name, pid]) => (pid === null ? [] : [[name, secondsOfTree(all, pid, apart)]])),
  );
}

function running(): readonly ProcessCpu[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => processCpuOf(statOf(pid)) ?? []);
  } catch {
    return [];
  }
}

/** A process may end while one looks. */
function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}

/** What all of the machine's processors did by now, seconds; null where the machine does not tell. */
export function machineCpu(): { readonly busy: number; readonly all: number } | null {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
    const all = ticks.reduce((total, one) => total + one, 0) / TICKS_PER_S;
    return { busy: all - ((ticks[3] ?? 0) + (ticks[4] ?? 0)) / TICKS_PER_S, all };
  } catch {
    return null;
  }
}
