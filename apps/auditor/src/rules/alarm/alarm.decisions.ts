// Which alarms are raised and which are over, of what is found and what is open. Pure.
import { deriveId } from '@recourse/kernel';
import { CONTRADICTING, DETAILS, PASSING } from './alarm.messages.js';
import type { Alarm, AlarmKind, Found } from './alarm.messages.js';

const OWNER = 'role:auditor';
/** What contradicts a head is looked at within the hour. */
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface AlarmNews {
  readonly raised: readonly Alarm[];
  /** Ids of alarms that are over by themselves. */
  readonly over: readonly string[];
  /** What `told` is next time. */
  readonly told: ReadonlySet<string>;
}

/** Alarms that were raised, and which of them are open. */
export interface Alarms {
  readonly open: ReadonlyMap<string, Alarm>;
  /** A person has seen and closed it, and this auditor had raised it: the same is not raised again. */
  readonly closed: ReadonlySet<string>;
  /** Ids of findings for which an open alarm stood, and that are still there: who closed it has seen them, too. */
  readonly told: ReadonlySet<string>;
  /** How often a person gave up the heads of a partition: what contradicts those that came after is another finding. */
  readonly generationOf: (place: Pick<Found, 'topic' | 'partition'>) => number;
}

/**
 * What is new against what is open: one alarm for all that is found of one kind in one partition, wherever in it. What somebody else
 * wrote down as an alarm, or an earlier version without a note, stands for none.
 */
export function alarmNews(found: readonly Found[], alarms: Alarms, now: number): AlarmNews {
  const { open, closed, told, generationOf } = alarms;
  const all = asRestored(found).map((one) => ({ ...one, id: alarmId(one, generationOf(one)) }));
  const isOpen = new Set([...open.values()].filter((one) => isAbout(one, generationOf(one))).map(subjectOf));
  const isFound = new Set(all.map(subjectOf));
  const isSeen = ({ id, kind }: Pick<Alarm, 'id' | 'kind'>): boolean =>
    told.has(id) || (closed.has(id) && !isAnywhere(kind));
  const untold = all.filter((one) => !isOpen.has(subjectOf(one)) && !isSeen(one));
  const raised = firstOfEach(untold).map((one) => ({
    ...one,
    detail: DETAILS[one.kind],
    owner: OWNER,
    deadlineAt: now + patience(one.kind),
    generation: generationOf(one),
  }));
  const over = [...open.values()].filter((one) => isPassing(one.kind) && !isFound.has(subjectOf(one)));
  const stillTold = all.filter((one) => isOpen.has(subjectOf(one)) || told.has(one.id));
  return { raised, over: over.map(({ id }) => id), told: new Set(stillTold.map(({ id }) => id)) };
}

/** Did this auditor raise it, and of heads that still count? What contradicts no head does so whatever heads there are. */
function isAbout({ kind, generation }: Alarm, current: number): boolean {
  return generation !== null && (!contradicts(kind) || generation === current);
}

/** Does a person who closes it give up the heads that count now? Only where this auditor said that something contradicts these very ones. */
export function givesUp(alarm: Alarm, current: number): boolean {
  return contradicts(alarm.kind) && isAbout(alarm, current);
}

/** Several logs that lost their tails at once were set back together. */
export function asRestored(found: readonly Found[]): readonly Found[] {
  const cut = found.filter(({ kind }) => kind === 'cut_tail');
  return cut.length < 2
    ? found
    : found.map((one) => (one.kind === 'cut_tail' ? { ...one, kind: 'restored_backup' } : one));
}

/** What one alarm at a time is open of. A log that was cut has two names, by how many others were, and is one. */
function subjectOf({ kind, topic, partition }: Found): string {
  return `${kind === 'restored_backup' ? 'cut_tail' : kind} ${topic}/${String(partition)}`;
}

function firstOfEach<One extends Found>(found: readonly One[]): readonly One[] {
  const first = new Map<string, One>();
  for (const one of found) if (!first.has(subjectOf(one))) first.set(subjectOf(one), one);
  return [...first.values()];
}

/** Names an alarm by where its finding was first seen; a rate is one for a partition. */
export function alarmId({ kind, topic, partition, seq, offset }: Found, generation: number): string {
  const place = isAnywhere(kind) ? '' : `${String(seq)}/${String(offset)}`;
  const since = contradicts(kind) && generation > 0 ? `/${String(generation)}` : '';
  return deriveId('alm', kind, topic, String(partition), `${place}${since}`);
}

/** May no head be signed that comes behind it? */
export function contradicts(kind: AlarmKind): boolean {
  return (CONTRADICTING as readonly AlarmKind[]).includes(kind);
}

function isPassing(kind: AlarmKind): boolean {
  return (PASSING as readonly AlarmKind[]).includes(kind);
}

/** It has no place, so that what comes back after it was over has the same name. */
function isAnywhere(kind: AlarmKind): boolean {
  return isPassing(kind) && kind !== 'missing';
}

function patience(kind: AlarmKind): number {
  return contradicts(kind) ? HOUR_MS : DAY_MS;
}
