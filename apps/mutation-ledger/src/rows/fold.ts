// How accepted records of the mutations log become rows: tables by record type, one per kind of thing (L2).
import type { AcceptedRecord, Change, StateView } from '@recourse/event-log';
import type { ByType } from '../rules/record.messages.js';

/** What records of some types make of rows. */
export type Fold = ByType<[state: StateView, record: AcceptedRecord], readonly Change[]>;
