export { pinDecisions } from './pin-log.js';
export type { Pinned, PinSource } from './pin-log.js';
export { checkPins } from './check-pins.js';
export type { CheckedPin, HeldRecord, Otherwise, PinsToCheck, WhatIf } from './check-pins.js';
export { ViewHistory } from './view-history.js';
export type { ViewRecord } from './view-history.js';
export type { Pin, PinnedEntry, PinnedGroup, PinnedInput, PinnedRecord, PinnedRow, Unpinned } from './pin.messages.js';
