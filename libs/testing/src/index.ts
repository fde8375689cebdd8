export { CoreHarness, harness, WAYS } from './core-harness.js';
// `fact` is what specs called a record until the word was given to what people rely on.
export { entrySaid, envelopeIn, logged, record, record as fact, wire } from './inputs.js';
export { HOSTILE_STRINGS } from './hostile-strings.js';
export { deepFreeze } from './plain-data.js';
export { MemoryView, memoryView } from './view.memory.js';
export { eachMember } from './members.js';
export { runCases } from './cases.js';
export type { Cases } from './cases.js';
export { ChainedLog, ownCodecs } from './chained-log.js';
export { ToldAnswers } from './told-answers.js';
export type { Answered } from './told-answers.js';
