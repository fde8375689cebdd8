export { accepted, append, decidedAtOf, NOTHING, refused } from './service-core.js';
export { PARKED_KIND, READING_KIND, evolveAny, withCommonKinds } from './fold.js';
export { Lacking } from './lacks.js';
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
export type { CommandDoc, ParkedDoc, ReadingDoc } from './fold.js';
export { signCommand, verifyCommand } from './command-signature.js';
export {
  canonicalRow,
  columnText,
  columnValue,
  compareText,
  decodeDoc,
  docBytes,
  encodeDoc,
  partedBytes,
  restBytes,
} from './row-codec.js';
export type { ColumnValue } from './row-codec.js';
export { MemoryDatabase } from './memory-store.js';
export { judgeClock } from './loop.decisions.js';
export { stoodAs, stoodIn, TIME_ACCEPTED } from './stood-time.js';
export { judgeRange } from './input-loss.js';
export type { InputLoss } from './input-loss.js';
export { holdsPosition } from './input-cut.js';
export { OwnLog } from './own-log.js';
export type { LogPosition, OwnLogOptions, PlacedRecord } from './own-log.js';
export { LOOP_SETTINGS, PartitionLoop } from './partition-loop.js';
export type { LoopEvent, LoopHealth, LoopSettings } from './partition-loop.js';
export type { PeerEvent } from './peers.js';
export type { Presence } from './presence.port.js';
export { createServiceRuntime } from './service-runtime.js';
export type { ServiceRuntime } from './service-runtime.js';
export { countParkedOf } from './parking.decider.js';
export { findProblem, PARKED_BYTES_MAX, parkingKey } from './parking.decisions.js';
export { mapPayloads } from './sealing/payload-walk.js';
export { asStored, OpenedState, showLoaded } from './sealing/sealing.js';
export type { Sealing } from './sealing/sealing.js';
export { Vault } from './sealing/vault.js';
export { scopeId, storableName, toldBy } from './sealing/keys.js';
export { MemoryKeyStore } from './sealing/key-store.memory.js';
export type { Erasure, KeyScope, KeyStore, StandingKey, StoredKey, Unit } from './sealing/key-store.port.js';
export { replayPartition } from './replay.js';
export type { ReplayBounds, Replayed } from './replay.js';
export { command, commandsOf, core, heardOf, parkedThrough, row, together, toldOn, unchanged } from './core-table.js';
export type { Asked, CommandsTable, CoreTable, Due, Fold, Folds, InputTable } from './core-table.js';
export { foldEach, RowsOver } from './rows-over.js';
export { checkPins } from './pins/check-pins.js';
export type { CheckedPin, Otherwise, PinsToCheck } from './pins/check-pins.js';
export type { HeldRecord, WhatIf } from './pins/pinned-rows.js';
export { checkDerived } from './pins/check-derived.js';
export { OpenKeys } from './pins/payload-keys.js';
export type { PayloadKeys } from './pins/payload-keys.js';
export { pinDecisions } from './pins/pin-log.js';
export type { Pinned } from './pins/pin-log.js';
export type { PinSource } from './pins/pin-source.js';
export { ViewHistory } from './pins/view-history.js';
export type { ViewRecord } from './pins/view-history.js';
export type { Pin, PinnedGroup, PinnedInput, PinnedRecord, Unpinned } from './pins/pin.messages.js';
export { acceptedOf } from './own-log.js';
