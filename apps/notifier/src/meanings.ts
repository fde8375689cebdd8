// What a record of a log means for what waits, as a table has it, and what every log says alike.
//
// Boundary: pure types and the lines of records that each log has.
import type { BodyOf, RecordTypeOf, TopicName } from '@recourse/messages';
import { ends, parkedOf, rests } from './rules/item/item.decisions.js';
import type { Known, Place, ThingChange } from './rules/item/item.messages.js';
import { askAboutParked } from './rules/item/waiting.decisions.js';

/** What a record type does. */
export interface Meaning<Body> {
  /** Keys of the things the record is about. */
  readonly about: (body: Body) => readonly string[];
  readonly then: (body: Body, known: Known, place: Place) => readonly ThingChange[];
}

/** Bodies by record type. */
export type Bodies<Log extends TopicName> = { readonly [Type in RecordTypeOf<Log>]: BodyOf<Log, Type> };

/** `null`: nothing opens, ends or moves. */
export type Meanings<Of> = { readonly [Type in keyof Of]: Meaning<Of[Type]> | null };

/** The things are over. */
export function over<Body>(about: Meaning<Body>['about']): Meaning<Body> {
  return { about, then: (body, known) => ends(known, about(body)) };
}

/** Nobody is waited for any more; it may come to wait again. */
export function resting<Body>(about: Meaning<Body>['about']): Meaning<Body> {
  return { about, then: (body, known) => rests(known, about(body)) };
}

/** Only where the body says so. */
export function only<Body>(applies: (body: Body) => boolean, { about, then }: Meaning<NoInfer<Body>>): Meaning<Body> {
  return { about, then: (body, known, place) => (applies(body) ? then(body, known, place) : []) };
}

type RecordParked = BodyOf<'recourse.mutations', 'RecordParked'>;
type ParkedResolved = BodyOf<'recourse.mutations', 'ParkedResolved'>;

const whenParked: Meaning<RecordParked> = { about: parkedOf, then: askAboutParked };
const whenResolved: Meaning<ParkedResolved> = over(parkedOf);

/** Records of the loop itself, in each log the same: what it could not take waits for a person. */
export const OF_THE_LOOP = {
  Progress: null,
  RecordParked: whenParked,
  ParkedResolved: whenResolved,
  CommandAnswered: null,
  ObligationResent: null,
  CutAccepted: null,
  WireLossAccepted: null,
  TimeAccepted: null,
  RecordRedirected: null,
  RecordsRefused: null,
  PayloadsRead: null,
} as const;

export interface Parking {
  readonly RecordParked: RecordParked;
  readonly ParkedResolved: ParkedResolved;
}
/** A log in which nothing else waits. */
type OnlyParking<Log extends TopicName> = Readonly<Record<Exclude<RecordTypeOf<Log>, keyof Parking>, null>>;

export const ASSUMPTIONS = {
  ...OF_THE_LOOP,
  AssumptionStated: null,
  StatementConflicted: null,
  HandleClaimed: null,
} as const satisfies OnlyParking<'recourse.assumptions'>;
