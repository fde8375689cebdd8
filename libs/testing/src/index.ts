export { CoreHarness, harness, WAYS } from './core-harness.js';
export type { HarnessOptions } from './core-harness.js';
// `fact` is what specs called a record until the word was given to what people rely on.
export { fakeHash, logged, record, record as fact, wire } from './inputs.js';
export { HOSTILE_STRINGS } from './hostile-strings.js';
export type { HostileString } from './hostile-strings.js';
export { deepFreeze, mismatch, plainProblem } from './plain-data.js';
export { MemoryView, memoryView } from './view.memory.js';
