export { commitIdOf, isCommitId, sortedParents } from './commit-id.js';
export { CHUNK_BYTES, CHUNK_TYPE, CHUNKS_MAX, cutState, isChunk, joinState, SALT_BYTES } from './state-chunks.js';
export type { CutState } from './state-chunks.js';
export { applyDelta, deltaOf, DEPTH_MAX } from './state-delta.js';
export { EdgeLines } from './graph/edge-lines.js';
export { LineageGraph } from './graph/lineage-graph.js';
export { restoredState, STATE_CODES, statePath } from './state-path.js';
export type { Restored, StateCode, StateHolder } from './state-path.js';
