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
}

/** Alarms that were raised, and which of them are open. */
export interface Alarms {
  readonly open: ReadonlyMap<string, Alarm>;
  /** A person has seen and closed it: the same is not raised again. */
  readonly closed: ReadonlySet<string>;
}

/** What is new against what is open. */
export function alarmNews(found: readonly Found[], { open, closed }: Alarms, now: number): AlarmNews {
  const wanted = new Map(asRestored(found).map((one) => [alarmId(one), one] as const));
  const raised = [...wanted]
    .filter(([id]) => !open.has(id) && !closed.has(id))
    .map(([id, one]) => ({
      ...one,
      id,
      detail: DETAILS[one.kind],
      owner: OWNER,
      deadlineAt: now + patience(one.kind),
    }));
  const over = [...open.values()].filter(({ id, kind }) => isPassing(kind) && !wanted.has(id)).map(({ id }) => id);
  return { raised, over };
}

/** Several logs that lost their tails at once were set back together. */
export function asRestored(found: readonly Found[]): readonly Found[] {
  const cut = found.filter(({ kind }) => kind === 'cut_tail');
  return cut.length < 2
    ? found
    : found.map((one) => (one.kind === 'cut_tail' ? { ...one, kind: 'restored_backup' } : one));
}

/** The same thing at the same place is one alarm; a rate is one for a partition. */
export function alarmId({ kind, topic, partition, seq, offset }: Found): string {
  const place = isPassing(kind) && kind !== 'missing' ? '' : `${String(seq)}/${String(offset)}`;
  return deriveId('alm', kind, topic, String(partition), place);
}

/** May no head be signed that comes behind it? */
export function contradicts(kind: AlarmKind): boolean {
  return (CONTRADICTING as readonly AlarmKind[]).includes(kind);
}

function isPassing(kind: AlarmKind): boolean {
  return (PASSING as readonly AlarmKind[]).includes(kind);
}

function patience(kind: AlarmKind): number {
  return contradicts(kind) ? HOUR_MS : DAY_MS;
}
