export { MUTANTS, mutantOf } from './mutants.js';
export type { Mutant } from './mutants.js';
export { run } from './run.js';
export type { RunOptions, RunResult } from './run.js';
export type { Violation } from './checker/check.js';
export { CRASH_POINTS } from './faults.js';
