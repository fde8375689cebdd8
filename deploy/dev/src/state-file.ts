// stack.json: what a launcher leaves behind for the next one, and for people who want to know where things are.
//
// Invariants
//   I1. A child stands in the file before it is waited for, with its start time, so a killed launcher's children are found.
//   I2. A pid is only ever killed together with its start time: a recycled pid is somebody else.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { identify, isRunning, killGroup, type ProcessIdentity } from '../../../scripts/lib/identity.mjs';
import type { StackPorts } from './ports.js';

export interface RecordedChild extends ProcessIdentity {
  readonly name: string;
}

export interface StackState {
  readonly launcher: ProcessIdentity | null;
  readonly ports: Partial<StackPorts>;
  readonly clusterId: string | null;
  readonly postgres: { readonly user: string; readonly password: string; readonly dataDir: string } | null;
  readonly children: readonly RecordedChild[];
}

export const EMPTY_STATE: StackState = { launcher: null, ports: {}, clusterId: null, postgres: null, children: [] };

export const stateFileOf = (dataDir: string): string => join(dataDir, 'stack.json');

/** Reads the file; an absent or torn one is an empty state. */
export function readState(dataDir: string): StackState {
  try {
    // The file is ours; fields that a torn or older one lacks come from the empty state.
    const found = JSON.parse(readFileSync(stateFileOf(dataDir), 'utf8')) as Partial<StackState>;
    return { ...EMPTY_STATE, ...found };
  } catch {
    return EMPTY_STATE;
  }
}

/** Is there a state, as a stack writes it? A file of that name may be somebody's own. */
export function isStackBegun(dataDir: string): boolean {
  try {
    const found = JSON.parse(readFileSync(stateFileOf(dataDir), 'utf8')) as Partial<StackState> | null; // of whoever wrote it
    return found !== null && 'ports' in found && Array.isArray(found.children);
  } catch {
    return false;
  }
}

/** Writes the file whole: a reader sees the old one or the new one. */
export function writeState(dataDir: string, state: StackState): void {
  writeWhole(stateFileOf(dataDir), `${JSON.stringify(state, null, 2)}\n`);
}

/** Writes a file for its owner, aside and then under its name. */
export function writeWhole(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const partial = `${file}.${String(process.pid)}.partial`;
  writeFileSync(partial, text, { mode: 0o600 });
  renameSync(partial, file);
}

/** The children that a dead launcher left running. Pure. */
export function leftoversOf(state: StackState, runs: (identity: ProcessIdentity) => boolean): readonly RecordedChild[] {
  return state.children.filter(runs);
}

/**
 * Kills what a dead launcher left behind and waits until it is gone.
 *
 * Errors: when a leftover survives SIGKILL for 10 s, with its pid.
 */
export async function killLeftovers(dataDir: string, say: (line: string) => void): Promise<void> {
  const leftovers = leftoversOf(readState(dataDir), isRunning);
  for (const child of leftovers) {
    say(`an earlier launcher was killed and left ${child.name} (pid ${String(child.pid)}) running: stopping it`);
    killGroup(child, 'SIGKILL');
  }
  const giveUpAt = Date.now() + 10_000;
  for (const child of leftovers) {
    while (isRunning(child)) {
      if (Date.now() > giveUpAt)
        throw new Error(
          `${child.name} of an earlier launcher (pid ${String(child.pid)}) cannot be killed; stop it and start again`,
        );
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** The running launcher's view of its state file. */
export class StateBook {
  #state: StackState;

  constructor(
    private readonly dataDir: string,
    previous: StackState,
  ) {
    this.#state = { ...previous, launcher: identify(process.pid), children: [] };
    this.#save();
  }

  get state(): StackState {
    return this.#state;
  }

  update(change: Partial<StackState>): void {
    this.#state = { ...this.#state, ...change };
    this.#save();
  }

  add(name: string, pid: number): void {
    const identity = identify(pid);
    if (identity !== null) this.update({ children: [...this.#state.children, { name, ...identity }] });
  }

  remove(pid: number): void {
    this.update({ children: this.#state.children.filter((child) => child.pid !== pid) });
  }

  /** Nothing runs any more; the ports stay, so that the next start takes the same. */
  close(): void {
    this.update({ launcher: null, children: [] });
  }

  #save(): void {
    writeState(this.dataDir, this.#state);
  }
}
