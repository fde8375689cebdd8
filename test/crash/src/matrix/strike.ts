// What happens to a target: killed, stopped in order, or paused for longer than any session lasts.
import { readdirSync, readFileSync } from 'node:fs';
import type { Arena } from '../arena.js';
import { pause } from '../edge.js';
import type { Action, MatrixTarget } from './matrix.cases.js';

/** Sessions of services last 4 s here, those of workers 6 s. */
const PAUSE_MS = 10_000;
/** A dead process is missing for this long before it is started again. */
const ABSENCE_MS = 300;

/** Whom a strike tells: in the instant of the signal, and once the target is gone, going or still. */
export interface StrikeWatch {
  readonly onSignal: () => void;
  readonly onStruck: () => void;
}

/** Does it. Resolves when the target is back. */
export async function strike(
  arena: Arena,
  { action, target }: { readonly action: Action; readonly target: MatrixTarget },
  { onSignal, onStruck }: StrikeWatch,
): Promise<void> {
  // Whatever is paused has to be found before; nothing else runs between the instant and the signal.
  const family = action === 'pause' ? familyOf(pidOf(arena, target)) : [];
  onSignal();
  switch (action) {
    case 'kill -9':
      await arena.kill(target, 0, 'delay');
      onStruck();
      await pause(ABSENCE_MS);
      return arena.revive(target);
    case 'stop': {
      // The signal is sent before the first wait of a restart.
      const back = isServer(target) ? arena.stack.restart(target) : arena.processes.restart(target);
      onStruck();
      return back;
    }
    case 'pause':
      return asleep(family, onStruck);
  }
}

/** Stops a family of processes for the time of a pause; they go on whatever becomes of this one. */
async function asleep(family: readonly number[], onStruck: () => void): Promise<void> {
  const wake = (): void => {
    for (const pid of family) signal(pid, 'SIGCONT');
  };
  process.once('exit', wake);
  for (const pid of family) signal(pid, 'SIGSTOP');
  onStruck();
  await pause(PAUSE_MS);
  wake();
  process.off('exit', wake);
}

function isServer(target: MatrixTarget): target is 'kafka' | 'postgres' {
  return target === 'kafka' || target === 'postgres';
}

function pidOf(arena: Arena, target: MatrixTarget): number {
  const pid = isServer(target) ? arena.stack.pids[target] : arena.processes.pid(target);
  if (pid === null) throw new Error(`${target} does not run`);
  return pid;
}

/** A process and all that came from it, parents first: PostgreSQL's sessions lead groups of their own. */
function familyOf(pid: number): readonly number[] {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/u.test(name))
      .map((name) => [Number(name), parentOf(name)]),
  );
  const family = [pid];
  for (const member of family) for (const [child, parent] of parents) if (parent === member) family.push(child);
  return family;
}

function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may contain anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // One of a family may have ended meanwhile.
  }
}
