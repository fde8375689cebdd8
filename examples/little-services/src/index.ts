// The little services: processes, adapters, and what stories over them share.
export { LITTLE_PROCESSES } from './processes.js';
export { ADAPTERS, FORWARD, INVERSE } from './adapters/capabilities.js';
export { AGENT_ID, Stage } from './kit/stage.js';
export type { Call, LittleUrls, Place } from './kit/stage.js';
export { formatTable, instant } from './kit/table.js';
export type { Column } from './kit/table.js';
export type { FaultMode } from './services/faults.js';
export type { Doc, Effect, World } from './services/world.js';
