export { CoreHarness, fact, fakeHash, harness, logged, WAYS, wire } from './core-harness.js';
export type { HarnessOptions } from './core-harness.js';
export { HOSTILE_STRINGS } from './hostile-strings.js';
export type { HostileString } from './hostile-strings.js';
export { deepFreeze, mismatch, plainProblem } from './plain-data.js';
export { MemoryView, memoryView } from './view.memory.js';
