// The effects of a cell, and in which order the tool was called for them: what the gates judge by.
import { EFFECTS, expectedTrace, STEPS } from './work.js';
import type { Workload } from './work.js';

/** What the tool saw of a cell. */
export interface Judged {
  readonly runs: number;
  /** Runs whose trace is the expected one, call by call. */
  readonly exact: number;
  /** Calls for an effect that was there already. */
  readonly repeats: number;
  readonly firstWrong: { readonly run: string; readonly trace: string } | null;
}

export class EffectBook {
  #traces = new Map<string, string[]>();
  #effects = new Set<string>();
  #repeats = 0;

  clear(): void {
    this.#traces = new Map();
    this.#effects = new Set();
    this.#repeats = 0;
  }

  /** False: refused, as the last step always is. */
  act(run: string, step: number): boolean {
    const isRefused = step >= STEPS;
    if (isRefused) this.note(run, `refuse ${String(step)}`);
    else this.once(run, `act ${String(step)}`);
    return !isRefused;
  }

  takeBack(run: string, step: number): void {
    this.once(run, `takeBack ${String(step)}`);
  }

  look(run: string, step: number): boolean {
    this.note(run, `look ${String(step)}`);
    return this.#effects.has(`${run} takeBack ${String(step)}`);
  }

  judge(workload: Workload): Judged {
    const expected = expectedTrace(workload).join();
    const wrong = [...this.#traces].filter(([, calls]) => calls.join() !== expected);
    const [first] = wrong;
    return {
      runs: this.#traces.size,
      exact: this.#traces.size - wrong.length,
      repeats: this.#repeats,
      firstWrong: first === undefined ? null : { run: first[0], trace: first[1].slice(0, 4 * EFFECTS).join(', ') },
    };
  }

  private once(run: string, call: string): void {
    const effect = `${run} ${call}`;
    if (this.#effects.has(effect)) this.#repeats += 1;
    else this.#effects.add(effect);
    this.note(run, call);
  }

  private note(run: string, call: string): void {
    const trace = this.#traces.get(run);
    if (trace === undefined) this.#traces.set(run, [call]);
    else trace.push(call);
  }
}
