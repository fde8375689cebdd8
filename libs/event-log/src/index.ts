export { accepted, append, NOTHING, refused } from './service-core.js';
export { evolveAny } from './fold.js';
export { Lacking, Lacks } from './lacks.js';
export type { Lack } from './lacks.js';
export type {
  AcceptedRecord,
  BroadcastView,
  Change,
  ChangedRow,
  ColumnSpec,
  ColumnType,
  CommandAnswer,
  DecideContext,
  Decided,
  Decision,
  Derived,
  Doc,
  Input,
  InputSpec,
  KindSpec,
  Outgoing,
  Owns,
  RecordInput,
  Row,
  RowAddress,
  SealScope,
  ServiceCore,
  StateView,
  TimerInput,
  Views,
  ViewSpec,
} from './service-core.js';
export type {
  GroupAddress,
  GroupPage,
  Loaded,
  PartitionStore,
  ProjectedHead,
  ProjectResult,
  StoredCursor,
  StoreFactory,
} from './store.port.js';
export {
  backoffMs,
  BATCH_BYTES_MAX,
  BATCH_RECORDS_MAX,
  judgeAppend,
  judgeClock,
  judgeDelivery,
  judgeStore,
  progressAloneIsDue,
} from './loop.decisions.js';
export { LOOP_ENDS, LOOP_EVENTS, LOOP_PHASE_AFTER, LOOP_PHASES } from './loop.phases.js';
export { COMMAND_KIND, COMMON_KINDS, PARKED_KIND, READING_KIND, withCommonKinds } from './common-kinds.js';
export type { CommandDoc, ParkedDoc, ReadingDoc } from './common-kinds.js';
export { signCommand, verifyCommand } from './command-signature.js';
export type { SignedCommand } from './command-signature.js';
export { canonicalRow, columnText, columnValue, compareText, decodeDoc, encodeDoc, partedDoc } from './row-codec.js';
export type { ColumnValue } from './row-codec.js';
export { MemoryDatabase } from './memory-store.js';
export type { MemoryDatabaseOptions, StoreOperation } from './memory-store.js';
export { judgeRange } from './input-loss.js';
export type { InputLoss } from './input-loss.js';
export { OwnLog } from './own-log.js';
export type { LogPosition, OwnLogOptions, PlacedRecord } from './own-log.js';
export { LogView, ViewSet } from './broadcast-view.js';
export { LOOP_SETTINGS, PartitionLoop } from './partition-loop.js';
export type { LoopEvent, LoopHealth, LoopSettings, PartitionLoopOptions } from './partition-loop.js';
export type { PeerEvent } from './peers.js';
export type { Presence } from './presence.port.js';
export { createServiceRuntime } from './service-runtime.js';
export type { RuntimeHealth, ServiceRuntime, ServiceRuntimeOptions } from './service-runtime.js';
export { findProblem, PARKED_BYTES_MAX, parkingKey, WIRE_RECORD_BYTES_MAX } from './parking.decisions.js';
export { asStored } from './sealing/opening-payload.js';
export { mapPayloads } from './sealing/payload-walk.js';
export { showLoaded } from './sealing/sealing.js';
export type { Sealing } from './sealing/sealing.js';
export { Vault } from './sealing/vault.js';
export type { VaultOptions } from './sealing/vault.js';
export { scopeId, storableName } from './sealing/key-id.js';
export { MemoryKeyStore } from './sealing/key-store.memory.js';
export type { Erasure, KeyScope, KeyStore, StandingKey, StoredKey, Unit } from './sealing/key-store.port.js';
export { replayPartition } from './replay.js';
export type { ReplayBounds, Replayed, ReplayOptions } from './replay.js';
export { command, commandsOf, core, heardOf, parkedThrough, row, together, toldOn, unchanged } from './core-table.js';
export type { Asked, CommandsTable, CoreTable, Due, Fold, Folds, InputTable, RowTable } from './core-table.js';
